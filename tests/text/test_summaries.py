import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.summaries import best_sentences, definition_score


@pytest.mark.parametrize(
    ("sentence", "label", "least", "most"),
    [
        ("Rosa is a retired signal engineer.", "Rosa", 0.7, 1),
        ("- **Rosa Lind**: my sister's neighbour, 71.", "Rosa", 0.7, 1),
        ("Rosa, our downstairs neighbour, repairs clocks.", "Rosa", 0.7, 1),
        ("**Beacon**: the successor of the old store.", "Beacon", 0.7, 1),
        ("Hysteresis is the lag between cause and effect.", "hysteresis", 0.7, 1),
        ("- *Hysteresis* (Ewing): a lag between cause and effect.", "hysteresis", 0.7, 1),
        ("The condition that forces it is called hysteresis.", "hysteresis", 0.7, 1),
        ("The [[flow meter]] means the box under the bridge.", "flow meter", 0.7, 1),
        ("We met Rosa at the station yesterday.", "Rosa", 0.01, 0.49),
        ("Then the letter went to Rosa, who had asked for it.", "Rosa", 0.01, 0.49),
        ("He walked by the flow meter again.", "flow meter", 0.01, 0.49),
        ("- Pump: the shop has promised one for May.", "Pump", 0.01, 0.49),
        ("Is Rosa a plumber?", "Rosa", 0, 0),
        ("Open question: what Rosa is for", "Rosa", 0, 0),
        ("Rosa and tea", "Rosa", 0, 0),
        ("- [ ] Rosa: a letter to write and to send", "Rosa", 0, 0),
        ("`rosa --is a=tool` Rosa", "Rosa", 0, 0),
        ("Rosa is a retired engineer " + "who repairs clocks " * 20, "Rosa", 0, 0),
        ("The clock is a machine.", "Rosa", 0, 0),
        ("", "Rosa", 0, 0),
    ],
)
def test_what_is_said_of_a_name(sentence: str, label: str, least: float, most: float) -> None:
    assert least <= definition_score(sentence, label) <= most


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
