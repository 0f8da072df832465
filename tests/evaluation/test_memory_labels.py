"""Labels of a consolidated memory, and how names are compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluation.small_sets import write_memory

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.studies import labelled
from clsm_cli.evaluation.studies.labelled import normal

SAMPLE = Path(__file__).parents[2] / "fixtures" / "sample"


def test_a_small_set(tmp_path: Path) -> None:
    labels = labelled.load(write_memory(tmp_path / "set"))
    brian, moon = labels.concepts
    assert (brian.names, brian.kind) == (frozenset({"brian", "brianhale"}), "person")
    assert (moon.names, moon.kind) == (frozenset({"moon"}), None)
    assert labels.keep[0].groups == (("Brian",), ("invoice", "bill"))
    assert (len(labels.keep), len(labels.junk)) == (2, 1)
    assert [value.valid_until for value in labels.facts[0].values] == ["2026-03-03", None]


def test_the_sample() -> None:
    labels = labelled.load(SAMPLE)
    assert (len(labels.keep), len(labels.junk)) == (60, 40)
    assert len(labels.facts) == 13
    assert all(concept.names for concept in labels.concepts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the Inspector", "Inspector"),
        ("a heron", "herons"),
        ("delegation-defect", "Delegation Defect"),
        ("Café Kompas", "café kompas"),
    ],
)
def test_names_that_are_one(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(
    ("one", "other"), [("glass", "glas"), ("Theo", "o"), ("Ian Hale", "Ihale"), ("gas", "ga")]
)
def test_names_that_are_two(one: str, other: str) -> None:
    assert normal(one) != normal(other)


def test_what_is_missing_or_malformed_is_named(tmp_path: Path) -> None:
    root = write_memory(tmp_path / "set")
    (root / "labels" / "facts.yaml").write_text("- {id: a}\n")
    with pytest.raises(BadInputError, match=r"facts\.yaml"):
        labelled.load(root)
    (root / "labels" / "facts.yaml").unlink()
    with pytest.raises(BadInputError, match="is missing"):
        labelled.load(root)
