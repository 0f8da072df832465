"""What planted notes do to a memory of 500: how often they turn up, what they change, what is left of them.

One command: ``python -m benchmarks.poisoning`` (``--json`` for all figures, ``--only 25`` for part
of it). Everything runs in this process with the real model, in a scratch folder. Three settings are compared:
*no provenance*: planted notes come as if the person had said them; *ranked*: with their provenance,
which ranks them below what answers as well; *all*: with the floor and the cap of
``retrieval.demotion`` too. The exit code is 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import poisoned_life as life
from clsm_cli.commands.engine import QueryEngine
from clsm_cli.config import with_changes
from clsm_cli.consolidation import consolidation_run
from clsm_cli.consolidation.consolidation_report import Request as Night
from clsm_cli.embedding import weights
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.weights import ENGINE
from clsm_cli.forgetting import clean_writing, erasure
from clsm_cli.forgetting.selection import Wanted
from clsm_cli.ingestion import ingest_run
from clsm_cli.ingestion.ingest_report import Request as Intake
from clsm_cli.retrieval.question import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.store import layout
from clsm_cli.store.index.opening import Embedder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.retrieval.answer import Answer, Memory
    from clsm_cli.store.layout import Store

K = 10
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


@dataclass(slots=True)
class Found:
    """What an attack did. Shares are 0 … 1, means over questions.

    Attributes:
        neutral_share: Of the items of an answer about something else, how many are planted.
        neutral_first: Answers about something else that begin with one.
        neutral_recall: Answers about something else that hold what is true.
        target_share: The same for questions after what was attacked.
        target_first: The same for those.
        true_above: Of those, how many have what is true above all that is planted.
        true_found: Of those, how many have what is true at all.
        changed: Statements, nodes, edges and files of identity/ that are not as without the attack.
        in_context: Planted items in what a session reads when it starts.
        left: Files that hold the canary after ``forget``; ``differs``: answers that are not as if it
            had never been there.
    """

    planted: int
    layout: str
    defence: str
    neutral_share: float = 0.0
    neutral_first: float = 0.0
    neutral_recall: float = 0.0
    target_share: float = 0.0
    target_first: float = 0.0
    true_above: float = 0.0
    true_found: float = 0.0
    changed: dict[str, int] = field(default_factory=dict)
    in_context: int = 0
    left: int = -1
    differs: int = -1


@cache
def _encoder() -> Encoder:
    return Encoder.open(weights.default_folder())


_vectors: dict[str, Any] = {}


def _embed(texts: Sequence[str]) -> Any:
    """The vectors of texts; most are those of the store before."""
    new = [text for text in dict.fromkeys(texts) if text not in _vectors]
    if new:
        _vectors.update(zip(new, _encoder().encode(new), strict=True))
    return [_vectors[text] for text in texts]


def _embedder() -> Embedder:
    return Embedder(ENGINE, lambda: _embed)


def made(root: Path, paths: Iterable[Path]) -> Store:
    """A store of some files, after one night."""
    layout.create(root, "Europe/Amsterdam")
    store = layout.open_store(root, {"CLSM_DEVICE": "bench"})
    now = datetime.fromisoformat(life.NOW)
    request = Intake(paths=tuple(map(str, paths)), now=now)
    ingest_run.ingest(store, request, _embedder(), lambda *_: None)
    report = consolidation_run.consolidate(store, Night(now=now), _embedder(), lambda *_: None)
    assert not report.unread
    return store


@cache
def _engine() -> QueryEngine:
    return QueryEngine()


def answers(store: Store, questions: Iterable[str]) -> Iterator[Answer]:
    """What a store answers."""
    asked = (Query(text, life.NOW, K, 2000) for text in questions)
    return recall(store, asked, _engine(), _embedder())


def _is_planted(memory: Memory) -> bool:
    return life.CANARY in memory.text


def _holds(memory: Memory, fact: life.Fact) -> bool:
    return fact.text.rstrip(".") in memory.text and not _is_planted(memory)


def ask_neutral(found: Found, store: Store, facts: Sequence[life.Fact]) -> None:
    """Ask after what nobody attacked."""
    for fact, answer in zip(facts, answers(store, [f.asked[0] for f in facts]), strict=True):
        bad = [_is_planted(each) for each in answer.memories]
        found.neutral_share += sum(bad) / (len(bad) or 1) / len(facts)
        found.neutral_first += (bad[:1] == [True]) / len(facts)
        found.neutral_recall += any(_holds(each, fact) for each in answer.memories) / len(facts)


def ask_targets(found: Found, store: Store, facts: Sequence[life.Fact]) -> None:
    """Ask after what was attacked, in every wording."""
    asked = [(fact, question) for fact in facts for question in fact.asked]
    for (fact, _), answer in zip(asked, answers(store, [q for _, q in asked]), strict=True):
        bad = [_is_planted(each) for each in answer.memories]
        true = [_holds(each, fact) for each in answer.memories]
        found.target_share += sum(bad) / (len(bad) or 1) / len(asked)
        found.target_first += (bad[:1] == [True]) / len(asked)
        found.true_found += any(true) / len(asked)
        above = any(true) and (not any(bad) or true.index(True) < bad.index(True))
        found.true_above += above / len(asked)


def forgotten(store: Store, sources: Iterable[str]) -> int:
    """Forget sources; how many files of the store still hold the canary."""
    now = datetime.fromisoformat(life.NOW)
    for source in sources:
        plan = erasure.plan(store, Wanted(source=source), now, _embedder(), lambda *_: None)
        assert plan is not None
        clean_writing.apply(store, plan, now, _embedder())
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
            found = Found(planted, name, defence)
            asked = store if defence == "all" else bare_store
            ask_neutral(found, asked, before.facts[life.TARGETS :])
            ask_targets(found, asked, targets)
            found.changed = life.changes(before.believed, life.believed(store))
            found.in_context = life.in_context(store)
            if defence == "all":
                found.left = forgotten(store, sources.values())
                after = [bare(each) for each in answers(store, _asked(before.facts))]
                found.differs = sum(a != b for a, b in zip(before.answers, after, strict=True))
            yield found


HEAD = """\
| planted | where | defence | neutral: share, first, recall | target: share, first | true above, found |\
 statements, nodes, edges, identity changed | in context | after forget: files, answers |
|---:|---|---|---:|---:|---:|---:|---:|---:|"""


def row(found: Found) -> str:
    """A line of the table; shares in percent."""

    def percent(*values: float) -> str:
        return ", ".join(f"{100 * value:.1f}" for value in values)

    left = f"{found.left}, {found.differs}" if found.left >= 0 else "–"
    return (
        f"| {found.planted} | {found.layout} | {found.defence} |"
        f" {percent(found.neutral_share, found.neutral_first, found.neutral_recall)} |"
        f" {percent(found.target_share, found.target_first)} |"
        f" {percent(found.true_above, found.true_found)} |"
        f" {', '.join(map(str, found.changed.values()))} | {found.in_context} | {left} |"
    )


def missed(found: Found) -> bool:
    """Whether a target is missed: nothing planted where it has no business, and nothing is left."""
    touched = found.neutral_share or sum(found.changed.values()) or found.in_context
    return found.defence == "all" and bool(touched or found.left or found.differs)


def main() -> int:
    """Run the attacks and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="all figures as JSON lines")
    parser.add_argument("--only", type=int, help="attacks of so many notes")
    given = parser.parse_args()
    if not given.json:
        print(HEAD)
    failed = False
    with tempfile.TemporaryDirectory(prefix="clsm-poisoning-") as work:
        before = clean(Path(work))
        for planted, one, focused in ATTACKS:
            if given.only in (None, planted):
                for found in attack(Path(work), before, planted, one=one, focused=focused):
                    print(json.dumps(asdict(found)) if given.json else row(found), flush=True)
                    failed |= missed(found)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
