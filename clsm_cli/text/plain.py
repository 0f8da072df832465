"""Strip Markdown, tags, addresses and emoji from a sentence."""

import re
from functools import lru_cache

from clsm_cli.text.markdown_marks import ITEM, LINK_TARGET

_MARKER = re.compile(rf"\s*(?:>\s?){{0,3}}(?:{ITEM}\s+)?(?:\[[ xX!~/\-]\]\s+)?(?:#{{1,6}}\s+)?")
_LINK = re.compile(rf"{LINK_TARGET}(?:\|([^\[\]\n]{{1,200}}))?\]\]")
_LINKED = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
_STARS = re.compile(r"(?<![\w*`])(\*{1,3}|~~)(?=[^\s*~])([^*~\n]{1,400}?)(?<=[^\s*~])\1(?![\w*`])")
_UNDERSCORES = re.compile(r"(?<![\w`])(_{1,2})(?=[^\s_])([^\n`]{1,400}?)(?<=[^\s_])\1(?![\w`])")
_TAGS = re.compile(r"(?:\s#[^\W\d_][\w/-]{0,60}){1,12}\s*$")
_EMOJI = re.compile(
    r"\s?[\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b50\ufe0f\u200d\U0001f000-\U0001faff]{1,20}"
)
_ELEMENTS = (
    "a|b|blockquote|br|caption|center|cite|code|dd|del|details|div|dl|dt|em|figure|font|h[1-6]|hr|i|img"
    "|ins|kbd|li|mark|ol|p|picture|pre|q|s|samp|section|small|span|strong|sub|summary|sup|table|tbody"
    "|td|tfoot|th|thead|tr|u|ul|var|video"
)
"""HTML elements that Markdown files use; any other word in angle brackets is a placeholder."""
_STRUCK = re.compile(rf"~~[^~\n]{{1,400}}~~|<!--[^\n]{{0,400}}?-->|</?(?:{_ELEMENTS})\s?/?>")
_ADDRESS = re.compile(r"\s?<?\b(?:https?|ftp|file)://[^\s<>()\[\]]{1,2000}(?<![.,;:!?])>?")
_FOOTNOTE = re.compile(r"\[\^[\w-]{1,20}\]")
_TAG = re.compile(r"(?:(?<=\s)|^)#(?=[^\W\d_][\w/-])")
_LEADING_TAGS = re.compile(r"^\s*(?:#[^\W\d_][\w/-]{0,60}\s+){1,12}(?=\S)")
_BEFORE_MARK = re.compile(r"\s(?=[.,;:!?](?:\s|$))")
_FIELD = re.compile(r"([A-Za-z][A-Za-z-]*):(?=\s)")
_EMPTY = re.compile(r"\(\s*\)|\[\s*\]")
_CODE_OR_STAR = re.compile(r"``?([^`\n]{1,400})``?|\*{1,3}(?=\S)|(?<=\S)\*{1,3}")


@lru_cache(maxsize=4096)
def to_plain(text: str, *, has_addresses: bool = False) -> str:
    """Return ``text`` as one line, without Markdown, struck-out words, tags and emoji.

    Addresses are removed, too, unless ``has_addresses``.

    >>> to_plain("- [ ] Ask **[[Mara Hart|Mara]]** about `a_b` and *Dune* 🙂 #work")
    'Ask Mara about a_b and Dune'
    >>> to_plain("See https://example.org/x. It is ~~red~~ blue.")
    'See. It is blue.'
    >>> to_plain("Clone to ~/code/<owner><br>")
    'Clone to ~/code/<owner>'
    >>> to_plain("**Wiki**: https://example.org/x", has_addresses=True)
    'Wiki: https://example.org/x'

    The cells of a table's row are joined by dots.

    >>> to_plain("| **Rent** | 900 euros |")
    'Rent · 900 euros'
    """
    if (row := text.strip()).startswith("|"):
        cells = (to_plain(cell, has_addresses=has_addresses) for cell in row.strip("|").split("|"))
        return " · ".join(filter(None, cells))
    text = _FOOTNOTE.sub("", _STRUCK.sub("", text))
    text = strip_markdown(_LEADING_TAGS.sub("", text))
    text = _TAG.sub("", text if has_addresses else _ADDRESS.sub("", text))
    text = _CODE_OR_STAR.sub(r"\1", text)
    return _BEFORE_MARK.sub("", " ".join(_EMPTY.sub("", text).split()))


def plain_words(text: str) -> str:
    """The lower-cased words of a text, to compare two texts.

    >>> plain_words("- **Rent**: 900 euros.") == plain_words("rent 900 Euros")
    True
    """
    return " ".join(re.findall(r"\w+", to_plain(text).lower()))


def is_letter_head(block: str) -> bool:
    r"""Whether a block is the head of a letter or memo: only fields, with those that RFC 5322, 3.6, requires.

    >>> is_letter_head("From: Ann Lee\nDate: Fri, 15 May 2026 08:31"), is_letter_head("**Date:** Friday")
    (True, False)
    """
    names = set()
    for line in block.splitlines():
        field = _FIELD.match(to_plain(line))
        if field is None:
            return False
        names.add(field[1].lower())
    return names >= {"from", "date"}


def strip_markdown(text: str) -> str:
    """Remove the marker, emphasis, links, closing tags and emoji from a sentence or a list item.

    Code keeps its backticks, since they mark it as code.
    """
    text = _MARKER.sub("", text, count=1)
    text = _LINK.sub(lambda link: link.group(2) or link.group(1).rsplit("/", 1)[-1], text)
    text = _LINKED.sub(r"\1", text)
    text = _UNDERSCORES.sub(r"\2", _STARS.sub(r"\2", text))
    return " ".join(_TAGS.sub("", _EMOJI.sub("", text)).split())
