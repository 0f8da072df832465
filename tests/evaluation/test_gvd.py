"""Which days answer a question of GVD, by rule."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_gvd

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Case, Chat
from clsm_cli.evaluation.loaders import gvd

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.loaders.parsing import Said

DAYS = {  # stems
    "2023-05-01": frozenset({"trip", "museum"}),
    "2023-05-02": frozenset({"trip", "hors", "museum"}),
    "2023-05-03": frozenset({"trip", "hors"}),
    "2023-05-04": frozenset({"trip", "violin"}),
}


def _turns(case: Case) -> tuple[Said, ...]:
    assert isinstance(case.source, Chat)
    return case.source.turns


def test_turns_by_day(tmp_path: Path) -> None:
    found = gvd.load(write_gvd(tmp_path / "set"))
    (user,) = found.cases
    assert (user.name, found.unit, found.headline) == ("Emily", "day", "recall@1")
    turns = _turns(user)
    assert [(t.speaker, t.role, t.unit) for t in turns[:2]] == [
        ("Emily", "user", "2023-04-27"),
        ("assistant", "assistant", "2023-04-27"),
    ]
    assert turns[1].time == "2023-04-27T12:00:01+00:00"
    assert len({turn.id for turn in turns}) == len(turns) == 10


def test_labels_of_a_set(tmp_path: Path) -> None:
    found = gvd.load(write_gvd(tmp_path / "set"))
    assert [(q.text, q.category, q.gold) for q in found.cases[0].queries] == [
        ("What was my mood on May 4th?", "dated", ("2023-05-04",)),
        ("What did I see in Xiamen?", "lexical", ("2023-05-02",)),
        ("Tell me of the horse.", "lexical", ("2023-05-02", "2023-05-04")),
    ]
    rules, *faults = found.notes
    assert rules == (
        "the set names no evidence; the days that answer a query are derived by two rules:"
        " 1 name a day or a period (dated),"
        " 2 have words that were said on one or two days only (lexical)"
    )
    assert faults == [
        "1 name of a user had blanks around it: Emily",
        "1 query stood in quotation marks: Emily-2",
        "1 query is left out, neither rule decides: Emily-3",
    ]


def test_users_without_questions_and_questions_without_a_user(tmp_path: Path) -> None:
    folder = write_gvd(tmp_path / "set")
    memory = json.loads((folder / gvd.MEMORY).read_text())
    memory |= {"Gary": {"history": {"2023-05-02": [{"query": "Hi", "response": ""}]}}}
    (folder / gvd.MEMORY).write_text(json.dumps(memory))
    with (folder / gvd.QUESTIONS).open("a") as file:
        file.write(json.dumps({"Ivy": ["Who?"], "Emily": ["A vet?"]}) + "\n")
    found = gvd.load(folder)
    assert [case.name for case in found.cases] == ["Emily"]
    assert found.cases[0].queries[-1].id == "Emily-5"
    assert found.notes[-3:] == (
        "1 turn without text is left out: Gary 2023-05-02#2",
        "1 conversation without queries is left out: Gary",
        "1 user with questions has no history and is left out: Ivy",
    )


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (gvd.MEMORY, "[]", "it holds no users"),
        (gvd.MEMORY, '{"Emily": {}}', "user Emily: it has no history"),
        (gvd.MEMORY, '{"Emily": {"history": {"May 4": []}}}', "user Emily: Invalid isoformat"),
        (
            gvd.MEMORY,
            '{"Emily": {"history": {"2023-05-04": [{"query": 3}]}}}',
            "user Emily: query is no text",
        ),
        (gvd.QUESTIONS, "\n{", "line 2: "),
        (gvd.QUESTIONS, '{"Emily": "Who?"}', "line 1: Emily is no list"),
        (gvd.QUESTIONS, '{"Emily": [3]}', "line 1: the questions to Emily are no texts"),
        (gvd.QUESTIONS, "", "no question to a user"),
    ],
)
def test_what_is_not_of_the_set_is_refused(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    folder = write_gvd(tmp_path / "set")
    (folder / name).write_text(content)
    with pytest.raises(BadInputError, match=reason) as error:
        gvd.load(folder)
    assert name in str(error.value)


@pytest.mark.parametrize(
    ("question", "gold"),
    [
        ("On May 3rd, how was the museum?", ["2023-05-03"]),  # a date counts before words
        ("Was there a violin on the trip?", ["2023-05-04"]),
        ("A horse in a museum?", ["2023-05-02"]),  # both words on this day only
        ("A violin on a horse?", ["2023-05-04"]),  # one word is on exactly one day
        ("How was the trip?", []),  # on every day
        ("What advice did you recommend recently?", []),  # words that only ask
        ("What happened on June 9th?", []),  # outside the history
    ],
)
def test_rules(question: str, gold: list[str]) -> None:
    assert gvd.label(question, DAYS)[1] == gold
