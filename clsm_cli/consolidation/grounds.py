"""Whether a sentence stands on the turns that it cites: numbers, days, names, words, yes or no.

None of this proves a sentence; it refuses what its turns cannot have said. Of a good sentence at
most the wording is lost, as its turns are recalled all the same.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from clsm_cli.text import sameness, timex
from clsm_cli.text.names import NO_NAMES
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from clsm_cli.model.episodes import Turn

SUPPORT = 0.5
"""Share of a sentence's stems that its turns must have."""
ECHO = 0.8
"""Share of a rule's stems that, found in what a tool printed, make it that tool's rule."""
_WORD = re.compile(r"\w+")
_ANY_DAY = date(2000, 1, 4)
"""For undated turns: of their time expressions, only those count that name their day themselves."""


def fault(text: str, cited: Sequence[Turn]) -> str | None:
    """Why a sentence does not stand on turns; None when it may.

    >>> from clsm_cli.model.episodes import Turn
    >>> told = [Turn("", "Mara", "user", "I have 3 cats, says Ada.", "2026-02-24T10:00:00+01:00")]
    >>> fault("Mara has 3 cats.", told), fault("Mara has 4 cats.", told)
    (None, "the number '4' stands in no turn that it cites")
    >>> fault("Tomas has 3 cats.", told), fault("Mara has no cats.", told)
    ("the name 'Tomas' stands in no turn that it cites", 'its turns say the opposite')
    """
    rest, days = _undated(text, _day(cited[0].time))
    told = [_undated(turn.text, _day(turn.time)) for turn in cited]
    there = {day for _, found in told for day in found} | {
        (day.isoformat(),) * 2 for turn in cited if turn.time and (day := _day(turn.time))
    }
    for first, last in days:
        if not any(first <= a and b <= last for a, b in there):
            return f"the day {first} stands in no turn that it cites"
    around = [" ".join((turn.speaker, *turn.heading, turn.path)) for turn in cited]
    numbers = {n for each, _ in told for n in sameness.numbers(each)}
    numbers |= {n for each in around for n in sameness.numbers(each)}
    for number in sameness.numbers(rest):
        if number not in numbers:
            return f"the number {number!r} stands in no turn that it cites"
    source = "\n".join([*around, *(turn.text for turn in cited)])
    name = _unknown_name(text, source)
    if name is not None:
        return f"the name {name!r} stands in no turn that it cites"
    if share(text, source) < SUPPORT:
        return "most of its words stand in no turn that it cites"
    return "its turns say the opposite" if _is_denied(text, cited) else None


def holds(text: str, source: str) -> bool:
    """Whether a source has every number and every name of a text.

    >>> holds("Mara has 3 cats.", "I, Mara, have 3 cats"), holds("Mara has 4 cats.", "3 cats, Mara")
    (True, False)
    """
    numbers = sameness.numbers(source)
    return all(each in numbers for each in sameness.numbers(text)) and not _unknown_name(
        text, source
    )


def share(text: str, source: str) -> float:
    """Share of a text's stems that a source has, 0 to 1; 1 of a text without any."""
    wanted = set(stems(text))
    return len(wanted & set(stems(source))) / len(wanted) if wanted else 1.0


def is_echo(rule: str, cited: Iterable[Turn], printed: Iterable[Turn]) -> bool:
    """Whether a rule is what a tool or a page said, and no user said it as well.

    Args:
        rule: The sentence.
        cited: The turns that it names.
        printed: What tools and pages said in the same episode.
    """
    if any(turn.trust == "user" and share(rule, turn.text) >= SUPPORT for turn in cited):
        return False
    return any(share(rule, turn.text) >= ECHO for turn in printed)


def _day(time: str | None) -> date:
    return date.fromisoformat(time[:10]) if time else _ANY_DAY


def _undated(text: str, at: date) -> tuple[str, list[tuple[str, str]]]:
    """A text without its days, and these: first and last of each, where that is certain."""
    pieces: list[str] = []
    days: list[tuple[str, str]] = []
    done = 0
    for each in timex.find(text, at):
        if not each.certain or (each.relative and at == _ANY_DAY):
            continue
        pieces.append(text[done : each.start])
        done = each.end
        last = date.fromordinal(each.until.toordinal() - 1)
        days.append((each.first.isoformat(), last.isoformat()))
    return " ".join([*pieces, text[done:]]), days


def _unknown_name(text: str, source: str) -> str | None:
    """The first word of a text that looks like a name and is no word of the source."""
    there = {word.casefold() for word in _WORD.findall(source)}
    known: Collection[str] = set(stems(source))
    for place, match in enumerate(_WORD.finditer(text)):
        word = match.group()
        is_coded = not word.isdigit() and any(c.isdigit() for c in word)
        if not (word[0].isupper() or any(c.isupper() for c in word) or is_coded):
            continue
        is_plain = word in NO_NAMES or (place == 0 and set(stems(word)) <= set(known))
        if word.casefold() not in there and not is_plain:
            return word
    return None


def _is_denied(text: str, cited: Sequence[Turn]) -> bool:
    """Whether a text denies what no sentence near it denies, or says what all of these deny."""
    told = [each for turn in cited for each in sentences(turn.text)]
    near = [each for each in told if share(text, each) >= SUPPORT]
    if sameness.denies(text):
        return not any(map(sameness.denies, near or told))
    return bool(near) and all(map(sameness.denies, near))
