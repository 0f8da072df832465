"""A labelled memory: what people write by hand, and what may be wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evaluation.small_sets import QUERIES, write_notes

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Dataset, Folders
from clsm_cli.evaluation.loaders import own_memory


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
    assert first.category == "project"
    assert second.concepts == (frozenset({"heron", "theheron"}),)
    assert [(q.id, q.text, q.negative) for q in negative] == [
        ("p1", "when was the pump bought", "near topic"),
        ("o1", "how far is the moon", "off topic"),
    ]
    assert found.notes == ()


def test_evidence_that_is_not_there_is_left_out_and_said(tmp_path: Path) -> None:
    found = _changed(tmp_path, "stood on the gauge", "stood on the weir")
    assert found.cases[0].queries[1].gold == ()
    assert found.notes == (
        "piece of evidence is not in the file that it names and is left out (1): q2, piece 1",
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


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("- heron", "- egret", "row 2: it names the concept 'egret', which labels/concepts"),
        ("id: q2", "id: q1", r"queries\.yaml: .*row 2: the id q1 stands twice"),
        ("id: q2", "id: p1", r"probes\.yaml: .*row 1: the id p1 stands twice"),
        ("id: q2", "name: q2", "row 2: it has no id"),
        ("concepts:\n  - heron", "concepts: heron", "row 2: concepts is no list"),
        ('quote: "stood on the gauge"', "text: x", "row 2: it has no quote"),
        ('query: "a bird that stays"', "query: [x]", "row 2: query is no text"),
    ],
)
def test_a_label_that_is_wrong_is_named(tmp_path: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        _changed(tmp_path, old, new)
