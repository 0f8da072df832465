from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.text.tokens import STOP_WORDS, count_tokens, expected_tokens, stems, trim_to_tokens


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


def test_about_130_stop_words() -> None:
    assert 120 <= len(STOP_WORDS) <= 160


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
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


TEXTS = st.lists(
    st.sampled_from(["word", "don't", "3.50", "日本", " ", "\n", ", ", "x" * 40]), max_size=30
)


@given(TEXTS.map("".join), st.integers(-1, 40))
@settings(max_examples=300, deadline=None)
def test_trimmed_text_is_a_beginning_that_fits(text: str, limit: int) -> None:
    trimmed = trim_to_tokens(text, limit)

    assert text.startswith(trimmed)
    assert count_tokens(trimmed) <= max(limit, 0)
    if limit > 0 and count_tokens(text) <= limit:
        assert trimmed == text


def test_trimming_does_not_split_numbers_or_contractions() -> None:
    assert trim_to_tokens("it costs 3.50 today", 4) == "it costs"
    assert trim_to_tokens("I don't", 3) == "I"
    assert trim_to_tokens("日本語です", 2) == ""


def test_only_the_english_stemmer_is_loaded() -> None:
    code = "import sys; from clsm_cli.text.tokens import stems; stems('dogs'); print('snowballstemmer' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@given(st.text(max_size=80), st.integers(0, 12), st.integers(0, 40), st.integers(0, 40))
def test_counting_stops_early_with_the_same_answer(text: str, limit: int, a: int, b: int) -> None:
    start, end = min(a, b, len(text)), min(max(a, b), len(text))
    found = expected_tokens(text, start, end, limit)
    assert (round(found) > limit) == (count_tokens(text[start:end]) > limit)
