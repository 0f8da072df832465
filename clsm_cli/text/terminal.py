"""The one filter between stored text and a terminal."""

from __future__ import annotations

import re

# C0 but tab and newline, DEL and C1 (escape sequences); bidi marks, embeddings and isolates (text
# that reads in another order than it runs); zero-width characters, the soft hyphen, fillers and tag
# characters (text nobody sees); line and paragraph separators; lone surrogates (no UTF-8 form).
# A zero-width joiner is escaped even between emoji: telling a family emoji from a hidden payload
# would need the emoji tables of this very terminal, and what is shown apart is still readable.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def safe(text: str) -> str:
    r"""Show every character that could steer a terminal, or hide from a reader, as ``\u{hex}``.

    All others stay as they are, newline, tab and the emoji variation selector included.

    >>> safe("red: \x1b[31m, caf\u00e9")
    'red: \\u{1b}[31m, café'
    """
    return _UNSAFE.sub(lambda match: f"\\u{{{ord(match.group()):x}}}", text)


def safe_json(text: str) -> str:
    r"""The same for JSON, in which such a character only stands in strings, as a JSON escape.

    It is the same data, and lies on a terminal as quietly.

    >>> safe_json('{"text": "a\u202eb\U000e0041"}')
    '{"text": "a\\u202eb\\udb40\\udc41"}'
    """
    return _UNSAFE.sub(lambda match: _json_escape(match.group()), text)


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
