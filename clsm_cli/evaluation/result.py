"""The result of a run: data only, the same in memory, in JSON and in every report.

Its classes are the schema ``clsm.eval/2``. Shares are 0 … 1 with all their digits; None stands where
nothing is defined.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import read_bytes

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "clsm.eval/2"

Figures = dict[str, float | None]
"""Measure → mean over queries; see ``grids.HEADINGS``."""


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system on one set.

    Attributes:
        figures: Over all queries that count.
        intervals: Measure → 95 % bootstrap interval, cases as clusters; of the headline measures.
        groups: "category" → its name → figures.
    """

    name: str
    figures: Figures
    intervals: dict[str, tuple[float, float]]
    groups: dict[str, dict[str, Figures]]


@dataclass(frozen=True, slots=True)
class Pair:
    """What clsm has more than another system, query by query: mean, 95 % interval, two-sided p."""

    measure: str
    against: str
    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, slots=True)
class AblationResult:
    """A mechanism taken out; ``difference`` is the headline measure without it minus with it."""

    mechanism: str
    about: str
    figures: Figures
    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, slots=True)
class AbstentionResult:
    """Does the confidence of a system tell what the memory holds from what it does not?"""

    system: str
    negative: str
    queries: int
    auroc: float
    refused: float


@dataclass(frozen=True, slots=True)
class QueryResult:
    """One query: system → measure → value."""

    id: str
    case: str
    category: str
    values: dict[str, Figures]


@dataclass(frozen=True, slots=True)
class SetResult:
    """One labelled set.

    Attributes:
        stored: CAIM's memory storage: share of the evidence that the store holds at all.
        silenced: Share of the queries with an answer that clsm gives nothing for.
        systems: clsm first.
    """

    kind: str
    name: str
    digest: str
    unit: str
    headline: str
    notes: tuple[str, ...]
    sizes: dict[str, int]
    stored: float | None
    silenced: float
    systems: tuple[SystemResult, ...]
    pairs: tuple[Pair, ...]
    ablation: tuple[AblationResult, ...]
    abstention: tuple[AbstentionResult, ...]
    queries: tuple[QueryResult, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One system under a probe."""

    system: str
    passed: bool
    figures: dict[str, float]


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One probe: what is tried, what has to hold, and the verdicts, that of clsm first.

    It means something where the lexical baseline fails.
    """

    name: str
    about: str
    criterion: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """A whole run; ``settings`` are those that differed from the shipped ones."""

    schema: str
    version: str
    command: str
    machine: dict[str, str]
    seed: int
    settings: dict[str, str]
    sets: tuple[SetResult, ...]
    probes: tuple[ProbeResult, ...]


def dump(result: Result) -> dict[str, Any]:
    """A result as JSON values."""
    return asdict(result)


def load(path: Path) -> Result:
    """Read a report; fields that it has besides, as one of an earlier version may, are passed over.

    Raises:
        BadInputError: It is missing, cannot be read, or is no report of this schema.
    """
    try:
        value = json.loads(read_bytes(path))
        if value["schema"] != SCHEMA:
            raise ValueError(f"it is of schema {value['schema']!r:.80}")
        found: Result = _parsed(Result, value)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        next_step = "give what a run printed: clsm eval run --json > FILE"
        reason = f"is no report of schema {SCHEMA} ({str(error)[:200]})"
        raise BadInputError(str(path), reason, next_step) from None
    return found


@cache
def _hints(wanted: Any) -> dict[str, Any]:
    return get_type_hints(wanted)


def _parsed(wanted: Any, value: Any) -> Any:
    """A JSON value as a class of this module, a dict, a tuple, or the plain value that it is."""
    inside = get_args(wanted)
    if isinstance(wanted, type) and is_dataclass(wanted):
        return wanted(**{name: _parsed(kind, value[name]) for name, kind in _hints(wanted).items()})
    if get_origin(wanted) is dict:
        return {key: _parsed(inside[1], each) for key, each in value.items()}
    if get_origin(wanted) is tuple:
        kinds = [inside[0]] * len(value) if inside[-1] is ... else inside
        return tuple(_parsed(kind, value[at]) for at, kind in enumerate(kinds))
    return value
