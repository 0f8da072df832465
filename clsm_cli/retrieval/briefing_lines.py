"""The sentences of recent days and living documents that a session should start with.

The heads weigh every sentence, list item and row: how likely it is to be useful weeks later, no noise,
and understood as it stands or under its headings. Whoever wrote it is quoted; nothing is rewritten.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.records import NamedTuple
from clsm_cli.retrieval.briefing import Line, item
from clsm_cli.text import dumps, todo
from clsm_cli.text.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clsm_cli.heads.judge import Weighed
    from clsm_cli.model.episodes import Document, Episode, Turn

ROLE_WORTH = {"log": 1.0, "living": 1.0, "list": 0.7, "instruction": 0.4, "reference": 0.1}
"""How much of what documents of a role say is about what goes on (own choice)."""
LEAST_ROLE = 0.5
"""Worth of a document below which none of it is read."""
LEAST = 0.1
"""Worth of a line below which it is not kept."""
LONGEST = 400
"""Characters of a line; what is longer is told by recall."""
RULE = 0.45
"""Probability from which a sentence of a person counts as a rule."""
ALONE = 0.8
"""Probability of being understood alone from which a line needs no heading."""
_OPEN = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[ \]\s")
_DONE = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[[xX]\]\s")
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+")
_FEWEST = 3
"""Words of a line that says something."""


class Source(NamedTuple):
    """A document as it is now, or a conversation: turns with the lines where they stand."""

    turns: tuple[Turn, ...]
    is_document: bool


def sources(episodes: Iterable[Episode], documents: Iterable[Document]) -> Iterator[Source]:
    """Conversations, and the documents with their current blocks among those of the episodes."""
    blocks: dict[str, Turn] = {}
    for episode in episodes:
        if episode.document is None:
            yield Source(_readable(episode.turns), is_document=False)
        else:
            blocks.update((turn.key, turn) for turn in episode.turns)
    for document in documents:
        placed = [(blocks[block.key], block) for block in document.blocks if block.key in blocks]
        turns = _readable(
            _moved(turn, document.path, block.line_start, block.heading) for turn, block in placed
        )
        if turns:
            yield Source(turns, is_document=True)


def _moved(turn: Turn, path: str, line: int, heading: tuple[str, ...]) -> Turn:
    from dataclasses import replace

    return replace(turn, path=path, line_start=line, heading=heading)


def _readable(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    from dataclasses import replace

    return tuple(
        replace(turn, text=dumps.told(turn.text)) for turn in turns if turn.trust not in UNTRUSTED
    )


def lines(source: Source, ended: frozenset[str]) -> Iterator[Line]:
    """What a document or conversation tells that is worth a line.

    Args:
        source: Its turns.
        ended: Sentences that hold no longer, as ``sameness_key`` has them.
    """
    from clsm_cli.heads.judge import about_document, weighed

    about = about_document(source.turns) if source.is_document else None
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
            yield _line(turn, raw, text, each, worth)


def _role_worth(about: Mapping[str, float]) -> float:
    return sum(worth * about[role] for role, worth in ROLE_WORTH.items()) * (1 - about["template"])


def _worth(each: Weighed) -> float:
    chances = each.chances
    stands = max(chances["alone"], chances["with headings"])
    return round(chances["keep"] * (1 - chances["noise"]) * stands, 4)


def _line(turn: Turn, raw: str, text: str, each: Weighed, worth: float) -> Line:
    at = date.fromisoformat(turn.time[:10]) if turn.time else None
    is_open = _OPEN.match(raw) is not None
    due = None if _DONE.match(raw) else todo.due_day(text, at)
    if at is not None and due is not None and due <= at.isoformat():
        due = None
    is_rule = each.chances["preference"] >= RULE
    section = "tasks" if is_open else "rules" if is_rule else "lately" if at else "who"
    about = _about(turn.heading, text) if each.chances["alone"] < ALONE else ""
    found = item(
        turn.key if each.unit.start == 0 else f"{turn.key}-{each.unit.number + 1}",
        "task" if is_open else "passage",
        text,
        stream="flow",
        trust=turn.trust,
        time=turn.time,
        path=turn.path,
        line=turn.line_start + turn.text.count("\n", 0, each.unit.start),
        state="open" if is_open else None,
        due=due,
        about=about,
    )
    return Line(found, section, worth, "\n".join((turn.path, *turn.heading)))


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
