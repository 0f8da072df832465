"""SHA-256 without OpenSSL, which takes 7 ms to load: a tenth of a recall."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _function() -> Any:
    """Python's own implementation: its module is called so from 3.12 on, and so before."""
    for name in ("_sha2", "_sha256", "hashlib"):
        try:
            return import_module(name).sha256
        except ImportError:
            continue
    raise ModuleNotFoundError("hashlib", name="hashlib")


_new = _function()


def sha256(data: bytes) -> str:
    """The digest of ``data``, 64 hex digits.

    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return str(_new(data).hexdigest())
