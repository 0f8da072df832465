"""The kinds of labelled sets, and which one a path holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders import gvd, locomo, longmemeval, own_memory, queries
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.evaluation.dataset import Dataset


LOADERS: dict[str, tuple[Callable[[Path], bool], Callable[[Path], Dataset]]] = {
    "locomo": (locomo.matches, locomo.load),
    "gvd": (gvd.matches, gvd.load),
    "longmemeval": (longmemeval.matches, longmemeval.load),
    "memory": (own_memory.matches, own_memory.load),
    "queries": (queries.matches, queries.load),
    "nodes": (lambda _: False, locomo.load_nodes),  # such a folder is LoCoMo first
}
"""Kind → whether a path looks like such a set, by names and first bytes alone; and what reads it.

In the order in which a path is looked at.
"""
KINDS = tuple(LOADERS)


def load_dataset(spec: str) -> Dataset:
    """The set that somebody named: ``KIND=PATH``, or a path whose kind is found by its looks.

    Raises:
        BadInputError: There is nothing, or nothing that a loader knows.
    """
    kind, mark, rest = spec.partition("=")
    if not mark or os.path.exists(spec):
        path = _existing(spec)
        try:
            load = next((load for matches, load in LOADERS.values() if matches(path)), None)
        except OSError as error:
            reason = f"cannot be read ({error.strerror or error})"
            raise BadInputError(spec, reason, "check its permissions") from error
        if load is not None:
            return load(path)
        raise BadInputError(
            spec,
            "is no labelled set that clsm knows by its looks",
            f"name its kind as KIND=PATH, KIND one of {', '.join(KINDS)}",
        )
    if kind in LOADERS:
        return LOADERS[kind][1](_existing(rest))
    raise BadInputError(
        spec, f"{kind!r} is no kind of labelled set", f"use one of {', '.join(KINDS)}"
    )


def limit_cases(dataset: Dataset, cases: int) -> Dataset:
    """The first stores of a set, as a set of its own: its digest differs."""
    if cases >= len(dataset.cases):
        return dataset
    said = f"only the first {cases} of {len(dataset.cases)} stores are used"
    return dataset._replace(
        digest=atomic.sha256(f"{dataset.digest} first {cases}".encode()),
        cases=dataset.cases[:cases],
        notes=(*dataset.notes, said),
    )


def _existing(name: str) -> Path:
    if not name.strip():
        raise BadInputError("the labelled set", "has no path", "name a file or a folder")
    path = Path(name)
    if not os.path.exists(path):  # unlike the method of paths, false for what can be no path
        raise BadInputError(name, "does not exist", "check the path")
    return path
