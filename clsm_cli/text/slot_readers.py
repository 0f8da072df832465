"""What a rule for facts is, and how the matched words become a value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import slot_values
from clsm_cli.text.name_matching import NO_NAMES
from clsm_cli.text.slot_times import day_at, earlier_days
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

Who = Literal["person", "thing", "object", "any", "none"]
"""What a rule's subject must be.

An ``object`` is a thing with a common noun for a name; ``none`` stands for an owner, or no subject.
"""


class Reading(NamedTuple):
    """A value as read from a match.

    Attributes:
        value: normalised value.
        qualifier: what tells two slots of one name apart.
        was: older values named with it.
    """

    value: str
    qualifier: str = ""
    was: tuple[str, ...] = ()


class Rule(NamedTuple):
    """One form in which a fact is told.

    Attributes:
        slot: name of the slot.
        pattern: a regular expression for the words from the verb on.
        read: makes the value of a match, ``None`` where it has none.
        who: what the subject must be.
        is_single: whether a newer value takes the place of the older one.
        is_change: whether the verb tells of an event.
        nouns: subjects, by last word, to which the rule is limited; empty for any.
        is_ended: whether the verb itself ends the value ("has given up").
    """

    slot: str
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], date | None], Reading | None]
    who: Who = "any"
    is_single: bool = True
    is_change: bool = False
    nouns: frozenset[str] = frozenset()
    is_ended: bool = False


def form(pattern: str) -> re.Pattern[str]:
    """Compile the pattern of a rule, to match from the beginning of a word on."""
    return re.compile(rf"(?<!\w)(?:{pattern})")


_POOR = re.compile(
    r"\b(?:it|this|that|them|him|her|you|me|us|which|who|what|how|these|those|something|anything|everything|"
    r"nothing|someone|anyone|one|ones|stuff|things?|lot|lots|way|same|such|more|most|much|many|is|are|was|were|"
    r"has|have|had|will|would|i|he|she|we|they|there|here|if|whether|being|bit)\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"(?:^|\s)(?:of|in|on|at|to|with|from|for|by|and|or|the|an?|as|my|our|his|her|their|about)$"
)


_NO_MEDICINE = STOP_WORDS | {"today", "dose", "day", "medicine", "tablet", "takes", "take", "gets", "get", "about", "given", "give", "dosage", "least", "most"}  # fmt: skip


def _group(match: re.Match[str], name: str) -> str:
    return match.groupdict().get(name) or ""


def _older(match: re.Match[str]) -> tuple[str, ...]:
    older = slot_values.phrase(_group(match, "w"))
    return (older,) if older else ()


def name(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read a proper name; a day, a month or a common word with a capital is none."""
    value = slot_values.phrase(match.group("v"))
    words = value.split()
    is_marked = match.group("v").startswith(slot_values.OPEN)
    if not words or (words[0] in NO_NAMES and not is_marked) or slot_values.weekdays(value):
        return None
    return Reading(value, slot_values.phrase(_group(match, "q")).lower(), _older(match))


def short(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read a noun phrase of one to five words without pronouns and verbs."""
    value = slot_values.phrase(match.group("v"))
    if not value or len(value.split()) > 5 or _POOR.search(value) or _DANGLING.search(value):
        return None
    if value.startswith("to ") or slot_values.number(value):
        return None
    if slot_values.weekdays(value) or not any(c.isalpha() for c in value):
        return None
    return Reading(value, slot_values.phrase(_group(match, "q")).lower(), _older(match))


_EXAMPLES = re.compile(r",? (?:like|such as|especially|including)\b")
_PREPOSITION = r"(?:to|with|in|on|at|about|for|by|from)"
_CUT_OFF = re.compile(rf"\s{_PREPOSITION}$|\s(?:that|who|which|when|where|how)\b")
_GOES_ON = re.compile(rf"\s{_PREPOSITION}\b")
_THIS_ONE = re.compile(
    r"(?:the|that|this|all|your|their|its|each|every|both|any|some|when|how|to)\b", re.IGNORECASE
)


def liked(match: re.Match[str], at: date | None) -> Reading | None:
    """Read what somebody likes in general; "the colours of your picture" are one moment's."""
    written = slot_values.unmarked(match.group("v"))
    cut = _EXAMPLES.search(written)
    if cut:
        value = slot_values.phrase(written[: cut.start()])
        return Reading(value) if value and not _POOR.search(value) else None
    if (
        _THIS_ONE.match(written)
        or _CUT_OFF.search(written)
        or _GOES_ON.match(match.string, match.end())
    ):
        return None
    return short(match, at)


def allergen(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read what somebody must not eat or touch; "nothing" is nothing."""
    value = slot_values.phrase(match.group("v"))
    first = value.partition(" ")[0]
    return (
        None
        if first in {"", "nothing", "it", "them", "that", "this", "something"}
        else Reading(value)
    )


def clock(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read a time of day."""
    time = re.fullmatch(
        r"(\d{1,2})(?:[:.](\d\d))? ?(?:([ap])\.?m\.?|o'clock|h)?", match.group("v").strip()
    )
    if time is None or int(time.group(1)) > 24:
        return None
    hour = (
        int(time.group(1)) % 12 + 12 * (time.group(3) == "p")
        if time.group(3)
        else int(time.group(1))
    )
    older = re.fullmatch(r"(\d{1,2})[:.](\d\d)", _group(match, "w"))
    return Reading(
        f"{hour:02}:{time.group(2) or '00'}",
        was=(f"{int(older.group(1)):02}:{older.group(2)}",) if older else (),
    )


def word(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read one of a closed list of words, in lower case."""
    value = match.group("v").lower().removeprefix("in ")
    return Reading(value, _group(match, "q").lower())


def fixed(value: str) -> Callable[[re.Match[str], date | None], Reading | None]:
    """Return a reader for a verb that is its own value: "resumed" means "running"."""
    return lambda match, _at: Reading(value, _group(match, "q").lower())


def age(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read an age in years."""
    years = slot_values.number(match.group("v"))
    return Reading(years) if years.isdigit() and 0 < int(years) <= 130 else None


def due(match: re.Match[str], at: date | None) -> Reading | None:
    """Read the day that a text group begins with, as one to come."""
    day, end = day_at(match.group("v"), at, ahead=True)
    rest = match.group("v")[end:]
    no_longer = re.match(r" (?:and )?(?:no longer|not|instead of)(?: on| by)? (.{1,30})", rest)
    older = earlier_days(no_longer.group(1), day) if no_longer else ()
    if _group(match, "w"):
        older = (*older, *earlier_days(_group(match, "w") + " to", day))
    return Reading(day, slot_values.phrase(_group(match, "q")).lower(), older) if day else None


def birthday(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read a day that comes back every year: it has only the year that is told."""
    day, _ = day_at(match.group("v"), None, ahead=True)
    return Reading(day) if day else None


def appointment(match: re.Match[str], at: date | None) -> Reading | None:
    """Read the day of an appointment; one in the past is none."""
    found = due(match, at)
    if found is None or (at is not None and found.value <= at.isoformat()):
        return None
    return found


def interval(match: re.Match[str], _at: date | None) -> Reading:
    """Read "every ten minutes", with what it was before."""
    unit = match.group("unit")
    older = _group(match, "w")
    was = (slot_values.quantity(older, _group(match, "wunit") or unit),) if older else ()
    what = slot_values.phrase(_group(match, "q")).lower()
    return Reading(slot_values.quantity(_group(match, "n"), unit), what, was)


def dose(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read amount and frequency of a medicine, which is the qualifier."""
    medicine = slot_values.phrase(_group(match, "q")).lower()
    if not medicine or medicine in _NO_MEDICINE or _POOR.search(medicine):
        return None
    often = slot_values.frequency(_group(match, "often"))
    value = f"{slot_values.quantity(match.group('n'), match.group('unit'))} {often}".strip()
    return Reading(value, medicine.split()[-1])


def rate(match: re.Match[str], _at: date | None) -> Reading:
    """Read "1 % of the account per trade"."""
    value = f"{slot_values.number(match.group('n'))} {match.group('unit')}"
    older = slot_values.number(_group(match, "w"))
    return Reading(
        value,
        f"per {match.group('q').lower()}",
        (f"{older} {match.group('unit')}",) if older else (),
    )


def days(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read a list of weekdays."""
    value = slot_values.weekdays(match.group("v"))
    place = slot_values.phrase(_group(match, "q"))
    older = slot_values.weekdays(_group(match, "w"))
    return Reading(value, place, (older,) if older else ()) if value else None


def measure(match: re.Match[str], _at: date | None) -> Reading:
    """Read a number with a unit."""
    return Reading(
        slot_values.quantity(match.group("n"), match.group("unit")), _group(match, "q").lower()
    )


def score(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read "31 of 45"."""
    got, of = slot_values.number(match.group("n")), slot_values.number(match.group("of"))
    if not got.isdigit() or not of.isdigit() or int(got) > int(of):
        return None
    return Reading(f"{got} of {of}")


def text(match: re.Match[str], _at: date | None) -> Reading:
    """Read a value as it stands: an address, a version, a price."""
    older = _group(match, "w")
    return Reading(
        match.group("v").strip(" .,"), _group(match, "q").lower(), (older,) if older else ()
    )


_SOMEBODYS = re.compile(r"(?:\b[Mm]y|\b[Oo]ur|\b[Hh]is|\b[Hh]er|\b[Tt]heir|\b[A-Z][\w-]*['’]s) $")


def line(match: re.Match[str], at: date | None) -> Reading | None:
    """Read the number under which somebody is called; a plain "number" of a thing is none."""
    is_plain = match.group().startswith(("number", "new", "current"))
    if is_plain and not _SOMEBODYS.search(match.string[: match.start()]):
        return None
    return text(match, at)


def venue(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read a place that either of two forms names."""
    value = slot_values.phrase(_group(match, "v") or _group(match, "u"))
    return Reading(value) if value and len(value.split()) <= 5 and not _POOR.search(value) else None


_SAYS = re.compile(r"^(?:she|he|they) (?:says?|has said|have said) ", re.IGNORECASE)
_POOR_HEAD = re.compile(r"(?:I|you|he|she|it|we|they|that|this|then)\b", re.IGNORECASE)


def quiet(match: re.Match[str], _at: date | None) -> Reading | None:
    """Read until or from when something is not to be done."""
    value = slot_values.phrase(_SAYS.sub("", match.group("v")))
    act = _group(match, "q").lower() or "nothing before"
    return (
        Reading(value, act)
        if value and len(value.split()) <= 6 and not _POOR_HEAD.match(value)
        else None
    )
