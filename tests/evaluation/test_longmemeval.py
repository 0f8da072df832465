"""LongMemEval as published, in small, and everything that may be wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from evaluation.small_sets import haystack, write_longmemeval

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Case, Chat, LabelledTurn
from clsm_cli.evaluation.loaders import longmemeval


def _turns(case: Case) -> tuple[LabelledTurn, ...]:
    assert isinstance(case.source, Chat)
    return case.source.turns


def test_each_question_has_its_own_store(tmp_path: Path) -> None:
    found = longmemeval.load(write_longmemeval(tmp_path / "set"))
    assert (found.name, found.unit, found.headline) == (
        "longmemeval_s_cleaned.json",
        "turn",
        "recall@10",
    )
    first, second = found.cases
    assert [(turn.id, turn.role, turn.time, turn.session) for turn in _turns(first)] == [
        ("1:filler_1:1", "user", "2023-05-19T10:00:00+00:00", "1:filler_1"),
        ("1:filler_1:2", "assistant", "2023-05-19T10:00:01+00:00", "1:filler_1"),
        ("0:answer_1:1", "user", "2023-05-20T02:21:00+00:00", "0:answer_1"),
        ("0:answer_1:2", "assistant", "2023-05-20T02:21:01+00:00", "0:answer_1"),
    ]
    (query,) = first.queries
    assert (first.name, query.id, query.category) == ("q1", "q1", "single-session-user")
    # filler_1:1 is marked too, but its session is none of those with the evidence
    assert (query.gold, query.negative, query.answer) == (("0:answer_1:1",), "", "a violin")
    assert query.at == "2023-05-30T23:40:00+00:00"
    (unknown,) = second.queries
    assert (unknown.id, unknown.gold, unknown.negative) == ("q2_abs", (), "near topic")
    assert found.notes == ()


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    unmarked, twice = haystack("q2"), haystack("q4")
    unmarked["haystack_sessions"][0][0].pop("has_answer")
    twice["haystack_session_ids"] = ["answer_1", "answer_1"]
    twice["haystack_sessions"][0][1]["content"] = ""
    lost = haystack("q3", question_type=None, answer_session_ids=["answer_1", "answer_2"])
    rows = [haystack("q1"), unmarked, lost, twice]
    found = longmemeval.load(write_longmemeval(tmp_path / "set", *rows))
    assert [case.name for case in found.cases] == ["q1", "q3", "q4"]
    assert found.cases[1].queries[0].category == ""
    assert found.cases[2].queries[0].gold == ("1:answer_1:1", "0:answer_1:1")
    assert found.notes == (
        "query is left out, no turn of its haystack is marked as its evidence (1): q2",
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"question_date": "yesterday"}, "question 1: 'yesterday' is no time"),
        ({"haystack_dates": ["2023/05/20 (Sat) 02:21"]}, "question 1: zip"),
        ({"haystack_sessions": [[], [{"role": "user"}]]}, "question 1: it has no content"),
        ({"haystack_sessions": [[], []]}, "its haystack is empty"),
    ],
)
def test_what_is_not_of_the_set_is_refused(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    folder = write_longmemeval(tmp_path / "set", haystack("q1", **change))
    with pytest.raises(BadInputError, match=reason) as error:
        longmemeval.load(folder)
    assert "longmemeval_s_cleaned.json" in str(error.value)
