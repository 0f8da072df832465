from __future__ import annotations

from pathlib import Path

import pytest

from clsm_cli.store import ontology
from clsm_cli.store.layout import Store
from clsm_cli.text.tagging import tags_of


def write(store: Store, text: str | bytes) -> Path:
    path = store.root / "ontology.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_the_shipped_one_counts_without_a_file_and_reads_back_from_one(store: Store) -> None:
    assert ontology.load(store) == (ontology.shipped(), [])
    write(store, ontology.shipped_text())
    assert ontology.load(store) == (ontology.shipped(), [])
    write(store, ontology.shipped_text() + b"\nwork:\n  sea:\n    ferry: [barge]\n")
    found, problems = ontology.load(store)
    assert problems == []
    assert found[:-1] == ontology.shipped()
    assert tags_of("Two barges.", found) == ("ferry",)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a:\n  b:\n    dog: [puppy\n    cat: []\n", 4, "is not YAML"),
        ("a:\n  b:\n    dog: [puppy]\n    dog: [pup]\n", 4, "is not YAML"),
        ("a:\n  b: !!set {}\n", 2, "tag"),
        ("a:\n  b:\n    dog: puppy\n", None, "a › b › dog: must be a list of words"),
        ("", None, "must hold categories"),
    ],
)
def test_a_broken_file_gives_the_shipped_one_and_the_line(
    store: Store, text: str, line: int | None, reason: str
) -> None:
    path = write(store, text)
    found, [problem] = ontology.load(store)
    assert found == ontology.shipped()
    assert problem.path == path
    assert reason in problem.reason
    if line is not None:
        assert problem.line == line


def test_a_link_is_not_followed(store: Store, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_bytes(b"a: {b: {dog: [puppy]}}")
    (store.root / "ontology.yaml").symlink_to(tmp_path / "other.yaml")
    found, problems = ontology.load(store)
    assert (found, len(problems)) == (ontology.shipped(), 1)
