"""Front matter of a Markdown file, read by python-frontmatter with a YAML handler of clsm.

The default handler uses PyYAML's C loader, which a nested list can crash. python-frontmatter strips
the body, so it gets the metadata only; the body keeps its bytes.
"""

from __future__ import annotations

import re
from typing import Any

from clsm_cli.store.jsonlines import LineError, load

MAX_FRONT_MATTER = 64 << 10
_OPEN = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^---[ \t]*$\n?", re.MULTILINE)
_OWN_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*): (.*)")


def split(text: str, limit: int = MAX_FRONT_MATTER) -> tuple[str | None, str, int]:
    r"""Split into raw front matter (None if missing), body, and number of lines before the body.

    Raises:
        LineError: The front matter is not closed within ``limit`` characters.

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
    """Parse the metadata; lines ``key: <JSON>``, as clsm writes them, need no YAML parser.

    Raises:
        LineError: Not YAML, hostile, or not a mapping; line numbers count from the ``---``.
    """
    own = _parse_own(raw)
    if own is not None:
        return own
    import frontmatter
    from frontmatter.default_handlers import BaseHandler

    class Handler(BaseHandler):
        FM_BOUNDARY = re.compile(r"^---[ \t]*$", re.MULTILINE)
        START_DELIMITER = END_DELIMITER = "---"

        def load(self, fm: str, **_: object) -> dict[str, Any]:
            return _mapping(fm, limit)

    metadata, _ = frontmatter.parse(f"---\n{raw}---\n", handler=Handler())
    return dict(metadata)


def parse_config(text: str) -> dict[str, Any]:
    """Parse a file that is one mapping, as ``parse``; line numbers count from its first line."""
    own = _parse_own(text)
    return _mapping(text, MAX_FRONT_MATTER) if own is None else own


def _mapping(text: str, limit: int) -> dict[str, Any]:
    from clsm_cli.store import yaml_text  # not needed for clsm's own lines

    value = yaml_text.load(text, limit)
    if value is not None and not isinstance(value, dict):
        raise LineError("is not a mapping (line 1)")
    return value or {}


def _parse_own(raw: str) -> dict[str, Any] | None:
    """Parse lines ``key: <JSON>`` as clsm writes them; None if there are others."""
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
