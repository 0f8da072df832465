import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import table

from clsm_cli.text.summaries import best_sentences, definition_score


@pytest.mark.parametrize(("sentence", "label", "least", "most"), table(__file__, "definitions"))
def test_what_is_said_of_a_name(sentence: str, label: str, least: str, most: str) -> None:
    assert float(least) <= definition_score(sentence, label) <= float(most)


def test_the_best_come_first_and_do_not_repeat() -> None:
    candidates = [
        ("Rosa came by again today.", "2026-01-03", "c"),
        ("Rosa is a retired signal engineer.", "2026-01-01", "a"),
        ("Rosa is a retired railway signal engineer.", "2026-01-02", "b"),
        ("Rosa owns the yellow shed behind the house.", "2026-01-02", "d"),
    ]
    assert [each[2] for each in best_sentences(candidates, "Rosa")] == ["b", "d"]


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
