import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import table

from clsm_cli.text.tokens import count_tokens, stems, trim_to_tokens


@pytest.mark.parametrize(("text", "terms"), table(__file__, "terms"))
def test_terms(text: str, terms: str) -> None:
    assert stems(text) == terms.split()


def test_composed_and_decomposed_text_meet() -> None:
    assert stems("cafe\u0301 パ") == stems("café ﾊﾟ")


@given(st.text(max_size=80))
@examples(300)
def test_terms_are_folded_words_without_blanks(text: str) -> None:
    for term in stems(text):
        assert term
        assert not any(c.isspace() for c in term)
    assert stems(text) == stems(text + " ")


@pytest.mark.parametrize(("text", "pieces"), table(__file__, "pieces"))
def test_count_is_close_to_the_real_tokenizer(text: str, pieces: str) -> None:
    assert abs(count_tokens(text) - int(pieces)) <= 1


PARTS = ["word", "don't", "3.50", "日本", " ", "\n", ", ", "x" * 40]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=30)


@given(TEXTS.map("".join), st.integers(-1, 40))
@examples(300)
def test_trimmed_text_is_a_beginning_that_fits(text: str, limit: int) -> None:
    trimmed = trim_to_tokens(text, limit)

    assert text.startswith(trimmed)
    assert count_tokens(trimmed) <= max(limit, 0)
    if limit > 0 and count_tokens(text) <= limit:
        assert trimmed == text
