"""The page on performance says what the kept figures say, and what they were measured on is sound."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest

from benchmarks import corpus, report
from benchmarks.measure import RESULTS, load
from benchmarks.stages import STAGES, Stage
from benchmarks.traced import label_of

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


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
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
