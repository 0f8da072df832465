"""Remove forgotten ids from logs, and find copies of forgotten text in quarantine."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from clsm_cli.store.jsonlines import LineError, dump, load

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from collections.abc import Set as AbstractSet

_ID = re.compile(rb"(?<![a-z0-9_-])(?:[a-z]-)?[0-9a-f]{12}(?![a-z0-9_])")
"""An id that clsm makes."""
_WORD = re.compile(r"[a-z0-9][a-z0-9_-]*")
_LISTS = {"ids": "led", "good": "good_led", "bad": "bad_led", "concepts": ""}
"""Lists of ids in a line, and the list that goes along with each."""
_PART = re.compile(r"(?<=\A[0-9a-f]{12})-[0-9]+\Z")
"""A part of a long turn has the turn's key and a number."""
LEAST = 12
"""Characters from which a line of a text tells that text from others."""


def clean_log(log: bytes, gone: AbstractSet[str]) -> bytes:
    r"""A log without the ids that went; a line that was about nothing else goes whole.

    What is no JSON goes too where it names such an id: it was never acknowledged.

    >>> line = b'\n{"recall": "r-1", "at": "2026-02-24", "ids": ["a1", "b2"], "led": ["x", "y"]}\n'
    >>> clean_log(line, {"a1"})
    b'\n{"recall": "r-1", "at": "2026-02-24", "ids": ["b2"], "led": ["y"]}\n'
    >>> clean_log(line, {"a1", "b2"})
    b''
    """
    kept: list[bytes] = []
    for line in log.split(b"\n"):
        text = line.decode("utf-8", "replace")
        if not _named(text) & gone:
            kept.append(line)
            continue
        row = _without(text, gone)
        if row is not None:
            kept.append(dump(row).encode())
        elif kept and not kept[-1]:
            kept.pop()  # the newline that was written before it
    return b"\n".join(kept)


def rename_in_log(log: bytes, names: Mapping[str, str]) -> bytes:
    """A log in which some ids have new names; parts of a turn go along with it.

    >>> rename_in_log(b'{"ids": ["0123456789ab-2", "b2"]}', {"0123456789ab": "ba9876543210"})
    b'{"ids": ["ba9876543210-2", "b2"]}'
    """
    if not names:
        return log
    known = {old.encode(): new.encode() for old, new in names.items()}
    return _ID.sub(lambda match: known.get(match.group(), match.group()), log)


def _named(text: str) -> set[str]:
    """Everything in a text that may be an id."""
    return {_PART.sub("", word) for word in _WORD.findall(text)}


def _is_gone(named: Any, gone: AbstractSet[str]) -> bool:
    return isinstance(named, str) and _PART.sub("", named) in gone


def _without(line: str, gone: AbstractSet[str]) -> dict[str, Any] | None:
    try:
        row = load(line)
    except LineError:
        return None
    if not isinstance(row, dict) or _is_gone(row.get("id"), gone):
        return None
    about = row.get("about")
    if isinstance(about, list) and any(_is_gone(each, gone) for each in about):
        return None
    changed = dict(row)
    for name, beside in _LISTS.items():
        ids = row.get(name)
        if isinstance(ids, list):
            places = [i for i, each in enumerate(ids) if not _is_gone(each, gone)]
            changed[name] = [ids[i] for i in places]
            led = row.get(beside)
            if isinstance(led, list) and len(led) == len(ids):
                changed[beside] = [led[i] for i in places]
    was = any(row.get(name) for name in _LISTS)
    return None if was and not any(changed.get(name) for name in _LISTS) else changed


def without_paths(ledger: bytes, removed: Collection[str], names: Collection[str] = ()) -> bytes:
    """A ledger that no longer names some files, whose very names may tell."""
    kept: list[bytes] = []
    for line in ledger.split(b"\n"):
        try:
            row = load(line.decode("utf-8", "replace")) if line.strip() else None
        except LineError:
            row = None
        changes = row.get("changes") if isinstance(row, dict) else None
        if not isinstance(row, dict) or not isinstance(changes, list):
            kept.append(line)
            continue
        left = [each for each in changes if not _is_of(each, removed, names)]
        kept.append(line if left == changes else dump({**row, "changes": left}).encode())
    return b"\n".join(kept)


def _is_of(change: Any, removed: Collection[str], names: Collection[str]) -> bool:
    path = change.get("path") if isinstance(change, dict) else None
    return isinstance(path, str) and (path in removed or path.rpartition("/")[2] in names)


def has_trace(data: bytes, ids: AbstractSet[str], texts: Iterable[str]) -> bool:
    """Whether some bytes name an id, or hold a line of a text, that went."""
    text = data.decode("utf-8", "replace")
    if _named(text) & ids:
        return True
    lines = {line.strip() for each in texts for line in each.split("\n")}
    return any(len(line) >= LEAST and (line in text or dump(line)[1:-1] in text) for line in lines)


def logs_of(flow: str | os.PathLike[str]) -> list[str]:
    """The logs of a machine, by path, but for its ledger."""
    with os.scandir(flow) as entries:
        return sorted(
            e.path
            for e in entries
            if e.name.endswith(".jsonl") and e.name != "runs.jsonl" and e.name[0] != "."
        )
