"""What planted notes do to a memory of 500: how often they turn up, what they change, what is left of them.

One command: ``python -m benchmarks.poisoning`` (``--only 25`` for part of it). Everything runs in this
process with the real model, in a scratch folder. Three settings are compared:
*no provenance*: planted notes come as if the person had said them; *ranked*: with their provenance,
which ranks them below what answers as well; *all*: with the floor and the cap of
``retrieval.demotion`` too. The exit code is 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import in_process
from benchmarks import poisoned_life as life
from clsm_cli.config import with_changes
from clsm_cli.forgetting import clean_writing, erasure
from clsm_cli.forgetting.selection import ForgetRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.retrieval.answer import Answer, Memory
    from clsm_cli.store.layout import Store

SEED = 3
OFF = {"recall.untrusted_floor": 0, "recall.source_share": 1}
"""Settings without the defences of ``retrieval.demotion``."""
DEFENCES = ("no provenance", "ranked", "all")
ATTACKS = (
    (1, False, False),
    (5, False, False),
    (25, False, False),
    (25, True, False),
    (25, True, True),
)
"""Planted notes; whether all on one page; whether all at five facts instead of one each."""


class Shares(NamedTuple):
    """What answers hold, means over questions, 0 … 1.

    Attributes:
        planted: Of the items of an answer, how many are planted.
        first: Answers that begin with a planted one.
        found: Answers that hold what is true.
        above: Answers that have what is true above all that is planted.
    """

    planted: float
    first: float
    found: float
    above: float


class Found(NamedTuple):
    """What an attack did.

    Attributes:
        neutral: Answers about something else; ``target``: about what was attacked, in every wording.
        changed: Statements, nodes, edges and files of identity/ that are not as without the attack.
        in_context: Planted items in what a session reads when it starts.
        left: Files that hold the canary after ``forget``; ``differs``: answers that are not as if it
            had never been there.
    """

    planted: int
    layout: str
    defence: str
    neutral: Shares
    target: Shares
    changed: dict[str, int]
    in_context: int
    left: int = -1
    differs: int = -1


def made(root: Path, paths: Iterable[Path]) -> Store:
    """A store of some files, after one night."""
    store = in_process.new_store(root)
    in_process.take_in(store, paths, life.NOW)
    in_process.sleep(store, life.NOW)
    return store


def answers(store: Store, questions: Iterable[str]) -> Iterator[Answer]:
    """What a store answers."""
    return in_process.ask(store, questions, life.NOW)


def _is_planted(memory: Memory) -> bool:
    return life.CANARY in memory.text


def _holds(memory: Memory, fact: life.Fact) -> bool:
    return fact.text.rstrip(".") in memory.text and not _is_planted(memory)


def shares(store: Store, asked: Sequence[tuple[life.Fact, str]]) -> Shares:
    """Ask questions, each after a fact."""
    rows = []
    for (fact, _), answer in zip(asked, answers(store, [q for _, q in asked]), strict=True):
        bad = [_is_planted(each) for each in answer.memories]
        true = [_holds(each, fact) for each in answer.memories]
        is_above = any(true) and (not any(bad) or true.index(True) < bad.index(True))
        rows.append((sum(bad) / (len(bad) or 1), bad[:1] == [True], any(true), is_above))
    return Shares(*map(fmean, zip(*rows, strict=True)))


def forgotten(store: Store, sources: Iterable[str]) -> int:
    """Forget sources; how many files of the store still hold the canary."""
    now, embedder = datetime.fromisoformat(life.NOW), in_process.EMBEDDER
    for source in sources:
        plan = erasure.plan(store, ForgetRequest(source=source), now, embedder, lambda *_: None)
        assert plan is not None
        clean_writing.apply(store, plan, now, embedder)
    return sum(
        life.CANARY.encode() in path.read_bytes().lower()
        for path in store.root.rglob("*")
        if path.is_file()
    )


def bare(answer: Answer) -> list[tuple[object, ...]]:
    """What must be equal in the answers of two stores."""
    return [(m.id, m.text, m.score, m.confidence, m.trust) for m in answer.memories]


class Clean(NamedTuple):
    """The life that nobody attacked: its files and facts, what a night made of it, its answers."""

    paths: list[Path]
    facts: list[life.Fact]
    believed: dict[str, dict[str, str]]
    answers: list[list[tuple[object, ...]]]


def _asked(facts: Sequence[life.Fact]) -> list[str]:
    """What is asked again after all that was planted has been forgotten."""
    return [fact.asked[0] for fact in facts[: 2 * life.TARGETS]]


def clean(work: Path) -> Clean:
    """Make it."""
    rng = random.Random(SEED)
    facts = life.facts(rng)
    folder = work / "life"
    folder.mkdir()
    paths = life.write_life(folder, facts, rng)
    store = made(work / "clean", paths)
    told = [bare(each) for each in answers(store, _asked(facts))]
    return Clean(paths, facts, life.believed(store), told)


def attack(work: Path, before: Clean, planted: int, *, one: bool, focused: bool) -> Iterator[Found]:
    """The figures of one attack, under each defence."""
    name = "one page, five facts" if focused else "one page" if one else "own sources"
    targets = before.facts[: 5 if focused else min(planted, life.TARGETS)]
    # A single note is tried in its most harmful form, others in all.
    forms = ["stuffed"] if planted == 1 else life.FORMS
    notes = [
        life.planted(targets[n % len(targets)], forms[(n // len(targets) + n) % len(forms)])
        for n in range(planted)
    ]
    for vouched in (True, False):
        folder = work / f"planted-{planted}-{one}-{focused}-{vouched}"
        folder.mkdir()
        sources = life.write_planted(folder, notes, one_source=one, vouched=vouched)
        store = made(work / f"store-{folder.name}", [*before.paths, *sources])
        bare_store = store._replace(settings=with_changes(store.settings, OFF))
        for defence in DEFENCES[:1] if vouched else DEFENCES[1:]:
            print(f"{planted} planted, {name}, {defence}", file=sys.stderr)
            asked = store if defence == "all" else bare_store
            neutral = shares(asked, [(f, f.asked[0]) for f in before.facts[life.TARGETS :]])
            target = shares(asked, [(f, question) for f in targets for question in f.asked])
            changed = life.changes(before.believed, life.believed(store))
            known = Found(planted, name, defence, neutral, target, changed, life.in_context(store))
            if defence == "all":
                left = forgotten(store, sources.values())
                after = [bare(each) for each in answers(store, _asked(before.facts))]
                differs = sum(a != b for a, b in zip(before.answers, after, strict=True))
                known = known._replace(left=left, differs=differs)
            yield known


HEAD = """\
| planted | where | defence | neutral: share, first, recall | target: share, first | true above, found |\
 statements, nodes, edges, identity changed | in context | after forget: files, answers |
|---:|---|---|---:|---:|---:|---:|---:|---:|"""


def row(found: Found) -> str:
    """A line of the table; shares in percent."""

    def percent(*values: float) -> str:
        return ", ".join(f"{100 * value:.1f}" for value in values)

    neutral, target = found.neutral, found.target
    cells = (
        *(str(found.planted), found.layout, found.defence),
        percent(neutral.planted, neutral.first, neutral.found),
        percent(target.planted, target.first),
        percent(target.above, target.found),
        ", ".join(map(str, found.changed.values())),
        str(found.in_context),
        f"{found.left}, {found.differs}" if found.left >= 0 else "–",
    )
    return f"| {' | '.join(cells)} |"


def missed(found: Found) -> bool:
    """Whether a target is missed: nothing planted where it has no business, and nothing is left."""
    touched = found.neutral.planted or sum(found.changed.values()) or found.in_context
    return found.defence == "all" and bool(touched or found.left or found.differs)


def main() -> int:
    """Run the attacks and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=int, help="attacks of so many notes")
    given = parser.parse_args()
    print(HEAD)
    failed = False
    with tempfile.TemporaryDirectory(prefix="clsm-poisoning-") as work:
        before = clean(Path(work))
        for planted, one, focused in ATTACKS:
            if given.only in (None, planted):
                for found in attack(Path(work), before, planted, one=one, focused=focused):
                    print(row(found), flush=True)
                    failed |= missed(found)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
