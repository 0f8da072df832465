"""What a block is about by its form: a label before a colon, or the heading above it."""

from __future__ import annotations

import re

from clsm_cli.records import NamedTuple
from clsm_cli.text.gate_words import PREPOSITIONS, words
from clsm_cli.text.names import NO_NAMES, SMALL_WORDS
from clsm_cli.text.plain import plain


class Label(NamedTuple):
    """What stands before the colon of "name: what holds".

    Attributes:
        name: plain.
        end: first character of the sentence behind it.
        is_marked: set in bold or italics by its author.
    """

    name: str
    end: int
    is_marked: bool


_LEAD = r"\s*(?:(?:[-*+]|\d{1,4}[.)])\s+)?(?:\[[ xX]\]\s+)?"
_MARKED = re.compile(
    rf"{_LEAD}(?:\*\*(?P<bold>[^*\n]{{1,80}}?)(?P<inside>:?)\*\*(?:,\s\*\*(?P<second>[^*\n]{{1,60}})\*\*)?|\*(?P<slanted>[^*\n]{{1,60}})\*)"
    r"(?P<aside>\s?\([^()\n]{1,120}\))?\s?(?P<mark>[:,]|\s?[\u2013\u2014-])?\s+(?=\S)"
)
_PLAIN = re.compile(rf"{_LEAD}(?P<name>(?:\[\[)?[A-Z][\w'’.&/ -]{{0,50}}?(?:\]\])?):\s+(?=\S)")
_META = words(
    """decision decisions rule rules note notes fix result update fact reminder lesson insight idea summary answer
    status plan goal correction warning tip example conclusion verdict agreed learned done also best worst present
    first second third next last today now later evening morning result
    cause effect what why how written noted evidence cure context background outcome finding findings"""
)
_ASKING = words(
    "todo question questions open q ask asked answered see chat log draft exhibit subject everything nothing"
)
_RULES = re.compile(
    r"\b(?:rules?|conventions?|preferences?|principles?|guidelines?|policy|policies|guardrails?|boundaries|style|"
    r"etiquette|how\s(?:she|he|they|i|we|[A-Z]\w+)\s(?:likes?|wants?|talks?|works?|prefers?)|likes\sto\sbe|"
    r"do(?:s)?\s(?:and|&)\sdon'?ts?|always|never|what\si\shold)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^(?:About|Who\sis|Facts\sabout|Notes\son)\s(?=[A-Z])")
_USER = re.compile(r"(?:USER\b|(?:[Mm]y|[Yy]our|[Tt]he)\s(?:human|user)\b|User\sprofile\b)")
_ATTRIBUTES = words(
    "name nickname timezone time pronouns birthday born age partner wife husband spouse job role employer company occupation "
    "phone email address location city country home allergies allergy diet languages language hobbies interests kids children "
    "pets pet car bike editor os laptop doctor dentist bank schedule hours religion education school university hometown"
)
_GENERIC = words(
    """user identity soul memory memories people persons projects tools ideas infrastructure rules notes todo tasks open
    answered dates things small words lessons reading house home background about basics profile preferences health work
    family contact contacts likes dislikes hobbies interests personality traits who what how why where when evening
    morning weather evenings numbers units attention games plan history log changelog status
    overview summary misc other general setup environment agents agent heartbeat bootstrap events birthdays shopping
    books food travel finance finances money goals habits routine routines pets friends facts context decisions
    conventions workflow workflows insights learnings mistakes questions essay deadline"""
)


def label_of(raw: str, *, is_item: bool) -> Label | None:
    """The label of a sentence that opens a block: bold or italic, or in a list item before a colon.

    >>> label_of("- **Ann Hart**: keeps bees.", is_item=True)
    Label(name='Ann Hart', end=16, is_marked=True)
    >>> label_of("- **It was late.** Nobody came.", is_item=True) is None
    True
    """
    found = _MARKED.match(raw)
    if found and _is_marked(found, is_item=is_item):
        name = plain(found.group("bold") or found.group("slanted"))
        name += f", {plain(found.group('second'))}" if found.group("second") else ""
        if not name.endswith((".", "!", "?")) and len(name.split()) <= 6:
            return Label(name.rstrip(":,"), found.end(), is_marked=True)
    found = _PLAIN.match(raw)
    if (
        found
        and len(found.group("name").split()) <= 4
        and (is_item or is_meta(plain(found.group("name"))))
    ):
        return Label(plain(found.group("name")), found.end(), is_marked=False)
    return None


def _is_marked(found: re.Match[str], *, is_item: bool) -> bool:
    """Whether marked words open a definition: with a colon, or in bold with a comma or a dash."""
    if found.group("bold"):
        return bool(found.group("inside") or found.group("mark"))
    return is_item and found.group("mark") == ":"


def is_meta(name: str) -> bool:
    """Whether a label says what kind of line it opens, and not what it is about.

    >>> is_meta("Decision"), is_meta("Ann Hart")
    (True, False)
    """
    first = name.lower().partition(" ")[0]
    return first in _META | _ASKING or first in PREPOSITIONS


def is_asking(name: str) -> bool:
    """Whether a label opens a question, a task or a record, none of which is a statement."""
    return name.lower().partition(" ")[0] in _ASKING


def is_attribute(name: str) -> bool:
    """Whether a label names what somebody has, so that it needs somebody who has it.

    >>> is_attribute("Time zone"), is_attribute("Otter")
    (True, False)
    """
    return len(name.split()) <= 3 and name.lower().partition(" ")[0] in _ATTRIBUTES


def is_rule_heading(heading: tuple[str, ...]) -> bool:
    """Whether a block stands under rules.

    >>> is_rule_heading(("Notes", "House rules")), is_rule_heading(("Notes",))
    (True, False)
    """
    return bool(heading) and _RULES.search(plain(heading[-1])) is not None


def heading_subject(heading: tuple[str, ...]) -> str:
    """The person or thing that the nearest heading names; empty where it names a kind of content.

    >>> heading_subject(("USER", "Ann Hart")), heading_subject(("Ann Hart", "Health"))
    ('Ann Hart', 'Ann Hart')
    >>> heading_subject(("About Ann",)), heading_subject(("USER.md - About your human",))
    ('Ann', 'The user')
    >>> heading_subject(("2026-02-10, Tuesday", "A walk in the rain"))
    ''
    """
    for title in reversed(heading):
        name = _ABOUT.sub("", plain(title))
        if _USER.match(name):
            return "The user"
        parts = name.split()
        if not parts or len(parts) > 4 or any(char in name for char in ".,:;?!()"):
            return ""
        if len(parts) == 1 and parts[0].lower() in _GENERIC:
            continue
        large = [word for word in parts if word.lower() not in SMALL_WORDS]
        if all(word[0].isupper() or "_" in word for word in large) and not any(
            word in NO_NAMES or word.isupper() for word in parts
        ):
            return name
        return ""
    return ""
