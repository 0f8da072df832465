"""What a query asks for, from its words alone: who, when, and the rest, which is matched by meaning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ASKS_WHEN = re.compile(
    r"\b(?:when|since when|how long|how many (?:days|weeks|months|years)"
    r"|(?:what|which) (?:day|date|month|year|time|week))\b",
    re.IGNORECASE,
)
_PAST = frozenset([
    "ago", "already", "before", "been", "did", "earlier", "ever", "first", "former", "formerly",
    "had", "last", "old", "once", "originally", "past", "previous", "previously", "since", "then",
    "used", "was", "were",
])  # fmt: skip
"""Words of a question that may ask for what holds no longer."""
_SUMMING_UP = frozenset(
    tokens.stems(
        "happen did going went gone learn learnt decide decision summary summarise summarize overview"
        " recap gist important"
    )
)
"""Terms of a question that asks for all of a time; another term asks for one thing of it."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OWN_PRONOUNS = {"she": "I", "he": "I", "her": "my", "his": "my", "him": "me"}
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_OWN_PRONOUNS)})\b")
_OWNER = re.compile(r"['’]s$")


class TimeScope(NamedTuple):
    """Where a question looks.

    Attributes:
        periods: Days as proleptic ordinals: first, and the one after the last; in order. A day that
            is meant roughly lies inside a second, longer one.
        sessions: Ids of the conversations (and paths of notes) meant, in order of time; empty where
            it names none, or none is found.
        hard: Whether what lies outside cannot answer; else it is a preference.
        rest: The question without the words of time; empty where it has no others.
    """

    periods: tuple[tuple[int, int], ...]
    sessions: tuple[str, ...]
    hard: bool
    contradictory: bool
    rest: str
    warning: str = ""


ANY_TIME = TimeScope((), (), hard=False, contradictory=False, rest="")
"""Of a question that does not say when or where it looks."""


class Question(NamedTuple):
    """A query, understood.

    Attributes:
        terms: Its search terms, each once, in order.
        keys: What it holds that has several words and is one name (``tokens.identifier_keys``), each once.
        besides: How many terms it has besides its time and its names; without one it has no key, as
            none of its words is looked for as it is written.
        named_speakers: Speakers of the store that it names, as the store writes them.
        dense: The text as that speaker would say it, "I" for the name: whoever tells of themselves
            uses no name, and one pulls MiniLM towards whatever mentions it (recall@10 on LoCoMo of
            the sentence vector alone 29 % with names, 56 % without). Nor does it hold the words that
            say when (recall@1 of LoCoMo's dated questions 51 % with them, 62 % without).
        periods: The days it asks about: first, and the day after the last, as ordinals.
        means_both: Whether two people are named as one subject ("Mara and Brian").
        asks_of_now: Whether it asks for what holds: in the present tense, and for no time past.
        asks_for_gist: Whether it asks what a time was about ("what happened in March?"), for all and
            nothing in particular; only then a gist answers.
    """

    text: str
    terms: tuple[str, ...]
    named_speakers: tuple[str, ...]
    name_terms: frozenset[str]
    dense: str
    periods: tuple[tuple[int, int], ...]
    asks_when: bool
    means_both: bool
    asks_of_now: bool = False
    keys: tuple[str, ...] = ()
    besides: int = 0
    asks_for_gist: bool = False


def understand(
    text: str, periods: tuple[tuple[int, int], ...], speakers: Iterable[str], rest: str = ""
) -> Question:
    """Read a query.

    Args:
        rest: The text without the words that say when, if it has any; empty where it has no others.

    >>> asked = understand("When did Mara's cat arrive?", (), ["Mara", "Brian"])
    >>> asked.named_speakers, asked.dense, asked.asks_when
    (('Mara',), 'When did my cat arrive?', True)
    >>> understand("What was March about?", ((740041, 740072),), (), "What was about?").asks_for_gist
    True
    """
    named, dense = _in_first_person(rest or text, list(speakers))
    name_terms = frozenset(term for name in named for term in tokens.stems(name))
    beside = {*tokens.stems(rest if periods else text)}
    besides = len(beside - name_terms)
    return Question(
        text=text,
        terms=tuple(dict.fromkeys(tokens.stems(text))),
        besides=besides,
        named_speakers=named,
        name_terms=name_terms,
        dense=dense if _says_more(dense) else rest or text,
        periods=periods,
        asks_when=_ASKS_WHEN.search(text) is not None,
        means_both=len(named) == 2 and _are_joined(text, named),
        keys=tuple(dict.fromkeys(tokens.identifier_keys(text))) if besides else (),
        asks_for_gist=bool(periods) and beside <= _SUMMING_UP,
        asks_of_now=not periods and _PAST.isdisjoint(text.casefold().rstrip("?!. ").split()),
    )


def _in_first_person(text: str, speakers: list[str]) -> tuple[tuple[str, ...], str]:
    """The named speakers, and the text as if they asked about themselves.

    A speaker goes by the whole name or by its first word, unless several share that.
    """
    known: dict[str, set[str]] = {}
    for speaker in speakers:
        folded = speaker.casefold()
        for name in {folded, folded.split(" ")[0]} - tokens.STOP_WORDS:
            known.setdefault(name, set()).add(speaker)
    words = list(_WORD.finditer(text))
    named: dict[str, None] = {}
    kept, done, place = [], 0, 0
    longest = max((name.count(" ") + 1 for name in known), default=0)
    while place < len(words):
        length = 0
        for length in range(min(longest, len(words) - place), 0, -1):
            start, end = words[place].start(), words[place + length - 1].end()
            meant = known.get(_OWNER.sub("", " ".join(text[start:end].casefold().split())), ())
            if len(meant) == 1:
                named |= dict.fromkeys(meant)
                before = text[done:start]
                before = before[:-4] if before.casefold().endswith("the ") else before
                kept += [before, "my" if _OWNER.search(text[start:end]) else "I"]
                done = end
                break
        else:
            length = 1
        place += length
    kept.append(text[done:])
    dense = " ".join("".join(kept).split())
    if len(named) == 1:
        dense = _PRONOUN.sub(lambda match: _OWN_PRONOUNS[match[0]], dense)
    return tuple(named), dense


def _are_joined(text: str, named: Sequence[str]) -> bool:
    """Whether two names stand side by side ("Mara and Brian"), or both are asked about."""
    one, other = (re.escape(name.split()[0]) for name in named)
    side = r"(?:['’]s)?\s*(?:and|or|&|,)\s*"
    joined = rf"{one}{side}{other}|{other}{side}{one}|\bboth\b"
    return re.search(joined, text, re.IGNORECASE) is not None


def _says_more(dense: str) -> bool:
    """Whether anything is left besides the names."""
    return any(word not in ("I", "my") for word in _WORD.findall(dense))
