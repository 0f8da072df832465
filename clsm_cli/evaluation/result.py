"""What a run of ``clsm eval`` found: data only, the same in memory, in JSON and in every report.

Schema ``clsm.eval/1``. Shares are 0 … 1 with all their digits; None stands where nothing is defined.
"""

from __future__ import annotations

from dataclasses import dataclass

SCHEMA = "clsm.eval/1"

Figures = dict[str, float | None]
"""Measure → mean over queries; see ``measures.MEASURES``."""


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system on one set.

    Attributes:
        figures: Over all queries that count.
        intervals: Measure → 95 % bootstrap interval, cases as clusters; of the headline measures.
        groups: Kind of group (category, difficulty, case) → its name → figures.
        curve: Points (recall, precision) at 1, 2, … items, means over queries.
    """

    name: str
    about: str
    figures: Figures
    intervals: dict[str, tuple[float, float]]
    groups: dict[str, dict[str, Figures]]
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """What clsm has more than another system, query by query.

    Attributes:
        group: ``all``, or the name of a category.
        difference: Mean of clsm's measure minus the other's.
        interval: Its 95 % bootstrap interval.
        p: Two-sided, by random signs of the differences.
    """

    measure: str
    against: str
    group: str
    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, slots=True)
class Ablated:
    """A mechanism taken out.

    Attributes:
        about: What it does, in a few words.
        figures: Without it.
        difference: Headline measure without it minus with it.
    """

    mechanism: str
    about: str
    figures: Figures
    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, slots=True)
class Abstention:
    """Does the confidence of a system tell what the memory holds from what it does not?

    Attributes:
        negative: Kind of query without an answer.
        queries: How many.
        auroc: Probability that a query with an answer has more confidence; a tie counts half.
        refused: Share of these queries that got nothing.
    """

    system: str
    negative: str
    queries: int
    auroc: float
    refused: float


@dataclass(frozen=True, slots=True)
class QueryResult:
    """One query.

    Attributes:
        case: Its store.
        gold: Pieces of evidence.
        values: System → measure → value.
        ranks: System → place from 1 of the first item that holds each piece; None: not returned.
    """

    id: str
    case: str
    category: str
    difficulty: str
    gold: int
    values: dict[str, Figures]
    ranks: dict[str, tuple[int | None, ...]]


@dataclass(frozen=True, slots=True)
class SetResult:
    """One labelled set.

    Attributes:
        digest: SHA-256 of the set.
        sizes: What it holds, by name.
        stored: CAIM's memory storage: share of the evidence that the store holds at all.
        silenced: Share of the queries with an answer that clsm gives nothing for.
        systems: clsm first.
    """

    kind: str
    name: str
    digest: str
    unit: str
    headline: str
    whole: str
    notes: tuple[str, ...]
    sizes: dict[str, int]
    stored: float | None
    silenced: float
    systems: tuple[SystemResult, ...]
    pairs: tuple[Pair, ...]
    ablation: tuple[Ablated, ...]
    abstention: tuple[Abstention, ...]
    queries: tuple[QueryResult, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """A named line of a chart: points by x ascending."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One system under a probe."""

    system: str
    passed: bool
    figures: dict[str, float]


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One probe.

    Attributes:
        about: What is tried; ``criterion``: what has to hold.
        verdicts: clsm first, then what it is compared with. A probe means something where the
            lexical baseline fails.
        axes: Names of x and y of ``series``; empty without a chart.
    """

    name: str
    about: str
    criterion: str
    verdicts: tuple[Verdict, ...]
    axes: tuple[str, str] | tuple[()] = ()
    series: tuple[Series, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A whole run.

    Attributes:
        command: As it was typed, without paths of the machine.
        machine: Processor, cores, system and Python, by name.
        settings: What differed from the shipped settings.
    """

    schema: str
    version: str
    command: str
    machine: dict[str, str]
    seed: int
    settings: dict[str, str]
    sets: tuple[SetResult, ...]
    probes: tuple[ProbeResult, ...]
