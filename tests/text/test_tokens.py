import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.tokens import count_tokens, stems, trim_to_tokens


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Mara wants the recommendation first.", ["mara", "want", "recommend", "first"]),
        ("Caroline's sisters' dogs", ["carolin", "sister", "dog"]),
        ("Don't! You can't, won't, shouldn\u2019t.", []),
        ("O'Brien", ["o", "brien"]),
        ("memory_v2", ["memory_v2", "memori", "v2"]),
        ("__init__ snake_case_name", ["init", "snake_case_name", "snake", "case", "name"]),
        ("delegation-defect", ["deleg", "defect"]),
        ("all-MiniLM-L6-v2 3.5 #42", ["minilm", "l6", "v2", "3", "5", "42"]),
        ("Café RÉSUMÉ Straße ﬁne", ["cafe", "resum", "strass", "fine"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("茶 와 한국어", ["茶", "와", "한국", "국어"]),
        ("GPT4モデルv2", ["gpt4", "モテ", "テル", "v2"]),
        ("", []),
        ("… — !?", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert stems(text) == terms


def test_composed_and_decomposed_text_meet() -> None:
    assert stems("cafe\u0301 パ") == stems("café ﾊﾟ")


@given(st.text(max_size=80))
@examples(300)
def test_terms_are_folded_words_without_blanks(text: str) -> None:
    for term in stems(text):
        assert term
        assert not any(c.isspace() for c in term)
    assert stems(text) == stems(text + " ")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", 0),
        ("hello world", 2),
        ("2026-02-24", 7),
        ("日本語", 3),
        ("Hey Mel! Good to see you!", 8),
    ],
)
def test_count_is_close_to_the_real_tokenizer(text: str, pieces: int) -> None:
    assert abs(count_tokens(text) - pieces) <= 1


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
