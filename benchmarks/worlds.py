"""Whole invented memories, lived day by day with a night after each, and asked about at the end.

One command: ``python -m benchmarks.worlds`` (``--fitted`` for the memories that the head of pairs was
fitted on, ``--verbose`` for each change that is missed). They are those of ``told_worlds.jsonl``
(``fixtures/labels``), in which people marked every change. It asks the real recall three kinds of
questions: what has changed, what has not though later lines look like it, and what the memory does not
know.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import in_process
from benchmarks.measure import table
from clsm_cli.model.graph import Statement
from clsm_cli.store import shards
from scripts import worlds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clsm_cli.retrieval.answer import Answer, Memory
    from clsm_cli.store.layout import Store


@dataclass(slots=True)
class Figures:
    """What a kind of memories answered: counts, each of the questions before it.

    Attributes:
        changes: Questions about what has changed, for the last value.
        first: The new value stands above every old one.
        current: An old value stands there with no word that it is over, or perhaps over.
        stable: Questions about what has not changed.
        best: The answer comes first.
        found: It is among the ten.
        marked: It is marked as over, or perhaps over.
        known: Questions with an answer, of any kind.
        unheard: Nothing came.
        unanswered: Questions without an answer.
        silent: Nothing came.
        marks: Items marked as over or perhaps over, in all answers.
        right: Of these, ones with a line that a change ended.
        closed: Statements that a night closed.
        rightly: Of these, ones of a line that a change ended.
    """

    changes: int = 0
    first: int = 0
    current: int = 0
    stable: int = 0
    best: int = 0
    found: int = 0
    marked: int = 0
    known: int = 0
    unheard: int = 0
    unanswered: int = 0
    silent: int = 0
    marks: int = 0
    right: int = 0
    closed: int = 0
    rightly: int = 0
    missed: list[str] = field(default_factory=list)

    def add(self, other: Figures) -> None:
        """Add the counts of other memories."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class _Lines:
    """The lines of a memory, found in what it says."""

    def __init__(self, world: dict[str, Any]) -> None:
        self._texts = [_plain(line["text"]) for line in world["lines"]]
        self.over = {old for change in world["changes"] for old in change["old"]}

    def of(self, text: str) -> set[int]:
        said = _plain(text)
        return {row for row, line in enumerate(self._texts) if line in said or said in line}


def _plain(text: str) -> str:
    return " ".join(text.split())


def lived(root: Path, world: dict[str, Any]) -> Store:
    """A store after the days and nights of a memory."""
    store = in_process.new_store(root / "memory")
    for day, name, text in worlds.days(world):
        path = root / "told" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        in_process.take_in(store, [root / "told"], f"{day}T20:00:00+00:00")
        in_process.sleep(store, f"{day}T23:00:00+00:00")
    return store


def judged(world: dict[str, Any], store: Store) -> Figures:
    """What a memory answers."""
    figures, lines = Figures(), _Lines(world)
    now = f"{world['lines'][-1]['day']}T23:30:00+00:00"
    last = [change for change in world["changes"] if change["new"] not in lines.over]

    def asked(questions: Iterable[str]) -> Iterator[Answer]:
        return in_process.ask(store, questions, now)

    for change, answer in zip(last, asked(each["ask"] for each in last), strict=True):
        _judge_change(figures, change, answer, lines)
    stable = world["stable"]
    for row, answer in zip(stable, asked(each["ask"] for each in stable), strict=True):
        told = [lines.of(each.text) & {*row["answer"]} for each in answer.memories]
        figures.stable += 1
        figures.best += bool(told and told[0])
        figures.found += any(told)
        figures.marked += any(
            has and _is_marked(each) for has, each in zip(told, answer.memories, strict=True)
        )
        _count_marks(figures, answer, lines)
    more = worlds.more_questions().get(world["world"], {})
    known = [each["ask"] for each in (*world["changes"], *stable, *more.get("asked", ()))]
    unanswered = [*world["unanswered"], *more.get("near", ())]
    figures.known, figures.unanswered = len(known), len(unanswered)
    figures.unheard = sum(not answer.memories for answer in asked(known))
    figures.silent = sum(not answer.memories for answer in asked(unanswered))
    for record in shards.load_graph(store.graphs()).records.values():
        if isinstance(record, Statement) and record.valid_until:
            figures.closed += 1
            figures.rightly += bool(lines.of(record.text) & lines.over)
    return figures


def _judge_change(figures: Figures, change: dict[str, Any], answer: Answer, lines: _Lines) -> None:
    told = [lines.of(each.text) for each in answer.memories]
    news = [place for place, rows in enumerate(told) if change["new"] in rows]
    olds = [
        place
        for place, rows in enumerate(told)
        if rows & {*change["old"]} and change["new"] not in rows
    ]
    is_first = bool(news) and news[0] < min(olds, default=len(told))
    is_current = any(not _is_marked(answer.memories[place]) for place in olds)
    figures.changes += 1
    figures.first += is_first
    figures.current += is_current
    _count_marks(figures, answer, lines)
    if not is_first or is_current:
        figures.missed.append(f"{change['ask']} new {news[:1]} old {olds[:1]}")


def _count_marks(figures: Figures, answer: Answer, lines: _Lines) -> None:
    marked = [each for each in answer.memories if _is_marked(each)]
    figures.marks += len(marked)
    figures.right += sum(bool(lines.of(each.text) & lines.over) for each in marked)


def _is_marked(memory: Memory) -> bool:
    return bool(memory.until or memory.perhaps_until)


def rows(found: dict[str, Figures]) -> Iterator[list[str]]:
    """A row of each kind of memories, shares in percent."""
    for name, each in found.items():
        parts = (
            (each.changes, each.first, each.current),
            (each.stable, each.best, each.found, each.marked),
            (each.known, each.unheard),
            (each.unanswered, each.silent),
        )
        shares = [f"{100 * n / (of or 1):.0f}" for of, *counts in parts for n in counts]
        marks = (f"{each.right} of {each.marks}", f"{each.rightly} of {each.closed}")
        yield [name, str(each.changes), *shares, *marks]


def main() -> int:
    """Live the memories, ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fitted", action="store_true", help="those that the head has seen")
    parser.add_argument("--verbose", action="store_true", help="the changes that are missed")
    given = parser.parse_args()
    found: dict[str, Figures] = defaultdict(Figures)
    with tempfile.TemporaryDirectory(prefix="clsm-worlds-") as work:
        for place, world in enumerate(worlds.told()):
            if worlds.is_held(place) != given.fitted:
                store = lived(Path(work) / str(place), world)
                figures = judged(world, store)
                for name in (world["genre"], "all"):
                    found[name].add(figures)
    head = ["memories", "changes", "new first", "old as current", "unchanged: first", "among ten"]
    head += ["marked", "known: silent", "unanswered: silent", "marks right", "closed rightly"]
    print(table(head, [*rows(dict(sorted(found.items(), key=lambda each: each[0] == "all")))]))
    if given.verbose:
        print(*found["all"].missed, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
