"""The result of a run: the JSON itself, schema ``clsm.eval/2``, for all reports.

Shares are 0 … 1 with all their digits; None stands where nothing is defined.
"""

from collections.abc import Sequence  # the annotations of a schema
from typing import TypedDict

SCHEMA = "clsm.eval/2"

Figures = dict[str, float | None]  # measure → mean over queries; see ``grids.HEADINGS``
Interval = Sequence[float]  # two numbers


class SystemResult(TypedDict):
    """One system on one set: over all queries that count, and by category."""

    name: str
    figures: Figures
    intervals: dict[str, Interval]  # 95 % bootstrap, of the headline measures, cases as clusters
    groups: dict[str, dict[str, Figures]]


class Difference(TypedDict):
    """A difference query by query: mean, 95 % interval, two-sided p."""

    difference: float
    interval: Interval
    p: float


class Pair(Difference):
    """What clsm has more than another system."""

    measure: str
    against: str


class AblationResult(Difference):
    """A mechanism taken out: the headline measure without it minus with it."""

    mechanism: str
    about: str
    figures: Figures


class AbstentionResult(TypedDict):
    """Does the confidence of a system tell what the memory holds from what it does not?"""

    system: str
    negative: str
    queries: int
    auroc: float
    refused: float


class QueryResult(TypedDict):
    """One query: system → measure → value."""

    id: str
    case: str
    category: str
    values: dict[str, Figures]


class SetResult(TypedDict):
    """One labelled set; clsm is the first of its systems."""

    kind: str
    name: str
    digest: str
    unit: str
    headline: str
    notes: Sequence[str]
    sizes: dict[str, int]
    stored: float | None  # CAIM's memory storage (``benches.stored_share``)
    silenced: float  # the share of the queries with an answer that clsm gives nothing for
    systems: Sequence[SystemResult]
    pairs: Sequence[Pair]
    ablation: Sequence[AblationResult]
    abstention: Sequence[AbstentionResult]
    queries: Sequence[QueryResult]


class ProbeVerdict(TypedDict):
    """One system under a probe."""

    system: str
    passed: bool
    figures: dict[str, float]


class ProbeResult(TypedDict):
    """One probe; it means something where the lexical baseline fails."""

    name: str
    about: str  # what is tried
    criterion: str  # what has to hold
    verdicts: Sequence[ProbeVerdict]  # that of clsm first


class Result(TypedDict):
    """A whole run."""

    schema: str
    version: str
    command: str
    machine: dict[str, str]
    seed: int
    settings: dict[str, str]  # those that differed from the shipped ones
    sets: Sequence[SetResult]
    probes: Sequence[ProbeResult]
