"""The kinds of labelled sets, and which one a path holds."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Dataset, malformed_error
from clsm_cli.evaluation.loaders import gvd, locomo, longmemeval, own_memory
from clsm_cli.store import atomic

LOADERS: dict[str, Callable[[Path], Dataset]] = {
    "locomo": locomo.load,
    "gvd": gvd.load,
    "longmemeval": longmemeval.load,
    "memory": own_memory.load,
    "nodes": locomo.load_nodes,
}
KINDS = tuple(LOADERS)


def kind_of(path: Path) -> str:
    """The kind of set that a path holds, by names alone; "" for none."""
    if (path / own_memory.QUERIES).is_file():
        return "memory"
    if (path / gvd.MEMORY).is_file():
        return "gvd"
    if any(file.name.startswith("longmemeval") for file in longmemeval.files(path)):
        return "longmemeval"
    return "locomo" if path.suffix == ".json" or next(path.glob("*.json"), None) else ""


def load_dataset(spec: str) -> Dataset:
    """The set that somebody named: ``KIND=PATH``, or a path whose names show its kind.

    Raises:
        BadInputError: There is nothing, nothing that a loader knows, or a set in which a store or
            question stands twice: one would count as the other.
    """
    kind, mark, rest = spec.partition("=")
    is_named = bool(mark) and not os.path.exists(spec)
    if is_named and kind not in LOADERS:
        reason = f"{kind!r} is no kind of labelled set"
        raise BadInputError(spec, reason, f"use one of {', '.join(KINDS)}")
    named = rest if is_named else spec
    if not named.strip():
        raise BadInputError("the labelled set", "has no path", "name a file or a folder")
    if not os.path.exists(named):  # unlike the method of paths, false for what can be no path
        raise BadInputError(named, "does not exist", "check the path")
    path = Path(named)
    kind = kind if is_named else kind_of(path)
    if not kind:
        reason = "is no labelled set that clsm knows by its looks"
        advice = f"name its kind as KIND=PATH, KIND one of {', '.join(KINDS)}"
        raise BadInputError(spec, reason, advice)
    found = LOADERS[kind](path)
    names = [f"the store {case.name}" for case in found.cases]
    names += [f"the question {q.id} of {case.name}" for case in found.cases for q in case.queries]
    if twice := next((name for name, count in Counter(names).items() if count > 1), ""):
        raise malformed_error(path, f"{twice} stands in it twice")
    return found


def limit_cases(dataset: Dataset, cases: int | None) -> Dataset:
    """The first stores of a set, as a set of its own: its digest differs; None: all of it."""
    if cases is None or cases >= len(dataset.cases):
        return dataset
    note = f"only the first {cases} of {len(dataset.cases)} stores are used"
    return dataset._replace(
        digest=atomic.sha256(f"{dataset.digest} first {cases}".encode()),
        cases=dataset.cases[:cases],
        notes=(*dataset.notes, note),
    )
