"""Checkable facts of a sentence: who or what, which slot, which value, and from when.

A fact is taken only where a form of the table says it plainly. A question, a condition, a wish, a
denial and what somebody else is said to have claimed give nothing: a wrong fact would close a right
one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import slot_older, slot_values
from clsm_cli.text.slot_clauses import clauses
from clsm_cli.text.slot_identity import same_subject, same_value, subject_key
from clsm_cli.text.slot_rules import RULES, SLOTS
from clsm_cli.text.slot_subjects import choose, place_before
from clsm_cli.text.slot_times import bounds, lasted
from clsm_cli.text.slot_words import TOLD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from clsm_cli.text.slot_clauses import Clause
    from clsm_cli.text.slot_readers import Rule

__all__ = ["SLOTS", "Fact", "conflicts", "facts", "subject_key"]


class Fact(NamedTuple):
    """A value that somebody or something has, as one sentence tells it.

    Attributes:
        subject: as written, without article; the speaker for "I", the owner of "Ilse's days", the
            medicine of a dose; "" for an agent's "I" and for a rule. What is told of a "she" whom
            the sentence does not name gives no fact.
        slot: a name of ``SLOTS``, with what tells it apart after a slash: "dose/aspirin".
        value: normalised and short: "10 minutes", "2026-03-02", "Monday and Wednesday".
        is_single: whether a newer value takes the place of the older one.
        since: ISO date of the first day on which it holds, where the sentence says so.
        until: ISO date of the first day on which it holds no more, where the sentence says so.
        is_ended: whether the sentence says that the value no longer holds.
        was: older values that the sentence names, normalised alike.
        before: ISO date of the first day on which the value before this one held, where it says so.
    """

    subject: str
    slot: str
    value: str
    is_single: bool
    since: str | None = None
    until: str | None = None
    is_ended: bool = False
    was: tuple[str, ...] = ()
    before: str | None = None


_ASKS = re.compile(r"\?[\"')\]*_\u201d\u2019!]{0,4}\s*$")
_UNREAL = re.compile(
    r"\b(?:if|unless|whether|would|could|might|(?-i:may)|maybe|perhaps|probably|wish|wishes|hope|hopes|hoping|imagine|"
    r"should|suppose|supposed to|pretend|as though|almost|nearly|dreams?|dreamt|dreamed|consider|considering|"
    r"thinking (?:of|about)|want|wants|wanted|plan|plans|planning|try|trying|tries|going to|gonna|like to|love to|"
    r"looking to|able to|need to|offered|ought|must have|"
    r"when|whenever|until|once|before|after|had)\b",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"\b(?:told|tells|says|said|claims?|claimed|thinks?|thought|believes?|believed|guess|guessed|supposes|supposed|"
    r"assumes?|assumed|heard|hears|rumou?r|insists?|insisted|wrote|writes|asks?|asked|wonders?|wondered|dreamt|"
    r"doubts?|doubted|denies|denied|pretends|suggests?|suggested|recommends?|imagines)\b[^.;]{0,60}$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\b(?:no longer|any ?more|any longer|used to|not\b[^.;]{0,40}\bany ?more)\b")
_NEVER = re.compile(r"\b(?:not|never|neither|nor|hardly|nobody|no one|none)\b", re.IGNORECASE)
_SIDE = re.compile(r", (?:and|but|so|while|which|because|who|as|since the|then)\b", re.IGNORECASE)
_AGAIN = re.compile(
    r"\b(?:(?:from|as of) (?:today|now on|now|tomorrow)|(?:since|from|as of) (?:yesterday|this morning|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\d{1,2} [A-Z][a-z]{2,8})),? (?:it is|they are|it will be) "
    r"(?P<v>[\w' -]{2,40})"
)


def facts(sentence: str, at: date | None, *, speaker: str = "") -> list[Fact]:
    """Return the facts of one sentence, in the order of its words.

    Args:
        sentence: one sentence of prose or of a Markdown list; 2,000 characters of it are read.
        at: day on which it was said; without it only absolute dates are resolved.
        speaker: name of who says "I"; "" for an agent's own notes.

    >>> from datetime import date
    >>> [found] = facts("From today the bell rings every 10 minutes.", date(2026, 2, 20))
    >>> found.subject, found.slot, found.value, found.since
    ('bell', 'interval', '10 minutes', '2026-02-20')
    >>> facts("Does the bell ring every 10 minutes?", None)
    []
    """
    if _ASKS.search(sentence[-20:]) or sentence.lstrip().startswith("#"):
        return []
    found: list[Fact] = []
    for clause in clauses(sentence):
        here = sorted(_of_clause(clause, at, speaker), key=lambda pair: pair[0])
        found += [fact for _, fact in here]
        if found and (again := _AGAIN.search(clause.text)) and not here:
            found += _continued(found[-1], again, clause, at)
    return _distinct(found)


def conflicts(a: Fact, b: Fact) -> bool:
    """Return whether two facts cannot both hold on one day.

    Same subject, same single-valued slot, and values of which neither only says more than the
    other ("Leeds", "Leeds by the station").

    >>> one = Fact("the barge", "location", "Spaarne quay", is_single=True)
    >>> conflicts(one, one._replace(subject="Barge", value="Leidsevaart"))
    True
    """
    if a.slot != b.slot or not (a.is_single and b.is_single):
        return False
    return same_subject(a.subject, b.subject, a.slot) and not same_value(a.value, b.value, a.slot)


def _of_clause(clause: Clause, at: date | None, speaker: str) -> list[tuple[int, Fact]]:
    found = list(_read(clause, at, speaker))
    if not found and (present := slot_older.present(clause.text)):
        older = _read(clause._replace(text=present), at, speaker, is_past=True)
        found = [(place, fact) for place, fact in older if fact.is_ended]
    return found


def _read(
    clause: Clause, at: date | None, speaker: str, *, is_past: bool = False
) -> Iterator[tuple[int, Fact]]:
    seen: dict[str, list[tuple[int, int]]] = {}
    if readings := slot_older.replaced(clause.text, at):
        new, old = readings
        since = at.isoformat() if at else None
        yield 0, Fact("", f"rule/{new.qualifier}", new.value, True, since, was=(old.value,))
        return
    text = slot_older.reworded(clause.text)
    if TOLD.match(text[:1].lower() + text[1:]):
        text = text[:1].lower() + text[1:]
    for rule in RULES:
        for match in rule.pattern.finditer(text):
            fact = _fact(rule, match, clause, at, speaker, is_past=is_past)
            taken = seen.setdefault(rule.slot, [])
            # A setting is the rest: what no other slot has taken.
            others = (
                [span for spans in seen.values() for span in spans]
                if rule.slot == "setting"
                else taken
            )
            if fact and not any(
                match.start() < end and start < match.end() for start, end in others
            ):
                taken.append(match.span())
                yield match.start(), fact
        if clause.label and not seen.get(rule.slot):
            yield from _of_label(rule, clause, at, speaker)


def _of_label(
    rule: Rule, clause: Clause, at: date | None, speaker: str
) -> Iterator[tuple[int, Fact]]:
    """Yield the facts of "name: ten, in Leeds", read as "name is ten" and "name is in Leeds"."""
    pieces = clause.text.split(", ")
    for number, piece in enumerate([clause.text, *pieces[1:5]]):
        if piece.split(" ")[0].lower() in {"which", "who", "that", "and", "but", "or"}:
            continue
        if (
            rule.slot == "age"
            and not re.search(r"\b(?:since|years)\b", piece)
            and (number == 0 or slot_values.number(pieces[0].strip(".")))
        ):
            continue  # "Guests: eleven."
        for lead in (f"{clause.label} is ", f"{clause.label} "):
            match = rule.pattern.search(lead + piece)
            is_inside = match is not None and len(clause.label) <= match.start() <= len(lead)
            if match and (is_inside or (rule.slot == "dose" and match.start() == 0)):
                fact = _fact(rule, match, clause, at, speaker)
                if fact and subject_key(fact.subject) == subject_key(
                    slot_values.unmarked(clause.label)
                ):
                    yield len(clause.text), fact


def _fact(
    rule: Rule,
    match: re.Match[str],
    clause: Clause,
    at: date | None,
    speaker: str,
    *,
    is_past: bool = False,
) -> Fact | None:
    left = match.string[: match.start()]
    if not _is_real(match, left):
        return None
    reading = rule.read(match, at)
    if reading is None or not reading.value:
        return None
    who = choose(rule, match, left, clause, speaker)
    if who is None or (clause.is_quoted and who == "" and not speaker and rule.who != "none"):
        return None
    is_past = is_past or re.search(r"\b(?:was|were)\b", match.group()) is not None
    said = bounds(_window(match, who), at, change=rule.is_change, is_past=is_past)
    ended = False if rule.slot == "rule" else _ended(rule, match, left)
    if ended is None:
        return None
    if rule.slot == "workdays" and re.match(r" there\b", match.string[match.end() :]):
        reading = reading._replace(qualifier=place_before(clause.before))
    slot = f"{rule.slot}/{reading.qualifier}" if reading.qualifier else rule.slot
    was = reading.was + slot_older.named_in(clause.aside, slot, reading.value)
    was = was or slot_older.beside(match.string[match.end() :], slot, reading.value)
    since, until = said.since, said.until
    if rule.slot in {"due", "appointment", "birthday", "expires"}:
        since, until = _announced(match.string, at), None
    is_over = ended or said.is_over
    if ended and until is None and since is not None:
        since, until = None, since
    if since is None and was and clause.aside and until is None:
        since = bounds(clause.aside, at, change=False).until  # "(it was Tuesday until 16 February)"
    before = lasted(match.string, since) if rule.is_change and rule.slot == "status" else None
    # What is used for one purpose only: the next tool takes its place.
    is_single = rule.is_single or slot.startswith("uses/")
    return Fact(who, slot, reading.value, is_single, since, until, is_over, was, before)


def _window(match: re.Match[str], who: str = "") -> str:
    """Return the words that a match stands among, up to the next clause on either side.

    Without ``who`` or what it is about: "the Friday call is cancelled" says nothing of a Friday.
    """
    start = max((each.end() for each in _SIDE.finditer(match.string, 0, match.start())), default=0)
    behind = _SIDE.search(match.string, match.end())
    window = match.string[start : behind.start() if behind else len(match.string)]
    return window.replace(f" {who} ", " it ", 1) if who else window


def _announced(text: str, at: date | None) -> str | None:
    """Return the day of speaking where a date is told as new."""
    new = re.search(r"\b(?:now|has been|have been|no longer|from today|got|as of today)\b", text)
    return at.isoformat() if new and at else None


def _is_real(match: re.Match[str], left: str) -> bool:
    """Whether the words before a match leave it a plain statement."""
    comma = left.rfind(", ") + 1
    near = left[comma:] if comma and not _UNREAL.match(left[comma:].strip()) else left
    unreal = _UNREAL.search(
        re.sub(r"^\W*(?:until|before|after|once) [\w ]{2,20},? ", " ", near, flags=re.IGNORECASE)
    )
    if unreal or re.search(r"\b[Ii]f\b", _window(match)):
        return False
    return not _HEARSAY.search(left)


def _ended(rule: Rule, match: re.Match[str], left: str) -> bool | None:
    """Return whether the value is told as past; ``None`` where it is denied."""
    tail = " ".join(left.split()[-2:])
    end = match.start("v") if match.groupdict().get("v") else match.end()
    around = f"{tail} {match.string[match.start() : end]}"
    if rule.is_ended or re.search(r"\b(?:no longer|used to)\b", around):
        return True
    if _NEVER.search(around if rule.slot != "target" else tail):
        return True if _ENDS.search(match.string[match.start() - len(tail) :]) else None
    return False


def _continued(last: Fact, again: re.Match[str], clause: Clause, at: date | None) -> list[Fact]:
    """Return the fact of "from today it is tea", whose subject stands in the clause before."""
    value = slot_values.phrase(again.group("v"))
    if not value or len(value.split()) > 5 or not last.is_single:
        return []
    said = bounds(clause.text, at, change=False)
    return [
        last._replace(value=value, since=said.since, until=None, is_ended=False, was=(last.value,))
    ]


def _distinct(found: list[Fact]) -> list[Fact]:
    """Keep the fullest of equal facts, and the last of several values that one slot is given.

    "Paused on 2 May, running since 9 May": what is said last holds, the others were before.
    """
    kept: dict[tuple[str, ...], Fact] = {}
    for fact in found:
        key: tuple[str, ...] = (subject_key(fact.subject), fact.slot)
        if fact.is_ended or not fact.is_single:
            key = (*key, fact.value.casefold())
        older = kept.get(key)
        if older is None or older.value == fact.value:
            fuller = older is None or sum(map(bool, fact)) > sum(map(bool, older))
            kept[key] = fact if fuller else kept[key]
        else:
            kept[key] = fact._replace(was=(*older.was, older.value, *fact.was))
    return list(kept.values())
