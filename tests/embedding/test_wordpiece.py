"""Word pieces, and what the words of a text mean without regard to each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.embedding import wordpiece
from clsm_cli.embedding.wordpiece import StaticVectors, WordPieces
from clsm_cli.startup.query_pieces import MOST_PIECES


@pytest.fixture(scope="module")
def word_pieces(model_folder: Path) -> WordPieces:
    return WordPieces.open(model_folder / "vocab.txt")


def test_a_text_is_framed_by_marks(word_pieces: WordPieces) -> None:
    pieces = word_pieces.pieces(word_pieces.ids("Embeddings, naïve!"))
    assert pieces == ("[CLS]", "em", "##bed", "##ding", "##s", ",", "naive", "!", "[SEP]")


def test_what_passes_the_limit_is_cut_off(word_pieces: WordPieces) -> None:
    ids = word_pieces.ids("word " * 1000)
    assert len(ids) == MOST_PIECES
    assert (ids[0], ids[-1]) == (101, 102)


# Letters, marks that combine, white space the tokeniser splits at and some it removes,
# ideographs and their neighbours, punctuation, a special token.
_PARTS = st.sampled_from(
    [*"aé\u0301\u0489 \n\t\x1c\x85\u3000\u4e00\u9fff字あ한.,[\ud800", "word", "[SEP]", "x" * 101]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PARTS, max_size=60).map("".join))
def test_a_prefix_ends_where_a_word_starts(model_folder: Path, text: str) -> None:
    """Cutting a text there gives the first pieces of the whole."""
    pieces = WordPieces.open(model_folder / "vocab.txt")
    text = wordpiece._without_surrogates(text)
    for limit in range(0, len(text), 7):
        start = wordpiece._word_start(text, limit)
        head = pieces.ids(text[:start])[1:-1]
        assert pieces.ids(text)[1 : 1 + len(head)] == head


@pytest.mark.parametrize("unit", ["word ", "字", "a", ".", " ", "\x00", "a" * 99 + " ", "\n\n"])
def test_a_megabyte_is_cut_as_its_beginning_is(word_pieces: WordPieces, unit: str) -> None:
    text = unit * ((1 << 20) // len(unit))
    assert word_pieces.ids(text + "\n字") == word_pieces._cut(text + "\n字")


# What the words of a text mean without regard to each other.


def test_a_text_is_the_mean_of_its_pieces(model_folder: Path) -> None:
    words = StaticVectors.open(model_folder)
    both, swapped, one, other = words.mean_vectors(["Bees swarm", "swarm bees", "bees", "swarm"])
    np.testing.assert_allclose(both, (one + other) / 2, atol=1e-6)
    np.testing.assert_allclose(both, swapped, atol=1e-6)
    assert one.shape == (384,)
