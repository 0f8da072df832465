"""Word pieces, and what the words of a text mean without regard to each other."""

from pathlib import Path

import numpy as np
import pytest

from clsm_cli.embedding.wordpiece import StaticVectors, WordPieces
from clsm_cli.startup.query_pieces import MAX_PIECES


@pytest.fixture(scope="module")
def word_pieces(model_folder: Path) -> WordPieces:
    return WordPieces.open(model_folder / "vocab.txt")


def test_a_text_is_framed_by_marks(word_pieces: WordPieces) -> None:
    pieces = word_pieces.pieces(word_pieces.ids("Embeddings, naïve!"))
    assert pieces == ("[CLS]", "em", "##bed", "##ding", "##s", ",", "naive", "!", "[SEP]")


def test_what_passes_the_limit_is_cut_off(word_pieces: WordPieces) -> None:
    ids = word_pieces.ids("word " * 1000)
    assert len(ids) == MAX_PIECES
    assert (ids[0], ids[-1]) == (101, 102)


def test_of_a_megabyte_the_beginning_is_read(word_pieces: WordPieces) -> None:
    assert word_pieces.ids("a word " * 150_000) == word_pieces.ids("a word " * 300)


# What the words of a text mean without regard to each other.


def test_a_text_is_the_mean_of_its_pieces(model_folder: Path) -> None:
    words = StaticVectors.open(model_folder)
    both, swapped, one, other = words.mean_vectors(["Bees swarm", "swarm bees", "bees", "swarm"])
    np.testing.assert_allclose(both, (one + other) / 2, atol=1e-6)
    np.testing.assert_allclose(both, swapped, atol=1e-6)
    assert one.shape == (384,)
