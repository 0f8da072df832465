"""What is true now: changes that somebody told, and pairs of which both are true, asked after a night.

One command: ``python -m benchmarks.changes`` (``--dev`` for the items that developers may look at,
``--verbose`` for each that is missed, ``--json``). It makes stores of some items each, from
``fixtures/changes/told.yaml``, by the real ingest and consolidate, and asks the real recall. The exit
code is 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.engine import QueryEngine
from clsm_cli.consolidation import consolidate
from clsm_cli.consolidation.report import Request as Night
from clsm_cli.embedding import weights
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.pins import ENGINE
from clsm_cli.embedding.words import Words
from clsm_cli.ingestion import ingest
from clsm_cli.ingestion.report import Request as Intake
from clsm_cli.model.graph import Statement
from clsm_cli.retrieval.recall import Query, recall
from clsm_cli.store import layout, shards, yaml_text
from clsm_cli.store.index.opening import Embedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.retrieval.answer import Answer, Memory
    from clsm_cli.store.layout import Store

ROOT = Path(__file__).parents[1]
ITEMS = ROOT / "fixtures" / "changes" / "told.yaml"
NOW = "2026-05-01T08:00:00+02:00"
TOGETHER = 12
"""Items of a store: enough that each must be found among others."""
FIRST, CLOSED, WRONG = 0.85, 0.85, 0.02
"""Targets: shares of the changes, and of the pairs of which both are true."""
Item = dict[str, Any]


@dataclass(slots=True)
class Figures:
    """What became of the items of one manner.

    Attributes:
        first: Answers in which the new value stands above the old one.
        current: Answers that state the old one without saying that it is over.
        stale: Answers with a ``fact:`` line of the old one.
        wrong: Pairs of which something true is closed, in an answer or among the statements.
    """

    items: int = 0
    first: int = 0
    current: int = 0
    stale: int = 0
    wrong: int = 0
    missed: list[str] = field(default_factory=list)


def items(path: Path, *, dev: bool) -> list[Item]:
    """All items, each with its manner; a pair of which both are true has the manner ``both``."""
    found = yaml_text.load(path.read_text("utf-8"), 1 << 22)
    told = [*found["changes"], *({**each, "manner": "both"} for each in found["both"])]
    return [each for each in told if each.get("dev") or not dev]


def stores(path: Path, told: Sequence[Item]) -> Iterator[tuple[Store, list[Item]]]:
    """Stores of some items each, after their night; items that follow one another lie apart."""
    count = -(-len(told) // TOGETHER)
    for number in range(count):
        chosen = list(told[number::count])
        root = path / str(number)
        layout.create(root / "memory", "Europe/Amsterdam")
        store = layout.open_store(root / "memory", {"CLSM_DEVICE": "bench"})
        now = datetime.fromisoformat(NOW)
        # The older first, as it was: what is taken in together has no order of its own.
        for order, folder in enumerate(_written(root, chosen)):
            request = Intake(paths=(str(folder),), now=now)
            ingest.ingest(store, request, _embedder(), lambda *_: None)
            if order:
                consolidate.consolidate(store, Night(now=now), _embedder(), lambda *_: None)
        yield store, chosen


def _written(root: Path, chosen: Sequence[Item]) -> list[Path]:
    """The files of some items: first those of the earlier day, then those of the later one."""
    folders = [root / "earlier", root / "later"]
    for item in chosen:
        for number, (when, text) in enumerate(item.get("told", [])):
            row = {"role": "user", "speaker": "user", "content": text, "timestamp": when}
            path = folders[number > 0] / f"{item['id']}-{number}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({**row, "session": path.stem}) + "\n", "utf-8")
        for number, (name, text) in enumerate(item.get("notes", [])):
            path = folders[number > 0] / item["id"] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    return folders


def judge(figures: Figures, item: Item, answer: Answer, rows: Sequence[Statement]) -> None:
    """Add what an answer, and the statements of its store, say of an item."""
    figures.items += 1
    told = [(each, _holds(each.text, item)) for each in answer.memories]
    if item["manner"] == "both":
        ended = [each.text for each in answer.memories if each.until]
        ended += [row.text for row in rows if row.valid_until]
        keeps = [str(each).casefold() for each in item["keeps"]]
        if any(keep in text.casefold() for text in ended for keep in keeps):
            figures.wrong += 1
            figures.missed.append(f"closed: {item['id']} {item['asks']}")
        return
    sides = [side for _, side in told if side]
    is_first = sides[:1] == ["new"]
    is_current = any(side == "old" and not each.until for each, side in told)
    old = str(item["old"]).casefold()
    is_stale = any(
        old in f"{fact.value}".casefold() and not fact.valid_until for fact in answer.facts
    )
    figures.first += is_first
    figures.current += is_current
    figures.stale += is_stale
    if not is_first or is_current or is_stale:
        what = [not is_first and "not first", is_current and "current", is_stale and "stale"]
        said = ", ".join(filter(None, what))
        figures.missed.append(f"{said}: {item['id']} {item['asks']} {sides}")


def _holds(text: str, item: Item) -> str:
    """Whether a text has the new value, or the old one alone."""
    folded = text.casefold()
    for side in ("new", "old"):
        if str(item.get(side)).casefold() in folded:
            return side
    return ""


def measured(work: Path, told: Sequence[Item]) -> dict[str, Figures]:
    """The figures by manner."""
    found: dict[str, Figures] = {}
    for store, chosen in stores(work, told):
        records = shards.load_graph(store.graphs()).records.values()
        rows = [each for each in records if isinstance(each, Statement)]
        asked = (Query(item["asks"], NOW, 10, 2000) for item in chosen)
        answers = recall(store, asked, _engine(), _embedder())
        for item, answer in zip(chosen, answers, strict=True):
            judge(found.setdefault(item["manner"], Figures()), item, answer, rows)
    return found


@cache
def _encoder() -> Encoder:
    return Encoder.open(weights.default_folder())


@cache
def _table() -> Words:
    return Words.open(weights.default_folder())


@cache
def _engine() -> QueryEngine:
    return QueryEngine()


def _embedder() -> Embedder:
    return Embedder(ENGINE, lambda: _encoder().encode, lambda texts: _table().of(texts))


def lines(found: dict[str, Figures]) -> Iterable[str]:
    """The table, in percent, and all changes together."""
    yield "| manner | items | new first | old as current | stale fact | wrongly closed |"
    yield "|---|---:|---:|---:|---:|---:|"
    both = found.get("both", Figures())
    changed = {name: each for name, each in sorted(found.items()) if name != "both"}
    whole = Figures(*(sum(getattr(f, n) for f in changed.values()) for n in _COUNTS))
    for name, each in [*changed.items(), ("all changes", whole)]:
        n = each.items or 1
        yield (
            f"| {name} | {each.items} | {100 * each.first / n:.0f} | {100 * each.current / n:.0f} |"
            f" {each.stale} | – |"
        )
    yield f"| both true | {both.items} | – | – | – | {both.wrong} |"


_COUNTS = ("items", "first", "current", "stale", "wrong")


def is_missed(found: dict[str, Figures]) -> bool:
    """Whether a target is missed."""
    sums: Counter[str] = Counter()
    for name, each in found.items():
        for count in _COUNTS:
            sums["both" if name == "both" else "", count] += getattr(each, count)  # type: ignore[index]
    changed = sums["", "items"] or 1  # type: ignore[index]
    return (
        sums["", "first"] < FIRST * changed  # type: ignore[index]
        or sums["", "current"] > (1 - CLOSED) * changed  # type: ignore[index]
        or sums["", "stale"] > 0  # type: ignore[index]
        or sums["both", "wrong"] > WRONG * (sums["both", "items"] or 1)  # type: ignore[index]
    )


def main() -> int:
    """Make the stores, ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, default=ITEMS)
    parser.add_argument("--dev", action="store_true", help="only what developers may look at")
    parser.add_argument("--verbose", action="store_true", help="what is missed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clsm-changes-") as work:
        found = measured(Path(work), items(given.items, dev=given.dev))
    print(*lines(found), sep="\n")
    if given.verbose:
        print(*(line for each in found.values() for line in each.missed), sep="\n")
    return int(is_missed(found))


if __name__ == "__main__":
    sys.exit(main())
