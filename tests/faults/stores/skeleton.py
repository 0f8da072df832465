"""The form of a file without its legal values: what the rig ``mutate`` calls structural.

Read by plain JSON and regular expressions, not by clsm. Two files with one skeleton differ in
values that could be either: letters of a text, digits of a number or a time, ids in logs that may
name what is gone. Keys, types, enumerations, hashes, ids of records and turns belong to the form;
not so the hash of what a file was after a run, which others may have changed since.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

_FIXED = frozenset(
    {"kind", "stream", "role", "trust", "stage", "state", "record", "format", "time_zone", "type"}
    | {"directed", "pinned", "withdrawn", "id", "key", "hash", "source", "target", "session"}
    | {"speaker", "sources", "mentions", "turns", "previous", "continues", "document", "topic"}
    | {"changes", "command", "supersedes", "end", "text_sha", "before", "path"}
)
"""Keys whose values are no free choice, or are held against something else."""
_LOOSE = ("activation", "uses", "archived", "feedback", "review")
"""Logs whose ids may name what is gone."""
_FREE = frozenset({"kind", "topic", "session", "speaker", "type", "path"})
"""Of these, those that a record may carry in any spelling: a person, or a name, chose them."""
_ITEM = re.compile(r"\^([a-z0-9][a-z0-9_-]{0,79})[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^### .*\^[0-9a-f]{12}$", re.MULTILINE)


def skeleton(path: str, data: bytes) -> object:
    """What of a file is no legal value of another one; equal for files of one form."""
    spoilt = b"\0" in data or not _is_text(data)
    text = data.decode(errors="replace")
    if spoilt:
        return ("spoilt", data)
    if path.endswith((".jsonl", ".yaml")) and not path.endswith("clsm.yaml"):
        return _lines(path, text)
    if path.startswith(".clsm/"):
        return _derived(path, data)
    if path.endswith("clsm.yaml"):
        return [_pair(line) for line in text.split("\n") if line.strip() and line[0] != "#"]
    head, body = _parted(text)
    if path.startswith("flow/"):
        keys = [mark[-12:] for mark in _HEADING.findall(body)]
        return (_head(head), keys)
    return (_head(head), _ITEM.findall(body))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _lines(path: str, text: str) -> list[object]:
    is_loose = path.rpartition("/")[2].startswith(_LOOSE)
    return [
        _line(line, is_loose=is_loose)
        for line in text.split("\n")
        if line.strip() and not line.startswith("#")
    ]


def _line(line: str, *, is_loose: bool) -> object:
    try:
        value = json.loads(line.removeprefix("- "))
    except ValueError:
        return ("no JSON", line)
    return shape(value, "", is_loose=is_loose)


def _derived(path: str, data: bytes) -> object:
    """Preimages are held against a digest; the other files are JSON, or one name."""
    if not path.endswith(".json"):
        return data.strip() if path.endswith("device") else data
    try:
        return shape(json.loads(data), "", is_loose="context" in path)
    except ValueError:
        return data


def _pair(line: str) -> object:
    key, colon, value = line.partition(": ")
    try:
        return (key, colon, shape(json.loads(value), key, is_loose=False))
    except ValueError:
        return line


def _parted(text: str) -> tuple[str, str]:
    parts = text.split("\n---\n", 1)
    return (parts[0], parts[1]) if text.startswith("---\n") and len(parts) == 2 else ("", text)


def _head(head: str) -> list[object]:
    return [_row(line) for line in head.split("\n")]


def _row(line: str) -> object:
    return _line(line, is_loose=False) if line.startswith("- ") else _pair(line)


def shape(value: Any, key: str, *, is_loose: bool) -> object:
    """The form of a JSON value that stands under a key."""
    if isinstance(value, dict):
        is_map = key in ("mentions", "closed")
        return {
            name: shape(each, key if is_map else name, is_loose=is_loose)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [shape(each, key, is_loose=is_loose) for each in value]
    if isinstance(value, str):
        if key in _FIXED - _FREE and not is_loose:
            return value
        return _class(value)
    if isinstance(value, bool) or value is None:
        return value
    return "number"


def _class(text: str) -> str:
    """Text, a time or a hash: digits may be others, but it must stay one."""
    if re.fullmatch(r"[0-9a-f]{64}", text):
        return "hash"
    if re.match(r"\d{4}-\d\d-\d\d", text):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return text
        return "time"
    return "text"
