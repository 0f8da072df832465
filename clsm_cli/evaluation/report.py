"""What an evaluation says: data only, rendered elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.evaluation import measures, metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.evaluation.measures import Scored
    from clsm_cli.evaluation.ranking.asking import Asked

Figures = dict[str, float]
"""Measure → mean."""


Groups = dict[str, dict[str, list[int]]]
"""Kind of group (category, conversation …) → its name → places of its questions."""


@dataclass(frozen=True, slots=True)
class Row:
    """One system.

    Attributes:
        figures: Over the questions that count.
        interval: 95 % bootstrap interval of the headline measure, conversations as clusters.
        groups: Kind of group → its name → figures.
    """

    system: str
    figures: Figures
    interval: tuple[float, float]
    groups: dict[str, dict[str, Figures]]


@dataclass(frozen=True, slots=True)
class Asking:
    """One question and where each system ranked its gold; None: not returned."""

    id: str
    conversation: str
    category: str
    gold: tuple[str, ...]
    ranks: dict[str, tuple[int | None, ...]]


@dataclass(frozen=True, slots=True)
class Ablation:
    """A signal taken out: figures with its weight at 0, and with the others fitted anew."""

    signal: str
    weight: float
    fixed: Figures
    refit: Figures


@dataclass(frozen=True, slots=True)
class Abstention:
    """Does confidence tell what the memory holds from what it does not?

    Attributes:
        wrong_person: AUROC of answerable against adversarial questions; None without any.
        off_topic: AUROC of answerable against questions about other conversations.
        adversarial: How many adversarial questions; ``strangers``: off-topic ones.
        floor: The shipped floor of confidence.
        silenced: Share of answerable questions below it; ``refused_*`` of the others.
        recall_lost: Of recall@10 by those.
    """

    answerable: int
    adversarial: int
    strangers: int
    wrong_person: float | None
    off_topic: float | None
    floor: float
    silenced: float
    refused_adversarial: float
    refused_off_topic: float
    recall_lost: float


@dataclass(frozen=True, slots=True)
class ChatReport:
    """The result of LoCoMo or GVD.

    Attributes:
        data: What the set held and what was left out.
        headline: Measure of the intervals.
        weights: Name of a set of weights → signal → weight.
    """

    dataset: str
    data: dict[str, int | list[str]]
    headline: str
    rows: tuple[Row, ...]
    weights: dict[str, dict[str, float]]
    ablation: tuple[Ablation, ...]
    abstention: Abstention | None
    questions: tuple[Asking, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """What recall gives against another system on the same questions.

    Attributes:
        difference: Mean of clsm's measure minus the other's.
        interval: Its 95 % bootstrap interval.
        p: Two-sided, by random signs of the differences.
    """

    measure: str
    against: str
    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, slots=True)
class CueFigures:
    """One query of notes: the headline measure by system, and what became of its concepts."""

    id: str
    category: str
    difficulty: str
    recall: dict[str, float]
    concepts: Figures


@dataclass(frozen=True, slots=True)
class NotesReport:
    """The result of an agent's notes.

    Attributes:
        concepts: Name of a group (``all``, a category, a difficulty) → precision, recall, f1 and
            coverage of the first ten concepts.
        near_topic: AUROC of answerable queries against questions on a known subject that the notes
            hold no answer to; None without any.
        off_topic: The same against questions about something else altogether.
    """

    data: dict[str, int]
    headline: str
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    concepts: dict[str, Figures]
    near_topic: float | None
    off_topic: float | None
    queries: tuple[CueFigures, ...]


def row(
    scored: Scored,
    counted: Sequence[int],
    clusters: Sequence[str],
    groups: Groups,
    headline: str,
    seed: int,
) -> Row:
    """The figures of a system.

    Args:
        scored: Its rankings.
        counted: Places of the questions that count.
        clusters: The cluster of every question, for the bootstrap.
        groups: What is shown apart.
        headline: Measure of the interval.
        seed: Of the bootstrap.
    """
    values = scored.values[headline]
    return Row(
        system=scored.name,
        figures=measures.means(scored, counted),
        interval=metrics.cluster_interval(
            [float(values[at]) for at in counted], [clusters[at] for at in counted], seed
        ),
        groups={
            kind: {name: measures.means(scored, places) for name, places in named.items()}
            for kind, named in groups.items()
        },
    )


def grouped(names: Sequence[str], places: Iterable[int]) -> dict[str, list[int]]:
    """Places by the name that stands at them, names sorted.

    >>> grouped(["b", "a", "b"], [0, 1, 2])
    {'a': [1], 'b': [0, 2]}
    """
    found: dict[str, list[int]] = {}
    for place in places:
        found.setdefault(names[place], []).append(place)
    return dict(sorted(found.items()))


def questions(asked: Sequence[Asked], scored: Sequence[Scored]) -> tuple[Asking, ...]:
    """The ranks of every question's gold."""
    return tuple(
        Asking(
            id=each.question.id,
            conversation=each.conversation,
            category=each.question.category,
            gold=each.question.gold,
            ranks={system.name: _whole(system.ranks[place]) for system in scored},
        )
        for place, each in enumerate(asked)
    )


def _whole(ranks: Sequence[float]) -> tuple[int | None, ...]:
    return tuple(None if rank == float("inf") else int(rank) for rank in ranks)
