"""Questions that begin with "what" and "which"."""

from __future__ import annotations

from clsm_cli.text import slot_question_words as table
from clsm_cli.text.slot_question_forms import Words, named, noun_slot, parts, stored
from clsm_cli.text.slot_questions import Asked

_LAST: dict[tuple[str, ...], str] = {
    ("set", "to"): "setting",
    ("set", "at"): "setting",
    ("called",): "name",
    ("named",): "name",
    ("allergic", "to"): "allergic to",
}
"""Ends of "what is it …"."""
_FROM = (["on"], ["from"], ["off"], ["up", "from"])
_PLAIN = frozenset(
    {"cost", "dislike", "enjoy", "hate", "like", "love", "own", "play", "speak", "weigh"}
)
"""Verbs whose object alone is asked for."""


def read(words: Words, low: Words) -> Asked | None:
    """Return what a question asks for that begins with "what" or "which"."""
    if low[1] in table.BE:
        return _what_is(words[2:], low[2:])
    if low[1] in table.DO:
        return _what_does(words[2:], low[2:], "")
    place = next((n for n in range(2, len(low)) if low[n] in table.BE | table.DO), None)
    if place is None or place + 1 >= len(low):
        return None
    return _which(words[1:place], low[1:place], words[place + 1 :], low[place:])


def _what_is(words: Words, low: Words) -> Asked | None:
    for last, slot in _LAST.items():
        if tuple(low[-len(last) :]) == last and len(low) > len(last):
            return Asked(named(words[: -len(last)]), slot)
    found = noun_slot(words)
    return Asked(*found) if found else None


def _what_does(words: Words, low: Words, kind: str) -> Asked | None:
    """Return what "the app use for its database" asks for; ``kind``: what is asked for, "database"."""
    if "per" in low[2:-1] and (found := parts(words, low, table.RATES)):
        return Asked(named(found[0]), f"rate/per {low[low.index('per') + 1]}")
    found = parts(words, low, {*table.WHAT, "do"})
    if found is None:
        return None
    subject, verb, rest = found
    behind = [word.lower() for word in rest]
    if verb == "use":
        return _uses(subject, rest, kind)
    slot = table.WHAT.get(verb) if verb in _PLAIN and not rest else None
    if verb == "do" and behind == ["for", "a", "living"]:
        slot = "occupation"
    elif verb in {"run", "boot", "start"} and behind in _FROM:
        slot = "runs on"
    elif verb == "drink" and behind[:1] in (["in"], ["for"]):
        part = next((word for word in behind if word in table.PARTS_OF_DAY), "")
        slot = f"habit/{part}" if part else None
    return Asked(named(subject), slot) if slot else None


def _uses(subject: Words, rest: Words, kind: str) -> Asked | None:
    if rest and rest[0].lower() in {"for", "as"} and rest[-1].islower() and len(rest) > 1:
        return Asked(named(subject), f"uses/{named(rest[1:]).lower()}")
    if rest:
        return None
    return Asked(named(subject), f"uses/{kind}" if kind else "uses")


def _which(kind: Words, low_kind: Words, words: Words, low: Words) -> Asked | None:
    """Return what "which port does the app listen on" asks for.

    Args:
        kind: what is asked for: "port".
        low_kind: it in lower case.
        words: what stands behind the first verb.
        low: that verb and them in lower case.
    """
    verb, low = low[0], low[1:]
    last = low_kind[-1]
    found: Asked | None = None
    if low_kind[0] == "version":
        found = _version(kind, words, low)
    elif last in {"port", "time", "day", "days"}:
        found = _port_or_time(last, verb, words, low)
    elif last in table.DISKS and low[-1] in {"from", "on", "to"}:
        found = _disk(words, low)
    elif verb in table.DO and "use" in low[1:]:
        found = _what_does(words, low, "" if last in table.GENERIC_TOOLS else " ".join(low_kind))
    elif (slot := _LIVED.get(last)) and slot[0] == low[-len(slot[0]) :]:
        found = Asked(named(words[: -len(slot[0])]), slot[1])
    return found


_LIVED: dict[str, tuple[Words, str]] = {
    **dict.fromkeys(("city", "town", "country", "village"), (["live", "in"], "residence")),
    **dict.fromkeys(("company", "firm", "employer"), (["work", "for"], "employer")),
    **dict.fromkeys(("language", "languages"), (["speak"], "language")),
}
"""By what is asked for: the end of the question, and the slot."""


def _disk(words: Words, low: Words) -> Asked | None:
    found = parts(words, low, {"run", "boot", "start", "go"})
    if found is None:
        return None
    subject, verb, _ = found
    if verb != "go":
        return Asked(named(subject), "runs on")
    return Asked(stored(subject), "target") if subject[-1].lower() in table.DATA else None


def _version(kind: Words, words: Words, low: Words) -> Asked | None:
    if len(kind) > 2 and kind[1].lower() == "of":
        return Asked(named(kind[2:]), "version")
    if low[-1] in {"at", "on"} and len(words) > 1:
        words = words[:-1]
    if low[-1] in {"run", "use", "running", "using"}:
        words = words[:-1]
    return Asked(named(words), "version") if words and not table.LINKS & {*low} else None


def _port_or_time(kind: str, verb: str, words: Words, low: Words) -> Asked | None:
    if kind == "port":
        found = parts(words, low, {"listen", "run", "use", "serve", "answer", "on", "at"})
        return Asked(named(found[0]), "port") if found else None
    if kind == "time":
        if low[-1] in {"start", "begin"} and low[-2:-1] and low[-2] in table.GATHERINGS:
            return Asked(named(words[:-1]), "time")
        is_plain = verb in table.BE and low[-1] in table.GATHERINGS
        return Asked(named(words), "time") if is_plain else None
    for place in range(1, len(low) - 2):  # "Petra at the Utrecht office", "Petra work in Utrecht"
        if low[place] in {"at", "in"}:
            subject = words[: place - 1] if low[place - 1] in {"work", "teach"} else words[:place]
            where = named(words[place + 1 :]).removesuffix(" office")
            return Asked(named(subject), f"workdays/{where}") if where[:1].isupper() else None
    return Asked(named(words[:-1]), "workdays") if low[-1] in {"work", "teach"} else None
