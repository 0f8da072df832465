"""Digests without OpenSSL are those of OpenSSL."""

from __future__ import annotations

import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.model import hashing


@given(st.binary(max_size=300))
def test_sha256_is_that_of_hashlib(data: bytes) -> None:
    assert hashing.sha256(data) == hashlib.sha256(data).hexdigest()


@given(st.binary(max_size=200), st.binary(max_size=300))
def test_a_code_is_that_of_hmac(key: bytes, data: bytes) -> None:
    """Keys shorter than a block of 64 bytes, as long, and longer."""
    assert hashing.hmac_sha256(key, data) == hmac.new(key, data, "sha256").hexdigest()
