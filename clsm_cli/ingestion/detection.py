"""Detect the format of a source by its name and first bytes; explain exports that clsm does not read."""

from __future__ import annotations

import os
import re
from typing import Any, Literal

from clsm_cli.ingestion import claude_transcripts, openclaw_transcripts
from clsm_cli.ingestion.jsonl_rows import Problem, Tally, mapping, parse
from clsm_cli.store.jsonlines import LineError

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


Format = Literal[
    "markdown",
    "openclaw",
    "claude-code",
    "jsonl",
    "smriti",
    "export",
    "obsidian",
    "chat",
    "telegram",
    "signal",
]

DOCUMENTS = frozenset[Format]({"markdown", "obsidian"})
"""Formats of living documents; the others are conversations."""
HEAD = 64 << 10
"""First bytes of a source that are looked at."""
_NOT_MEMORY = frozenset({"SKILL.md", "HOOK.md"})
_MARKDOWN = frozenset({".md", ".markdown", ".txt"})
_JSON_LINES = frozenset({".jsonl", ".ndjson", ".json-lines"})
CHAT = ".txt"
"""How the name of a chat ends that WhatsApp packs into an archive."""
TELEGRAM = "result.json"
"""What Telegram calls its export."""
_OF_TELEGRAM = re.compile(
    rb'"type":\s*"(?:personal_chat|bot_chat|saved_messages|private_group|private_supergroup'
    rb'|public_supergroup|private_channel|public_channel)"|"personal_information":\s*\{'
)
ZIP = b"PK\x03\x04"
"""How a zip archive begins."""
_EXPORT = re.compile(r"(?:.*/)?conversations(?:-\d{1,4})?\.json")
_EXPORT_MARKS = (b'"mapping"', b'"chat_messages"')
# Bytes of control characters that text does not hold; more than one in twenty is no text.
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b\b"))


def detect(head: bytes) -> Format:
    r"""The format of text by its first rows: JSON objects, or else a note.

    >>> detect(b'{"type":"session","version":4,"id":"a"}\n'), detect(b'{"role":"user","text":""}')
    ('openclaw', 'jsonl')
    >>> detect(b"# A note")
    'markdown'
    """
    return _of_json(head) or _of_text(head) or "markdown"


def is_known(name: str) -> bool:
    """Whether a file of a folder may be memory, by its name.

    >>> is_known("a.MD"), is_known("a.jsonl"), is_known("a.png")
    (True, True, False)
    """
    is_export = name == TELEGRAM or is_export_name(name)
    return is_export or _extension(name) in _MARKDOWN | _JSON_LINES


def exclusion_reason(name: str) -> str | None:
    """Why a file is not memory by its name; None when it may be."""
    return openclaw_state(name) or refusal(name) or _archived(name)


def openclaw_state(name: str) -> str | None:
    """Files that OpenClaw keeps beside its transcripts, and that a ``*.jsonl`` would name too.

    >>> openclaw_state("a41f.trajectory.jsonl"), openclaw_state("a41f.jsonl")
    ('OpenClaw trajectory', None)
    """
    if name.endswith((".trajectory.jsonl", ".trajectory-path.json")):
        return "OpenClaw trajectory"
    if name == "sessions.json":
        return "OpenClaw session list"
    if ".checkpoint." in name and name.endswith(".jsonl"):
        return "OpenClaw checkpoint"
    return "instructions of the workspace" if name in _NOT_MEMORY else None


def _archived(name: str) -> str | None:
    """Copies; whoever wants one names it."""
    if ".jsonl.reset." in name or ".jsonl.deleted." in name:
        return "archived by OpenClaw; name the file to ingest it"
    if ".bak" in name:
        return "backup"
    return None if is_known(name) else "neither a note nor a transcript"


def file_format(
    path: str, head: bytes, wanted: Format | None, *, in_vault: bool = False
) -> Format | Problem:
    """The format of a file, or why it cannot be read."""
    if wanted is not None:
        return wanted
    extension = _extension(path)
    if extension == ".zip" and head.startswith(ZIP):
        return "export"
    reason = refusal(os.path.basename(path), head)
    if reason or is_binary(head, strict=not is_known(path)):
        return Problem(path, None, reason or "binary file")
    if extension in _MARKDOWN:
        return _of_text(head) or ("obsidian" if in_vault else "markdown")
    found = _of_json(head)
    if found is None and extension == ".json":
        return Problem(path, None, "a JSON document, not one JSON object a line")
    return found or ("jsonl" if extension in _JSON_LINES else _of_text(head) or "markdown")


def is_binary(head: bytes, *, strict: bool) -> bool:
    """Whether it is no text; ``strict`` where nothing else says that it is."""
    head = head[:1024]
    if strict and b"\0" in head:
        return True
    return len(head) - len(head.translate(None, _CONTROL)) > len(head) // 20


def is_export(head: bytes) -> bool:
    """Whether a file is an export, by its first bytes.

    >>> is_export(b'[{"title": "Oak", "mapping": {'), is_export(b'[{"title": "Oak"}]')
    (True, False)
    """
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith(b"[") and any(mark in text for mark in _EXPORT_MARKS)


def is_telegram(head: bytes) -> bool:
    """Whether a JSON document is an export of Telegram, by its first bytes.

    >>> is_telegram(b'{"name": "Tom", "type": "personal_chat", "id": 7, "messages": [')
    True
    >>> is_telegram(b'{"name": "Tom", "type": "person"}')
    False
    """
    return head.lstrip().startswith(b"{") and _OF_TELEGRAM.search(head) is not None


def is_signal_row(row: dict[str, Any]) -> bool:
    """Whether a row is an envelope of signal-cli.

    >>> is_signal_row({"envelope": {"source": "+3161", "dataMessage": {}}, "account": "+3162"})
    True
    """
    envelope = mapping(row.get("envelope"))
    return "source" in envelope or "sourceNumber" in envelope


def is_export_name(name: str) -> bool:
    """Whether a file of a folder may be an export by its name.

    >>> is_export_name("conversations.json"), is_export_name("conversations-003.json")
    (True, True)
    >>> is_export_name("users.json")
    False
    """
    return _EXPORT.fullmatch(name) is not None


def _of_text(head: bytes) -> Format | None:
    if b"\n## Turn " in head:
        from clsm_cli.ingestion import smriti

        if smriti.is_session(head):
            return "smriti"
    begin = head.lstrip()[:8].decode(errors="replace").strip("\ufeff\u200e[")
    if begin[:1].isdecimal():
        from clsm_cli.ingestion import chat_text

        return "chat" if chat_text.is_chat(head.decode(errors="replace")) else None
    return None


def _extension(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _of_json(head: bytes) -> Format | None:
    if is_export(head):
        return "export"
    if is_telegram(head):
        return "telegram"
    return _of_rows(head)


def _of_rows(head: bytes) -> Format | None:
    tally = Tally()
    lines = head.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            row = parse(line, number, tally)
        except LineError:
            continue
        if claude_transcripts.is_row(row):
            return "claude-code"
        if is_signal_row(row):
            return "signal"
        return "openclaw" if openclaw_transcripts.is_row(row) else "jsonl"
    # The first row is larger than what was looked at: tell it by how it begins.
    start = lines[0].removeprefix(b"\xef\xbb\xbf").replace(b" ", b"")
    if len(lines) == 1 and start.startswith(b'{"parentUuid"'):
        return "claude-code"
    if len(lines) == 1 and start.startswith(b'{"'):
        return "openclaw" if start.startswith((b'{"type":"session"', b'{"type":"mess')) else "jsonl"
    return None


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
