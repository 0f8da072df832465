"""The pages on performance and evaluation say what the kept figures say, and what these are of is sound."""

import json
import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tables import table

from benchmarks import corpus, evaluation, labelled_memory, report, study
from benchmarks.measure import RESULTS, ROOT, load
from benchmarks.stages import STAGES, Stage
from benchmarks.traced import label_of
from clsm_cli.evaluation import systems
from clsm_cli.evaluation.benches import MECHANISMS
from clsm_cli.evaluation.grids import HEADINGS
from clsm_cli.evaluation.loaders.dataset_registry import KINDS
from clsm_cli.evaluation.presets.published import PRESETS
from clsm_cli.evaluation.probes.probe_registry import PROBES
from clsm_cli.store import layout
from scripts import join_labels
from scripts.join_labels import digest

KEPT = {name: load(name) for name in report.NAMES}
PRIVATE = re.compile(r"/(?:home|root|tmp|work|Users)\b|[\w-]+\.local\b")


def test_the_document_is_what_the_figures_give() -> None:
    assert report.DOCUMENT.read_text(encoding="utf-8") == report.render(KEPT)


def test_a_figure_that_changes_changes_the_document() -> None:
    cold: Any = load("cold_start")
    cold["stages"]["1000"]["exit"] += 1.0
    assert report.render({**KEPT, "cold_start": cold}) != report.render(KEPT)


def test_every_result_is_in_the_document() -> None:
    assert {path.stem for path in RESULTS.glob("*.json")} <= {*report.NAMES, "study"}


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


@pytest.mark.parametrize(("name", "inside", "label"), table(__file__, "imports"))
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
    page = evaluation.page(EVALUATED, load("study")["parts"])
    assert evaluation.FIGURES.read_text(encoding="utf-8") == page
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


# The study of consolidation, on the labels that have their text, and on a store with labels of its own.
def _study(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[tuple[str, str], float]:
    study.main([*arguments, "--json"])
    parts = json.loads(capsys.readouterr().out)
    return {(row["of"], row["name"]): row["value"] for rows in parts.values() for row in rows}


def test_a_study_tells_what_needs_no_copies(capsys: pytest.CaptureFixture[str]) -> None:
    found = _study(capsys, "-", "-", "--only", "doubts", "readers", "cross-encoders")
    assert found["units", "keep equal"] == 0.863  # as fixtures/labels/README.md has it
    assert found["units", "keep, κ"] == 0.793
    assert found["", "sensible of those asked"] > 0.65
    assert found["statement, of workspaces", "good AUROC"] > 0.85


def test_a_study_judges_what_a_night_kept(
    slept_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(slept_store, tmp_path / "stores" / "mara+sample")
    nodes, statements = labelled_memory.kept(layout.open_store(slept_store, {}))
    first, second, *_ = sorted(nodes, key=lambda node: -node.prominence)
    texts = [*(row.text for row in statements[:3]), "Not kept at all."]
    names = {first.label: {"thing": 1, "kind": first.kind}, "Zebulon": {"thing": 1, "kind": "work"}}
    names[second.label] = {"thing": 0}
    note = tmp_path / "mara+sample" / "note.md"
    note.parent.mkdir()
    note.write_text("\n".join([*texts, *names]), "utf-8")
    where = {"repo": "mara/sample", "file": "note.md"}
    labels = {
        "statements": [
            {**where, "line": line, "end_line": line, "start": 0, "end": len(text)}
            | {"hash": digest(text), "judged": "junk" if line == 1 else "good"}
            for line, text in enumerate(texts, 1)
        ],
        "names": [
            {**where, "line": line, "length": len(name), "hash": digest(name), **names[name]}
            for line, name in enumerate(names, 1 + len(texts))
        ],
        **dict.fromkeys(("units", "units_held", "kept"), ()),
    }
    for name, rows in labels.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    for module in (join_labels, study):
        monkeypatch.setattr(module, "LABELS", tmp_path)
    found = _study(capsys, str(tmp_path), str(tmp_path / "stores"), "--only", "nights")
    assert found["not seen by the reader", "good of what is kept"] == 0.667
    assert found["", "concepts found"] == found["", "labelled no thing, a label"] == 0.5
    assert found["", "noise of the 40 strongest"] == 1


def test_every_name_and_every_system_that_was_measured_is_explained() -> None:
    names = NAMES | {system["name"] for found in SETS for system in found["systems"]}
    assert [name for name in sorted(names) if f"`{name}`" not in EVALUATION] == []
