"""What tells a change."""

from __future__ import annotations

import pytest

from clsm_cli.text.changes import marks, tells_change


@pytest.mark.parametrize(
    "text",
    [
        "The loom stands in Haarlem now.",
        "As of Monday the kiln fires at 07:15.",
        "We swapped the Bosch for a Makita.",
        "Noor has become a glazier.",
        "Our new tuner is Edda Vos.",
        "Switched the mill over to Drone.",
        "My fee went from 40 euros to 45 euros.",
    ],
)
def test_a_change_is_told(text: str) -> None:
    assert tells_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "The loom stands in Haarlem.",
        "I must go now.",
        "We celebrate positive changes.",
        "Edda moved me to tears.",
    ],
)
def test_no_change_is_told(text: str) -> None:
    assert not tells_change(text)


def test_marks_of_every_kind() -> None:
    found = marks(
        "From today Mara Lind swims at 07:15 on Fridays, takes 5 mg, pays 40 euros and is on 044 555 1234."
    )
    assert [(mark.kind, mark.text) for mark in found] == [
        ("name", "Mara Lind"),
        ("time", "07:15"),
        ("day", "Fridays"),
        ("amount mg", "5 mg"),
        ("money", "40 euros"),
        ("number", "044 555 1234"),
    ]
