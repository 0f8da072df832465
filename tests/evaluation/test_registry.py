"""Which set a path holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluation.small_sets import write_gvd, write_locomo, write_longmemeval, write_notes

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders import dataset_registry

WRITERS = {
    "locomo": write_locomo,
    "gvd": write_gvd,
    "longmemeval": write_longmemeval,
    "memory": write_notes,
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_set_is_known_by_its_looks(tmp_path: Path, kind: str) -> None:
    folder = WRITERS[kind](tmp_path / "x")
    found = dataset_registry.load_dataset(str(folder))
    assert found.kind == kind
    assert dataset_registry.load_dataset(f"{kind}={folder}") == found
    assert dataset_registry.kind_of(folder) == kind


def test_nothing_that_is_known(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"no labelled set .* KIND one of locomo, gvd, lon"):
        dataset_registry.load_dataset(str(tmp_path))


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("  ", "has no path"),
        ("locomo=", "has no path"),
        ("locomo=no-such-folder", "^no-such-folder: does not exist"),
        ("locomoo=no-such-folder", "'locomoo' is no kind of labelled set; use one of locomo"),
        ("a\0b", "does not exist"),
    ],
)
def test_a_spec_that_names_nothing(spec: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        dataset_registry.load_dataset(spec)


def test_the_first_stores_are_another_set(tmp_path: Path) -> None:
    found = dataset_registry.load_dataset(str(write_locomo(tmp_path / "x")))
    part = dataset_registry.limit_cases(found, 1)
    assert (part.cases, part.digest != found.digest) == (found.cases[:1], True)
    assert part.notes[-1] == "only the first 1 of 2 stores are used"
    assert dataset_registry.limit_cases(found, 2) is found
