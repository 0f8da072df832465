"""The page on evaluation says what the kept report says, and explains all that stands in it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from benchmarks import evaluation
from benchmarks.measure import ROOT
from clsm_cli.commands.evaluate_study import Study
from clsm_cli.evaluation import ranking
from clsm_cli.evaluation.ablation import MECHANISMS
from clsm_cli.evaluation.loaders.registry import KINDS
from clsm_cli.evaluation.presets.preset import PRESETS
from clsm_cli.evaluation.probes.registry import PROBES
from clsm_cli.evaluation.reporting.grids import MEASURES
from clsm_cli.evaluation.result import QueryResult, dump
from clsm_cli.evaluation.systems import registry

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.result import SetResult

DOCUMENT = evaluation.DOCUMENT.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^<!-- figures: (.+) -->$", DOCUMENT, re.MULTILINE)
TEXT = re.sub(r"<!-- figures: .*?<!-- end -->", "", DOCUMENT, flags=re.DOTALL)
"""All but the figures."""
PAGES = [evaluation.DOCUMENT, ROOT / "docs" / "experiments.md"]
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
PRIVATE = re.compile(r"/(?:home|root|tmp|work|Users)\b|[\w-]+\.local\b")


KEPT = evaluation.load()


def test_the_document_is_what_the_kept_runs_give() -> None:
    assert evaluation.filled(DOCUMENT, KEPT) == DOCUMENT


@pytest.mark.parametrize("name", KEPT)
def test_a_figure_that_changes_changes_the_document(name: str) -> None:
    run = KEPT[name]
    changed = [replace(run, command="clsm eval run other")]
    changed += [replace(run, sets=(_worse(found),)) for found in run.sets]
    for place, probe in enumerate(run.probes):
        probes = list(run.probes)
        first, *others = probe.verdicts
        probes[place] = replace(probe, verdicts=(replace(first, passed=not first.passed), *others))
        changed.append(replace(run, probes=tuple(probes)))
    for other in changed:
        assert evaluation.filled(DOCUMENT, {**KEPT, name: other}) != DOCUMENT


def _worse(found: SetResult) -> SetResult:
    first, *others = found.systems
    value = first.figures[found.headline]
    assert value is not None
    figures = {**first.figures, found.headline: value / 2}
    return replace(found, systems=(replace(first, figures=figures), *others))


def test_every_block_is_whole() -> None:
    assert BLOCKS
    assert len(BLOCKS) == len(set(BLOCKS))
    assert DOCUMENT.count("<!-- figures:") == DOCUMENT.count("<!-- end -->") == len(BLOCKS)
    assert "<!--" not in TEXT


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_names_something(name: str) -> None:
    assert evaluation.block(name, KEPT).strip()


def test_a_block_of_nothing_is_refused() -> None:
    for name in ("nowhere systems", "memory nothing"):
        with pytest.raises(KeyError):
            evaluation.block(name, KEPT)


@pytest.mark.parametrize("name", KEPT)
def test_all_that_was_measured_is_in_the_document(name: str) -> None:
    assert f"{name} command" in BLOCKS
    for found in KEPT[name].sets:
        assert found.kind == name
        tables = {"systems": found.systems, "pairs": found.pairs, "notes": found.notes}
        for table, rows in tables.items():
            assert not rows or f"{name} {table}" in BLOCKS


def test_no_table_of_the_document_is_empty() -> None:
    for name, run in KEPT.items():
        for found in run.sets:
            for table, rows in (("ablation", found.ablation), ("abstention", found.abstention)):
                assert bool(rows) or f"{name} {table}" not in BLOCKS


def test_every_preset_baseline_mechanism_and_probe_was_measured() -> None:
    assert [probe.name for probe in KEPT["probes"].probes] == list(PROBES)
    (sample,) = KEPT["memory"].sets
    assert {*PRESETS} <= {system.name for system in sample.systems}
    assert {*MECHANISMS} == {each.mechanism for each in sample.ablation}
    for run in KEPT.values():
        for found in run.sets:
            assert {registry.CLSM, *registry.BASELINES} <= {each.name for each in found.systems}


def test_what_is_kept_tells_nothing_private_and_no_single_query() -> None:
    for path in sorted(evaluation.KEPT.iterdir()):
        assert not PRIVATE.search(path.read_text(encoding="utf-8")), path.name
    assert not any(found.queries for run in KEPT.values() for found in run.sets)


def test_what_is_kept_of_a_report_is_all_but_its_queries(tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    query = QueryResult("q", "case", "", "", 1, {}, {})
    (sample,) = KEPT["memory"].sets
    whole = replace(KEPT["probes"], sets=(replace(sample, queries=(query,)),))
    given.write_text(json.dumps(dump(whole)), encoding="utf-8")
    evaluation.keep(given, tmp_path / "kept")
    found = evaluation.load(tmp_path / "kept")
    assert found["probes"] == KEPT["probes"]
    assert found["memory"].sets == (sample,)


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_explained(name: str) -> None:
    assert f"`{name}`" in TEXT


@pytest.mark.parametrize(
    "name",
    [*KINDS, *registry.BASELINES, *PRESETS, *ranking.ABOUT, *PROBES, "clsm without concept-cut"],
)
def test_every_name_is_explained(name: str) -> None:
    assert f"`{name}`" in TEXT


def test_every_system_that_was_measured_is_explained() -> None:
    names = {system.name for run in KEPT.values() for found in run.sets for system in found.systems}
    assert [name for name in sorted(names) if f"`{name}`" not in TEXT] == []


@pytest.mark.parametrize("study", Study)
def test_every_study_has_its_command(study: Study) -> None:
    assert f"`clsm eval study {study} " in TEXT


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for path, anchor in LINK.findall(text):
        if path.startswith("https://"):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor:
            assert anchor[1:] in _anchors(target), f"{path}{anchor}"


def _anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub makes addresses of them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
