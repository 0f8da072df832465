from __future__ import annotations

import time
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.text.kinds import KINDS, kind_of, kind_votes


def kind(text: str, label: str, marked: str = "name") -> str:
    """The kind that all mentions of a label in one text give it."""
    votes: dict[str, float] = defaultdict(float)
    start = text.find(label)
    while start >= 0:
        for each, weight in kind_votes(text, start, start + len(label), label, marked):
            votes[each] += weight
        start = text.find(label, start + 1)
    return kind_of(votes)


@pytest.mark.parametrize(
    ("text", "label", "marked", "expected"),
    [
        ("My sister Rosa moved to Ghent.", "Rosa", "name", "person"),
        ("Rosa said that it rains.", "Rosa", "name", "person"),
        ("- **Rosa**: retired engineer, 71.", "Rosa", "name", "person"),
        ("I met Dr. Lind.", "Dr. Lind", "name", "person"),
        ("My dog Bello sleeps.", "Bello", "name", "animal"),
        ("Bello, a grey cat of nine, sleeps.", "Bello", "name", "animal"),
        ("I am reading *The Long Winter*.", "The Long Winter", "title", "book"),
        ("Her essay *Dry Rivers* is short.", "Dry Rivers", "title", "reading"),
        ("She lives in Ghent.", "Ghent", "name", "place"),
        ("We met at the Blue Café.", "Blue Café", "name", "place"),
        ("The backup drive died.", "backup drive", "phrase", "infrastructure"),
        ("We use `rclone` for it.", "rclone", "code", "tool"),
        ("It happened during Storm Ada.", "Storm Ada", "name", "event"),
        ("I work at Hooli.", "Hooli", "name", "organisation"),
        ("The chess club met again.", "chess club", "phrase", "organisation"),
        ("We are working on Beacon.", "Beacon", "name", "project"),
        ("We went camping.", "camping", "phrase", "activity"),
        ("He calls it hysteresis.", "hysteresis", "phrase", "concept"),
        ("Nothing here.", "Nothing", "name", "concept"),
    ],
)
def test_kinds(text: str, label: str, marked: str, expected: str) -> None:
    assert kind(text, label, marked) == expected


def test_evidence_adds_up() -> None:
    text = "Rosa likes Ghent. I moved to Ghent. Rosa asked why."
    assert kind(text, "Rosa") == "person"
    assert kind(text, "Ghent") == "place"


def test_little_evidence_is_a_concept_and_ties_go_by_order() -> None:
    assert kind_of({}) == "concept"
    assert kind_of({"person": 0.1, "tool": 0.2}) == "concept"
    assert kind_of({"tool": 2.0, "place": 2.0}) == kind_of({"place": 2.0, "tool": 2.0}) == "place"


@given(
    st.text(max_size=120),
    st.integers(0, 120),
    st.integers(0, 30),
    st.sampled_from(["link", "code"]),
)
@settings(max_examples=150, deadline=None)
def test_votes_are_of_known_kinds(text: str, start: int, size: int, marked: str) -> None:
    start = min(start, len(text))
    label = text[start : start + size]
    votes = kind_votes(text, start, start + len(label), label, marked)
    assert all(each in KINDS and weight > 0 for each, weight in votes)


def test_long_text_takes_little_time() -> None:
    text = "the sister, " * 90_000
    start = time.process_time()
    for position in range(0, 50_000, 500):
        kind_votes(text, position, position + 3, "the", "phrase")
    assert time.process_time() - start < 2  # aim 0.05 s
