"""The probes by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.probes import (
    distractor,
    drift,
    growth,
    identifiers,
    scripts,
    split,
)
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.evaluation.result import ProbeResult
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine


class Probe(NamedTuple):
    """A test of one ability.

    Attributes:
        about: What is tried, and why words alone do not do it.
        criterion: What has to hold.
        run: Makes its stores with a factory, asks with an open engine, from a seed.
    """

    name: str
    about: str
    criterion: str
    run: Callable[[StoreFactory, Engine, int], ProbeResult]


PROBES = {
    name: Probe(name, probe.ABOUT, probe.CRITERION, probe.run)
    for name, probe in (
        ("drift", drift),
        ("distractor", distractor),
        ("growth", growth),
        ("split", split),
        ("identifiers", identifiers),
        ("scripts", scripts),
    )
}
