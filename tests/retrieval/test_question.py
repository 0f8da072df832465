from __future__ import annotations

from datetime import date

import pytest

from clsm_cli.retrieval.question import understand

NOW = "2026-02-24T12:00:00+01:00"
PEOPLE = ["Mara Hart", "Brian", "Brian Okafor", "assistant", "Will"]


@pytest.mark.parametrize(
    ("text", "named", "dense"),
    [
        ("What does Mara want?", ("Mara Hart",), "What does want?"),
        ("Mara Hart's cat", ("Mara Hart",), "cat"),
        ("did MARA call", ("Mara Hart",), "did call"),
        ("who is Brian Okafor", ("Brian Okafor",), "who is"),
        ("tomara and marathon", (), "tomara and marathon"),
        ("what did the assistant say", ("assistant",), "what did the say"),
        ("Mara and Will met", ("Mara Hart",), "and Will met"),
        ("delegation defect", (), "delegation defect"),
    ],
)
def test_names_of_speakers(text: str, named: tuple[str, ...], dense: str) -> None:
    found = understand(text, NOW, PEOPLE)
    assert (found.named, found.dense) == (named, dense)


def test_a_first_name_that_two_share_names_nobody() -> None:
    found = understand("what did Ann say", NOW, ["Ann Lee", "Ann Ray"])
    assert found.named == ()
    assert "Ann" in found.dense


def test_a_question_of_names_alone_keeps_them() -> None:
    found = understand("Mara?", NOW, PEOPLE)
    assert found.dense == "Mara?"
    assert found.name_terms == {"mara", "hart"}


@pytest.mark.parametrize(
    ("text", "first", "until"),
    [
        ("on 12 February 2026", date(2026, 2, 12), date(2026, 2, 13)),
        ("what happened yesterday", date(2026, 2, 23), date(2026, 2, 24)),
        ("in May 2023", date(2023, 5, 1), date(2023, 6, 1)),
    ],
)
def test_periods(text: str, first: date, until: date) -> None:
    assert understand(text, NOW, []).periods == ((first.toordinal(), until.toordinal()),)


@pytest.mark.parametrize("text", ["cats and dogs", "", "¿qué?", "東京都", "🙂", "the"])
def test_a_question_without_a_time(text: str) -> None:
    found = understand(text, NOW, PEOPLE)
    assert (found.periods, found.asks_when) == ((), False)


@pytest.mark.parametrize("text", ["When did it end?", "how long was it", "which month", "what day"])
def test_a_question_for_a_time(text: str) -> None:
    assert understand(text, NOW, []).asks_when


def test_a_long_query_is_read_once() -> None:
    found = understand("who told Mara about the river " * 700, NOW, PEOPLE)
    assert found.named == ("Mara Hart",)
    assert found.terms == ("told", "mara", "river")
