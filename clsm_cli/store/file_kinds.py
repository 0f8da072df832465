"""The kinds of files in a store, by their paths (docs/format.md §1)."""

import re
from typing import Literal

from clsm_cli.store import atomic
from clsm_cli.store.layout import CONFIG_NAME, SHARD_NAME, TOPIC_STREAMS, is_conflict_copy

Kind = Literal[
    "settings",
    "topic",
    "shard",
    "episode",
    "inbox",
    "log",
    "tombstones",
    "git",
    "quarantine",
    "derived",
    "temp",
    "conflict",
    "unknown",
]
"""``temp``: left by a killed writer; ``conflict``: by a program that synchronises folders."""
_DEVICE = r"[a-z0-9][a-z0-9_-]{0,79}"
_STREAM = "|".join(TOPIC_STREAMS)
_LOG = "activation|activation-old|archived|feedback|review|runs|uses"
_PATH_PATTERNS: tuple[tuple[str, Kind], ...] = (
    (re.escape(CONFIG_NAME), "settings"),
    (r"\.gitattributes|\.gitignore", "git"),
    (r"\.clsm/.+", "derived"),
    (r"quarantine/.+", "quarantine"),
    (rf"(?:{_STREAM})/[^/]+\.md", "topic"),
    (rf"(?:{_STREAM}|flow/{_DEVICE})/graph/{SHARD_NAME}", "shard"),
    (rf"archive/(?:{_STREAM}|flow/{_DEVICE})/{SHARD_NAME}", "shard"),
    (rf"flow/{_DEVICE}/episodes/\d{{4}}/\d\d/[^/]+\.md", "episode"),
    (rf"flow/{_DEVICE}/inbox/[^/]+\.jsonl", "inbox"),
    (rf"flow/{_DEVICE}/(?:{_LOG})\.jsonl", "log"),
    (rf"tombstones/{_DEVICE}\.jsonl", "tombstones"),
)
_PATTERNS = [(re.compile(form, re.DOTALL), kind) for form, kind in _PATH_PATTERNS]
"""Path patterns; the first match counts."""


def kind_of(path: str) -> Kind:
    """The kind of a file, by its path in the store.

    >>> kind_of("flow/pi/graph/3.yaml"), kind_of("tasks/today.md"), kind_of("tasks/today.txt")
    ('shard', 'topic', 'unknown')
    """
    name = path.rpartition("/")[2]
    if name.startswith(atomic.TEMP_PREFIX):
        return "temp"
    if is_conflict_copy(name) and not path.startswith(("quarantine/", ".clsm/")):
        return "conflict"
    kinds = (kind for pattern, kind in _PATTERNS if pattern.fullmatch(path))
    return next(kinds, "unknown")
