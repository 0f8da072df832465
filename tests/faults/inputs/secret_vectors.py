"""The vectors of ``vectors/secrets.tsv``, and which kinds of two public scanners are no secrets."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).with_name("vectors") / "secrets.tsv"
LEFT_OUT: Mapping[tuple[str, str], str] = {
    ("detect-secrets", "Public IP (ipv4)"): "an address",
    ("credsweeper", "UUID"): "an identifier",
    ("credsweeper", "Firebase Domain"): "a public name",
    ("credsweeper", "AWS S3 Bucket"): "a public name",
    ("credsweeper", "Tencent WeChat API App ID"): "public by design",
    ("credsweeper", "Dropbox App secret"): "any 15 letters and digits",
    ("credsweeper", "OTP / 2FA Secret"): "any 16 capitals",
    ("credsweeper", "SQL Password"): "its rule draws what is no SQL",
}
"""What a scanner of repositories reports and a memory must be free to keep; and why."""


class Vector(NamedTuple):
    """A string that a rule of a scanner is meant to catch."""

    scanner: str
    kind: str
    text: str


def load() -> list[Vector]:
    """All of them, in the order of the file."""
    rows = [line.split("\t") for line in FILE.read_text().splitlines() if line[:1] != "#"]
    return [
        Vector(scanner, kind, base64.b64decode(coded).decode()) for scanner, kind, coded in rows
    ]
