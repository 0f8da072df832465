"""Which days answer a question of GVD, by rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluation.small_sets import write_gvd

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders import gvd

DAYS = {  # stems
    "2023-05-01": frozenset({"trip", "museum"}),
    "2023-05-02": frozenset({"trip", "hors", "museum"}),
    "2023-05-03": frozenset({"trip", "hors"}),
    "2023-05-04": frozenset({"trip", "violin"}),
}


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
        "query is left out, neither rule decides (1): Emily-3",
    ]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (gvd.MEMORY, "[]", "it holds no users"),
        (gvd.MEMORY, '{"Emily": {"history": {"May 4": []}}}', "user Emily: Invalid isoformat"),
        (gvd.QUESTIONS, "\n{", "line 2: "),
        (gvd.QUESTIONS, '{"Emily": [3]}', "line 1: something is of another type"),
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
    assert gvd.label_question(question, DAYS)[1] == gold
