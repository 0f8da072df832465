"""Labels of notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_notes

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders import notes

if TYPE_CHECKING:
    from pathlib import Path


def test_queries_concepts_and_unanswerable_probes(tmp_path: Path) -> None:
    found = notes.load(write_notes(tmp_path / "set"))
    first, second = found.cues
    assert first.quotes == ("in the cellar failed at noon.",)
    assert (first.category, first.difficulty) == ("project", "easy")
    assert second.concepts == (frozenset({"heron", "theheron"}),)
    assert found.unanswerable == ("when was the pump bought",)


def test_probes_are_optional(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "set")
    assert notes.load(folder).off_topic == ("how far is the moon",)
    for name in ("probes", "off-topic"):
        (folder / "labels" / f"{name}.yaml").unlink()
    assert (notes.load(folder).unanswerable, notes.load(folder).off_topic) == ((), ())


@pytest.mark.parametrize("text", ["a: 1\n", "- id: q1\n", "- [\n", "- 3\n"])
def test_what_is_no_list_of_queries_is_refused(tmp_path: Path, text: str) -> None:
    folder = write_notes(tmp_path / "set")
    (folder / "labels" / "queries.yaml").write_text(text)
    with pytest.raises(BadInputError, match=r"queries\.yaml"):
        notes.load(folder)


def test_missing_labels_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"concepts\.yaml: is missing"):
        notes.load(tmp_path)
