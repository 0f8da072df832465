"""Where a day without a year lies, by the words of its clause.

The governing verb decides: a present or future verb may plan the day, and so may words of arranging
("booked"); a past verb ("the deadline was 1 November") does not. A day that dates a noun ("the bill of
5 December") is not the day of an event.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import pattern, word_list
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from clsm_cli.text.time.forms import Groups

Kind = Literal["date", "relative", "past", "plan", "recurring", "unknown"]
"""``date``: has its year; ``relative``: counted from the day of speaking; ``past`` and ``plan``: placed by
the words around it; ``recurring``: comes again and again; ``unknown``: undecided.
"""

_LABEL = re.compile(r":\**\s*$")
"""Colon of a label, which is part of the clause of its value: "Deadline: 1 October"."""
_CLAUSE_END = re.compile(r"[.!?;:\n]")
_FUNCTION_WORDS = STOP_WORDS.union(word_list("function"))
_WORD_AFTER = re.compile(r"\s([a-z]+)")
_CONTEXT_CHARS = 80  # characters on either side in which to look for evidence


class Clause(NamedTuple):
    """The words of its clause before and after a day."""

    before: str
    after: str
    is_asked: bool = False
    is_range: bool = False  # whether the day begins a range


def clause_of(match: re.Match[str], groups: Groups) -> Clause:
    """The clause around a matched time expression, with the groups that ``forms`` describes."""
    start = match.start("month") if groups.get("which") else match.start()
    return clause_at(match.string, start, match.end(), is_range="to" in groups)


def clause_at(text: str, start: int, end: int, *, is_range: bool = False) -> Clause:
    """The clause around a day at some offsets of a text."""
    lead = text[max(0, start - _CONTEXT_CHARS) : start]
    after = text[end : end + _CONTEXT_CHARS]
    stop = _CLAUSE_END.search(after)
    return Clause(
        _CLAUSE_END.split(_LABEL.sub(" ", lead))[-1],
        after[: stop.start()] if stop else after,
        stop is not None and stop.group() == "?",
        is_range or pattern("bounds.join").match(after) is not None,
    )


def kind_of(clause: Clause, groups: Groups) -> Kind:
    """Return where a day lies by the words around it.

    The group ``month`` distinguishes a calendar day from a bare weekday: "choir is on Thursday" means every
    Thursday.

    >>> told = "it expires on ", "we met on ", "she was born on ", "it was valid until "
    >>> [kind_of(Clause(before, ""), {"month": "may"}) for before in told]
    ['plan', 'past', 'recurring', 'unknown']
    """
    before, after = clause.before, clause.after
    words = f"{before}\0{after}"
    if pattern("time.recurs").search(words):
        return "recurring"
    if clause.is_asked or pattern("time.open").search(words):
        return "unknown"
    if is_denied(clause) or dates_a_noun(clause):
        return "unknown"
    leads = ["limit before", *(["put off before", "is on before"] if "month" in groups else ())]
    is_plan = bool(pattern("time.falls due").search(words)) or any(
        pattern(f"time.{lead}").search(before) for lead in leads
    )
    is_past = _is_past(before, after)
    if is_plan == is_past or (is_plan and is_reported_past(clause)):
        return "unknown"
    return "plan" if is_plan else "past"


def is_no_plan(clause: Clause) -> bool:
    """Whether nothing is planned for a day: it tells what was, may be or is not, or names a thing.

    >>> told = "Dentist on ", "her last day is ", "we met on ", "it was due on ", "the bill of ", "not on "
    >>> [is_no_plan(Clause(before, "")) for before in told]
    [False, False, True, True, True, True]
    """
    if clause.is_asked or pattern("time.open").search(f"{clause.before}\0{clause.after}"):
        return True
    if is_denied(clause) or dates_a_noun(clause):
        return True
    return is_reported_past(clause)


def is_denied(clause: Clause) -> bool:
    """Whether the words around a day, or its mark as deleted, say that it is another one.

    >>> [is_denied(Clause(before, "")) for before in ("it is not on ", "instead of ", "it is not until ")]
    [True, True, False]
    """
    return bool(
        pattern("time.denied before").search(clause.before)
        or pattern("time.denied after").search(clause.after)
    )


def dates_a_noun(clause: Clause) -> bool:
    """Whether a day identifies a thing and does not date an event: a plan for that thing has another day.

    >>> dates_a_noun(Clause("I'll pay the bill of ", ""))
    True
    >>> dates_a_noun(Clause("I'll pay the ", " bill"))
    True
    """
    before = clause.before
    if pattern("time.dates a noun").search(before):
        return True
    if begin := pattern("time.from before").search(before):
        # "valid from 1 May" and "from 1 to 3 May" date no noun, "the order from 1 May" does.
        cues = pattern("time.falls due").finditer(before)
        return not clause.is_range and all(before[e.end() : begin.start()].strip() for e in cues)
    follows = _WORD_AFTER.match(clause.after)
    return (
        follows is not None
        and follows[1] not in _FUNCTION_WORDS
        and pattern("time.owner before").search(before) is not None
    )


def is_asked_ahead(clause: Clause) -> bool:
    """Whether a question asks what will be: its last verb before the day is a present one, and none a past.

    >>> asked = "what do I have on ", "what did I do on ", "what has worked on ", "what is in the notes of "
    >>> [is_asked_ahead(Clause(before, "")) for before in (*asked, "what is planned for ", "what was planned for ")]
    [True, False, False, False, True, False]
    """
    verbs = (each for each in reversed(_verbs(clause.before)) if each.lastgroup != "sets")
    verb = next(verbs, None)
    is_present = verb is not None and verb.lastgroup == "present" and not verb[0].startswith("ha")
    if clause.is_asked and verb is None:  # "anything on Friday?"
        is_present = not _verbs(clause.after) and not pattern("time.done").search(clause.after)
    is_past = pattern("time.done").search(clause.before) is not None
    return is_present and not is_past and not dates_a_noun(clause)


def is_reported_past(clause: Clause) -> bool:
    """Whether the verb that governs a day is a past one and arranges nothing.

    That is the last verb before the day. Without one other than a participle, the day may belong to the
    subject of the next verb.

    >>> [is_reported_past(Clause(*words)) for words in (
    ...  ("It was due on ", ""), ("The party planned for ", " was great"), ("We booked it for ", ""))]
    [True, True, False]
    """
    before, after = clause.before, clause.after
    verb = _last_verb(before)
    if verb and verb.lastgroup != "sets":
        return verb.lastgroup == "past"
    if pattern("time.clause end").search(before, 0, verb.start() if verb else len(before)):
        after = after.lstrip(" ,)")  # "the workshop, booked for 9 October, was a success"
    behind = _verbs(pattern("time.clause end").split(after, 1)[0])
    return bool(behind) and behind[0].lastgroup != "present"


def _verbs(text: str) -> list[re.Match[str]]:
    return [each for each in pattern("time.verb").finditer(text) if each.lastgroup]


def _last_verb(before: str) -> re.Match[str] | None:
    return next(reversed(_verbs(before)), None)


def _is_past(before: str, after: str) -> bool:
    if pattern("time.since before").search(before):
        return True
    if not before.strip() or pattern("time.on before").fullmatch(before.strip() + " "):
        # "On 6 January we took the tree down"
        return pattern("time.done").search(after) is not None
    verbs = list(pattern("time.done").finditer(before))
    last = _last_verb(before)
    if last and last.lastgroup == "present":
        return False  # "I said I will come on 5 May"
    if not verbs or not pattern("time.on before").search(before):
        return False
    return pattern("time.aside").search(before[verbs[-1].end() :]) is None
