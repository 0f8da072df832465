"""Values in sentences that cannot be understood alone: name, slot and value can.

"Until then she gets methimazole, 2.5 mg twice a day." gives "Methimazole: dose 2.5 mg twice a day.",
so that the next dose finds what it replaces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text import slots
from clsm_cli.text.name_matching import NO_NAMES
from clsm_cli.text.plain import plain
from clsm_cli.text.sentences import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from clsm_cli.model.episodes import Turn
    from clsm_cli.text.slots import Fact

_TELLING = frozenset(
    {"dose", "due", "interval", "rate", "runs on", "target", "venue", "version", "workdays"}
)
"""Slots whose name and value say it all."""
_OF_NAMES = frozenset({"age", "habit", "location", "residence", "status"})
"""Slots of which that is so for a name: "Albertine: location Leidsevaart", not "page: status done";
a status only where it begins."""
_SUBJECT = re.compile(r"(?:The )?([A-Z][\w-]+(?: [A-Z][\w-]+){0,2})\b(?!['’])")
_SHE = re.compile(r"\A(?:She|He)\b")
_HER = re.compile(r"\b(?:her|his)\b(?= [a-z])")


def values_left(
    turn: Turn, at: date | None, taken: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, Fact]]:
    """Sentences made of values that no claim took up, each with its fact.

    Args:
        turn: What was said.
        at: The day on which it was.
        taken: Start and end of what became claims.
    """
    last = ""
    for span in split(turn.text):
        text = plain(turn.text[span.start : span.end])
        named, last = _with_name(text, last), _subject(text) or last
        if is_in(span.start, span.end, taken):
            continue
        for fact in slots.facts(named, at, speaker=turn.speaker):
            slot, _, about = fact.slot.partition("/")
            if not fact.is_single or not fact.subject or fact.is_ended:
                continue
            if slot not in _TELLING and not (slot in _OF_NAMES and fact.subject[0].isupper()):
                continue
            if slot == "status" and fact.since is None:
                continue
            name = fact.subject[:1].upper() + fact.subject[1:]
            what = f"{about} {slot}" if slot == "habit" and about else slot
            yield f"{name}: {what} {fact.value}.", fact


def is_in(start: int, end: int, taken: Sequence[tuple[int, int]]) -> bool:
    """Whether a stretch of text overlaps one of others."""
    return any(first < end and start < last for first, last in taken)


def _subject(text: str) -> str:
    """The name that a sentence begins with."""
    match = _SUBJECT.match(text)
    return match.group(1) if match and match.group(1).split()[0] not in NO_NAMES else ""


def _with_name(text: str, subject: str) -> str:
    """A sentence with the subject of the one before in place of "She" and of the first "her".

    >>> _with_name("She is nine.", "Noor"), _with_name("From today her drink is tea.", "Ilse")
    ('Noor is nine.', "From today Ilse's drink is tea.")
    """
    if not subject:
        return text
    return _HER.sub(f"{subject}'s", _SHE.sub(subject, text), count=1)
