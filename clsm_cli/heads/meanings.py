"""What words mean to the heads: their static vectors, of the installed model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.embedding import weights
from clsm_cli.errors import ModelDigestError, ModelMissingError

if TYPE_CHECKING:
    from clsm_cli.heads.judge import Meanings


def installed_meanings() -> Meanings | None:
    """Mean word vectors of texts, see ``judge.judge_units``; None without a valid model."""
    from clsm_cli.embedding.wordpiece import StaticVectors

    try:
        weights.check(weights.default_folder())
    except (ModelMissingError, ModelDigestError):
        return None
    return StaticVectors.open(weights.default_folder()).mean_vectors
