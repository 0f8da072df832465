"""Values that are told as something that their owner has."""

from __future__ import annotations

from datetime import date

import pytest

from clsm_cli.text.slots import facts

AT = date(2026, 2, 20)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("My flat is now in Hull.", ("Ann", "residence", "Hull")),
        ("Tomas settled in the Hague last year.", ("Tomas", "residence", "Hague")),
        ("Ilse's current home is York.", ("Ilse", "residence", "York")),
        ("My mobile number has changed to 020 7946 0958.", ("Ann", "phone", "020 7946 0958")),
        ("Call Ilse on +44 20 7946 0958.", ("Ilse", "phone", "+44 20 7946 0958")),
        ("Ilse changed her number to 020 7946 0958.", ("Ilse", "phone", "020 7946 0958")),
        ("The e-mail address of Ilse is now i@york.example.", ("Ilse", "email", "i@york.example")),
        ("The barge's maintainer is Brian.", ("barge", "owner", "Brian")),
        ("Responsibility for the barge passed to Ruth.", ("barge", "owner", "Ruth")),
        ("Ruth takes care of the barge now.", ("barge", "owner", "Ruth")),
        ("The diary's editor is Obsidian.", ("diary", "uses/editor", "Obsidian")),
        ("We migrated the shop's hosting to Hetzner.", ("shop", "uses/hosting", "Hetzner")),
        ("The frequency of the poll is every 5 minutes.", ("poll", "interval", "5 minutes")),
        ("I reduced the poll to every 2 hours.", ("poll", "interval", "2 hours")),
    ],
)
def test_what_is_read(sentence: str, expected: tuple[str, str, str]) -> None:
    (found,) = facts(sentence, AT, speaker="Ann")
    assert (found.subject, found.slot, found.value) == expected
    assert found.is_single


@pytest.mark.parametrize(
    "sentence",
    [
        "The order's number is 4711 0815 2342.",
        "Is the barge's owner Ruth?",
        "If my home is in Hull, we walk.",
        "The home of the team is where it plays.",
        "The owner is Ruth.",
        "She said the shop's database is Postgres.",
    ],
)
def test_what_is_not(sentence: str) -> None:
    assert facts(sentence, AT, speaker="Ann") == []


def test_the_older_value_is_named_too() -> None:
    for sentence in (
        "We switched the shop's database from SQLite to Postgres.",
        "We replaced SQLite with Postgres as the shop's database.",
    ):
        (found,) = facts(sentence, AT)
        assert (found.subject, found.value, found.was) == ("shop", "Postgres", ("SQLite",))
