"""Exports that clsm does not read, by their names and first bytes, and what to give it instead."""

from __future__ import annotations

import re

_BY_NAME = (
    (
        re.compile(r"msgstore.*\.db(?:\.crypt\d+)?\Z"),
        "looks like WhatsApp's backup, which is encrypted; clsm reads a chat's own export (.txt)",
    ),
    (
        re.compile(r"signal-.*\.backup\Z"),
        "looks like Signal's backup, which is encrypted; clsm reads the chat.md of signal-export",
    ),
    (
        re.compile(r"messages\d*\.html\Z"),
        "looks like Telegram's HTML export; clsm reads its JSON form: result.json",
    ),
)
_BY_HEAD = (
    (
        rb'\{"version":[^{}]{1,40}"backupTimeMs"',
        "looks like Signal's own export; clsm reads the chat.md of signal-export",
    ),
    (rb"%PDF-", "looks like a PDF; clsm reads text: convert it first"),
    (rb"SQLite format 3\0", "looks like a database; clsm reads exports of it"),
)
_TELEGRAM_PAGE = re.compile(rb'<title>Exported Data</title>|class="page_wrap"')


def refusal(name: str, head: bytes = b"") -> str | None:
    """Why an export is not read, and what is; None where it is none of these.

    >>> refusal("msgstore-2026-03-01.1.db.crypt15")[:42]
    "looks like WhatsApp's backup, which is enc"
    >>> refusal("notes.md", b"# Notes")
    """
    for pattern, reason in _BY_NAME:
        if pattern.match(name):
            return reason
    if name.endswith(".html") and _TELEGRAM_PAGE.search(head):
        return _BY_NAME[2][1]
    return next((reason for begin, reason in _BY_HEAD if re.match(begin, head)), None)
