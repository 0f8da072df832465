"""A labelled memory: what people write by hand, and what may be wrong with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import QUERIES, write_notes
from sample_store import SAMPLE

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Folders
from clsm_cli.evaluation.loaders import own_memory

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.dataset import Dataset


def _rewritten(folder: Path, name: str, text: str) -> Path:
    (folder / "labels" / name).write_text(text, encoding="utf-8")
    return folder


def _changed(tmp_path: Path, old: str, new: str) -> Dataset:
    """The small memory with a change in its queries."""
    assert old in QUERIES
    folder = write_notes(tmp_path / "set")
    return own_memory.load(_rewritten(folder, "queries.yaml", QUERIES.replace(old, new)))


def test_queries_concepts_and_negatives(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "set")
    found = own_memory.load(folder)
    assert (found.name, found.unit, found.headline) == ("set", "quote", "f1")
    (case,) = found.cases
    assert case.source == Folders(folder, ("workspace", "sessions"))
    first, second, *negative = case.queries
    assert first.gold == ("in the cellar failed at noon.",)  # over two lines in the note
    assert (first.category, first.difficulty) == ("project", "easy")
    assert second.concepts == (frozenset({"heron", "theheron"}),)
    assert [(q.id, q.text, q.negative) for q in negative] == [
        ("p1", "when was the pump bought", "near topic"),
        ("o1", "how far is the moon", "off topic"),
    ]
    assert found.notes == ()


def test_the_digest_is_of_what_is_read(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "set")
    before = own_memory.load(folder).digest
    assert own_memory.load(write_notes(tmp_path / "other")).digest == before
    (folder / "labels" / "facts.yaml").write_text("[]")
    assert own_memory.load(folder).digest == before
    (folder / "workspace" / "b.md").write_text("# B\n")
    assert own_memory.load(folder).digest != before


def test_evidence_that_is_not_there_is_left_out_and_said(tmp_path: Path) -> None:
    found = _changed(tmp_path, "stood on the gauge", "stood on the weir")
    assert found.cases[0].queries[1].gold == ()
    assert found.notes == (
        "1 piece of evidence is not in the file that it names and is left out: q2, piece 1",
    )


def test_a_quote_from_a_transcript_is_looked_for_in_its_texts(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "set")
    (folder / "sessions").mkdir()
    said = {"message": {"content": [{"text": 'It "stood\non the gauge" for hours.'}]}}
    (folder / "sessions" / "a.jsonl").write_text("{\n" + json.dumps(said) + "\n")
    text = QUERIES.replace(
        'workspace/MEMORY.md\n    quote: "stood on the gauge"',
        "sessions/a.jsonl\n    quote: '\"stood on the gauge\" for'",
    )
    assert text != QUERIES
    found = own_memory.load(_rewritten(folder, "queries.yaml", text))
    assert found.cases[0].queries[1].gold == ('"stood on the gauge" for',)


def test_what_has_neither_gold_nor_category_is_said(tmp_path: Path) -> None:
    more = "- {id: 3, query: who, category: '', concepts: [heron]}\n- {id: q4, query: what}\n"
    folder = _rewritten(write_notes(tmp_path / "set"), "queries.yaml", QUERIES + more)
    found = own_memory.load(folder)
    assert [q.id for q in found.cases[0].queries] == ["q1", "q2", "3", "p1", "o1"]
    assert found.notes == (
        "2 queries have no category: 3; q4",
        "2 queries have no difficulty: 3; q4",
        "1 query is left out, nothing that answers it is known: q4",
    )


def test_an_unknown_concept_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(
        BadInputError,
        match=r"queries\.yaml, line 11: query q2 names the concept 'egret', which labels/concepts",
    ):
        _changed(tmp_path, "- heron", "- egret")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("id: q2", "id: q1", r"queries\.yaml, line 11: the id q1 stands twice"),
        ("id: q2", "id: p1", r"probes\.yaml, line 2: the id p1 stands twice"),
        ("id: q2", "name: q2", "query 2: it has no id"),
        ("concepts:\n  - heron", "concepts: heron", "query 2: concepts is no list"),
        ('quote: "stood on the gauge"', "text: x", "query 2: it has no quote"),
        ('query: "a bird that stays"', "query: [x]", "query 2: query is no text"),
    ],
)
def test_a_label_that_is_wrong_is_named(tmp_path: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        _changed(tmp_path, old, new)


def test_the_sample_is_whole() -> None:
    found = own_memory.load(SAMPLE)
    kinds = [query.negative for query in found.cases[0].queries]
    assert (kinds.count(""), kinds.count("near topic"), kinds.count("off topic")) == (45, 3, 30)
    # every quote is where its label says, and every file is the one that SHA256SUMS lists
    assert found.notes == ("SHA-256 of 28 of 28 files checked",)
