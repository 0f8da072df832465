"""Front matter of a Markdown file: our own lines, or YAML as a person may write it."""

from __future__ import annotations

import re
from typing import Any

from clsm_cli.store.jsonlines import LineError, load

MAX_FRONT_MATTER = 64 << 10
_OPEN = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^---[ \t]*$\n?", re.MULTILINE)
_OWN_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*): (.*)")


def split(text: str, limit: int = MAX_FRONT_MATTER) -> tuple[str | None, str, int]:
    r"""The raw front matter (None: there is none), the body, and the lines before the body.

    Raises:
        LineError: It is opened but not closed within ``limit`` characters.

    >>> split("---\ntitle: A\n---\nBody\n")
    ('title: A\n', 'Body\n', 3)
    >>> split("--- no\n")
    (None, '--- no\n', 0)
    """
    start = _OPEN.match(text)
    if start is None:
        return None, text, 0
    end = _CLOSE.search(text, start.end())
    if end is None or end.start() - start.end() > limit:
        raise LineError("has front matter that is not closed (line 1)")
    return text[start.end() : end.start()], text[end.end() :], text.count("\n", 0, end.end())


def parse(raw: str, limit: int = MAX_FRONT_MATTER) -> dict[str, Any]:
    """Metadata as a mapping; our own ``key: <JSON>`` lines without a YAML parser.

    Raises:
        LineError: Not YAML, hostile, or not a mapping; line numbers count from the ``---``.
    """
    return _mapping(raw, limit, before="\n")


def parse_config(text: str) -> dict[str, Any]:
    """A mapping that fills a whole file, as ``parse``; line numbers count from its first line."""
    return _mapping(text, MAX_FRONT_MATTER)


def _mapping(text: str, limit: int, before: str = "") -> dict[str, Any]:
    own = _parse_own(text)
    if own is not None:
        return own
    from clsm_cli.store import yaml_text  # our own lines need none

    value = yaml_text.load(before + text, limit)
    if value is not None and not isinstance(value, dict):
        raise LineError("is not a mapping (line 1)")
    return value or {}


def _parse_own(raw: str) -> dict[str, Any] | None:
    """Lines ``key: <JSON>`` as we write them; None when a person wrote something else."""
    mapping: dict[str, Any] = {}
    for line in raw.split("\n"):
        if not line or line[0] == "#":
            continue
        match = _OWN_LINE.fullmatch(line)
        if match is None or match.group(1) in mapping:
            return None
        try:
            mapping[match.group(1)] = load(match.group(2))
        except LineError:
            return None
    return mapping
