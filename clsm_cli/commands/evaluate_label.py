"""``clsm eval label``: make a labelled set of your own."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clsm_cli.commands.environment import UsageError, environment
from clsm_cli.commands.options import (
    Command,
    Common,
    examples,
    takes_common,
)
from clsm_cli.commands.output import Printer, is_terminal
from clsm_cli.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from clsm_cli.commands.label_session import Session
    from clsm_cli.evaluation.own.query_proposals import Proposal
    from clsm_cli.evaluation.own.sheet import PoolItem
    from clsm_cli.store.labels import Label
    from clsm_cli.store.layout import Store

NUMBER = 20
"""Queries of one call: about a quarter of an hour."""
MOST = 500
_CLEARED = "\x1b[H\x1b[2J"
"""The cursor home, the screen empty."""


def register(app: typer.Typer) -> None:
    """Add the command to ``clsm eval``."""
    app.command(
        "label",
        cls=Command,
        epilog=examples(
            "clsm eval label                    # one key an answer; q ends, all is saved",
            "clsm eval label --number 50",
            "clsm eval label --json > sheet.json   # for scripts and agents",
            "clsm eval label --from sheet.json",
        ),
    )(label)


@takes_common()
def label(
    *,
    number: Annotated[
        int, typer.Option("--number", "-n", min=1, max=MOST, metavar="N", help="Queries proposed.")
    ] = NUMBER,
    marked: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take marks from what --json printed, with relevant and none filled in; - reads"
            " standard input.",
        ),
    ] = None,
    common: Common,
) -> None:
    """Say which memories answer queries of your own, for "clsm eval" to measure by.

    Queries are proposed from the store: what you asked before, facts that changed, decisions, tasks,
    and some that should find nothing. To each the first items of clsm, BM25 and MiniLM are shown,
    mixed; each answer is saved at once in eval/queries.yaml, and the next call goes on.
    """
    printer = common.printer()
    opened = common.opened()
    moment = common.time(opened.zone)
    if marked is not None:
        _take(printer, opened, marked)
        return
    proposals = _proposed(opened, number)
    if not proposals:
        _end(printer, opened, 0, "nothing new to propose; ingest more, or write queries by hand")
        return
    try:
        pool = _pool(printer, opened, moment)
        if common.as_json:
            _print_sheet(printer, proposals, pool)
            return
    finally:
        printer.end_progress()
    _ask(printer, opened, proposals, pool)


def _take(printer: Printer, store: Store, name: str) -> None:
    from clsm_cli.evaluation.own import sheet

    rows, left = sheet.read_sheet(_text(name), name, sheet.name_lookup(store))
    printer.warn_all(sheet.save_labels(store, rows) if rows else ())
    if left:
        printer.warn(f"{name}: queries without a mark were passed over: {left}")
    _end(printer, store, len(rows))


def _text(name: str) -> str:
    from clsm_cli.config import MAX_FILE

    if not name.strip():
        raise UsageError("--from", "names no file")
    try:
        if name == "-":
            data = sys.stdin.buffer.read(MAX_FILE + 1)
        else:
            with open(name, "rb") as file:
                data = file.read(MAX_FILE + 1)
        return data.decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError:
        reason = "is not UTF-8"
    raise BadInputError(name, reason, "make it with: clsm eval label --json > FILE")


def _proposed(store: Store, number: int) -> list[Proposal]:
    from clsm_cli.evaluation.own import query_proposals, sheet

    known = [row.text for row in sheet.read_labels(store).rows]
    return query_proposals.propose(sheet.whole_memory(store), known, number)


def _pool(printer: Printer, store: Store, now: datetime) -> Callable[[Proposal], list[PoolItem]]:
    from clsm_cli.commands.evaluate_shared import make_factory, open_engine
    from clsm_cli.evaluation.own.sheet import Pools

    factory = make_factory(printer, store.derived, now.isoformat(), fresh=False)
    pools = Pools(store, factory, open_engine())
    return lambda proposal: pools.items_for(proposal.text, proposal.hidden)


def _print_sheet(
    printer: Printer, proposals: Sequence[Proposal], pool: Callable[[Proposal], list[PoolItem]]
) -> None:
    from clsm_cli.evaluation.own import sheet

    done = 0

    def counted(proposal: Proposal) -> list[PoolItem]:
        nonlocal done
        printer.progress("proposals", done, len(proposals))
        done += 1
        return pool(proposal)

    printed = sheet.blank_sheet(proposals, counted)
    printer.end_progress()
    printer.json(printed)


def _ask(
    printer: Printer,
    store: Store,
    proposals: Sequence[Proposal],
    pool: Callable[[Proposal], list[PoolItem]],
) -> None:
    from clsm_cli.commands import label_session
    from clsm_cli.commands.label_session import Keyboard, Session
    from clsm_cli.evaluation.own import sheet

    def save(rows: Sequence[Label], without: Sequence[str]) -> None:
        printer.warn_all(sheet.save_labels(store, rows, without))

    session, keyboard = Session(proposals, pool, save), Keyboard()
    while not session.is_over:
        _show(label_session.screen(session, shutil.get_terminal_size().columns))
        key = keyboard.key()
        if key == "e":
            _edit(session, keyboard.line)
        else:
            session.press(key)
    hint = "" if is_terminal(sys.stdin) else "without a terminal use --json and --from FILE"
    _end(printer, store, session.saved, hint if not session.saved else "")


def _show(lines: Sequence[str]) -> None:
    """A screen on standard error, as standard output is for data; cleared where that is possible."""
    if sys.stderr is None:
        return
    is_plain = not is_terminal(sys.stderr) or environment().get("TERM", "dumb") == "dumb"
    encoding = sys.stderr.encoding or "utf-8"
    text = "\n".join(lines).encode(encoding, "backslashreplace").decode(encoding)
    typer.echo(text if is_plain else f"{_CLEARED}{text}", err=True)


def _edit(session: Session, line: Callable[[], str]) -> None:
    _show(["", f"Query now: {session.proposal.text}", "Write it anew; empty keeps it:"])
    text = line()
    if text:
        session.edit(text)


def _end(printer: Printer, store: Store, saved: int, hint: str = "") -> None:
    from clsm_cli.commands import label_session
    from clsm_cli.evaluation.own import sheet

    total = len(sheet.read_labels(store).rows)
    if hint:
        printer.warn(hint)
    if printer.as_json:
        found: dict[str, Any] = {"schema": sheet.SCHEMA, "saved": saved, "labelled": total}
        printer.json({**found, "path": sheet.labels_path(store), "queries": []})
    else:
        printer.lines(label_session.closing_lines(saved, total, sheet.labels_path(store)))
