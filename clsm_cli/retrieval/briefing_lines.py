"""The sentences of recent days and living documents that a session should start with.

The heads weigh every sentence, list item and row: how likely it is to be useful weeks later, no noise,
and understood as it stands or under its headings. Whoever wrote it is quoted; nothing is rewritten.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.records import NamedTuple
from clsm_cli.retrieval.briefing import Line, item
from clsm_cli.text import dumps, timex, todo
from clsm_cli.text.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clsm_cli.heads.judge import Weighed
    from clsm_cli.model.episodes import Document, Episode, Turn

ROLE_WORTH = {"log": 1.0, "living": 1.0, "list": 0.7, "instruction": 0.4, "reference": 0.1}
"""How much of what documents of a role say is about what goes on (own choice)."""
LEAST_ROLE = 0.5
"""Worth of a document below which none of it is read."""
KEEP = 0.5
"""Power of the probability that a sentence is useful weeks later: what is news need not be."""
LEAST = 0.1
"""Worth of a line below which it is not kept."""
LONGEST = 400
"""Characters of a line; what is longer is told by recall."""
ALONE = 0.8
"""Probability of being understood alone from which a line needs no heading."""
_OPEN = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[ \]\s")
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+")
_FEWEST = 3
"""Words of a line that says something."""


class Source(NamedTuple):
    """A document as it is now, or an episode of a conversation, which ``thread`` names."""

    turns: tuple[Turn, ...]
    thread: str | None = None


def sources(episodes: Iterable[Episode], documents: Iterable[Document]) -> Iterator[Source]:
    """Conversations, and the documents with their current blocks among those of the episodes."""
    blocks: dict[str, Turn] = {}
    for episode in episodes:
        if episode.document is None:
            turns = _readable(episode.turns)
            named = (replace(turn, path=episode.session) for turn in turns if turn.path == "-")
            yield Source(tuple(named) or turns, episode.id)
        else:
            blocks.update((turn.key, turn) for turn in episode.turns)
    for document in documents:
        turns = _readable(
            replace(
                blocks[block.key],
                path=document.path,
                line_start=block.line_start,
                heading=block.heading,
            )
            for block in document.blocks
            if block.key in blocks
        )
        if turns:
            yield Source(turns)


def _readable(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Without what tools and pages told, and without dumps."""
    return tuple(
        replace(turn, text=dumps.told(turn.text)) for turn in turns if turn.trust not in UNTRUSTED
    )


def lines(source: Source, ended: frozenset[str]) -> Iterator[Line]:
    """What a document or conversation tells that is worth a line.

    Args:
        source: Its turns.
        ended: Sentences that hold no longer, as ``key_of`` has them.
    """
    from clsm_cli.heads.judge import about_document, weighed

    about = about_document(source.turns) if source.thread is None else None
    role = 1.0 if about is None else _role_worth(about)
    if role < LEAST_ROLE:
        return
    for each in weighed(source.turns, about):
        turn = source.turns[each.unit.turn]
        raw = turn.text[each.unit.start : each.unit.end]
        text = plain(raw)
        worth = role * _worth(each)
        if worth < LEAST or len(text) > LONGEST or len(_WORD.findall(text)) < _FEWEST:
            continue
        if key_of(text) not in ended:
            yield _line(turn, raw, text, each, worth, source.thread)


def _role_worth(about: Mapping[str, float]) -> float:
    return sum(worth * about[role] for role, worth in ROLE_WORTH.items()) * (1 - about["template"])


def _worth(each: Weighed) -> float:
    """How likely it is to say something: that it will be useful weeks later counts for less here."""
    chances = each.chances
    stands = max(chances["alone"], chances["with headings"])
    return round(float(chances["keep"] ** KEEP) * (1 - chances["noise"]) * stands, 4)


def _line(turn: Turn, raw: str, text: str, each: Weighed, worth: float, thread: str | None) -> Line:
    at = date.fromisoformat(turn.time[:10]) if turn.time else None
    is_open = _OPEN.match(raw) is not None
    due = todo.due_day(text, at) if is_open else _day_ahead(text, at)
    section = "tasks" if is_open else "lately" if at else "who"
    about = turn.speaker or (_about(turn.heading, text) if each.chances["alone"] < ALONE else "")
    found = item(
        turn.key if each.unit.start == 0 else f"{turn.key}-{each.unit.number + 1}",
        "task" if is_open else "passage",
        text,
        stream="flow",
        trust=turn.trust,
        time=turn.time,
        path=turn.path,
        line=turn.line_start + (0 if turn.speaker else turn.text.count("\n", 0, each.unit.start)),
        state="open" if is_open else None,
        due=due,
        about=about,
    )
    return Line(found, section, worth, thread or "\n".join((turn.path, *turn.heading)))


def _day_ahead(text: str, at: date | None) -> str | None:
    """The first day after it was written that a text itself names.

    >>> _day_ahead("They meet on 17 March 2026.", date(2026, 2, 23))
    '2026-03-17'
    """
    if at is None:
        return None
    days = [each.day for each in timex.find(text, at)]
    return min((day.isoformat() for day in days if day and day > at), default=None)


def _about(heading: Sequence[str], text: str) -> str:
    """The innermost heading that names something, unless the text does so itself."""
    for title in reversed(heading[1:] or heading):
        name = plain(title)
        if len("".join(_WORD.findall(name))) > len(name) / 3:
            return "" if key_of(name) in key_of(text) else name
    return ""


def key_of(text: str) -> str:
    """The words of a text, by which two are the same.

    >>> key_of("- **Rent**: 900 euros.") == key_of("rent 900 Euros")
    True
    """
    return " ".join(re.findall(r"\w+", plain(text).lower()))
