"""What is true now: changes that somebody told, and pairs of which both are true, asked after a night.

One command: ``python -m benchmarks.changes`` (``--dev`` for the items that developers look at, ``--real
COPIES`` for real changes, ``--verbose`` for each that is missed). It makes stores of some items each,
from ``fixtures/changes``, by the real ingest and consolidate, and asks the real recall. The exit code is
1 where a target is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import in_process
from benchmarks.measure import table
from clsm_cli.model.graph import Statement
from clsm_cli.store import shards
from scripts.told_changes import items, natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.store.layout import Store
    from scripts.told_changes import Told

NOW = "2027-01-04T08:00:00+01:00"
"""After the last day of both sets."""
TOGETHER = 12
"""Items of a store: enough that each must be found among others."""
FIRST, CLOSED, WRONG = 0.85, 0.85, 0.02
"""Targets: shares of the changes, and of the pairs of which both are true."""


@dataclass(slots=True)
class Figures:
    """What became of the items of one manner.

    Attributes:
        first: Answers in which the new value stands above the old one.
        current: Answers that state the old one without saying that it is over, or perhaps over.
        perhaps: Answers that say of an old one, or of something true, that it is perhaps over.
        wrong: Pairs of which something true is closed, in an answer or among the statements.
        marked: Those of which it is in an answer.
    """

    is_both: bool = False
    items: int = 0
    first: int = 0
    current: int = 0
    perhaps: int = 0
    wrong: int = 0
    marked: int = 0
    missed: list[str] = field(default_factory=list)


def stores(path: Path, told: Sequence[Told]) -> Iterator[tuple[Store, list[Told]]]:
    """Stores of some items each, after a night for each of their days."""
    count = -(-len(told) // TOGETHER)
    for number in range(count):
        chosen = list(told[number::count])  # those that follow one another lie apart
        root = path / str(number)
        store = in_process.new_store(root / "memory")
        for night in range(max(len(item.nights) for item in chosen)):
            for item in chosen:
                _take_in(store, root / "told" / item.id, item, night)
            in_process.sleep(store, NOW)
        yield store, chosen


def _take_in(store: Store, folder: Path, item: Told, night: int) -> None:
    """Take in the files of a day on its evening; each item has conversations of its own."""
    if night >= len(item.nights):
        return
    day, files = list(item.nights.items())[night]
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace('"session": "', f'"session": "{item.id}-'), "utf-8")
    in_process.take_in(store, [folder], f"{day}T20:00:00+00:00")


def judge(figures: Figures, item: Told, answer: Answer, rows: Sequence[Statement]) -> None:
    """Add what an answer, and the statements of its store, say of an item."""
    figures.items += 1
    if item.stay:

        def stays(texts: Iterable[str]) -> bool:
            return any(stay in text for text in texts for stay in item.stay)

        is_marked = stays(each.text for each in answer.memories if each.until)
        is_wrong = is_marked or stays(row.text for row in rows if row.valid_until)
        figures.marked += is_marked
        figures.perhaps += stays(each.text for each in answer.memories if each.perhaps_until)
        figures.wrong += is_wrong
        if is_wrong:
            figures.missed.append(f"closed: {item.id} {item.ask}")
        return
    told = [(each, _holds(each.text, item)) for each in answer.memories]
    sides = [side for _, side in told if side]
    is_first = sides[:1] == ["new"]
    olds = [each for each, side in told if side == "old"]
    is_current = not all(each.until or each.perhaps_until for each in olds)
    figures.perhaps += any(each.perhaps_until for each in olds)
    figures.first += is_first
    figures.current += is_current
    if not is_first or is_current:
        said = ", ".join(["not first"] * (not is_first) + ["current"] * is_current)
        figures.missed.append(f"{said}: {item.id} {item.ask} {sides}")


def _holds(text: str, item: Told) -> str:
    """Whether a text has the new value, or the old one alone."""
    said, new, old = (" ".join(each.split()) for each in (text, item.new, item.old))
    return "new" if new in said else "old" if old in said else ""


def measured(work: Path, told: Sequence[Told]) -> dict[str, Figures]:
    """The figures by manner."""
    found: dict[str, Figures] = {}
    for store, chosen in stores(work, told):
        records = shards.load_graph(store.graphs()).records.values()
        rows = [each for each in records if isinstance(each, Statement)]
        answers = in_process.ask(store, (item.ask for item in chosen), NOW)
        for item, answer in zip(chosen, answers, strict=True):
            figures = found.setdefault(item.manner, Figures(is_both=bool(item.stay)))
            judge(figures, item, answer, rows)
    return found


def lines(found: dict[str, Figures]) -> Iterator[str]:
    """The tables: changes in percent, pairs of which both are true counted."""
    changed, both = whole(found)
    rows = []
    for name, each in [*found.items(), ("all changes", changed)]:
        if not each.is_both:
            shares = (100 * n / (each.items or 1) for n in (each.first, each.current, each.perhaps))
            rows.append([name, str(each.items), *(f"{share:.0f}" for share in shares)])
    yield table(["manner", "items", "new first", "old as current", "old perhaps over"], rows)
    rows = []
    for name, each in [*found.items(), ("all", both)]:
        if each.is_both:
            rows.append([name, *map(str, (each.items, each.wrong, each.marked, each.perhaps))])
    head = ("items", "wrongly closed", "of these in an answer", "perhaps over")
    yield table(["both true because", *head], rows)


def whole(found: dict[str, Figures]) -> tuple[Figures, Figures]:
    """The figures of all changes, and of all pairs of which both are true."""
    sums = Figures(), Figures(is_both=True)
    for each in found.values():
        for count in ("items", "first", "current", "perhaps", "wrong", "marked"):
            whole = sums[each.is_both]
            setattr(whole, count, getattr(whole, count) + getattr(each, count))
    return sums


def is_missed(found: dict[str, Figures]) -> bool:
    """Whether a target is missed."""
    changed, both = whole(found)
    return (
        changed.first < FIRST * changed.items
        or changed.current > (1 - CLOSED) * changed.items
        or both.wrong > WRONG * both.items
    )


def main() -> int:
    """Make the stores, ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="the items that developers look at")
    parser.add_argument("--verbose", action="store_true", help="what is missed")
    parser.add_argument("--real", type=Path, metavar="COPIES", help="real changes, see fixtures")
    given = parser.parse_args()
    told = natural(given.real) if given.real else items(dev=given.dev)
    with tempfile.TemporaryDirectory(prefix="clsm-changes-") as work:
        found = measured(Path(work), told)
    print(*lines(found), sep="\n")
    if given.verbose:
        print(*(line for each in found.values() for line in each.missed), sep="\n")
    return int(is_missed(found))


if __name__ == "__main__":
    sys.exit(main())
