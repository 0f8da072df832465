"""Hardened JSON (bounded depth, no duplicate keys, no NaN) and the one-line form that clsm writes.

Reads shards, logs, inboxes and front matter, so that hostile or damaged bytes cannot crash or hang a
reader.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from clsm_cli.config import MAX_DEPTH, MAX_FILE
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import SURROGATES, Escapes, replace_lone

_ESCAPED = Escapes(
    ((0x00, 0x1F), (0x7F, 0x9F), (0x2028, 0x2029), SURROGATES, (0xFFFE, 0xFFFF)),
    lambda code: f"\\u{code:04x}",
)
# Possessive, hence linear. Not compiled at import, as it is seldom needed.
_BRACKETS = r'(?s)"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]'


class LineError(ValueError):
    """A line cannot be read; the text gives the reason."""

    def split_line(self) -> tuple[str, int | None]:
        """The reason without its trailing ``(line N)``, and that line number."""
        reason, mark, line = str(self).rpartition(" (line ")
        return (reason, int(line[:-1])) if mark and line[:-1].isdecimal() else (str(self), None)


class LineProblem(NamedTuple):
    """A line that is not a record: ignored, and moved to quarantine at the next write."""

    path: Path
    line: int | None
    reason: str
    text: str = ""


def dump(value: Any) -> str:
    r"""Render one line of JSON that is also YAML: C0, C1, DEL and similar are escaped.

    >>> dump({"id": "x", "text": "a\nb\x85"})
    '{"id": "x", "text": "a\\nb\\u0085"}'
    """
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return line if line.isascii() and "\x7f" not in line else line.translate(_ESCAPED)


def load(line: str, limit: int = MAX_FILE) -> Any:
    """Parse a line of JSON, or a whole file, of at most ``limit`` characters.

    Raises:
        LineError: Too long, too deep, not JSON, a duplicate key, or a number out of range.
    """
    if len(line) > limit:
        raise LineError(f"is longer than {limit >> 20} MiB")
    _check_depth(line)
    return _decode(line)


def load_all(lines: list[str]) -> list[Any]:
    """Parse many lines in one call of the parser, three times faster than one by one.

    Raises:
        LineError: A line is bad; ``load`` finds which.
    """
    if sum(map(len, lines)) > MAX_FILE:
        raise LineError(f"is longer than {MAX_FILE >> 20} MiB")
    for line in lines:
        _check_depth(line)
    values = _decode(f"[{','.join(lines)}]")
    if len(values) != len(lines):
        raise LineError("is not one value a line")
    return list(values)


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except LineError:
        raise
    except (ValueError, RecursionError) as error:
        raise LineError(f"is not JSON ({str(error).split(':', 1)[0].lower()})") from None


def _check_depth(text: str) -> None:
    """Refuse nesting that would exhaust a parser's stack; brackets in strings do not count."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for match in re.finditer(_BRACKETS, text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise LineError(f"is nested deeper than {MAX_DEPTH}")
        elif token in "]}":
            depth -= 1


def without_surrogates(value: Any) -> Any:
    """Replace lone surrogates by U+FFFD: JSON can escape them, but UTF-8 cannot encode them."""
    return change_strings(value, replace_lone, keys=True)


def change_strings(value: Any, change: Callable[[str], str], *, keys: bool = False) -> Any:
    """Apply a function to every string in a JSON value; with ``keys`` to those of mappings too.

    >>> change_strings({"a": ["b", 1]}, str.upper), change_strings({"a": "b"}, str.upper, keys=True)
    ({'a': ['B', 1]}, {'A': 'B'})
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [change_strings(item, change, keys=keys) for item in value]
    if isinstance(value, dict):
        return {
            change(key) if keys else key: change_strings(item, change, keys=keys)
            for key, item in value.items()
        }
    return value


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from strings(each)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise LineError(f"has the key {twice[:80]!r} twice")
    return mapping


def _no_constant(name: str) -> Any:
    raise LineError(f"holds {name}, which is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise LineError(f"holds {digits[:20]}, which is too large a number")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_no_duplicates, parse_constant=_no_constant, parse_float=_finite
)
