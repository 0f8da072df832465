"""Which days answer a question of GVD, by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_gvd

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders import gvd

if TYPE_CHECKING:
    from pathlib import Path

DAYS = {  # stems
    "2023-05-01": frozenset({"trip", "museum"}),
    "2023-05-02": frozenset({"trip", "hors", "museum"}),
    "2023-05-03": frozenset({"trip", "hors"}),
    "2023-05-04": frozenset({"trip", "violin"}),
}


def test_turns_by_day(tmp_path: Path) -> None:
    (user,) = gvd.load(write_gvd(tmp_path / "set")).conversations
    assert user.name == "Emily"
    assert [(t.speaker, t.role, t.unit) for t in user.turns[:2]] == [
        ("Emily", "user", "2023-04-27"),
        ("assistant", "assistant", "2023-04-27"),
    ]
    assert user.turns[1].time == "2023-04-27T12:00:01+00:00"
    assert len({turn.id for turn in user.turns}) == len(user.turns) == 10


def test_labels_of_a_set(tmp_path: Path) -> None:
    found = gvd.load(write_gvd(tmp_path / "set"))
    assert [(q.text, q.category, q.gold) for q in found.conversations[0].questions] == [
        ("What was my mood on May 4th?", "dated", ("2023-05-04",)),
        ("What did I see in Xiamen?", "lexical", ("2023-05-02",)),
        ("Tell me of the horse.", "lexical", ("2023-05-02", "2023-05-04")),
    ]
    assert found.rules == {"dated": 1, "lexical": 2}
    assert found.unlabelled == ("Emily-3",)


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


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"memory_bank_en\.json"):
        gvd.load(tmp_path)
