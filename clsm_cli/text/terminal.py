"""Escape characters that are unsafe on a terminal or in a file."""

from collections.abc import Callable

Ranges = tuple[tuple[int, int], ...]  # code points, first and last of each range

SURROGATES = (0xD800, 0xDFFF)  # surrogate code points: no text encoding can hold one alone


class Escapes(dict[int, str | int]):
    r"""A table for ``str.translate`` that escapes the characters of some ranges.

    Each character is looked up once, when first met. A regular expression of the same class takes 10 to 20 ms
    to compile, longer than most commands need to filter their text.

    >>> "a\x1bb".translate(Escapes(((0x00, 0x1F),), lambda code: f"<{code:x}>"))
    'a<1b>b'
    """

    def __init__(self, ranges: Ranges, escape: Callable[[int], str]) -> None:
        """Escape the code points in ``ranges`` with ``escape``."""
        self._ranges = ranges
        self._escape = escape

    def __missing__(self, code: int) -> str | int:
        """The character itself, or its escape."""
        hit = any(first <= code <= last for first, last in self._ranges)
        self[code] = self._escape(code) if hit else code
        return self[code]


def replace_lone(text: str) -> str:
    r"""Replace lone surrogates by U+FFFD, which every encoding can hold, and join pairs to their character.

    >>> replace_lone("\ud83d\ude00 \ud800") == "\U0001f600 \ufffd"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# C0 except tab and newline, DEL and C1 (escape sequences); bidi marks, embeddings and isolates
# (reordered text); zero-width characters, the soft hyphen, fillers and tag characters (invisible
# text); line and paragraph separators; lone surrogates (no UTF-8 form).
# A zero-width joiner is escaped even between emoji: distinguishing a family emoji from a hidden
# payload would need this terminal's emoji tables, and the parts of an emoji are still readable.
_UNSAFE = (
    *((0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x034F, 0x034F), (0x061C, 0x061C)),
    *((0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E)),
    *((0x2060, 0x206F), (0x3164, 0x3164), SURROGATES, (0xFE00, 0xFE0E), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A)),
    (0xE0000, 0xE0FFF),
)
_SHOWN = Escapes(_UNSAFE, lambda code: f"\\u{{{code:x}}}")
_IN_JSON = Escapes(_UNSAFE, lambda code: _json_escape(chr(code)))


def safe(text: str) -> str:
    r"""Show each character that could control a terminal, or be invisible, as ``\u{hex}``.

    All others stay unchanged, including newline, tab and the emoji variation selector.

    >>> safe("red: \x1b[31m, caf\u00e9")
    'red: \\u{1b}[31m, café'
    """
    return text.translate(_SHOWN)


def safe_json(text: str) -> str:
    r"""Escape the same characters in JSON, as JSON escapes: the data stays the same.

    >>> safe_json('{"text": "a\u202eb\U000e0041"}')
    '{"text": "a\\u202eb\\udb40\\udc41"}'
    """
    return text.translate(_IN_JSON)


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
