"""The pages on performance and evaluation say what the kept figures say, and what these are of is sound."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from benchmarks import corpus, evaluation, report
from benchmarks.measure import RESULTS, ROOT, load
from benchmarks.stages import STAGES, Stage
from benchmarks.traced import label_of
from clsm_cli.evaluation import systems
from clsm_cli.evaluation.benches import MECHANISMS
from clsm_cli.evaluation.grids import HEADINGS
from clsm_cli.evaluation.loaders.dataset_registry import KINDS
from clsm_cli.evaluation.presets.published import PRESETS
from clsm_cli.evaluation.probes.probe_registry import PROBES

KEPT = {name: load(name) for name in report.NAMES}
PRIVATE = re.compile(r"/(?:home|root|tmp|work|Users)\b|[\w-]+\.local\b")


def test_the_document_is_what_the_figures_give() -> None:
    assert report.DOCUMENT.read_text(encoding="utf-8") == report.render(KEPT)


def test_a_figure_that_changes_changes_the_document() -> None:
    cold: Any = load("cold_start")
    cold["stages"]["1000"]["exit"] += 1.0
    assert report.render({**KEPT, "cold_start": cold}) != report.render(KEPT)


def test_every_result_is_in_the_document() -> None:
    assert {path.stem for path in RESULTS.glob("*.json")} <= set(report.NAMES)


@pytest.mark.parametrize(
    "path", sorted({*RESULTS.glob("*.json"), *evaluation.KEPT.iterdir()}), ids=lambda p: p.stem
)
def test_results_tell_nothing_private(path: Any) -> None:
    assert not PRIVATE.search(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: f"{stage.module}.{stage.function}")
def test_a_stage_names_a_function(stage: Stage) -> None:
    found = import_module(stage.module)
    for part in stage.function.split("."):
        found = getattr(found, part)
    assert callable(found)


@pytest.mark.parametrize(
    ("name", "inside", "label"),
    [
        ("clsm_cli.app", "other Python", "import clsm"),
        ("numpy", "import onnxruntime", "import numpy"),
        ("json", "import numpy", "import numpy"),
        ("json", "import clsm", "import standard library"),
        ("shellingham", "import clsm", "import other packages"),
    ],
)
def test_an_import_is_charged_to_a_package(name: str, inside: str, label: str) -> None:
    assert label_of(name, inside) == label


def test_the_corpus_is_the_same_every_time_and_never_repeats_itself() -> None:
    first, second = (list(corpus.files(500, seed=5)) for _ in range(2))
    assert first == second
    assert len(first) == 30
    texts = [text for *_, passages in first for text in passages]
    assert len(texts) == len(set(texts)) == 500


# The figures of evaluations, and that its page explains every name in them.
EVALUATION = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
EVALUATED = evaluation.load()
SETS = [found for run in EVALUATED.values() for found in run["sets"]]
NAMES = {*HEADINGS, *KINDS, *systems.BASELINES, *PRESETS, *PROBES, "clsm without concept-cut"}


def test_the_pages_are_what_the_kept_runs_give() -> None:
    assert evaluation.FIGURES.read_text(encoding="utf-8") == evaluation.page(EVALUATED)
    readme = evaluation.README.read_text(encoding="utf-8")
    assert evaluation.filled(readme, EVALUATED) == readme
    assert sorted(EVALUATED) == sorted([*evaluation.TITLES, evaluation.PROBES])
    assert all(EVALUATED[kind]["sets"][0]["kind"] == kind for kind in evaluation.TITLES)


def test_every_preset_baseline_mechanism_and_probe_was_measured() -> None:
    assert [probe["name"] for probe in EVALUATED["probes"]["probes"]] == list(PROBES)
    (sample,) = EVALUATED["memory"]["sets"]
    assert {*PRESETS} <= {system["name"] for system in sample["systems"]}
    assert {*MECHANISMS} == {each["mechanism"] for each in sample["ablation"]}
    for found in SETS:
        assert {systems.CLSM, *systems.BASELINES} <= {each["name"] for each in found["systems"]}


def test_what_is_kept_tells_no_single_query() -> None:
    assert not any(found["queries"] for found in SETS)


def test_what_is_kept_of_a_report_is_all_but_its_queries(tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    query = {"id": "q", "case": "case", "category": "", "values": {}}
    (sample,) = EVALUATED["memory"]["sets"]
    whole = {**EVALUATED["probes"], "sets": [{**sample, "queries": [query]}]}
    given.write_text(json.dumps(whole), encoding="utf-8")
    evaluation.keep(given, tmp_path / "kept")
    found = evaluation.load(tmp_path / "kept")
    assert found["probes"] == EVALUATED["probes"]
    assert found["memory"]["sets"] == [sample]


def test_every_name_and_every_system_that_was_measured_is_explained() -> None:
    names = NAMES | {system["name"] for found in SETS for system in found["systems"]}
    assert [name for name in sorted(names) if f"`{name}`" not in EVALUATION] == []
