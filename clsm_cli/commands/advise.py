"""An adviser's packet and its answer, as files or streams: ``clsm consolidate --ask``, ``--answer``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import counted
from clsm_cli.commands.runtime import UsageError, standard_input
from clsm_cli.consolidation import asking, packet, proposals
from clsm_cli.errors import BadInputError
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from clsm_cli.commands.output import Printer
    from clsm_cli.consolidation.asking import Packet
    from clsm_cli.consolidation.proposals import Answer
    from clsm_cli.consolidation.report import Request
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store

MOST = 8 << 20
"""Bytes of an answer."""
_LESS = "answer one packet at a time"


def check(
    file: str | None, budget: int | None, answer: str | None, *, ask: bool, whole: bool
) -> None:
    """Whether the options fit together.

    Raises:
        UsageError: They do not.
    """
    if ask and answer is not None:
        raise UsageError("--ask", "does not go with --answer; an answer comes after its packet")
    if file is not None and not ask:
        raise UsageError("FILE", "goes with --ask; an answer is named by --answer FILE")
    if budget is not None and not ask:
        raise UsageError("--budget", "goes with --ask")
    if answer is not None and whole:
        reason = "names its episodes itself; leave out --limit, --since and --rebuild"
        raise UsageError("--answer", reason)


def read(name: str) -> Answer:
    """The answer in a file, or on standard input.

    Raises:
        BadInputError: It cannot be read, or is none.
    """
    if name == "-":
        return proposals.read(standard_input(MOST, _LESS), "standard input")
    try:
        with open(name, "rb") as file:
            data = file.read(MOST + 1)
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise BadInputError(name, reason, "name the file with the answer") from None
    if len(data) > MOST:
        raise BadInputError(name, f"is longer than {MOST} bytes", _LESS)
    return proposals.read(data.decode("utf-8", "replace"), name)


def write(
    store: Store,
    request: Request,
    file: str | None,
    budget: int | None,
    embedder: Embedder | None,
    printer: Printer,
) -> None:
    """Write a packet to a file, else to standard output; an empty one where nothing waits.

    Raises:
        BadInputError: Not even a part of an episode has room.
        UsageError: The file lies in the memory.
    """
    path = Path(os.path.realpath(os.path.expanduser(file))) if file not in (None, "-") else None
    if path is not None and path.is_relative_to(store.root.resolve()):
        raise UsageError("FILE", "lies in the memory; write the packet somewhere else")
    try:
        found = asking.ask(store, request, budget or packet.BUDGET, embedder, printer.progress)
    finally:
        printer.end_progress()
    if path is not None:
        atomic.put(path, found.text.encode())
    if printer.as_json:
        printer.json(mapping(found) | ({} if path is None else {"packet": None, "file": str(path)}))
    elif path is None:
        printer.lines([found.text.rstrip("\n")] if found.text else [])
    else:
        printer.lines([told(found)])
    if path is None and not found.text:
        printer.warn(told(found))


def told(found: Packet) -> str:
    """What a packet has, in a line."""
    if not found.text:
        return "nothing waits to be consolidated: there is nothing to ask"
    of = counted(len(found.episodes), "episode")
    return f"{counted(found.parts, 'part')} of {of}, {found.tokens} tokens; {found.waiting} wait"


def mapping(found: Packet) -> dict[str, Any]:
    """A packet as data."""
    return {
        "schema": "clsm.packet/1",
        "packet": found.text,
        "tokens": found.tokens,
        "episodes": list(found.episodes),
        "parts": found.parts,
        "waiting": found.waiting,
    }
