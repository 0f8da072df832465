"""The time scope of a question: days by the calendar, conversations by their order.

``session_scope`` reads both from the words and looks the conversations up. A question without a word of
time pays for one look at its words: nothing is loaded.
"""

from __future__ import annotations

from clsm_cli.startup.records import NamedTuple


class TimeScope(NamedTuple):
    """Where a question looks.

    Attributes:
        periods: Days as proleptic ordinals: first, and the one after the last; in order. A day that
            is meant roughly lies inside a second, longer one.
        sessions: Ids of the conversations (and paths of notes) meant, in order of time; empty where
            it names none, or none is found.
        hard: Whether what lies outside cannot answer; else it is a preference.
        rest: The question without the words of time; empty where it has no others.
    """

    periods: tuple[tuple[int, int], ...]
    sessions: tuple[str, ...]
    hard: bool
    contradictory: bool
    rest: str
    warning: str = ""


ANY_TIME = TimeScope((), (), hard=False, contradictory=False, rest="")
"""Of a question that does not say when or where it looks."""

_MARKS = str.maketrans(
    dict.fromkeys("\t\n\r.,;:!?()[]{}<>\"'`/\\|*_-\u2013\u2014\u2018\u2019\u201c\u201d", " ")
)
_CALENDAR = (
    " day ", " days ", " week", " month", " year", " night", " morning", " afternoon", " evening",
    " today ", " yesterday ", " tomorrow ", " tonight ", " monday ", " tuesday ", " wednesday ",
    " thursday ", " friday ", " saturday ", " sunday ", " january ", " february ", " april ",
    " june ", " july ", " august ", " september ", " october ", " november ", " december ",
    " spring ", " summer ", " autumn ", " fall ", " winter ", " quarter", " decade", "ties ",
    " christmas ", " xmas ", " easter ", " halloween ", " thanksgiving ", " pentecost ",
    " epiphany ", " juneteenth ", " ago ", " recent", " lately ", " fortnight", " hours ",
    " minutes ", " just now ", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
)  # fmt: skip
"""One of these is in every question with a time by the calendar."""
_ORDER = (
    " first ", " last ", " latest ", " recent ", " previous ", " prior ", " second ", " third ",
    " fourth ", " fifth ", " sixth ", " seventh ", " eighth ", " ninth ", " tenth ", " eleventh ",
    " twelfth ", "1st ", "2nd ", "3rd ", "th ", " newest ", " final ", " earliest ", " oldest ",
    " initial ", " penultimate ", " our conversation", " our chat", " our session", " our talk",
    " our discussion", " conversation about ", " before ", " after ", " since ", " until ", " till ", " between ",
    " following ", " preceding ", " ago ", " back ", " earlier ",
)  # fmt: skip
_TALK = (
    " conversation", " session", " chat", " talk", " discuss", " spoke", " speak", " mention",
    " exchange", " dialog", " reference", " came ", " happened ", " come up ", " brought up ", " bring up ",
    " raised ", " told ", " tell ", " said ", " say ", " ask", " cover", " complain", " wrote ",
    " refer", " last time ",
)  # fmt: skip
"""One of each is in every question that places a memory among the conversations."""


def may_name_time(text: str) -> tuple[bool, bool]:
    """Whether a question may name a time by the calendar, and a place among the conversations.

    >>> may_name_time("who knows the Sunday song?"), may_name_time("why is the sky blue?")
    ((True, False), (False, False))
    >>> may_name_time("what did we discuss before the move?")
    (False, True)
    """
    padded = f" {text.casefold().translate(_MARKS)} "
    return (
        # Two months are common words without a capital.
        any(cue in padded for cue in _CALENDAR) or "May" in text or "March" in text,
        any(cue in padded for cue in _TALK) and any(cue in padded for cue in _ORDER),
    )
