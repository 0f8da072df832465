"""Append-only logs: activations, feedback, review, runs and tombstones, one JSON object per line.

They contain ids and times, never the text of a query. A line torn by a crash was never acknowledged
and is skipped. Two versions of a log merge by lines (``joining``): readers take the highest count of a
use, and the decision about a review item.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.activations import Activation as Activation  # noqa: PLC0414  # also from here
from clsm_cli.store.jsonlines import LineError, LineProblem, dump, load
from clsm_cli.store.layout import Store

ACTIVATIONS = ("activation-old.jsonl", "activation.jsonl")
"""The log of recalls, and before it the one that ``decay`` renamed."""
REVIEW = "review.jsonl"
USES, ARCHIVED = "uses.jsonl", "archived.jsonl"
"""Files in a machine's flow: its folded uses (a recall ignores activations until they are folded), and
the ids that its last ``decay`` found archived."""
MAX_LOG = 256 << 20  # bytes of a log; ``decay`` folds activations long before that


class Use(NamedTuple):
    """An id was recalled ``n`` times on a day (``YYYY-MM-DD``): activations folded by ``decay``."""

    id: str
    day: str
    n: int


class Feedback(NamedTuple):
    """A user's feedback on the items of one recall, with the strongest signal for each."""

    recall: str
    at: str
    good: tuple[str, ...]
    bad: tuple[str, ...]
    good_led: tuple[str, ...] = ()
    bad_led: tuple[str, ...] = ()


class ReviewItem(NamedTuple):
    """A question for a person, such as two texts under one id, or a value that lost in a join."""

    id: str
    at: str
    about: tuple[str, ...]
    reason: str
    kept: str
    other: str
    state: str = "open"


CONTRADICTION = "contradiction"
"""Reason of a review item about a statement that a later one may supersede."""


class Change(NamedTuple):
    """A write of a run: the path in the store, and the file's sha256 before and after.

    ``before`` is None for a new file, ``after`` for a removed one. For an append, ``after`` is "",
    ``size`` the file's bytes before, and ``added`` the appended bytes, including newlines.
    """

    path: str
    before: str | None = None
    after: str | None = None
    size: int | None = None
    added: int | None = None


class RunLine(NamedTuple):
    """A run that changed something, or a step of it; ``of`` is the run that an undo reverts.

    Changes are in the order of writing; a run that cannot be undone has none.
    """

    id: str
    command: str
    at: str
    changes: tuple[Change, ...]
    of: str | None = None


class Tombstone(NamedTuple):
    """Something was forgotten; only the hash of its id remains."""

    hash: str
    at: str


LogLine = Activation | Use | Feedback | ReviewItem | RunLine | Tombstone
Line = TypeVar("Line", bound=NamedTuple)


def render(line: LogLine) -> bytes:
    r"""Render a line of a log, without its newline.

    >>> render(Tombstone("ab", "2026-02-24T00:00:00Z"))
    b'{"hash": "ab", "at": "2026-02-24T00:00:00Z"}'
    """
    mapping = line._asdict()
    if isinstance(line, RunLine):
        mapping["changes"] = [
            {name: value for name, value in each._asdict().items() if value is not None}
            for each in line.changes
        ]
        if line.of is None:
            del mapping["of"]
    return dump(mapping).encode()


def parse(kind: type[Line], row: dict[str, Any]) -> Line:
    """Parse a mapping as a line of some kind; fields with a default may be missing.

    >>> parse(Use, {"id": "f-1", "day": "2026-02-24", "n": 2})
    Use(id='f-1', day='2026-02-24', n=2)

    Raises:
        KeyError: A field is missing.
        TypeError: A value has the wrong type. (AttributeError: ``row`` is not a mapping.)
    """
    return kind._make(_field(kind, name, row) for name in kind._fields)


def _field(kind: type[Line], name: str, row: dict[str, Any]) -> Any:
    wanted, defaults = kind.__annotations__[name], kind._field_defaults
    if name in defaults and row.get(name) is None:
        return defaults[name]
    value = row[name]
    if name == "changes":
        return tuple(parse(Change, each) for each in value)
    if wanted == "tuple[str, ...]":
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        if name in defaults:  # the signals of items; the line is usable without them
            return defaults[name]
    elif type(value).__name__ in wanted.split(" | "):
        return value
    elif wanted == "int" and isinstance(value, float) and value.is_integer():
        return int(value)  # JSON written by another program
    raise TypeError(f"{name} cannot be {value!r}")


class Rows(NamedTuple):
    """The lines of a log: mappings with their line numbers, and what is no mapping."""

    rows: list[tuple[int, dict[str, Any]]]
    problems: list[LineProblem]

    @property
    def mappings(self) -> list[dict[str, Any]]:
        """The mappings alone."""
        return [row for _, row in self.rows]


def rows(path: Path) -> Rows:
    """Read a JSON-lines file; a missing one is empty, an unreadable one a problem."""
    try:
        data = atomic.read(path, MAX_LOG)
    except DamagedStoreError as error:
        return Rows([], [LineProblem(path, error.line, error.reason)])
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
    return Rows(found, problems)


def read_uses(path: Path) -> tuple[list[tuple[str, date, int]], list[LineProblem]]:
    """Read folded uses (id, day, count), and the lines that are not valid."""
    found, problems = rows(path)
    uses = []
    for number, row in found:
        try:
            use = parse(Use, row)
            uses.append((use.id, date.fromisoformat(use.day), use.n))
        except (KeyError, TypeError, ValueError):
            problems.append(LineProblem(path, number, "is no line of uses"))
    return uses, problems


class Archived(NamedTuple):
    """``archived.jsonl``: the ids that a machine's last ``decay`` found archived, ``as_of`` a day.

    The text of such a turn or statement stays in its file; the first pass of a recall skips it.
    """

    as_of: date | None = None
    since: Mapping[str, date] = {}
    problems: tuple[LineProblem, ...] = ()


def read_archived(flow: Path) -> Archived:
    """Read a machine's list; for an id that occurs twice (after a merge), the later day."""
    path = flow / ARCHIVED
    found, problems = rows(path)
    as_of: date | None = None
    since: dict[str, date] = {}
    for number, row in found:
        try:
            if "as_of" in row:
                day = date.fromisoformat(row["as_of"])
                as_of = day if as_of is None else max(as_of, day)
            else:
                day, name = date.fromisoformat(row["since"]), str(row["id"])
                since[name] = max(day, since.get(name, day))
        except (KeyError, TypeError, ValueError):
            problems.append(LineProblem(path, number, "names nothing archived"))
    return Archived(as_of, since, tuple(problems))


def render_archived(as_of: date, since: Mapping[str, date]) -> bytes:
    r"""Render the file.

    >>> from datetime import date
    >>> render_archived(date(2026, 6, 1), {"f-2": date(2026, 5, 20)}).decode().splitlines()
    ['{"as_of": "2026-06-01"}', '{"id": "f-2", "since": "2026-05-20"}']
    """
    rows = [{"as_of": str(as_of)}]
    rows += [{"id": name, "since": str(day)} for name, day in sorted(since.items())]
    return "".join(f"{dump(row)}\n" for row in rows).encode()


def new_tombstones(store: Store, hashes: Iterable[str], now: str) -> tuple[Path, bytes]:
    """This machine's file of tombstones, and the lines to append to it."""
    lines = b"\n".join(render(Tombstone(each, now)) for each in hashes)
    return store.root / "tombstones" / f"{store.device}.jsonl", lines


def load_tombstones(store: Store) -> frozenset[str]:
    """The hashes of all tombstones of all machines."""
    folder = store.root / "tombstones"
    if not folder.is_dir():
        return frozenset()
    signatures = []
    for path in sorted(folder.glob("*.jsonl")):
        with contextlib.suppress(FileNotFoundError):  # a merge may be replacing it
            stat = path.stat()
            signatures.append((path, stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return _hashes(tuple(signatures))


@lru_cache(maxsize=2)
def _hashes(signatures: tuple[tuple[Path, int, int, int], ...]) -> frozenset[str]:
    """Cached, as a run asks often; a tombstone file only grows, or is replaced by a merge.

    A hook waits for this at each message, so a pattern is used: ten times faster than JSON.
    """
    found: set[str] = set()
    for path, *_ in signatures:
        with contextlib.suppress(DamagedStoreError):
            text = (atomic.read(path, MAX_LOG) or b"").decode("ascii", "replace")
            found.update(re.findall(r'"hash": *"([0-9a-f]{64})"', text))
    return frozenset(found)


def is_forgotten(record_id: str, hashes: frozenset[str]) -> bool:
    """Whether an id has a tombstone."""
    return bool(hashes) and tombstone_hash(record_id) in hashes


def review_items(store: Store) -> dict[str, ReviewItem]:
    """The current review items of all machines by id: the newest line of each.

    Items about something forgotten are left out.
    """
    forgotten = load_tombstones(store)
    found: dict[str, ReviewItem] = {}
    for flow in store.flows():
        for item in review_items_in(flow / REVIEW, forgotten):
            known = found.get(item.id, item)
            if (item.at, item.state != "open") >= (known.at, known.state != "open"):
                found[item.id] = item
    return found


def review_items_in(path: Path, forgotten: frozenset[str]) -> Iterator[ReviewItem]:
    """Read the review items of a log, without damaged ones and those about something forgotten."""
    for row in rows(path).mappings:
        with contextlib.suppress(KeyError, TypeError):
            item = parse(ReviewItem, row)
            if not any(is_forgotten(each, forgotten) for each in item.about):
                yield item
