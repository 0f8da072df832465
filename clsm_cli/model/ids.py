"""Identifiers: short hashes of content, the same on every machine and for every source.

All ids match ``[a-z0-9][a-z0-9_-]{0,79}``. Foreign ids (message ids, session names) are data and never
become ids or file names. SHA-256 is that of Python's own module, if there is one: loading OpenSSL takes
7 ms, a tenth of a recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any

from clsm_cli.errors import BadInputError


def _load_sha256() -> Any:
    """Python's own implementation: module ``_sha2`` from 3.12 on, ``_sha256`` before."""
    for name in ("_sha2", "_sha256"):
        with suppress(ImportError):
            return import_module(name).sha256
    return import_module("hashlib").sha256


_sha256 = _load_sha256()


def sha256(data: bytes) -> str:
    """The SHA-256 digest of ``data``, 64 hex digits.

    >>> sha256(b"")[:8]
    'e3b0c442'
    """
    return str(_sha256(data).hexdigest())


_BLOCK_BYTES = 64


def hmac_sha256(key: bytes, data: bytes) -> str:
    """The message authentication code of ``data``, 64 hex digits (RFC 2104).

        H((K ⊕ 5c…) ‖ H((K ⊕ 36…) ‖ data)), K the key (its digest if it is longer than a block of 64
        bytes), filled up to a block with zeros

    >>> hmac_sha256(b"key", b"The quick brown fox jumps over the lazy dog")[:8]
    'f7bc83f4'
    """
    short = key if len(key) <= _BLOCK_BYTES else _sha256(key).digest()
    whole = short.ljust(_BLOCK_BYTES, b"\0")
    inner = _sha256(bytes(byte ^ 0x36 for byte in whole) + data).digest()
    return str(_sha256(bytes(byte ^ 0x5C for byte in whole) + inner).hexdigest())


ID_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}\Z")
MIN_PREFIX = 4  # characters of an id that suffice if only one id begins with them
MAX_SUGGESTIONS = 5  # ids listed in the error for an ambiguous prefix


def is_id(value: object) -> bool:
    r"""Whether ``value`` is a valid id (and so safe in a file name).

    >>> is_id("f-3a9c12d08e41"), is_id("../x"), is_id("a\n"), is_id(7)
    (True, False, False, False)
    """
    return isinstance(value, str) and ID_PATTERN.match(value) is not None


_PART_ID = re.compile(r"((?:f-)?[0-9a-f]{12})-[0-9]+")


def whole_id(name: str) -> str:
    """The id of the whole turn or statement, from that of one of its parts (``Passage.id``).

    >>> whole_id("0a532821e780-2"), whole_id("f-0a532821e780-12"), whole_id("python-3")
    ('0a532821e780', 'f-0a532821e780', 'python-3')
    """
    part = _PART_ID.fullmatch(name)
    return part[1] if part else name


_HASH_PREFIX = re.compile(r"(?:[a-z]+-)?[0-9a-f]+")
"""The beginning of a hash. Ids that are names must be complete: "paul" is not "paula"."""


def resolve_id(wanted: str, known: Iterable[str]) -> str | None:
    """The id equal to ``wanted``, or the only hash that begins with it; None if there is none.

    >>> resolve_id("f-3a9c", ["f-3a9c12d08e41", "f-91ab00000000"]), resolve_id("f-3", ["f-3a9c12d08e41"])
    ('f-3a9c12d08e41', None)
    >>> resolve_id("paul", ["paula"]) is None
    True

    Raises:
        BadInputError: Several begin with it.
    """
    ids = {*known}
    if wanted in ids or len(wanted) < MIN_PREFIX or not _HASH_PREFIX.fullmatch(wanted):
        return wanted if wanted in ids else None
    found = sorted(each for each in ids if each.startswith(wanted))
    if len(found) > 1:
        names = ", ".join(found[:MAX_SUGGESTIONS])
        raise BadInputError(wanted, f"several ids begin so ({names})", "write more of the id")
    return found[0] if found else None


def digest(*parts: str) -> str:
    """48 bits of sha256 over length-prefixed parts, as 12 hex digits.

    The length prefix distinguishes ("ab", "c") from ("a", "bc").

    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return sha256(b"".join(b"%d:%b" % (len(data), data) for data in encoded))[:12]


def turn_key(session: str, speaker: str, time: str | None, text: str, ordinal: int = 0) -> str:
    """Key of a turn or a block of a document.

    With an exact ``time`` (date and time of day), ``ordinal`` is ignored: the same words by the same
    speaker at the same instant are one turn, whatever their source. Otherwise, it numbers equal turns
    of the session from 0.
    """
    if time is not None and "T" in time:
        return digest(session, speaker, time, text)
    return digest(session, speaker, "", text, str(ordinal))


def document_id(origin: str) -> str:
    """Id of a living document, from its ``Document.origin``."""
    return f"d-{digest('document', origin)}"


def normalise_text(text: str) -> str:
    """The text of a statement as hashed for its id: in lower case, with single spaces."""
    return " ".join(text.lower().split())


def statement_id(normalised_text: str, valid_from: str | None = None) -> str:
    """Id of a statement, from its first text; ``valid_from`` only if a closed row has that text."""
    return f"f-{digest('statement', normalised_text, valid_from or '')}"


def closed_copy_id(old_id: str, valid_until: str) -> str:
    """Id of the closed copy of a statement or edge that a correction writes (docs/format.md §6)."""
    return f"{old_id[:2]}{digest('closed', old_id, valid_until)}"


def edge_id(source: str, edge_type: str, target: str, valid_from: str | None = None) -> str:
    """Id of an edge. Derived edges (``co_occurs``) have no ``valid_from``."""
    return f"g-{digest('edge', source, edge_type, target, valid_from or '')}"


def file_name_of(session: str) -> str:
    """A safe file stem for a session: its readable characters, then a hash of the whole name.

    >>> file_name_of("agent:main/..").startswith("agent-main-")
    True
    """
    readable = re.sub(r"[^a-z0-9]+", "-", session.lower()).strip("-")[:40]
    return f"{readable}-{digest('session', session)}" if readable else digest("session", session)


def tombstone_hash(record_id: str) -> str:
    """The hash of an id that a tombstone keeps."""
    return sha256(record_id.encode())
