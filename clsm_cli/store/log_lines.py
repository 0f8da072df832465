"""Lines of one version of a log that another one lacks, where a line may not simply be said twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.store import logs
from clsm_cli.store.jsonlines import LineError, load

if TYPE_CHECKING:
    from pathlib import Path

_MADE_ANEW = "archived.jsonl"
"""Worked out from the rest by every ``decay``."""


def only_in(data: bytes, path: Path) -> list[bytes]:
    """The records among the lines of a copy that are to be added to a log.

    Of uses of one id and day the most counts, of a review item the decision; an activation that was
    put aside since is no new one.

    Args:
        data: The bytes of the copy.
        path: The log; it may be missing.

    Raises:
        DamagedStoreError: The log cannot be read.
        DiskError: The same, as the operating system refuses.
    """
    if path.name == _MADE_ANEW:
        return []
    files = (
        [path.with_name(n) for n in logs.ACTIVATIONS] if path.name in logs.ACTIVATIONS else [path]
    )
    there = [row for each in files for _, row in logs.rows(each)[0]]
    known = {repr(row) for row in there}
    said: dict[Any, Any] = {}
    for row in there:
        _say(said, row, path.name)
    found: list[bytes] = []
    for line in data.split(b"\n"):
        new = _row(line)
        if new is None or repr(new) in known or not _is_news(said, new, path.name):
            continue
        _say(said, new, path.name)
        known.add(repr(new))
        found.append(line)
    return found


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = load(line.decode("utf-8", "replace")) if line.strip() else None
    except LineError:
        return None  # torn, or none of ours; it stays in the copy
    return row if isinstance(row, dict) else None


def _say(said: dict[Any, Any], row: dict[str, Any], name: str) -> None:
    if name == "uses.jsonl":
        key = (row.get("id"), row.get("day"))
        said[key] = max(_number(row), said.get(key, 0))
    elif name == "review.jsonl":
        said[row.get("id")] = row.get("state", "open")


def _is_news(said: dict[Any, Any], row: dict[str, Any], name: str) -> bool:
    if name == "uses.jsonl":
        most: int = said.get((row.get("id"), row.get("day")), 0)
        return _number(row) > most
    if name == "review.jsonl":
        known = said.get(row.get("id"))
        return known is None or (known == "open" and row.get("state", "open") != "open")
    return True


def _number(row: dict[str, Any]) -> int:
    value = row.get("n")
    return value if isinstance(value, int) else 0
