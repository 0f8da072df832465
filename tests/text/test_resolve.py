from __future__ import annotations

import pytest

from clsm_cli.text.resolve import antecedent, is_person, resolved, subject_of


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Ann keeps bees.", "Ann"),
        ("So the old router restarted.", "the old router"),
        ("Since Monday the shop is closed.", "the shop"),
        ("At 09:00 today, 23 February, Otter went live.", "Otter"),
        ("level_db stores readings.", "level_db"),
        ("Dr. Moss has a place on Monday.", "Dr Moss"),
        ("Is Ann late?", ""),
        ("It rained.", ""),
        ("In Leeds.", ""),
    ],
)
def test_subjects(text: str, subject: str) -> None:
    assert subject_of(text) == subject


def test_an_antecedent_has_no_rival() -> None:
    assert antecedent("Zed told a story.") == "Zed"
    assert antecedent("Zed told Kim a story.") == ""
    assert antecedent("Peter told Anna a story.") == "Peter"
    assert antecedent("Zed came on Monday.") == "Zed"


@pytest.mark.parametrize(
    ("text", "subject", "expected"),
    [
        ("She keeps bees.", "Ann", "Ann keeps bees."),
        ("Her sister keeps bees.", "Ann", "Ann's sister keeps bees."),
        ("She's late.", "Kim", "Kim is late."),
        ("She's been to Rome.", "Kim", "Kim has been to Rome."),
        ("In May it failed.", "The router", "In May the router failed."),
        ("It failed.", "level_db", "level_db failed."),
        ("He keeps bees.", "Anna", "He keeps bees."),
        ("It failed.", "Ann", "It failed."),
        ("They failed.", "Ann", "They failed."),
        ("Ann lost it.", "", "Ann lost it."),
    ],
)
def test_pronouns(text: str, subject: str, expected: str) -> None:
    assert resolved(text, subject) == expected


def test_a_definition_may_be_it() -> None:
    assert resolved("It failed.", "Otter", is_label=True) == "Otter failed."


def test_persons() -> None:
    assert is_person("Aunt May")
    assert is_person("Dr Moss")
    assert not is_person("The router")
    assert not is_person("v2")
