"""The current conversation: the part that fits beside the memories, and what a question refers back to.

Short-term memory is read whole if it fits its share of the budget, otherwise as an extract: the end of the
conversation, and the parts nearest to the question (CAIM, section 3.3.1, leaves the criterion open).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate

from clsm_cli.model.ids import digest
from clsm_cli.retrieval.answer import Memory, Signals, Source
from clsm_cli.scoring import confidence, match
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens

_RECENT_SHARE = 1 / 3
"""Share of the budget reserved for the end of the conversation."""
_WHOLE_SHARE = 1 / 4
"""Share of the budget up to which a message is kept whole; a longer one is split into sentences."""
_JOIN_TOKENS = 2
"""Tokens that a piece costs beyond its own, at most: the mark of a gap, and rounding."""
_GAP = "\n…\n"
_MAX_WORDS = 8
"""Words that one message adds to a question, at most."""
_ORDINALS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4}
_ORDINALS |= {"last": -1, "latter": -1}
_ORDINAL = rf"\bthe (?P<which>{'|'.join(_ORDINALS)})\b"
_ITEM = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*+•])\s+(\S.*)$", re.MULTILINE)
_WORD = re.compile(r"[^\W_][\w'’-]*")
_PERSON_PRONOUNS = frozenset(["he", "she", "him", "her", "his", "hers", "they", "them"])


class DialogueTurn(NamedTuple):
    """One message of the current conversation, or one paragraph of a text.

    Attributes:
        speaker: A name or a role; empty if unknown.
    """

    speaker: str
    text: str
    trust: str = "user"
    time: str | None = None
    path: str = "-"
    line_start: int = 0
    line_end: int = 0
    foreign_id: str | None = None


class _Piece(NamedTuple):
    turn: int
    text: str
    terms: frozenset[str]
    tokens: int


def select_turns(
    turns: Sequence[DialogueTurn], terms: Collection[str], budget: int
) -> list[DialogueTurn]:
    """The conversation if it fits, else an extract, in order.

    First the last messages, up to a third of the budget; then the pieces nearest to the question; then
    earlier messages, the latest first. A long message competes by its sentences; a mark shows gaps
    between them.

    Args:
        terms: Search terms of the question.
        budget: Tokens (``tokens.count_tokens``) of the result, at most.

    >>> words = ("The red barge leaks.", "I see that now.", "So do I.", "It rains today.")
    >>> [message.text for message in select_turns([DialogueTurn("a", text) for text in words], ["barg"], 14)]
    ['The red barge leaks.', 'It rains today.']
    """
    if sum(tokens.count_tokens(message.text) for message in turns) <= budget:
        return list(turns)
    pieces = _pieces(turns, budget)
    nearness = _nearness(pieces, terms)
    latest = range(len(pieces) - 1, -1, -1)
    sizes = accumulate(pieces[i].tokens for i in latest)
    ends = [i for i, size in zip(latest, sizes, strict=True) if size <= int(budget * _RECENT_SHARE)]
    near = sorted((i for i in latest if nearness[i] > 0), key=lambda i: -nearness[i])
    chosen: set[int] = set()
    for number in (*ends, *near, *latest):
        if number not in chosen and pieces[number].tokens <= budget:
            chosen.add(number)
            budget -= pieces[number].tokens
    return _join_pieces(turns, pieces, sorted(chosen))


def context_memories(turns: Iterable[DialogueTurn], terms: Collection[str]) -> list[Memory]:
    """Messages as items of an answer, of kind ``context``.

    Score and confidence are the share of the question's terms in the message, weighted by their idf in
    the conversation.
    """
    messages = list(turns)
    pieces = [_piece(number, each.text) for number, each in enumerate(messages)]
    nearness = _nearness(pieces, terms)
    return [
        Memory(
            id=f"c-{digest('context', each.speaker, each.text, str(each.line_start))}",
            kind="context",
            text=each.text,
            stream="flow",
            score=round(score, 4),
            confidence=round(confidence.cap(score), 4),
            tokens=tokens.count_tokens(each.text),
            trust=each.trust,
            session="current conversation",
            sources=(
                Source(
                    path=each.path,
                    line_start=each.line_start,
                    line_end=each.line_end,
                    turn_ids=(each.foreign_id,) if each.foreign_id else (),
                    timestamp=each.time,
                    file="" if each.path == "-" else os.path.abspath(each.path),
                    line=each.line_start,
                ),
            ),
            why=Signals(bm25=round(score, 4)),
            shares=Signals(),
            speaker=each.speaker,
        )
        for each, score in zip(messages, nearness, strict=True)
    ]


def resolve_references(text: str, turns: Sequence[DialogueTurn]) -> str:
    """Append to a question the words of what it refers back to; for matching only.

    "the second one" adds the words of that item of the last list; "she" the last names mentioned;
    anything else the first content words of the last two messages that are not small talk. Some of
    these words may be irrelevant; a question without a back-reference is not changed.

    >>> turns = [DialogueTurn("user", "Is the barge in Haarlem insured?"), DialogueTurn("user", "What about that?")]
    >>> resolve_references("What about that?", turns)
    'What about that? barge Haarlem insured'
    """
    from clsm_cli.text import route

    if not route.points_back(text):
        return text
    own = {word.casefold() for word in _WORD.findall(text)}
    asked = text.strip().casefold()
    before = [message for message in turns if message.text.strip().casefold() != asked]
    before = [message for message in before if not route.is_small_talk(message.text)]
    item = _listed_item(text, before)
    if item:
        found = _content_words(item)
    elif own & _PERSON_PRONOUNS:
        found = next((names for message in reversed(before) if (names := _names(message.text))), [])
    else:
        found = [word for message in before[-2:] for word in _content_words(message.text)]
    kept = dict.fromkeys(word for word in found if word.casefold() not in own)
    return " ".join([text, *kept])


def _pieces(turns: Sequence[DialogueTurn], budget: int) -> list[_Piece]:
    """Messages; long ones split into sentences, and sentences that cannot fit into words."""
    found: list[_Piece] = []
    step = max(1, int(budget * _WHOLE_SHARE))
    for number, message in enumerate(turns):
        if tokens.count_tokens(message.text) <= step:
            found.append(_piece(number, message.text))
            continue
        from clsm_cli.text.sentences import sentences

        for sentence in sentences(message.text):
            if tokens.count_tokens(sentence) + _JOIN_TOKENS <= budget:
                found.append(_piece(number, sentence))
                continue
            words = sentence.split(" ")
            starts = range(0, len(words), step)
            found += [_piece(number, " ".join(words[at : at + step])) for at in starts]
    return found


def _piece(turn: int, text: str) -> _Piece:
    return _Piece(
        turn, text, frozenset(tokens.stems(text)), tokens.count_tokens(text) + _JOIN_TOKENS
    )


def _nearness(pieces: Sequence[_Piece], terms: Collection[str]) -> list[float]:
    """Σ idf of the terms in a piece / Σ idf of all, 0 … 1."""
    wanted = frozenset(terms)
    count = Counter(term for piece in pieces for term in piece.terms & wanted)
    idf = {term: match.idf(len(pieces), count[term]) for term in sorted(wanted)}
    whole = sum(idf.values()) or 1.0
    return [sum(idf[term] for term in sorted(piece.terms & wanted)) / whole for piece in pieces]


def _join_pieces(
    turns: Sequence[DialogueTurn], pieces: Sequence[_Piece], chosen: Sequence[int]
) -> list[DialogueTurn]:
    """The chosen pieces as messages, with a mark at gaps."""
    found: list[DialogueTurn] = []
    before = -1
    for number in chosen:
        piece = pieces[number]
        message = turns[piece.turn]
        if found and pieces[before].turn == piece.turn:
            gap = " " if number == before + 1 else _GAP
            found[-1] = found[-1]._replace(text=found[-1].text + gap + piece.text)
        else:
            found.append(message._replace(text=piece.text))
        before = number
    return found


def _listed_item(text: str, before: Sequence[DialogueTurn]) -> str | None:
    """The item of the last list that an ordinal refers to; None if there is none."""
    found = re.search(_ORDINAL, text, re.IGNORECASE)
    if found is None:
        return None
    place = _ORDINALS[found["which"].lower()]
    for message in reversed(before):
        items: list[str] = _ITEM.findall(message.text)
        if len(items) > 1:
            return items[place] if place < len(items) else None
    return None


def _content_words(text: str) -> list[str]:
    """The first content words of a text."""
    words = (word for word in _WORD.findall(text) if len(word) > 2 and tokens.stems(word))
    return list(dict.fromkeys(words))[:_MAX_WORDS]


def _names(text: str) -> list[str]:
    """Capitalised words inside sentences, without days and other words that are no names."""
    from clsm_cli.text.name_matching import NON_NAMES

    found = re.findall(r"(?<![.!?:]\s)(?<!^)(?<!\n)\b[A-Z][\w-]+", text)
    return [name for name in dict.fromkeys(found) if name not in NON_NAMES][:_MAX_WORDS]
