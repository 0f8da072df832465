"""LoCoMo as published, with its faults."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import locomo_talk, write_locomo

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders import locomo

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_of_conversations(tmp_path: Path) -> None:
    found = locomo.load(write_locomo(tmp_path / "set"))
    assert [each.name for each in found.conversations] == ["1", "2"]
    talk = found.conversations[0]
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
    questions = found.conversations[0].questions
    assert [(q.id, q.category, q.gold) for q in questions] == [
        ("1-1", "temporal", ("D1:2",)),
        ("1-2", "multi-hop", ("D1:3", "D10:1")),
        ("1-3", "single-hop", ("D2:1",)),
        ("1-5", "adversarial", ("D10:2",)),
    ]
    assert found.dropped == ("1-4", "2-4")
    assert found.repaired == 4
    assert found.unresolved == 4


def test_the_one_file_of_all(tmp_path: Path) -> None:
    talk = locomo_talk("Ann", "Bob", "cat")
    qa = talk.pop("qa")
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps([{"sample_id": "conv-26", "conversation": talk, "qa": qa}]))
    found = locomo.load(path)
    assert [each.name for each in found.conversations] == ["26"]
    assert len(found.conversations[0].questions) == 4


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is not JSON"),
        ('{"a": 1}', "no list of conversations"),
        ('[{"sample_id": "1", "conversation": {"session_1": []}, "qa": []}]', "session_1_date"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(BadInputError, match=reason):
        locomo.load(path)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"no \.json file"):
        locomo.load(tmp_path)
