"""The probes by name, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.probes import growing_probes, material, night_probes
from clsm_cli.evaluation.result import ProbeResult, Verdict

if TYPE_CHECKING:
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine

_NIGHT = night_probes.PROBES
PROBES = {
    "drift": growing_probes.DRIFT,
    "distractor": _NIGHT["distractor"],
    "growth": growing_probes.GROWTH,
    "split": _NIGHT["split"],
    "identifiers": _NIGHT["identifiers"],
    "scripts": _NIGHT["scripts"],
}


def run_probe(name: str, factory: StoreFactory, engine: Engine, seed: int) -> ProbeResult:
    """Run a probe.

    Raises:
        DiskError: The work folder cannot be written.
    """
    probe, told = PROBES[name], material.load_yaml("about")[name]
    figures = probe.run(factory, engine, seed)
    verdicts = (Verdict(system, probe.passes(found), found) for system, found in figures.items())
    return ProbeResult(name, told["about"], told["criterion"], tuple(verdicts))
