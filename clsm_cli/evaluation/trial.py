"""One labelled set, in reading order: stores → systems asked → mechanisms out → figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clsm_cli.evaluation import benches, compare, stored
from clsm_cli.evaluation.ablation import overrides
from clsm_cli.evaluation.ablation.mechanisms import MECHANISMS
from clsm_cli.evaluation.ablation.systems import chosen
from clsm_cli.evaluation.field import Field
from clsm_cli.evaluation.result import Ablated, QueryResult, SetResult
from clsm_cli.evaluation.systems import registry
from clsm_cli.evaluation.systems.recall import Packed, Recall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.ablation.mechanisms import Mechanism
    from clsm_cli.evaluation.asked import Measured
    from clsm_cli.evaluation.bench import System
    from clsm_cli.evaluation.dataset import Dataset
    from clsm_cli.evaluation.request import Request
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine

KEPT = (*compare.HEADLINES, "precision", "reached", "tokens")
"""Measures that a report has for each query by itself."""
CONFIDENT = (registry.CLSM, *registry.BASELINES)
"""Systems that are also asked what has no answer; published ones have no confidence of their own."""
PACKED = "clsm, packed"
"""clsm told how many tokens are left: it packs for them, where all others are cut in rank order."""
CUT = "concept-cut"
"""The mechanism without which clsm is shown wherever concepts are labelled: recall before the cut."""
TESTED = "consolidation"
"""The mechanism that is compared in each category, as a system is: what the night is for."""


def of_set(dataset: Dataset, request: Request, shop: Workshop, engine: Engine) -> SetResult:
    """Evaluate every system on a set.

    Args:
        dataset: The labelled set.
        request: With which systems, settings and seed.
        shop: Where stores are made.
        engine: Makes the vectors of queries; open.

    Raises:
        BadInputError: Something in the set could not be ingested, or there is no such mechanism.
        DiskError: The work folder cannot be written.
    """
    made = [
        overrides.applied(each, request.settings) for each in benches.make(dataset, shop, engine)
    ]
    asked = Field(made)
    systems = _systems(dataset, request.presets)
    found = _asked(asked, systems, request)
    negatives = {
        system.name: asked.refuse(system) for system in systems if system.name in CONFIDENT
    }
    ours = found.answers[registry.CLSM]
    return SetResult(
        kind=dataset.kind,
        name=dataset.name,
        digest=dataset.digest,
        unit=dataset.unit,
        headline=dataset.headline,
        whole=dataset.whole,
        notes=dataset.notes,
        sizes=stored.sizes(made),
        stored=stored.share(made),
        silenced=sum(not each.is_answered for each in ours) / len(ours),
        systems=tuple(
            compare.system(name, found.about[name], measured, asked.of, request.seed)
            for name, measured in found.answers.items()
        ),
        pairs=tuple(compare.pairs(found.answers, registry.CLSM, asked.of, request.seed)),
        ablation=tuple(found.ablated),
        abstention=tuple(compare.abstention(found.answers, negatives, asked.unanswerable)),
        queries=tuple(_queries(asked, found)),
    )


@dataclass(slots=True)
class _Found:
    """What all systems made of the queries with an answer, and what each system is."""

    answers: dict[str, list[Measured]] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    ablated: list[Ablated] = field(default_factory=list)

    def add(self, name: str, about: str, measured: list[Measured]) -> None:
        """One more system."""
        self.answers[name], self.about[name] = measured, about


def _systems(dataset: Dataset, presets: Sequence[str]) -> list[System]:
    """clsm, also packed for each budget and before its concepts are cut; then all others."""
    ours: list[System] = [Recall(registry.CLSM)]
    if any(query.gold for case in dataset.cases for query in case.queries):
        ours.append(Packed(PACKED))
    if any(query.concepts for case in dataset.cases for query in case.queries):
        ours.append(MECHANISMS[CUT].system())
    return [*ours, *registry.presets(presets), *registry.baselines()]


def _asked(asked: Field, systems: Sequence[System], request: Request) -> _Found:
    """Every system asked, rankers and clsm without mechanisms too."""
    found = _Found()
    for system in systems:
        found.add(system.name, system.about, asked.ask(system))
    for name, measured, about in asked.ranked():
        found.add(name, about, measured)
    ours = found.answers[registry.CLSM]
    for mechanism in chosen(request.mechanisms):
        if not all(map(mechanism.applies, asked.benches)):
            continue
        system = mechanism.system()
        without = asked.ask(system)
        found.ablated.append(_ablated(mechanism, without, ours, asked, request.seed))
        if mechanism.name == TESTED:
            found.add(system.name, system.about, without)
    return found


def _ablated(
    mechanism: Mechanism,
    without: Sequence[Measured],
    ours: Sequence[Measured],
    asked: Field,
    seed: int,
) -> Ablated:
    """What taking out a mechanism changes."""
    found = compare.pair(without, ours, asked.headline, asked.of.cases, seed)
    difference, interval, p = found or (0.0, (0.0, 0.0), 1.0)
    figures = compare.means(without, range(len(without)))
    return Ablated(mechanism.name, mechanism.about, figures, difference, interval, p)


def _queries(asked: Field, found: _Found) -> Iterator[QueryResult]:
    for at, query in enumerate(asked.of.queries):
        yield QueryResult(
            id=query.id,
            case=asked.of.cases[at],
            category=query.category,
            difficulty=query.difficulty,
            gold=len(query.gold),
            values={
                name: {
                    key: measured[at].figures[key] for key in KEPT if key in measured[at].figures
                }
                for name, measured in found.answers.items()
            },
            ranks={name: measured[at].ranks for name, measured in found.answers.items()},
        )
