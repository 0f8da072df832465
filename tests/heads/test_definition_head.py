"""Which sentences say what a named thing is, and which describe a node."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import column

from clsm_cli.consolidation.descriptions import Quote, best_quotes, quotes_of
from clsm_cli.heads.definition_head import MIN_DEFINITION, below_heading, judge
from clsm_cli.text.plain import to_plain


def chance(sentence: str, name: str = "Rosa", *, is_dated: bool = True) -> float | None:
    told = judge(sentence, to_plain(sentence), name, is_dated=is_dated)
    return None if told is None else told.probability


@pytest.mark.parametrize("sentence", column(__file__, "what it is"))
def test_what_it_is_is_likelier_than_what_it_did(sentence: str) -> None:
    said, did = chance(sentence), chance("We met Rosa at the station yesterday.")
    assert said is not None
    assert did is not None
    assert said > MIN_DEFINITION > did


def test_a_document_that_is_kept_up_to_date_says_it_rather_than_a_diary() -> None:
    assert (chance("Rosa: engineer.", is_dated=False) or 0) > (chance("Rosa: engineer.") or 0)


def test_a_question_defines_nothing_and_a_sentence_without_the_name_is_none() -> None:
    assert chance("Is Rosa a plumber?") == 0
    assert chance("The clock is a machine.") is None
    assert {
        chance(each)
        for each in ("- **Rosa**", "## Rosa:", "This Rosa wants to know:", "```\nRosa = 1\n```")
    } == {None}
    assert below_heading("", "People › Rosa") is None


def test_the_best_come_first_and_do_not_repeat() -> None:
    said = (
        ("Rosa came by again today at 9, at 10, at 11 and at 12.", "2026-01-03", "c"),
        ("Rosa is a retired signal engineer.", "2026-01-01", "a"),
        ("Rosa is a retired railway signal engineer.", "2026-01-02", "b"),
        ("Rosa, our neighbour, owns the yellow shed.", "2026-01-02", "d"),
        ("Rosa is a " + "very " * 60 + "patient woman.", "2026-01-04", "e"),
    )
    quotes = [quote for each in said for quote in quotes_of(each[0], "Rosa", *each[1:])]
    assert [each.key for each in best_quotes(quotes)] == ["b", "d"]
    assert best_quotes(quotes[:1]) == []


_QUOTE = st.builds(
    Quote,
    st.lists(st.sampled_from(["Rosa", "is", "a", "baker", "tea"]), max_size=6).map(" ".join),
    st.sampled_from([0.0, 0.2, 0.5, 0.9]),
    st.sampled_from(["", "2026-01-01", "2026-01-02"]),
    st.sampled_from(["k1", "k2", "k3"]),
)


@given(st.lists(_QUOTE, max_size=8))
@examples(100)
def test_order_of_candidates_does_not_matter(candidates: list[Quote]) -> None:
    shuffled = sorted(candidates, key=lambda each: each.text[::-1])
    assert best_quotes(candidates) == best_quotes(shuffled * 2)
