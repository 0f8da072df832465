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


_BLOCK_BYTES = 64


def hmac_sha256(key: bytes, data: bytes) -> str:
    """The message authentication code of ``data``, 64 hex digits (RFC 2104).

        H((K ⊕ 5c…) ‖ H((K ⊕ 36…) ‖ data)), K the key (its digest if it is longer than a block of 64
        bytes), filled up to a block with zeros

    >>> hmac_sha256(b"key", b"The quick brown fox jumps over the lazy dog")[:8]
    'f7bc83f4'
    """
    short = key if len(key) <= _BLOCK_BYTES else _new(key).digest()
    whole = short.ljust(_BLOCK_BYTES, b"\0")
    inner = _new(bytes(byte ^ 0x36 for byte in whole) + data).digest()
    return str(_new(bytes(byte ^ 0x5C for byte in whole) + inner).hexdigest())
