from __future__ import annotations

import pytest

from clsm_cli.text.references import open_reference


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("She keeps bees.", "She"),
        ("It was late.", "It"),
        ("They came by bus.", "They"),
        ("Ann told him.", "him"),
        ("I like the other one.", "the"),
        ("This is new.", "This"),
        ("Ann went there.", "there"),
        ("That is why Ann left.", "That"),
        ("Bo lost his key when she called.", "she"),
        ("Lunch: no meat, as she hates ham.", "she"),
    ],
)
def test_open_references(text: str, word: str) -> None:
    assert open_reference(text) == word


@pytest.mark.parametrize(
    "text",
    [
        "Ann lost her key.",
        "The clock stopped and nobody wound it.",
        "My sister says she likes tea.",
        "There is a clock in the hall.",
        "It takes an hour to walk to Leeds.",
        "The tax is due this week.",
        'Ann wrote: "This is it."',
        "Bo told Ann that he was late.",
    ],
)
def test_closed(text: str) -> None:
    assert open_reference(text) is None


def test_the_speaker_is_no_thing() -> None:
    assert open_reference("Ann painted it.") is None
    assert open_reference("Ann painted it.", speaker="Ann") == "it"
