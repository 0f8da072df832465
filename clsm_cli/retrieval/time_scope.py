"""The time scope of a question: days by the calendar, conversations by their order.

``resolve`` reads both from the words and looks the conversations up. A question without a word of
time pays for one look at its words: nothing is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.retrieval.question import ANY_TIME

if TYPE_CHECKING:
    from clsm_cli.retrieval.question import TimeScope
    from clsm_cli.store.index.index_queries import Index

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


def resolve(index: Index, text: str, now: str) -> TimeScope:
    """Find out when and where a question looks.

    It never raises for what the words say: nonsense means nothing.

    Args:
        now: ISO 8601; what was said later is not there, and relative expressions count from it.
    """
    has_time, has_place = may_name_time(text)
    if not (has_time or has_place):
        return ANY_TIME
    from clsm_cli.retrieval import session_scope

    return session_scope.resolve(index, text, now, has_time=has_time, has_place=has_place)
