"""When two subjects, or two values, are the same."""

from __future__ import annotations

import re

from clsm_cli.text.slot_values import number, quantity, weekdays

_UNSPECIFIC = frozenset({"deadline", "meeting", "session", "game", "page", "appointment", "name"})
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UNKNOWN = frozenset(
    [
        "it",
        "this",
        "that",
        "these",
        "those",
        "there",
        "here",
        "he",
        "she",
        "they",
        "him",
        "her",
        "them",
        "his",
        "hers",
        "their",
        "its",
        "one",
        "someone",
        "somebody",
        "everyone",
        "everybody",
        "nobody",
        "anyone",
        "nothing",
        "something",
        "everything",
        "who",
        "which",
        "what",
        "you",
        "your",
        "yours",
        "both",
        "all",
        "some",
        "many",
        "most",
        "people",
        "others",
        "another",
        "each",
    ]
)
"""Subjects that name nobody outside their own sentence."""
_LITTLE = frozenset({"the", "a", "an", "our", "my", "per", "o'clock"})
OF_THE_AGENT = frozenset({"runs on", "rule", "name", "uses", "version", "residence", "interval"})
"""Slots of which an agent may tell its own value, with "I" for a subject."""


def subject_key(subject_text: str) -> str:
    """Return what two writings of one subject have in common.

    >>> subject_key("The Backups"), subject_key("Ilse's cat")
    ('backup', 'ilse cat')
    """
    words = re.findall(r"[^\W_][\w.]*", re.sub(r"['’]s?(?!\w)", "", subject_text.casefold()))
    kept = [word for word in words if word not in {"the", "a", "an", "our", "my", "this", "that"}]
    return " ".join(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in kept
    )


def same_subject(a: str, b: str, slot: str) -> bool:
    """Return whether two subjects of one slot are surely the same.

    >>> same_subject("the club", "reading club", "venue"), same_subject("she", "she", "age")
    (True, False)
    """
    one, other = subject_key(a), subject_key(b)
    unknown = [not key or key.split()[0] in UNKNOWN or key in _UNSPECIFIC for key in (one, other)]
    if one == other:
        return not any(unknown) or (not one and slot.split("/", maxsplit=1)[0] in OF_THE_AGENT)
    if any(unknown):
        return False
    # "the club" is the reading club that was named before.
    short, long = sorted((one, other), key=len)
    is_noun = (a if short == one else b).islower() and " " not in short
    return is_noun and long.endswith(f" {short}")


def same_value(a: str, b: str, slot: str) -> bool:
    """Return whether two values of one slot agree, or one only says more.

    Case, articles, number words and the writing of units make no difference; a number that only one
    of them has does.

    >>> same_value("Leeds", "Leeds by the station", "residence"), same_value("ten mins", "10 minutes", "interval")
    (True, True)
    >>> same_value("2026-03-02", "2 March", "due"), same_value("Monday", "Monday and Friday", "workdays")
    (True, False)
    """
    if slot.startswith("workdays"):
        return (weekdays(a) or a) == (weekdays(b) or b)
    one, other = _words(a), _words(b)
    if one == other:
        return True
    has_number = any(word[0].isdigit() for word in one ^ other)
    if one and other and not has_number and (one <= other or other <= one):
        return True
    return _month_and_day(a) is not None and _month_and_day(a) == _month_and_day(b)


def _words(value: str) -> frozenset[str]:
    """Return the words of a value: numbers in digits, units and nouns in one form."""
    found = re.findall(r"[^\W_][\w.-]*|%", value.casefold())
    kept = [word.rstrip(".") for word in found if word not in _LITTLE]
    kept = [(number(word) or word).lstrip("0") or "0" for word in kept]
    return frozenset(
        word if word[0].isdigit() else "%" if word == "percent" else quantity("2", word)[2:]
        for word in kept
    )


def _month_and_day(value: str) -> tuple[str, str] | None:
    """Return month and day of "2026-03-02" and of "2 March"."""
    iso = re.fullmatch(r"\d{4}-(\d\d)-(\d\d)", value)
    if iso:
        return iso.group(1), iso.group(2)
    half = re.fullmatch(r"(?:[A-Z][a-z]+day )?(\d{1,2}) ([A-Z][a-z]{2,8})(?: \d{4})?", value)
    if half is None or half.group(2)[:3] not in _MONTHS:
        return None
    return f"{_MONTHS.index(half.group(2)[:3]) + 1:02}", f"{int(half.group(1)):02}"
