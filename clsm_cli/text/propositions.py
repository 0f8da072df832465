"""The sentences of a turn that are worth a line in memory, as they read on their own."""

from __future__ import annotations

import re
from collections import deque
from itertools import takewhile
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text import gate, mentions, resolve
from clsm_cli.text.first_person import name_of
from clsm_cli.text.places import Place, Speech, places
from clsm_cli.text.readings import readings, spoken, stands
from clsm_cli.text.worth import worth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.text.mentions import Mention

__all__ = ["WORTH", "Proposition", "Speech", "propositions"]

WORTH = 0.5
"""Worth from which a sentence is kept."""


class Proposition(NamedTuple):
    """A sentence that stands on its own.

    Attributes:
        text: one whole sentence, plain.
        start: its first character in the turn's text.
        end: the character after the last.
        worth: 0 to 1, how much it is worth keeping.
    """

    text: str
    start: int
    end: int
    worth: float


_OWNER = re.compile(r"([A-Z][\w-]{1,30}(?:\s[A-Z][\w-]{1,30})?)['\u2019]s\s")
_WE = re.compile(r"(?:[\w-]+,?\s){0,3}?(?:We|we|I|My|my|Our|our)\b")


def propositions(text: str, speech: Speech, before: str = "") -> list[Proposition]:
    """The statements of a turn, in its order.

    Args:
        text: a message, or a block of a note.
        speech: who speaks, and under which headings.
        before: the turn before in the same conversation, or the block before in the same section;
            it may say who "she" is.

    >>> [each.text for each in propositions("Hi! I moved to Leeds in 2019.", Speech("Ann"))]
    ['Ann moved to Leeds in 2019.']
    """
    named = deque(mentions.find(text))
    found: list[Proposition] = []
    for place, start, end in places(text, speech, before):
        labels = _labels(named, start, end)
        said = list(_statements(place, speech, labels))
        if said:
            good = [each for each in said if each[1] >= WORTH]
            best, value = good[0] if good else max(said, key=lambda each: each[1])
            found.append(Proposition(best, start, end, value))
    return found


def _labels(named: deque[Mention], start: int, end: int) -> list[str]:
    """What a stretch of the text names; mentions before it are dropped."""
    while named and named[0].end <= start:
        named.popleft()
    return [each.label for each in takewhile(lambda each: each.start < end, named)]


def _statements(place: Place, speech: Speech, labels: list[str]) -> Iterator[tuple[str, float]]:
    """The readings of a sentence that stand, each with its worth, the fullest first."""
    for reading in readings(place, speech):
        said = spoken(reading.text, speech)
        needs_verb = not (reading.is_rule or reading.is_entry)
        if said is None or not stands(said[0], place, speech, needs_verb=needs_verb):
            continue
        text, cost = said
        subject = resolve.subject_of(text)
        is_named = (
            bool(place.label)
            or reading.is_entry
            or _is_named(subject, labels)
            or _acts(text, [*labels, place.subject], speech)
        )
        value = worth(
            text,
            names=len({name for name in labels if name in text}),
            is_subject_named=is_named,
            is_rule=reading.is_rule,
            is_told=bool(speech.speaker),
        )
        value += reading.bonus - cost + 0.1 * (bool(subject) and not is_named)
        yield text, round(min(1.0, max(0.0, value)), 3)


def _is_named(subject: str, labels: list[str]) -> bool:
    named = any(label in subject or subject in label for label in labels)
    return bool(subject) and (named or resolve.is_person(subject))


def _acts(text: str, labels: list[str], speech: Speech) -> bool:
    """Whether somebody named does something in a sentence: the speaker, or a name before a verb."""
    name = name_of(speech.speaker)
    if name and text.startswith(f'{name}: "'):
        inner = text.split('"', 1)[1]
        return _WE.match(inner) is not None or gate.is_command(gate.tokens(inner))
    if gate.MEASURED.match(text) or (name and text.startswith((f"{name} ", f"{name}'s "))):
        return True
    owner = _OWNER.match(text)
    if owner and resolve.is_person(owner.group(1)):
        return True
    words = gate.tokens(gate.unquoted(text))
    known = (
        {word for label in labels for word in label.split() if word[0].isupper()}
        | set(name.split()[-1:])
        | {"I"}
    )
    return any(
        words[verb - 1].removesuffix("'s") in known for verb in gate.finite_verbs(words) if verb
    )
