"""Questions that begin with "how", "where", "when" and "who", and where each kind is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.text import slot_question_nouns
from clsm_cli.text import slot_question_words as table
from clsm_cli.text.slot_question_forms import Words, named, noun_slot, parts, stored
from clsm_cli.text.slot_questions import Asked

if TYPE_CHECKING:
    from collections.abc import Callable


def _how(words: Words, low: Words) -> Asked | None:
    if low[1] == "often" and len(low) > 4:
        return _how_often(words[2:], low[2:])
    if low[1] == "old" and low[2] in table.BE:
        return Asked(named(words[3:]), "age") if len(words) > 3 else None
    if low[1] in {"much", "high", "low", "long", "big", "large", "many"}:
        return _how_much(words, low)
    return None


def _how_often(words: Words, low: Words) -> Asked | None:
    if low[0] in table.BE and low[-1].endswith(("ed", "en", "one", "un", "ade", "ept")):
        return Asked(named(words[1:-1]), "interval")
    if low[0] not in table.DO:
        return None
    found = parts(words[1:], low[1:], table.REPEATS | table.TAKES)
    if found is None:
        return None
    subject, verb, rest = found
    what = named(rest).lower()
    if verb in table.TAKES:
        return Asked(what, f"dose/{what}") if what.isalpha() and what == " ".join(rest) else None
    if what == "out" or not rest:
        return Asked(named(subject), "interval")
    return Asked(named(subject), f"interval/{what}") if len(what.split()) < 3 else None


def _how_much(words: Words, low: Words) -> Asked | None:
    if low[2] in table.BE and len(low) > 3:
        found = noun_slot(words[3:])
        return Asked(*found) if found and found[1] in {"price", "setting", "dose"} else None
    place = next((n for n in range(2, len(low)) if low[n] in table.DO), None)
    if place is None or low[1] != "much":
        return None
    if place > 2:  # "how much aspirin does Bob get"
        found_verb = parts(words[place + 1 :], low[place + 1 :], table.TAKES)
        medicine = named(words[2:place]).lower()
        is_dose = found_verb is not None and len(medicine.split()) == 1
        return Asked(medicine, f"dose/{medicine}") if is_dose else None
    return _amount(words[3:], low[3:])


def _amount(words: Words, low: Words) -> Asked | None:
    """Return what "Magpie risk per trade", "the hosting cost" ask for."""
    if "per" in low[2:-1] and (found := parts(words, low, table.RATES)):
        return Asked(named(found[0]), f"rate/per {low[low.index('per') + 1]}")
    found = parts(words, low, {"cost", "weigh"})
    if found is None or found[2][:1] not in ([], ["per"], ["a"]):
        return None
    return Asked(named(found[0]), "price" if found[1] == "cost" else "weight")


def _where(words: Words, low: Words) -> Asked | None:
    if low[1] in table.BE:
        return _where_is(words[2:], low[2:])
    found = parts(words[2:], low[2:], table.WHERE) if low[1] in table.DO else None
    if found is None or len(found[2]) > 1 or not {*map(str.lower, found[2])} <= table.PREPOSITIONS:
        return None
    subject, verb, _ = found
    slot, last = table.WHERE[verb], subject[-1].lower()
    if verb in {"go", "point"} and last not in table.DATA:
        return None
    if verb == "live" and last in table.DATA:
        slot = "target"
    elif verb == "live" and subject[0].lower() in {"the", "this"} and last != "user":
        slot = "location"
    return Asked(stored(subject) if slot == "target" else named(subject), slot)


def _where_is(words: Words, low: Words) -> Asked | None:
    if low[-1] in table.PARTICIPLES | table.SENT | {"held"} and len(low) > 1:
        return _placed(words[:-1], low[-1])
    is_phrase = not (table.LINKS | table.PREPOSITIONS) & {*low} and not low[-1].endswith("ing")
    is_thing = low[0] in table.DETERMINERS or words[0][:1].isupper()
    return _placed(words, "") if is_phrase and is_thing else None


def _placed(subject: Words, how: str) -> Asked | None:
    last = subject[-1].lower()
    if last in table.GATHERINGS and how in {"", "held"}:
        return Asked(named(subject), "venue")
    if last in table.DATA and how != "held":
        return Asked(stored(subject), "target")
    return Asked(named(subject), "location") if how in table.PARTICIPLES | {""} else None


def _when(words: Words, low: Words) -> Asked | None:
    if low[1] in table.BE:
        return _when_is(words[2:], low[2:])
    if low[1] in table.MAY and {"speak", "talk", "write", "call", "message"} & {*low[2:5]}:
        return Asked("", "rule/nothing before")
    found = parts(words[2:], low[2:], {"start", "begin", "expire", "end", "run"})
    if found is None or low[1] not in table.DO:
        return None
    subject, verb, rest = found
    behind = [word.lower() for word in rest]
    if verb in {"start", "begin"}:
        is_regular = subject[-1].lower() in table.GATHERINGS and not rest
        return Asked(named(subject), "time") if is_regular else None
    return (
        Asked(named(subject), "expires") if behind == (["out"] if verb == "run" else []) else None
    )


def _when_is(words: Words, low: Words) -> Asked | None:
    if low[-1] in {"due", "born"} and len(low) > 1:
        return Asked(named(words[:-1]), "due" if low[-1] == "due" else "birthday")
    found = noun_slot(words)
    if found and found[1] in {"due", "birthday", "expires", "time"}:
        return Asked(*found)
    return Asked(named(words), "time") if low[-1] in table.GATHERINGS else None


def _who(words: Words, low: Words) -> Asked | None:
    if low[1] in table.DO:
        found = parts(words[2:], low[2:], {"work", "belong"})
        if found and [word.lower() for word in found[2]] in (["for"], ["to"], ["at"]):
            return Asked(named(found[0]), "employer" if found[1] == "work" else "owner")
        return None
    for lead in _CARED:
        if low[1 : 1 + len(lead)] == lead and len(low) > 1 + len(lead):
            thing = words[1 + len(lead) :]
            return None if table.LINKS & {*low[1:]} else Asked(named(thing), "owner")
    if low[1] in table.BE and low[-2:] == ["married", "to"] and len(low) > 4:
        return Asked(named(words[2:-2]), "partner")
    found_noun = noun_slot(words[2:]) if low[1] in table.BE else None
    return Asked(*found_noun) if found_noun and found_noun[1] in {"owner", "partner"} else None


_CARED = (
    ["is", "responsible", "for"], ["was", "responsible", "for"], ["is", "in", "charge", "of"],
    ["was", "in", "charge", "of"], ["owns"], ["owned"], ["leads"], ["led"], ["heads"], ["chairs"], ["maintains"], ["maintained"], ["manages"],
    ["looks", "after"], ["looked", "after"], ["takes", "care", "of"], ["took", "care", "of"],
)  # fmt: skip


_READERS: dict[str, Callable[[Words, Words], Asked | None]] = {
    "how": _how,
    "where": _where,
    "when": _when,
    "who": _who,
    "what": slot_question_nouns.read,
    "which": slot_question_nouns.read,
}


def read(words: Words) -> Asked | None:
    """Return what a question with a question word asks for."""
    low = [word.lower() for word in words]
    if len(low) > 2 and low[0] in {"at", "on", "in", "to", "from"} and low[1] in {"what", "which"}:
        words, low = words[1:], low[1:]
    if low and low[0] in {"what's", "where's", "who's"}:
        words, low = [words[0][:-2], "is", *words[1:]], [low[0][:-2], "is", *low[1:]]
    reader = _READERS.get(low[0]) if len(low) > 2 else None
    return reader(words, low) if reader else None
