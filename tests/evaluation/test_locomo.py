"""LoCoMo as published, with its faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from evaluation.small_sets import locomo_talk, write_locomo

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Case, Chat
from clsm_cli.evaluation.loaders import locomo


def _chat(case: Case) -> Chat:
    assert isinstance(case.source, Chat)
    return case.source


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


def test_the_one_file_of_all(tmp_path: Path) -> None:
    talk = locomo_talk("Ann", "Bob", "cat")
    talk["session_2"][2]["text"] = " "
    qa = [{"question": "Who slept?", "evidence": [17, "D1:1"], "category": 4}]
    talk.pop("qa")
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"qa": qa, "conversation": talk, "sample_id": "conv-26"}]))
    (case,) = locomo.load(path).cases
    assert (case.name, case.queries[0].id, case.queries[0].gold) == ("26", "26-1", ("D1:1",))
    assert [turn.id for turn in _chat(case).turns[3:]] == ["D2:1", "D2:2", "D10:1", "D10:2"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is not JSON"),
        ('{"a": 1}', "no list of conversations"),
        ("[3]", "conversation 1: something is of another type"),
        ('[{"conversation": 3, "qa": []}]', "conversation 1: something is of another type"),
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
