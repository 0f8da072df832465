"""The result of a run: data only, the same in memory, in JSON and in every report.

Schema ``clsm.eval/1``. Shares are 0 … 1 with all their digits; None stands where nothing is defined.

The classes of ``result`` are the schema: what is read must be exactly what they say, field by field,
since a file may come from anywhere.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

from clsm_cli.errors import BadInputError
from clsm_cli.store import jsonlines
from clsm_cli.text.terminal import safe


def machine_description() -> dict[str, str]:
    """Processor, architecture, cores, system and Python, by name."""
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "Python": platform.python_version(),
    }


def _processor() -> str:
    """Its name as the kernel has it; on ARM, where that has none, the model of the board."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for key in ("model name", "Model"):
        for line in lines:
            if line.startswith(key):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


SCHEMA = "clsm.eval/1"

Figures = dict[str, float | None]
"""Measure → mean over queries; see ``grids.MEASURES``."""


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
class AblationResult:
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
class AbstentionResult:
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
    ablation: tuple[AblationResult, ...]
    abstention: tuple[AbstentionResult, ...]
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


MAX_REPORT = 256 << 20
"""Bytes of a report; one of ten conversations with every system has about 20 MB."""
_NEXT = "give the report.json of a run: clsm eval run --out FOLDER"


class NotAResultError(ValueError):
    """A value is not what its place in a result must hold; the text says where and why."""


def dump(result: Result) -> dict[str, Any]:
    """A result as JSON values.

    Raises:
        NotAResultError: A number in it is not finite.
    """
    found: dict[str, Any] = _dumped(result, "")
    return found


def parse(value: Any) -> Result:
    """A result from JSON values.

    Raises:
        NotAResultError: It is none, or one of another schema.
    """
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema != SCHEMA:
        _refuse("schema", f"is {_shown(schema)}, not {SCHEMA!r}")
    found: Result = _parsed(Result, value, "")
    return found


def load(path: Path) -> Result:
    """Read a report.

    Raises:
        BadInputError: It is missing, cannot be read, is no JSON, or no result of this schema.
    """
    data = _read(path)
    try:
        return parse(jsonlines.load(data.decode("utf-8"), MAX_REPORT))
    except UnicodeDecodeError:
        raise BadInputError(str(path), "is not UTF-8", _NEXT) from None
    except (jsonlines.LineError, NotAResultError) as error:
        raise BadInputError(str(path), str(error), _NEXT) from None


def _read(path: Path) -> bytes:
    if not os.path.isfile(path):  # unlike the method of paths, false where it may not look
        reason = "is no file" if os.path.lexists(path) else "is missing"
        raise BadInputError(str(path), reason, _NEXT)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_REPORT + 1)
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise BadInputError(str(path), reason, "check its permissions") from error
    if len(data) > MAX_REPORT:
        raise BadInputError(str(path), f"is larger than {MAX_REPORT >> 20} MiB", _NEXT)
    return data


def _dumped(value: Any, where: str) -> Any:
    if is_dataclass(value):
        return {
            each.name: _dumped(getattr(value, each.name), _below(where, each.name))
            for each in fields(value)
        }
    if isinstance(value, dict):
        return {key: _dumped(each, _below(where, key)) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_dumped(each, f"{where}[{place}]") for place, each in enumerate(value)]
    if isinstance(value, float) and not isfinite(value):
        _refuse(where, "is no finite number")
    return value


def _parsed(wanted: Any, value: Any, where: str) -> Any:
    """A value of a type of ``result``: a class, a dict, a tuple, a union, or a plain value."""
    if is_dataclass(wanted):
        return _of_class(wanted, value, where)
    origin, inside = get_origin(wanted), get_args(wanted)
    if origin is dict:
        if not isinstance(value, dict):
            _refuse(where, "must be an object")
        return {
            _parsed(str, key, where): _parsed(inside[1], each, _below(where, key))
            for key, each in value.items()
        }
    if origin is tuple:
        return _of_tuple(inside, value, where)
    if origin in (Union, UnionType):
        return _of_union(inside, value, where)
    return _plain(wanted, value, where)


def _of_class(wanted: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        _refuse(where, "must be an object")
    known = _fields_of(wanted)
    if unknown := sorted(value.keys() - known.keys()):
        _refuse(where, f"has a field {_shown(unknown[0])} that is none of {SCHEMA}")
    if missing := sorted(known.keys() - value.keys()):
        _refuse(where, f"has no field {missing[0]!r}")
    return wanted(
        **{
            name: _parsed(inside, value[name], _below(where, name))
            for name, inside in known.items()
        }
    )


@cache
def _fields_of(wanted: Any) -> dict[str, Any]:
    """Field → type, of a class of ``result``."""
    hints = get_type_hints(wanted)
    return {each.name: hints[each.name] for each in fields(wanted)}


def _of_tuple(inside: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    """``tuple[X, ...]``, or one of a fixed length."""
    if not isinstance(value, list):
        _refuse(where, "must be a list")
    kinds = [inside[0]] * len(value) if inside[1:] == (...,) else list(inside)
    if len(kinds) != len(value):
        _refuse(where, f"must have {len(kinds)} values, not {len(value)}")
    return tuple(
        _parsed(kind, each, f"{where}[{place}]")
        for place, (kind, each) in enumerate(zip(kinds, value, strict=True))
    )


def _of_union(inside: tuple[Any, ...], value: Any, where: str) -> Any:
    """The first kind that the value is; None is one of its own."""
    if value is None and NoneType in inside:
        return None
    kinds = [kind for kind in inside if kind is not NoneType]
    for kind in kinds[:-1]:
        try:
            return _parsed(kind, value, where)
        except NotAResultError:
            continue
    return _parsed(kinds[-1], value, where)


def _plain(wanted: Any, value: Any, where: str) -> Any:
    if wanted is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            _refuse(where, "is too large a number")
    if type(value) is not wanted:
        names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
        _refuse(where, f"must be {names[wanted]}")
    return value


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _shown(value: Any) -> str:
    return json.dumps(value)[:80]


def _refuse(where: str, reason: str) -> NoReturn:
    raise NotAResultError(safe(f"{where[:200] or 'the report'} {reason}"))
