"""Probes run through the real program, on less material than a user's run."""

from __future__ import annotations

import pytest

from clsm_cli.evaluation.ablation import with_settings
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.probes import distractor, drift, growth, material, probe_questions
from clsm_cli.evaluation.probes.probe_questions import BM25, CLSM
from clsm_cli.evaluation.probes.probe_registry import PROBES
from clsm_cli.evaluation.result import ProbeResult, Verdict
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.dense_search import Engine


def verdict(result: ProbeResult, system: str) -> Verdict:
    (found,) = [each for each in result.verdicts if each.system == system]
    return found


def test_the_probes() -> None:
    assert list(PROBES) == [
        "drift",
        "distractor",
        "growth",
        "split",
        "identifiers",
        "scripts",
    ]
    for probe in PROBES.values():
        assert probe.about
        assert probe.criterion


def test_drift(factory: StoreFactory, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "SESSIONS", 10)
    monkeypatch.setattr(drift, "CHECKS", 2)
    monkeypatch.setattr(drift, "TELLINGS", 4)
    result = drift.run(factory, engine, 0)
    clsm = verdict(result, CLSM).figures
    assert clsm["latest"] > verdict(result, BM25).figures["latest"]
    assert clsm["learnt"] > 0.5
    assert not verdict(result, BM25).passed
    assert [point[0] for point in result.series[0].points] == [5, 10]
    assert sum(y for _, y in result.series[0].points) / 2 == pytest.approx(clsm["latest"])


def test_what_has_no_flaw_comes_first(
    factory: StoreFactory, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told of another name, denied, superseded or planted; without rivals likeness decides."""
    monkeypatch.setattr(distractor, "SETS", 1)
    monkeypatch.setattr(distractor, "CHATTER", 1)
    traps, turns = distractor.make_material(0)
    bench = probe_questions.make_bench(factory, engine, "distractor", turns)
    queries = [Query(str(number), trap.ask) for number, trap in enumerate(traps)]

    def above(bench: Bench) -> dict[str, int]:
        answers = probe_questions.ask_systems(bench, queries, (CLSM,))[CLSM]
        return {
            kind: sum(
                distractor.is_above(answer, trap, number, kind)
                for number, (answer, trap) in enumerate(zip(answers, traps, strict=True))
            )
            for kind in distractor.KINDS
        }

    whole, without = above(bench), above(with_settings(bench, {"recall.rivals": 0.0}))
    for kind in distractor.KINDS:
        least = 0.75 if kind == "superseded" else 0.9  # what one sentence ends in another is judged
        assert whole[kind] >= least * len(traps)
        assert without[kind] < whole[kind]


def test_growth_goes_on_where_a_run_stopped(
    factory: StoreFactory, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, few in {"PEOPLE": 3, "SESSIONS": 6, "CHATTER": 1}.items():
        monkeypatch.setattr(material, name, few)
    monkeypatch.setattr(growth, "SIZES", (1, 2))
    monkeypatch.setattr(growth, "SYSTEMS", (CLSM,))
    turns = material.make_material(0).turns
    first = probe_questions.growing_benches(factory, engine, "growth", [turns], growth.run_night)
    made = []
    night = growth.run_night

    def counted(*given: object) -> None:
        made.append(given)
        night(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(growth, "run_night", counted)
    result = growth.run(factory, engine, 0)
    assert len(made) == 1  # the first size was there already
    assert first[0].store.root.exists()
    (line,) = [each for each in result.series if each.name == CLSM]
    assert [x for x, _ in line.points] == [1, 2]
    figures = verdict(result, CLSM).figures
    assert figures["passages at 10x"] > 1.5 * figures["passages at 1x"]
    assert growth.run(factory, engine, 0) == result
    assert len(made) == 1
