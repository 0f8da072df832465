from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.summaries import best_sentences, definition_score


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("Rosa is a retired signal engineer.", "Rosa"),
        ("- **Rosa Lind**: my sister's neighbour, 71.", "Rosa"),
        ("Rosa, our downstairs neighbour, repairs clocks.", "Rosa"),
        ("**Beacon**: the successor of the old store.", "Beacon"),
        ("Hysteresis is the lag between cause and effect.", "hysteresis"),
        ("- *Hysteresis* (Ewing): a lag between cause and effect.", "hysteresis"),
        ("The condition that forces it is called hysteresis.", "hysteresis"),
        ("The [[flow meter]] means the box under the bridge.", "flow meter"),
    ],
)
def test_definitions(sentence: str, label: str) -> None:
    assert definition_score(sentence, label) >= 0.7


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("We met Rosa at the station yesterday.", "Rosa"),
        ("Then the letter went to Rosa, who had asked for it.", "Rosa"),
        ("He walked by the flow meter again.", "flow meter"),
    ],
)
def test_mere_mentions(sentence: str, label: str) -> None:
    assert 0 < definition_score(sentence, label) < 0.5


NOTHING_TO_KEEP = [
    "Is Rosa a plumber?",
    "Open question: what Rosa is for",
    "Rosa and tea",
    "- [ ] Rosa: a letter to write and to send",
    "`rosa --is a=tool` Rosa",
    "Rosa is a retired engineer " + "who repairs clocks " * 20,
    "The clock is a machine.",
    "",
]


def test_nothing_to_keep() -> None:
    assert [each for each in NOTHING_TO_KEEP if definition_score(each, "Rosa")] == []


def test_the_best_come_first_and_do_not_repeat() -> None:
    candidates = [
        ("Rosa came by again today.", "2026-01-03", "c"),
        ("Rosa is a retired signal engineer.", "2026-01-01", "a"),
        ("Rosa is a retired railway signal engineer.", "2026-01-02", "b"),
        ("Rosa owns the yellow shed behind the house.", "2026-01-02", "d"),
    ]
    assert [each[2] for each in best_sentences(candidates, "Rosa")] == ["b", "d"]
    assert [each[2] for each in best_sentences(candidates, "Rosa", 1)] == ["b"]


_WORDS = st.sampled_from(["Rosa", "is", "a", "baker", "who", "met", "Ann", ",", ":", "the", "tea"])
_CANDIDATE = st.tuples(
    st.lists(_WORDS, max_size=9).map(" ".join),
    st.sampled_from(["", "2026-01-01", "2026-01-02"]),
    st.sampled_from(["k1", "k2", "k3"]),
)


@given(st.lists(_CANDIDATE, max_size=8))
@examples(100)
def test_order_of_candidates_does_not_matter(candidates: list[tuple[str, str, str]]) -> None:
    shuffled = sorted(candidates, key=lambda each: each[0][::-1])
    assert best_sentences(candidates, "Rosa") == best_sentences(shuffled * 2, "Rosa")


def test_news_behind_a_colon_is_no_definition() -> None:
    news = definition_score("- Pump: the shop has promised one for May.", "Pump")
    assert news < definition_score("We ordered a Pump, a box that lifts water, in May.", "Pump")
