from __future__ import annotations

import pytest

from clsm_cli.text.first_person import (
    gender_of,
    has_company,
    has_first_person,
    name_of,
    quoted,
    third_person,
)


@pytest.mark.parametrize(
    ("text", "speaker", "expected"),
    [
        ("I prefer tabs.", "Ann", "Ann prefers tabs."),
        ("I've been to Rome.", "Zed", "Zed has been to Rome."),
        ("I'm a nurse.", "user", "The user is a nurse."),
        ("I always carry my keys.", "Anna", "Anna always carries her keys."),
        ("My dog is called Rex.", "Zed", "Zed's dog is called Rex."),
        ("I sold my car and I bought a bike.", "Peter", "Peter sold his car and he bought a bike."),
        ("Last year I moved to Leeds.", "Zed", "Last year Zed moved to Leeds."),
        ("The course taught me patience.", "user", "The course taught the user patience."),
        ("I don't eat fish.", "Zed", "Zed does not eat fish."),
        ("I was late and I am sorry.", "user", "The user was late and they are sorry."),
        ('I wrote "the end".', "Zed", 'Zed wrote "the end".'),
        ("I read it last week.", "Zed", "Zed read it last week."),
    ],
)
def test_told_by_others(text: str, speaker: str, expected: str) -> None:
    assert third_person(text, speaker) == expected


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("We moved to Leeds.", "Anna"),
        ("I told you so.", "Anna"),
        ("I sold my car.", "Zed"),
        ("I read the news.", "Zed"),
        ("I glorp daily.", "Zed"),
        ('I said "I know".', "Zed"),
        ("I live in Bern and work in Thun.", "Anna"),
        ("So am I.", "Anna"),
    ],
)
def test_unsafe(text: str, speaker: str) -> None:
    assert third_person(text, speaker) is None


def test_names() -> None:
    assert name_of("assistant") == "The assistant"
    assert name_of("") == ""
    assert gender_of("") is None
    assert gender_of("Peter") == "he"


def test_persons_outside_of_quotations() -> None:
    assert has_first_person("It was my turn.")
    assert not has_first_person('Ann said "I know".')
    assert has_company("Ours is blue, and you know it.")
    assert not has_company('Ann said "we know".')


def test_quoted() -> None:
    assert quoted('Say "no".', "Ann") == "Ann: \"Say 'no'.\""
