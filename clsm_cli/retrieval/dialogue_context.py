"""What a question refers back to in the current conversation ("and the second one?")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clsm_cli.text import tokens

_MAX_WORDS = 8
"""Words that one message adds to a question, at most."""
_ORDINALS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4}
_ORDINALS |= {"last": -1, "latter": -1}
_ORDINAL = rf"\bthe (?P<which>{'|'.join(_ORDINALS)})\b"
_ITEM = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*+•])\s+(\S.*)$", re.MULTILINE)
_WORD = re.compile(r"[^\W_][\w'’-]*")
_PERSON_PRONOUNS = frozenset(["he", "she", "him", "her", "his", "hers", "they", "them"])


def resolve_references(text: str, messages: Sequence[str]) -> str:
    """Append to a question the words of what it refers back to; for matching only.

    "the second one" adds the words of that item of the last list; "she" the last names mentioned;
    anything else the first content words of the last two messages that are not small talk. Some of
    these words may be irrelevant; a question without a back-reference is not changed.

    Args:
        messages: The conversation, oldest first.

    >>> resolve_references("What about that?", ["Is the barge in Haarlem insured?", "What about that?"])
    'What about that? barge Haarlem insured'
    """
    from clsm_cli.text import route

    if not route.points_back(text):
        return text
    own = {word.casefold() for word in _WORD.findall(text)}
    asked = text.strip().casefold()
    before = [message for message in messages if message.strip().casefold() != asked]
    before = [message for message in before if not route.is_small_talk(message)]
    item = _listed_item(text, before)
    if item:
        words = _content_words(item)
    elif own & _PERSON_PRONOUNS:
        words = next((names for message in reversed(before) if (names := _names(message))), [])
    else:
        words = [word for message in before[-2:] for word in _content_words(message)]
    kept = dict.fromkeys(word for word in words if word.casefold() not in own)
    return " ".join([text, *kept])


def _listed_item(text: str, before: Sequence[str]) -> str | None:
    """The item of the last list that an ordinal refers to; None if there is none."""
    ordinal = re.search(_ORDINAL, text, re.IGNORECASE)
    if ordinal is None:
        return None
    place = _ORDINALS[ordinal["which"].lower()]
    for message in reversed(before):
        items: list[str] = _ITEM.findall(message)
        if len(items) > 1:
            return items[place] if place < len(items) else None
    return None


def _content_words(text: str) -> list[str]:
    """The first content words of a text."""
    words = (word for word in _WORD.findall(text) if len(word) > 2 and tokens.stems(word))
    return list(dict.fromkeys(words))[:_MAX_WORDS]


def _names(text: str) -> list[str]:
    """Capitalised words inside sentences, without days and other words that are no names."""
    from clsm_cli.text.name_matching import NON_NAMES

    words = re.findall(r"(?<![.!?:]\s)(?<!^)(?<!\n)\b[A-Z][\w-]+", text)
    return [name for name in dict.fromkeys(words) if name not in NON_NAMES][:_MAX_WORDS]
