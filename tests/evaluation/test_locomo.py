"""LoCoMo as published, with its faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from evaluation.small_sets import locomo_talk, write_locomo

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Case, Chat
from clsm_cli.evaluation.loaders import locomo


def _chat(case: Case) -> Chat:
    assert isinstance(case.source, Chat)
    return case.source


def _one(path: Path, talk: dict[str, Any]) -> Path:
    """The one file of all, with one conversation."""
    qa = talk.pop("qa")
    path.write_text(json.dumps([{"qa": qa, "conversation": talk, "sample_id": "conv-26"}]))
    return path


def test_a_folder_of_conversations(tmp_path: Path) -> None:
    found = locomo.load(write_locomo(tmp_path / "set"))
    assert (found.kind, found.name, found.unit, found.headline) == (
        "locomo",
        "set",
        "turn",
        "recall@10",
    )
    assert [each.name for each in found.cases] == ["1", "2"]
    talk = _chat(found.cases[0])
    assert talk.participants == ("Ann", "Bob")
    assert [turn.id for turn in talk.turns] == [
        "D1:1", "D1:2", "D1:3", "D2:1", "D2:2", "D2:3", "D10:1", "D10:2",
    ]  # fmt: skip
    assert talk.turns[2].text == "Look at this! [shares a photo of a cat on a sofa]"
    assert [turn.time for turn in talk.turns[:2]] == [
        "2023-05-08T13:56:00+00:00",
        "2023-05-08T13:56:01+00:00",
    ]
    assert talk.turns[3].time == "2023-05-20T12:30:00+00:00"
    assert {turn.session for turn in talk.turns} == {"session 1", "session 2", "session 10"}


def test_evidence_is_repaired_and_what_has_none_is_left_out(tmp_path: Path) -> None:
    found = locomo.load(write_locomo(tmp_path / "set"))
    own = [q for q in found.cases[0].queries if q.negative != "off topic"]
    assert [(q.id, q.category, q.gold, q.negative, q.answer) for q in own] == [
        ("1-1", "temporal", ("D1:2",), "", "8 May 2023"),
        ("1-2", "multi-hop", ("D1:3", "D10:1"), "", ""),
        ("1-3", "single-hop", ("D2:1",), "", "1"),
        ("1-5", "adversarial", (), "wrong person", ""),
    ]
    repaired = "'D1:3; D10:01' -> D1:3, D10:1", "'D:2:1' -> D2:1"
    mended, lost, dropped, _ = found.notes
    assert mended == (
        "evidence entry repaired (4):"
        f" 1-2: {repaired[0]}; 1-3: {repaired[1]}; 2-2: {repaired[0]}; 2-3: {repaired[1]}"
    )
    assert lost == (
        "evidence entry names no turn and is left out (4):"
        " 1-3: 'D9:9'; 1-4: 'D'; 2-3: 'D9:9'; 2-4: 'D'"
    )
    assert dropped == "query is left out, nothing that answers it is known (2): 1-4; 2-4"


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    talk = locomo_talk("Ann", "Bob", "cat")
    talk["session_2"][1]["dia_id"] = "D2:1"
    talk["session_2"][2]["text"] = " "
    talk["qa"] = [{"question": "Who slept?", "evidence": [17], "category": 4}]
    found = locomo.load(_one(tmp_path / "x.json", talk))
    assert [turn.id for turn in _chat(found.cases[0]).turns[3:]] == ["D2:1", "D10:1", "D10:2"]
    assert found.notes == (
        "turn is left out, another has its id (1): 26 D2:1",
        "turn without text is left out (1): 26 D2:3",
        "evidence entry names no turn and is left out (1): 26-1: 17",
        "query is left out, nothing that answers it is known (1): 26-1",
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is not JSON"),
        ('{"a": 1}', "no list of conversations"),
        ("[3]", "conversation 1: it is no object"),
        ('[{"conversation": 3, "qa": []}]', "conversation 1: conversation is no object"),
        ('[{"speaker_a": "A", "speaker_b": "B", "session_1": [], "qa": []}]', "session_1_date"),
        ('[{"speaker_a": "A", "speaker_b": "B", "qa": []}]', "it has no turn"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(BadInputError, match=reason) as error:
        locomo.load(path)
    assert str(path) in str(error.value)
