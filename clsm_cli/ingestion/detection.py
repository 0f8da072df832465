"""Detect the format of a source by its name and first bytes; explain exports that clsm cannot read."""

import os
import re
from typing import Literal

from clsm_cli.ingestion import transcripts
from clsm_cli.ingestion.jsonl_rows import Findings, Problem, parse
from clsm_cli.store.jsonlines import LineError

Format = Literal[
    "markdown",
    "openclaw",
    "openclaw-note",
    "claude-code",
    "jsonl",
    "smriti",
    "export",
    "obsidian",
    "chat",
    "telegram",
]

DOCUMENTS = frozenset[Format]({"markdown", "obsidian"})
"""Formats of living documents; the others are conversations."""
HEAD_BYTES = 64 << 10  # first bytes of a source to inspect
CHAT_SUFFIX = ".txt"  # suffix of a chat in an archive of WhatsApp
TELEGRAM_NAME = "result.json"  # file name of Telegram's export
ZIP_MAGIC = b"PK\x03\x04"  # first bytes of a zip archive

_TELEGRAM_HTML = "looks like Telegram's HTML export; clsm reads its JSON form: result.json"
_SIGNAL_EXPORT = "clsm reads the chat.md of signal-export"
_REFUSED_NAMES = (
    (
        r"msgstore.*\.db(?:\.crypt\d+)?",
        "looks like WhatsApp's backup, which is encrypted; clsm reads a chat's own export (.txt)",
    ),
    (r"signal-.*\.backup", f"looks like Signal's backup, which is encrypted; {_SIGNAL_EXPORT}"),
    (r"messages\d*\.html", _TELEGRAM_HTML),
)
_REFUSED_HEADS = (
    (
        rb'\{"version":[^{}]{1,40}"backupTimeMs"',
        f"looks like Signal's own export; {_SIGNAL_EXPORT}",
    ),
    (rb'\{"envelope":', f"looks like what signal-cli receives; {_SIGNAL_EXPORT}"),
    (rb"%PDF-", "looks like a PDF; clsm reads text: convert it first"),
    (rb"SQLite format 3\0", "looks like a database; clsm reads exports of it"),
)
_TELEGRAM_PAGE = re.compile(rb'<title>Exported Data</title>|class="page_wrap"')
_OPENCLAW = (
    (r".*\.trajectory(?:\.jsonl|-path\.json)", "OpenClaw trajectory"),
    (r"sessions\.json", "OpenClaw session list"),
    (r".*\.checkpoint\.(?:.*\.)?jsonl", "OpenClaw checkpoint"),
    (r"(?:SKILL|HOOK)\.md", "instructions of the workspace"),
)
_COPIES = (
    (r".*\.jsonl\.(?:reset|deleted)\..*", "archived by OpenClaw; name the file to ingest it"),
    (r".*\.bak.*", "backup"),
    (r".*\.zip", "archive; name the file to ingest it"),
)
_MARKDOWN = frozenset({".md", ".markdown", ".txt"})
_JSON_LINES = frozenset({".jsonl", ".ndjson", ".json-lines"})
_IS_TELEGRAM = re.compile(
    rb'"type":\s*"(?:personal_chat|bot_chat|saved_messages|private_group|private_supergroup'
    rb'|public_supergroup|private_channel|public_channel)"|"personal_information":\s*\{'
)
SMRITI_FRONT = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
SMRITI_TURN = re.compile(
    r"^## Turn (\d{1,9}) [—–-]{1,2} (user|assistant)(?: \(.*\))?[ \t]*$", re.MULTILINE
)
_EXPORT = re.compile(r"(?:.*/)?conversations(?:-\d{1,4})?\.json")
_EXPORT_MARKS = (b'"mapping"', b'"chat_messages"')
# Control characters that text does not have; more than one in twenty bytes is no text.
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b\b"))


def is_export_name(name: str) -> bool:
    """Whether a file may be an export by its name."""
    return _EXPORT.fullmatch(name) is not None


def exclusion_reason(name: str) -> str | None:
    """Why a file in a folder is skipped by its name; None if not. Copies are read only if named."""
    reason = openclaw_state_reason(name) or refusal_reason(name) or _matching_reason(_COPIES, name)
    return reason or (None if _is_known(name) else "neither a note nor a transcript")


def openclaw_state_reason(name: str) -> str | None:
    """Why a file, which ``*.jsonl`` may also name, is state that OpenClaw keeps beside transcripts."""
    return _matching_reason(_OPENCLAW, name)


def _matching_reason(reasons: tuple[tuple[str, str], ...], name: str) -> str | None:
    return next((reason for form, reason in reasons if re.fullmatch(form, name)), None)


def _is_known(name: str) -> bool:
    is_export = name == TELEGRAM_NAME or is_export_name(name)
    return is_export or _extension(name) in _MARKDOWN | _JSON_LINES


def file_format(
    path: str, head: bytes, wanted: Format | None, *, in_vault: bool = False
) -> Format | Problem:
    r"""The format of a file, or why it cannot be read.

    >>> [file_format("-", head, None) for head in (b'{"type":"session","version":4}', b"# A note")]
    ['openclaw', 'markdown']
    >>> [file_format("-", head, None) for head in (b'[{"title": "Oak", "mapping": {', b'{"text":""}')]
    ['export', 'jsonl']
    """
    if wanted is not None:
        return wanted
    extension = _extension(path)
    if extension == ".zip" and head.startswith(ZIP_MAGIC):
        return "export"
    reason = refusal_reason(os.path.basename(path), head)
    if reason or _is_binary(head, strict=not _is_known(path)):
        return Problem(path, None, reason or "binary file")
    if extension in _MARKDOWN:
        return _text_format(head, path) or ("obsidian" if in_vault else "markdown")
    found = _json_format(head)
    if found is None and extension == ".json":
        return Problem(path, None, "a JSON document, not one JSON object a line")
    return found or (
        "jsonl" if extension in _JSON_LINES else _text_format(head, path) or "markdown"
    )


def _is_binary(head: bytes, *, strict: bool) -> bool:
    """Whether data is not text; ``strict`` if its name does not say that it is."""
    head = head[:1024]
    if strict and b"\0" in head:
        return True
    return len(head) - len(head.translate(None, _CONTROL)) > len(head) // 20


def _text_format(head: bytes, path: str) -> Format | None:
    if transcripts.SESSION_NOTE.match(head.decode(errors="replace").replace("\r\n", "\n")):
        return "openclaw-note"
    if b"\n## Turn " in head and _is_smriti(head):
        return "smriti"
    begin = head.lstrip()[:32].decode(errors="replace")
    # Directional and byte order marks are not printable.
    if next((each for each in begin if each.isprintable() and each != "["), "").isdecimal():
        from clsm_cli.ingestion import messengers

        text = head.decode(errors="replace")
        return "chat" if messengers.is_chat(text, os.path.basename(path)) else None
    return None


def _is_smriti(head: bytes) -> bool:
    text = head.decode("utf-8", "replace").replace("\r\n", "\n")
    front = SMRITI_FRONT.match(text)
    return bool(front and "\nid: " in "\n" + front[1] and SMRITI_TURN.search(text))


def _extension(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _json_format(head: bytes) -> Format | None:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"[") and any(mark in text for mark in _EXPORT_MARKS):
        return "export"
    if text.startswith(b"{") and _IS_TELEGRAM.search(text):
        return "telegram"
    return _rows_format(head)


def _rows_format(head: bytes) -> Format | None:
    findings = Findings()
    lines = head.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            row = parse(line, number, findings)
        except LineError:
            continue
        if transcripts.is_claude_code(row):
            return "claude-code"
        return "openclaw" if transcripts.is_openclaw(row) else "jsonl"
    # The first row is longer than the head: decide by its start.
    start = lines[0].removeprefix(b"\xef\xbb\xbf").replace(b" ", b"")
    if len(lines) == 1 and start.startswith(b'{"parentUuid"'):
        return "claude-code"
    if len(lines) == 1 and start.startswith(b'{"'):
        return "openclaw" if start.startswith((b'{"type":"session"', b'{"type":"mess')) else "jsonl"
    return None


def refusal_reason(name: str, head: bytes = b"") -> str | None:
    """Why an export cannot be read, and what can; None for any other file."""
    by_name = _matching_reason(_REFUSED_NAMES, name)
    if by_name is None and name.endswith(".html") and _TELEGRAM_PAGE.search(head):
        return _TELEGRAM_HTML
    return by_name or next((why for form, why in _REFUSED_HEADS if re.match(form, head)), None)
