"""Records compressed for the index, to a third of their JSON."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from clsm_cli.model.codec import decode
from clsm_cli.store.jsonlines import dump

if TYPE_CHECKING:
    from clsm_cli.model.codec import Record


def pack(mapping: dict[str, Any]) -> bytes:
    """A record's mapping, compressed."""
    return zlib.compress(dump(mapping).encode(), 1)


def mapping_of(line: bytes) -> dict[str, Any]:
    """The mapping again, not looked at: it was a record when it was packed."""
    mapping: dict[str, Any] = json.loads(zlib.decompress(line))
    return mapping


def unpack(line: bytes) -> Record:
    """The record again."""
    return decode(mapping_of(line))
