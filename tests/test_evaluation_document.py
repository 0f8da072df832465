"""The figures are those of the kept reports, and docs/evaluation.md explains every name in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks import evaluation
from benchmarks.measure import ROOT
from clsm_cli.evaluation import systems
from clsm_cli.evaluation.benches import MECHANISMS
from clsm_cli.evaluation.grids import HEADINGS
from clsm_cli.evaluation.loaders.dataset_registry import KINDS
from clsm_cli.evaluation.presets.published import PRESETS
from clsm_cli.evaluation.probes.probe_registry import PROBES

DOCUMENT = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
PRIVATE = re.compile(r"/(?:home|root|tmp|work|Users)\b|[\w-]+\.local\b")
KEPT = evaluation.load()
SETS = [found for run in KEPT.values() for found in run["sets"]]
NAMES = {*HEADINGS, *KINDS, *systems.BASELINES, *PRESETS, *PROBES, "clsm without concept-cut"}


def test_the_pages_are_what_the_kept_runs_give() -> None:
    assert evaluation.FIGURES.read_text(encoding="utf-8") == evaluation.page(KEPT)
    readme = evaluation.README.read_text(encoding="utf-8")
    assert evaluation.filled(readme, KEPT) == readme
    assert sorted(KEPT) == sorted([*evaluation.TITLES, evaluation.PROBES])
    assert all(KEPT[kind]["sets"][0]["kind"] == kind for kind in evaluation.TITLES)


def test_every_preset_baseline_mechanism_and_probe_was_measured() -> None:
    assert [probe["name"] for probe in KEPT["probes"]["probes"]] == list(PROBES)
    (sample,) = KEPT["memory"]["sets"]
    assert {*PRESETS} <= {system["name"] for system in sample["systems"]}
    assert {*MECHANISMS} == {each["mechanism"] for each in sample["ablation"]}
    for found in SETS:
        assert {systems.CLSM, *systems.BASELINES} <= {each["name"] for each in found["systems"]}


def test_what_is_kept_tells_nothing_private_and_no_single_query() -> None:
    for path in sorted(evaluation.KEPT.iterdir()):
        assert not PRIVATE.search(path.read_text(encoding="utf-8")), path.name
    assert not any(found["queries"] for found in SETS)


def test_what_is_kept_of_a_report_is_all_but_its_queries(tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    query = {"id": "q", "case": "case", "category": "", "values": {}}
    (sample,) = KEPT["memory"]["sets"]
    whole = {**KEPT["probes"], "sets": [{**sample, "queries": [query]}]}
    given.write_text(json.dumps(whole), encoding="utf-8")
    evaluation.keep(given, tmp_path / "kept")
    found = evaluation.load(tmp_path / "kept")
    assert found["probes"] == KEPT["probes"]
    assert found["memory"]["sets"] == [sample]


def test_every_name_and_every_system_that_was_measured_is_explained() -> None:
    names = NAMES | {system["name"] for found in SETS for system in found["systems"]}
    assert [name for name in sorted(names) if f"`{name}`" not in DOCUMENT] == []
