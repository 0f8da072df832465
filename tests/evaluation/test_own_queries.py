"""A person's own file of queries: what it becomes, what is said of its faults, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import labelled_store
import pytest
from ingesting import new_store, scratch

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import own_labels
from clsm_cli.evaluation.dataset import Existing, Query
from clsm_cli.evaluation.loaders import own_memory
from clsm_cli.store.labels import Label
from clsm_cli.store.layout import Store


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with scratch() as folder:
        yield labelled_store.make(folder)


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def key_of(store: Store, words: str) -> str:
    return next(
        key for key, told in own_labels.whole_memory(store).turns.items() if words in told.turn.text
    )


def one(path: Path, store: Store) -> Query:
    (case,) = own_memory.load_queries(path, store.root).cases
    return case.queries[0]


def test_quotes_ids_and_concepts(store: Store, tmp_path: Path) -> None:
    key = key_of(store, "mended by Brian")
    path = write(
        tmp_path,
        "queries:\n"
        f"- query: who mends the crane\n  evidence: ['mended  by']\n  memories: [{key}-2]\n"
        "  concepts: [brian]\n  category: work\n  difficulty: easy\n"
        "- query: what is my blood type\n  evidence: []\n",
    )
    dataset = own_memory.load_queries(path, store.root)
    assert (dataset.kind, dataset.unit, dataset.headline) == ("queries", "memory", "f1")
    assert dataset.notes == ()
    (case,) = dataset.cases
    assert case.source == Existing(store.root)
    first, second = case.queries
    assert first.gold == ("mended by", f"{key}\n")
    assert "brian" in first.concepts[0]
    assert (first.category, first.negative) == ("work", "")
    assert (second.gold, second.concepts, second.negative) == ((), (), "near topic")


def test_faults_are_said_with_their_lines(store: Store, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "queries:\n"
        "- query: one\n  evidence: [x]\n  memories: [f-000000000000]\n"
        "- query: two\n  concepts: [briann]\n"
        "- query: three\n"
        "- query: four\n  memories: [f-000000000000]\n",
    )
    dataset = own_memory.load_queries(path, store.root)
    assert [q.text for q in dataset.cases[0].queries] == ["one", "two"]
    said = "\n".join(dataset.notes)
    assert "line 2, f-000000000000; line 8, f-000000000000" in said
    assert "concept is no node of the store and counts as missed (1): line 5, briann" in said
    assert "query is left out, it is not labelled" in said
    assert "query is left out, all memories that answered it are gone (1): line 8" in said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("queries: []\n", "holds no query"),
        ("queries:\n- {query: a, evidence: []}\n", "nothing to measure"),
        (
            "queries:\n- {query: a, memories: [f-000000000000]}\n",
            "all memories .* nothing to measure",
        ),
        ("queries:\n- {query: a, evidence: []\n", "is not YAML"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    store: Store, tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(BadInputError, match=reason) as caught:
        own_memory.load_queries(write(tmp_path, text), store.root)
    assert "mine.yaml" in str(caught.value)


def test_labels_are_added_beside_what_a_person_writes(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    assert own_labels.read_labels(store).rows == ()
    own_labels.save_labels(store, [Label("a", "one", memories=("x",))])
    path = store.root / "eval" / "queries.yaml"
    path.write_text(path.read_text() + "# mine\n- query: two\n  evidence: []  # none\n")
    own_labels.save_labels(store, [Label("a", "one", memories=("y",)), Label("c", "three")])
    read = own_labels.read_labels(store).rows
    assert [(row.text, row.memories) for row in read] == [
        ("one", ("y",)),
        ("two", ()),
        ("three", ()),
    ]
    assert "# mine\n- query: two\n  evidence: []  # none\n" in path.read_text()
    path.write_text("queries: [")
    with pytest.raises(BadInputError, match="is not YAML"):
        own_labels.save_labels(store, [Label("d", "four")])
    assert path.read_text() == "queries: ["
