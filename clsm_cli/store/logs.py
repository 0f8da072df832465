"""Append-only logs: activations, feedback, review, runs and tombstones, one JSON line each.

They hold ids and times, never the text of a query. A line torn by a crash is skipped: what it said
was never acknowledged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.activations import Activation
from clsm_cli.store.jsonlines import LineError, dump, load
from clsm_cli.store.problems import LineProblem

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store

__all__ = [
    "Activation",
    "Change",
    "Feedback",
    "LogLine",
    "ReviewItem",
    "RunLine",
    "Tombstone",
    "Use",
    "forgotten",
    "is_forgotten",
    "parse_activation",
    "parse_feedback",
    "parse_review",
    "parse_run",
    "parse_tombstone",
    "parse_use",
    "render",
    "rows",
]

MAX_LOG = 256 << 20
"""Bytes of a log; ``decay`` folds activations long before."""


class Use(NamedTuple):
    """An id was recalled ``n`` times on a day (``YYYY-MM-DD``); ``decay`` folds activations so."""

    id: str
    day: str
    n: int


class Feedback(NamedTuple):
    """What a user said about the items of one recall.

    Attributes:
        good_led: The signal that led to each good id, as in the activation, which ``decay`` folds.
        bad_led: The same for each bad one.
    """

    recall: str
    at: str
    good: tuple[str, ...]
    bad: tuple[str, ...]
    good_led: tuple[str, ...] = ()
    bad_led: tuple[str, ...] = ()


class ReviewItem(NamedTuple):
    """Something that needs a person: two texts under one id, a value that lost in a join."""

    id: str
    at: str
    about: tuple[str, ...]
    reason: str
    kept: str
    other: str
    state: str = "open"


class Change(NamedTuple):
    """One file that a run wrote.

    Attributes:
        path: Relative to the store.
        before: sha256 before the run, None when the file was new.
        after: sha256 after it, None when it was removed; for appends "" (see ``size``).
        size: For appends: bytes before.
    """

    path: str
    before: str | None
    after: str | None
    size: int | None = None


class RunLine(NamedTuple):
    """A run that changed something."""

    id: str
    command: str
    at: str
    changes: tuple[Change, ...]


class Tombstone(NamedTuple):
    """Something was forgotten: only the hash of its id stays."""

    hash: str
    at: str


LogLine = Activation | Use | Feedback | ReviewItem | RunLine | Tombstone


def render(line: LogLine) -> bytes:
    r"""One line of a log, without its newline.

    >>> render(Tombstone("ab", "2026-02-24T00:00:00Z"))
    b'{"hash": "ab", "at": "2026-02-24T00:00:00Z"}'
    """
    if isinstance(line, Activation):
        return line.render()
    mapping = {name: getattr(line, name) for name in line._fields}
    if isinstance(line, RunLine):
        mapping["changes"] = [
            {name: getattr(c, name) for name in c._fields if getattr(c, name) is not None}
            for c in line.changes
        ]
    return dump(mapping).encode()


def parse_activation(row: dict[str, Any]) -> Activation:
    """Raises KeyError or TypeError when ``row`` is none; like the four below."""
    return Activation(row["recall"], row["at"], tuple(row["ids"]), _led(row, "led"))


def parse_use(row: dict[str, Any]) -> Use:
    """See ``parse_activation``."""
    return Use(str(row["id"]), str(row["day"]), int(row["n"]))


def parse_feedback(row: dict[str, Any]) -> Feedback:
    """See ``parse_activation``."""
    return Feedback(
        row["recall"],
        row["at"],
        tuple(row["good"]),
        tuple(row["bad"]),
        _led(row, "good_led"),
        _led(row, "bad_led"),
    )


def _led(row: dict[str, Any], name: str) -> tuple[str, ...]:
    """Signals that a line may name; without them nothing is credited, and the rest still counts."""
    value = row.get(name)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def parse_review(row: dict[str, Any]) -> ReviewItem:
    """See ``parse_activation``."""
    names = ("id", "at", "reason", "kept", "other")
    values = {name: str(row[name]) for name in names}
    return ReviewItem(about=tuple(row["about"]), state=row.get("state", "open"), **values)


def parse_run(row: dict[str, Any]) -> RunLine:
    """See ``parse_activation``."""
    changes = tuple(
        Change(c["path"], c.get("before"), c.get("after"), c.get("size")) for c in row["changes"]
    )
    return RunLine(row["id"], row["command"], row["at"], changes)


def parse_tombstone(row: dict[str, Any]) -> Tombstone:
    """See ``parse_activation``."""
    return Tombstone(str(row["hash"]), str(row["at"]))


def rows(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], list[LineProblem]]:
    """The mappings of a JSON-lines file with their line numbers, and the lines that are none."""
    try:
        data = atomic.read(path, MAX_LOG)
    except DamagedStoreError as error:
        return [], [LineProblem(path, error.line, error.reason)]
    found: list[tuple[int, dict[str, Any]]] = []
    problems: list[LineProblem] = []
    for number, line in enumerate((data or b"").decode("utf-8", "replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = load(line)
            if not isinstance(value, dict):
                raise LineError("is not a mapping")
        except LineError as error:
            problems.append(LineProblem(path, number, str(error), line))
        else:
            found.append((number, value))
    return found, problems


def forgotten(store: Store) -> frozenset[str]:
    """Hashes of everything with a tombstone, on any machine."""
    folder = store.root / "tombstones"
    paths = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    return frozenset(
        str(row["hash"]) for path in paths for _, row in rows(path)[0] if "hash" in row
    )


def is_forgotten(record_id: str, hashes: frozenset[str]) -> bool:
    """Whether an id has a tombstone."""
    return bool(hashes) and tombstone_hash(record_id) in hashes
