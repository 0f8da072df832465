"""The kind of each file of a store by its path (docs/format.md §1)."""

from __future__ import annotations

import re
from typing import Literal

from clsm_cli.store import atomic, ontology
from clsm_cli.store.layout import CONFIG_NAME, TOPIC_STREAMS, is_conflict_copy

Kind = Literal[
    "settings",
    "ontology",
    "git",
    "labels",
    "topic",
    "shard",
    "episode",
    "inbox",
    "log",
    "tombstones",
    "quarantine",
    "derived",
    "temp",
    "conflict",
    "unknown",
]
"""``temp`` was left by a killed writer, ``conflict`` by a program that synchronises folders."""

LOGS = ("activation", "activation-old", "archived", "feedback", "review", "runs", "uses")
"""Logs in a machine's own folder."""


def kind_of(path: str) -> Kind:
    """What a file is.

    Args:
        path: Relative to the store, with slashes.

    >>> kind_of("flow/pi/graph/3.yaml"), kind_of("tasks/today.md"), kind_of("tasks/today.txt")
    ('shard', 'topic', 'unknown')
    """
    name = path.rpartition("/")[2]
    if name.startswith(atomic.TEMP_PREFIX):
        return "temp"
    if is_conflict_copy(name) and not path.startswith(("quarantine/", ".clsm/")):
        return "conflict"
    return next((kind for pattern, kind in _PLACES if pattern.fullmatch(path)), "unknown")


_DEVICE = r"[a-z0-9][a-z0-9_-]{0,79}"
_SHARD = r"[0-9a-f]{1,2}\.yaml"
_STREAM = "|".join(TOPIC_STREAMS)
_FORMS: tuple[tuple[str, Kind], ...] = (
    (re.escape(CONFIG_NAME), "settings"),
    (re.escape(ontology.ONTOLOGY_NAME), "ontology"),
    (r"\.gitattributes|\.gitignore", "git"),
    (r"eval/queries\.yaml", "labels"),
    (r"\.clsm/.+", "derived"),
    (r"quarantine/.+", "quarantine"),
    (rf"(?:{_STREAM})/[^/]+\.md", "topic"),
    (rf"(?:{_STREAM}|flow/{_DEVICE})/graph/{_SHARD}", "shard"),
    (rf"archive/(?:{_STREAM}|flow/{_DEVICE})/{_SHARD}", "shard"),
    (rf"flow/{_DEVICE}/episodes/\d{{4}}/\d\d/[^/]+\.md", "episode"),
    (rf"flow/{_DEVICE}/inbox/[^/]+\.jsonl", "inbox"),
    (rf"flow/{_DEVICE}/(?:{'|'.join(LOGS)})\.jsonl", "log"),
    (rf"tombstones/{_DEVICE}\.jsonl", "tombstones"),
)
_PLACES = [(re.compile(form, re.DOTALL), kind) for form, kind in _FORMS]
"""What a path must look like; the first that fits counts."""


def device_of(path: str) -> str | None:
    """The machine in whose folder a file lies; None for what machines share.

    >>> device_of("flow/pi/runs.jsonl"), device_of("tasks/today.md")
    ('pi', None)
    """
    parts = path.split("/")
    if parts[0] == "archive":
        parts = parts[1:]
    return parts[1] if parts[0] == "flow" and len(parts) > 2 else None


def stream_of(path: str) -> str:
    """The stream that a shard lies with.

    >>> stream_of("flow/pi/graph/3.yaml"), stream_of("archive/tasks/3.yaml")
    ('flow', 'tasks')
    """
    parts = path.split("/")
    return parts[1] if parts[0] == "archive" else parts[0]


def is_shared(path: str) -> bool:
    """Whether a recall appends to a log without the lock, so that it is never rewritten."""
    return path.endswith("/activation.jsonl")


SKIPPED = frozenset({".git"})
"""Folders that are not looked into: about git's own, git is asked."""
