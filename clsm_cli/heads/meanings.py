"""What words and sentences mean to the heads: their vectors, of the installed model."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.embedding import weights
from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.heads import cross_encoder
from clsm_cli.model import ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.embedding.encoder import Encoder
    from clsm_cli.heads.judge import Meanings


def installed_meanings() -> Meanings | None:
    """Mean word vectors of texts, see ``judge.judge_units``; None without a valid model."""
    from clsm_cli.embedding.wordpiece import StaticVectors

    try:
        weights.check(weights.default_folder())
    except (ModelMissingError, ModelDigestError):
        return None
    return StaticVectors.open(weights.default_folder()).mean_vectors


@cache
def fingerprint() -> str:
    """A digest of what the heads judge by: their weights, and which of them the installed model can read with."""
    model = weights.default_folder()
    folded = sorted(path.name for path in model.glob("*.int8"))
    is_there = installed_meanings() is not None
    shipped = sorted(Path(cross_encoder.WEIGHTS).iterdir())
    digests = [ids.sha256(path.read_bytes()) for path in shipped]
    return ids.sha256(json.dumps([digests, folded, is_there]).encode())


def sentence_vectors(texts: Sequence[str]) -> list[Any]:
    """The unit vector float32 [384] of each sentence, by the installed model."""
    return [each.sentence for each in _encoder().encode(texts)]


@cache
def _encoder() -> Encoder:
    from clsm_cli.embedding.encoder import Encoder

    return Encoder.open(weights.default_folder())
