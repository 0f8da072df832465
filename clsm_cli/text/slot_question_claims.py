"""Questions to be answered with yes or no: the slot that they name, and the value."""

from __future__ import annotations

from clsm_cli.text import slot_question_words as table
from clsm_cli.text.slot_question_forms import Words, named, noun_slot, parts, stored
from clsm_cli.text.slot_questions import Asked

_VERBS = frozenset({*table.WHAT, *table.WHERE, *table.REPEATS, "end", "expire"})
_STARTERS = (
    table.PREPOSITIONS | table.STATES | table.PARTICIPLES | table.DIETS | table.WEDDED
    | frozenset({"every", "due", "set", "switched", "turned", "shut", "responsible", "called", "named",
                 "held", "version", "owned", "allergic", "out"})
)  # fmt: skip
"""Words with which what is said of a subject begins."""


def read(words: Words, text: str) -> Asked | None:
    """Return what a question asks that begins with its verb.

    Args:
        words: its words without times.
        text: the question, for values that are times.
    """
    low = [word.lower() for word in words]
    if len(low) < 3 or table.LINKS & {*low}:
        return None
    if low[0] in table.DO:
        found = parts(words[1:], low[1:], _VERBS)
        return _does(*found) if found and found[2] else None
    if low[0] not in table.BE:
        return None
    if low[-1] == "due" and len(low) > 2:
        value = text.rpartition(" due ")[2].removeprefix("on ").removeprefix("by ")
        return Asked(named(words[1:-1]), "due", _plain(value.split()))
    return _is(words[1:], low[1:])


def _does(subject: Words, verb: str, rest: Words) -> Asked | None:
    """Return what "the backup", "go", "to the NAS" ask."""
    low = [word.lower() for word in rest]
    if "every" in low:
        return _repeats(subject, verb, rest, low.index("every"))
    if "port" in low[:3] and low[-1].isdigit():
        return Asked(named(subject), "port", low[-1])
    if verb == "use":
        return _uses(subject, rest, low)
    slot = _slot_of(verb, subject, low)
    is_led = low[0] in table.PREPOSITIONS
    value = _plain(rest[1:] if is_led else rest) if slot else ""
    if slot is None or not value or is_led != (slot in _LED):
        return None
    return Asked(stored(subject) if slot == "target" else named(subject), slot, value)


def _repeats(subject: Words, verb: str, rest: Words, place: int) -> Asked | None:
    """Return what "the poller", "check", "the mail every hour" ask."""
    value = _interval([word.lower() for word in rest[place + 1 :]])
    what = named(rest[:place]).lower()
    slot = f"interval/{what}" if what and what != "out" else "interval"
    return Asked(named(subject), slot, value) if value and verb in table.REPEATS else None


_LED = frozenset({"residence", "employer", "venue", "target", "runs on", "location", "owner"})
"""Slots whose values stand behind a preposition."""


def _slot_of(verb: str, subject: Words, rest: Words) -> str | None:
    slot = table.WHERE.get(verb) if rest[0] in table.PREPOSITIONS else None
    slot = slot or table.WHAT.get(verb)
    if verb in {"go", "point", "sync", "deploy", "live"} and subject[-1].lower() in table.DATA:
        slot = "target"
    elif verb in {"go", "point", "sync", "deploy", "start", "listen", "end", "expire"}:
        slot = None
    elif verb == "live" and subject[0].lower() in {"the", "this"}:
        slot = "location"
    return slot


def _uses(subject: Words, rest: Words, low: Words) -> Asked | None:
    for link in ("for", "as"):
        if link in low[1:-1]:
            place = low.index(link)
            slot = f"uses/{named(rest[place + 1 :]).lower()}"
            return Asked(named(subject), slot, _plain(rest[:place]))
    return Asked(named(subject), "uses", _plain(rest))


def _is(words: Words, low: Words) -> Asked | None:
    """Return what "the heartbeat every 30 minutes" asks."""
    places = range(1, len(low))
    start = next(
        (n for n in places if low[n] in _STARTERS or low[n] in table.COUNTS or low[n][0].isdigit()),
        0,
    )
    if not start:
        return None
    subject, said, plain = words[:start], words[start:], low[start:]
    if (found := noun_slot(subject)) is not None:
        return None if plain[0] in table.PREPOSITIONS else Asked(*found, _normal(said))
    return _told(subject, said, plain) or _state(subject, plain) or _place(subject, said, plain)


_TOLD: tuple[tuple[Words, str], ...] = (
    (["owned", "by"], "owner"),
    (["called"], "name"),
    (["named"], "name"),
    (["set", "to"], "setting"),
    (["set", "at"], "setting"),
    (["allergic", "to"], "allergic to"),
)
"""How what is said begins, and the slot whose value follows."""


def _told(subject: Words, said: Words, plain: Words) -> Asked | None:
    name = named(subject)
    if plain[0] == "every":
        value = _interval(plain[1:])
        return Asked(name, "interval", value) if value else None
    if plain[:2] == ["responsible", "for"]:
        return Asked(named(said[2:]), "owner", name)
    for lead, slot in _TOLD:
        if plain[: len(lead)] == lead and len(plain) > len(lead):
            return Asked(name, slot, _plain(said[len(lead) :]))
    return None


def _state(subject: Words, plain: Words) -> Asked | None:
    """Return what "Heron", "in production" and "Mia", "nine" ask."""
    slot, value = "", " ".join(plain)
    if value in table.STATES or " ".join(plain[1:]) in table.STATE_PAIRS.get(plain[0], "").split():
        slot, value = "status", value.removeprefix("in ")
    elif value in table.DIETS | table.WEDDED:
        slot = "diet" if value in table.DIETS else "marital status"
    elif subject[0][:1].isupper() and (value in table.COUNTS or value.isdigit()):
        slot, value = "age", _number(value)
    return Asked(named(subject), slot, value) if slot else None


def _place(subject: Words, said: Words, plain: Words) -> Asked | None:
    """Return what "the canoe", "at the jetty" ask."""
    if plain[0] in table.PARTICIPLES | {"held"}:
        said, plain = said[1:], plain[1:]
    if len(plain) < 2 or plain[0] not in table.PREPOSITIONS:
        return None
    last, name = subject[-1].lower(), named(subject)
    days = {word.lower().removesuffix("s") for word in said} & table.WEEKDAYS
    is_real = said[1][:1].isupper() or plain[1] in table.DETERMINERS
    slot, value = "location" if is_real else "", _plain(said[1:])
    if plain[1] == "port" and plain[-1].isdigit():
        slot, value = "port", plain[-1]
    elif days and "office" in plain:
        slot, value = f"workdays/{named(said[1 : plain.index('office')])}", _days(said)
    elif last in table.GATHERINGS and (clock := _clock(plain[1:])):
        slot, value = "time", clock
    elif is_real and last in table.GATHERINGS:
        slot = "venue"
    elif is_real and last in table.DATA:
        slot, name = "target", stored(subject)
    return Asked(name, slot, value) if slot and value else None


def _interval(words: Words) -> str:
    """Return "30 minutes" of "30 minutes" and "hour"; "" for no interval."""
    if not words or words[-1] not in table.UNITS or len(words) > 2:
        return ""
    from clsm_cli.text.slot_values import quantity

    return quantity(words[0] if len(words) == 2 else "", words[-1])


def _clock(words: Words) -> str:
    """Return "09:30" of "9:30"; "" for no time of day."""
    hour, _, minute = words[0].replace(".", ":").partition(":")
    is_hour = len(words) == 1 and hour.isdigit() and len(hour) < 3
    if not is_hour or (minute and not (minute.isdigit() and len(minute) == 2)):
        return ""
    return f"{int(hour):02}:{minute or '00'}"


def _normal(said: Words) -> str:
    """Return a value that may be a quantity."""
    is_count = said[0][0].isdigit() or said[0].lower() in table.COUNTS
    return (is_count and _interval([word.lower() for word in said])) or _plain(said)


# The patterns that normalise values are compiled when a question names a value.


def _plain(said: Words) -> str:
    from clsm_cli.text.slot_values import phrase

    return phrase(" ".join(said))


def _number(word: str) -> str:
    from clsm_cli.text.slot_values import number

    return number(word)


def _days(said: Words) -> str:
    from clsm_cli.text.slot_values import weekdays

    return weekdays(" ".join(said))
