"""What the words of a text mean without regard to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clsm_cli.embedding.words import Words

if TYPE_CHECKING:
    from pathlib import Path


def test_a_text_is_the_mean_of_its_pieces(model_folder: Path) -> None:
    words = Words.open(model_folder)
    both, swapped, one, other = words.of(["Bees swarm", "swarm bees", "bees", "swarm"])
    np.testing.assert_allclose(both, (one + other) / 2, atol=1e-6)
    np.testing.assert_allclose(both, swapped, atol=1e-6)
    assert one.shape == (384,)


def test_a_text_without_pieces_means_nothing(model_folder: Path) -> None:
    assert not Words.open(model_folder).of(["", "\u200b"]).any()
