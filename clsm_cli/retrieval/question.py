"""A query, and the question that it is: who, when, and the rest, which is matched by meaning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.retrieval.time_scope import ANY_TIME, TimeScope, may_name_time
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.retrieval.dialogue_context import DialogueTurn
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import Filters

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


class Query(NamedTuple):
    """What is asked, and how much may come back.

    Attributes:
        k: Turns, statements and windows of notes at most.
        budget: Text at most, in ``unit`` (tokens or characters).
        min_score: Confidence from 0 to 1 below which an item is left out; None: the setting.
        as_of: When it should have been true; relative expressions count from it.
        known_at: When it should have been known; None for now.
        current: Messages of the current conversation, the oldest first.
        is_gated: Whether a message that needs no memory gets none.
        with_facts: Whether to tell, in a part of the budget, what holds of what it names.
        seed: Of the draw of weights from feedback; None: their means.
    """

    text: str
    now: str
    k: int
    budget: int
    unit: str = "tokens"
    min_score: float | None = None
    filters: Filters | None = None
    as_of: str | None = None
    known_at: str | None = None
    current: tuple[DialogueTurn, ...] = ()
    is_gated: bool = False
    with_facts: bool = False
    seed: str | None = None

    @property
    def at(self) -> str:
        """The time the question is about, if its words name none."""
        return self.past or self.now

    @property
    def past(self) -> str | None:
        """The time that is looked from, if that is not now."""
        return self.as_of or self.known_at


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
        scope: When and where it looks.
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
    scope: TimeScope = ANY_TIME


def analyse(index: Index, query: Query) -> Question:
    """Read a query: what it refers back to, when and where it looks, who is meant, and the rest.

    Args:
        index: The view that is searched.
    """
    text, filters = query.text, query.filters
    if query.current:
        from clsm_cli.retrieval import dialogue_context

        text = dialogue_context.resolve_references(text, query.current)
    scope = resolve_scope(index, text, query.at)
    rest = scope.rest if scope.periods else ""
    question = understand(text, scope.periods, index.speakers(), rest)
    return question._replace(
        scope=scope,
        asks_of_now=question.asks_of_now and query.past is None,
        asks_for_gist=question.asks_for_gist or (filters is not None and filters.kind == "gist"),
    )


def resolve_scope(index: Index, text: str, now: str) -> TimeScope:
    """Find out when and where a question looks.

    It never raises for what the words say: nonsense means nothing.

    Args:
        now: ISO 8601; what was said later is not there, and relative expressions count from it.
    """
    has_time, has_place = may_name_time(text)
    if not (has_time or has_place):
        return ANY_TIME
    from clsm_cli.retrieval import session_scope

    return session_scope.resolve(index, text, now, has_time=has_time, has_place=has_place)


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
    means_both = len(named) == 2 and _are_joined(text, named)
    name_terms = frozenset(term for name in named for term in tokens.stems(name))
    beside = {*tokens.stems(rest if periods else text)}
    besides = len(beside - name_terms)
    return Question(
        text=text,
        terms=tuple(dict.fromkeys(tokens.stems(text))),
        besides=besides,
        named_speakers=named,
        name_terms=name_terms,
        dense=dense,
        periods=periods,
        asks_when=_ASKS_WHEN.search(text) is not None,
        means_both=means_both,
        keys=tuple(dict.fromkeys(tokens.identifier_keys(text))) if besides else (),
        asks_for_gist=bool(periods) and beside <= _SUMMING_UP,
        asks_of_now=not periods and _PAST.isdisjoint(text.casefold().rstrip("?!. ").split()),
    )


def _in_first_person(text: str, speakers: list[str]) -> tuple[tuple[str, ...], str]:
    """The named speakers, and the text as if they asked about themselves, if that says any more.

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
    says_more = any(word not in ("I", "my") for word in _WORD.findall(dense))
    return tuple(named), dense if says_more else text


def _are_joined(text: str, named: Sequence[str]) -> bool:
    """Whether two names stand side by side ("Mara and Brian"), or both are asked about."""
    one, other = (re.escape(name.split()[0]) for name in named)
    side = r"(?:['’]s)?\s*(?:and|or|&|,)\s*"
    joined = rf"{one}{side}{other}|{other}{side}{one}|\bboth\b"
    return re.search(joined, text, re.IGNORECASE) is not None
