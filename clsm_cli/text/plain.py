"""A sentence as a person would write it on paper: no Markdown, no tags, no addresses, no emoji."""

from __future__ import annotations

import re

from clsm_cli.text import rule_words

_STRUCK = re.compile(r"~~[^~\n]{1,400}~~|<!--[^\n]{0,400}?-->|<(?:br|/?[a-z]{1,10})\s?/?>")
_ADDRESS = re.compile(r"\s?<?\b(?:https?|ftp|file)://[^\s<>()\[\]]{1,2000}(?<![.,;:!?])>?")
_FOOTNOTE = re.compile(r"\[\^[\w-]{1,20}\]")
_TAG = re.compile(r"(?:(?<=\s)|^)#(?=[^\W\d_][\w/-])")
_LEADING_TAGS = re.compile(r"^\s*(?:#[^\W\d_][\w/-]{0,60}\s+){1,12}(?=\S)")
_CODE = re.compile(r"``?([^`\n]{1,400})``?")
_BEFORE_MARK = re.compile(r"\s(?=[.,;:!?](?:\s|$))")
_EMPTY = re.compile(r"\(\s*\)|\[\s*\]")
_STAR = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}")


def plain(text: str) -> str:
    """``text`` in one line, without marks of Markdown, struck words, tags, addresses and emoji.

    >>> plain("- [ ] Ask **[[Mara Hart|Mara]]** about `a_b` and *Dune* 🙂 #work")
    'Ask Mara about a_b and Dune'
    >>> plain("See https://example.org/x. It is ~~red~~ blue.")
    'See. It is blue.'
    """
    text = _FOOTNOTE.sub("", _STRUCK.sub("", text))
    text = rule_words.plain(_LEADING_TAGS.sub("", text))
    text = _CODE.sub(r"\1", _ADDRESS.sub("", text))
    text = _STAR.sub("", _TAG.sub("", text))
    return _BEFORE_MARK.sub("", " ".join(_EMPTY.sub("", text).split()))
