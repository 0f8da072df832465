"""A query, and its analysis by words alone: who, when, what it refers back to, and the content matched by meaning.

A question without time words costs one substring scan; ``time_scope`` resolves time expressions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens
from clsm_cli.text.language_data import compiled, word_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.store.index.ranking_queries import Filters

_ASKS_WHEN = re.compile(
    r"\b(?:when|since when|how long|how many (?:days|weeks|months|years)"
    r"|(?:what|which) (?:day|date|month|year|time|week))\b",
    re.IGNORECASE,
)
_PAST_WORDS = frozenset([*word_list("past"), *word_list("former")])
_SUMMARY_TERMS = frozenset(tokens.stems(" ".join(word_list("summary"))))
_TASK_TERMS = frozenset(tokens.stems(" ".join(word_list("tasks"))))
_REMAINING = frozenset(tokens.stems(" ".join(word_list("remaining"))))
_TASK_QUESTION_TERMS = (
    _TASK_TERMS | _REMAINING | frozenset(tokens.stems(" ".join(word_list("about tasks"))))
)
_TO_DO = re.compile(r"\b(?:have|has|is|got|anything|what)\sto\sdo\b(?!\swith\b)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OWN_PRONOUNS = {"she": "I", "he": "I", "her": "my", "his": "my", "him": "me"}
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_OWN_PRONOUNS)})\b")
_ASKS_OF_SELF = re.compile(r"\b(?:did|had|have) i\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s$")
_PUNCTUATION = str.maketrans(
    dict.fromkeys("\t\n\r.,;:!?()[]{}<>\"'`/\\|*_-\u2013\u2014\u2018\u2019\u201c\u201d", " ")
)
_CALENDAR_CUES, _ORDER_CUES, _CONVERSATION_CUES = (
    [cue.replace("_", " ") for cue in word_list(f"{kind} cues")]
    for kind in ("calendar", "order", "conversation")
)
_MAX_ADDED_WORDS = 8
"""Words that one message adds to a question, at most."""
_ORDINALS = {"first": 0, "former": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4}
_ORDINALS |= {"last": -1, "latter": -1}
_ORDINAL = rf"\bthe (?P<which>{'|'.join(_ORDINALS)})\b"
_ITEM = r"(?m)^\s*(?:\d{1,3}[.)]|[-*+•])\s+(\S.*)$"
_TOKEN = r"[^\W_][\w'’-]*"
_PERSON_PRONOUNS = frozenset(["he", "she", "him", "her", "his", "hers", "they", "them"])
MIN_SENTENCE_WORDS = 4
"""Words of a question, at least (own choice): shorter ones are cues, which ask for everything about them."""


class TimeScope(NamedTuple):
    """The periods and conversations that a question refers to.

    Attributes:
        periods: Days as proleptic ordinals: first, and the one after the last; in order. An
            approximate day lies inside a second, longer period.
        sessions: Ids of the conversations (and paths of notes) meant, in order of time; empty if
            the question names none, or none is found.
        hard: Whether passages outside the scope are excluded; otherwise the scope is a preference.
        contradictory: Whether no time can satisfy it.
        rest: The question without time words; empty if it has no others.
        event: The event, for a question about what came before or after it; else empty.
        side: Before or after the event.
        rows: The passages on that side, nearest first (``time_scope``).
        sure: Probability that the event was found.
    """

    periods: tuple[tuple[int, int], ...]
    sessions: tuple[str, ...]
    hard: bool
    contradictory: bool
    rest: str
    warning: str = ""
    event: str = ""
    side: str = ""
    rows: tuple[int, ...] = ()
    sure: float = 1.0


ANY_TIME = TimeScope((), (), hard=False, contradictory=False, rest="")
"""The scope of a question that names no time or conversation."""


class Query(NamedTuple):
    """A query with its options and limits.

    Attributes:
        k: Turns, statements and windows of notes, at most.
        budget: Size of the text, at most, in ``unit`` (tokens or characters).
        min_score: Confidence from 0 to 1 below which items are left out; None: the setting.
        as_of: Valid time of the answer; relative time expressions count from it.
        known_at: Transaction time of the answer; None for now.
        current: Messages of the current conversation, oldest first.
        is_gated: Whether a message that needs no memory gets none.
        with_facts: Whether to add facts about what it names, within the budget.
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
    current: tuple[str, ...] = ()
    is_gated: bool = False
    with_facts: bool = False
    seed: str | None = None

    @property
    def past(self) -> str | None:
        """The past time of the query; None for now."""
        return self.as_of or self.known_at


class Question(NamedTuple):
    """An analysed query.

    Attributes:
        terms: Its distinct search terms, in order.
        named_speakers: Speakers of the store that it names, as the store spells them.
        name_terms: Search terms of these names.
        embedding_text: The text in the first person of that speaker, "I" for the name: people do
            not use their own names, and a name pulls MiniLM towards passages that mention it
            (recall@10 of the sentence vector alone on LoCoMo: 29 % with names, 56 % without). Time
            words are left out (recall@1 of LoCoMo's dated questions: 51 % with them, 62 % without).
        periods: The days it asks about: first, and the day after the last, as ordinals.
        asks_when: Whether it asks for a time.
        means_both: Whether two people are named as one subject ("Mara and Brian").
        asks_of_self: Whether it asks what "I" said or did, and names no speaker.
        asks_of_now: Whether it asks for the present state: in the present tense and for no past
            time.
        keys: Its distinct multi-word identifiers (``tokens.identifier_keys``); empty without
            content terms, as then no word is matched exactly.
        n_content_terms: Number of terms that are neither time words nor names of speakers.
        asks_for_all: Whether it asks what a period was about and for nothing in particular ("what
            happened in March?", "notes of 4 May"); then everything of that period answers.
        asks_for_gist: Whether gists may answer: for all of a period, or if only gists are wanted.
        asks_for_tasks: Whether it asks for open tasks; ``task_terms`` name those that it asks for,
            if not all.
        scope: The periods and conversations that it refers to.
    """

    text: str
    terms: tuple[str, ...]
    named_speakers: tuple[str, ...]
    name_terms: frozenset[str]
    embedding_text: str
    periods: tuple[tuple[int, int], ...]
    asks_when: bool
    means_both: bool
    asks_of_self: bool = False
    asks_of_now: bool = False
    keys: tuple[str, ...] = ()
    n_content_terms: int = 0
    asks_for_all: bool = False
    asks_for_gist: bool = False
    asks_for_tasks: bool = False
    task_terms: frozenset[str] = frozenset()
    scope: TimeScope = ANY_TIME

    @property
    def is_cue(self) -> bool:
        """Whether it has too few words for a sentence, and so asks for everything about them."""
        return len(self.text.split()) < MIN_SENTENCE_WORDS

    @property
    def is_readable(self) -> bool:
        """Whether the answer head can read it: an English sentence without a time, which the head cannot check."""
        is_english = not tokens.STOP_WORDS.isdisjoint(self.text.casefold().split())
        return is_english and bool(self.terms) and not self.periods and not self.is_cue


def may_name_time(text: str) -> tuple[bool, bool]:
    """Whether a question may name a calendar time, and whether a position among the conversations.

    >>> may_name_time("who knows the Sunday song?"), may_name_time("why is the sky blue?")
    ((True, False), (False, False))
    >>> may_name_time("what did we discuss before the move?")
    (False, True)
    """
    padded = f" {text.casefold().translate(_PUNCTUATION)} "
    return (
        # Two months are common words without a capital.
        any(cue in padded for cue in _CALENDAR_CUES) or "May" in text or "March" in text,
        any(cue in padded for cue in _CONVERSATION_CUES)
        and any(cue in padded for cue in _ORDER_CUES),
    )


def resolve_references(text: str, messages: Sequence[str]) -> str:
    """Append to a question the words of what it refers back to; for matching only.

    "the second one" adds the words of that item of the last list; "she" the last names mentioned;
    anything else the first content words of the last two messages that are not small talk. Some of
    these words may be irrelevant; a question without a back-reference is not changed.

    Args:
        messages: The conversation, oldest first.

    >>> resolve_references("What about that?", ["Is the barge in Haarlem insured?", "What about that?"])
    'What about that? barge Haarlem insured'
    """
    from clsm_cli.text import route

    if not route.points_back(text):
        return text
    own = {word.casefold() for word in compiled(_TOKEN).findall(text)}
    asked = text.strip().casefold()
    before = [message for message in messages if message.strip().casefold() != asked]
    before = [message for message in before if not route.is_small_talk(message)]
    item = _listed_item(text, before)
    if item:
        words = _content_words(item)
    elif own & _PERSON_PRONOUNS:
        words = next(
            (names for message in reversed(before) if (names := _capitalised_names(message))), []
        )
    else:
        words = [word for message in before[-2:] for word in _content_words(message)]
    kept = dict.fromkeys(word for word in words if word.casefold() not in own)
    return " ".join([text, *kept])


def _listed_item(text: str, before: Sequence[str]) -> str | None:
    """The item of the last list that an ordinal refers to; None if there is none."""
    ordinal = re.search(_ORDINAL, text, re.IGNORECASE)
    if ordinal is None:
        return None
    place = _ORDINALS[ordinal["which"].lower()]
    for message in reversed(before):
        items: list[str] = compiled(_ITEM).findall(message)
        if len(items) > 1:
            return items[place] if place < len(items) else None
    return None


def _content_words(text: str) -> list[str]:
    """The first content words of a text."""
    words = (
        word for word in compiled(_TOKEN).findall(text) if len(word) > 2 and tokens.stems(word)
    )
    return list(dict.fromkeys(words))[:_MAX_ADDED_WORDS]


def _capitalised_names(text: str) -> list[str]:
    """Capitalised words inside sentences, without days and other words that are no names."""
    from clsm_cli.text.name_matching import NON_NAMES

    words = re.findall(r"(?<![.!?:]\s)(?<!^)(?<!\n)\b[A-Z][\w-]+", text)
    return [name for name in dict.fromkeys(words) if name not in NON_NAMES][:_MAX_ADDED_WORDS]


def understand(
    text: str, periods: tuple[tuple[int, int], ...], speakers: Iterable[str], rest: str = ""
) -> Question:
    """Analyse a query by its words.

    Args:
        periods: The days that it asks about.
        speakers: All speakers of the store.
        rest: The text without its time words, if it has any; empty if it has no others.

    >>> asked = understand("When did Mara's cat arrive?", (), ["Mara", "Brian"])
    >>> asked.named_speakers, asked.embedding_text, asked.asks_when
    (('Mara',), 'When did my cat arrive?', True)
    >>> asked = understand("what do I have to do this week?", ((740041, 740048),), (), "what do I have to do?")
    >>> asked.asks_for_tasks, asked.asks_for_all
    (True, False)
    >>> understand("What was March about?", ((740041, 740072),), (), "What was about?").asks_for_gist
    True
    """
    named, embedding_text = _in_first_person(rest or text, list(speakers))
    means_both = len(named) == 2 and _are_joined(text, named)
    name_terms = frozenset(term for name in named for term in tokens.stems(name))
    content = {*tokens.stems(rest if periods else text)}
    n_content_terms = len(content - name_terms)
    is_past = not _PAST_WORDS.isdisjoint(text.casefold().rstrip("?!. ").split())
    asks_when, others = _ASKS_WHEN.search(text) is not None, content - _TASK_QUESTION_TERMS
    asks_for_tasks = not is_past and _names_tasks(content, text.casefold())
    asks_for_tasks &= not (asks_when and others)  # "when is the essay due?" asks about the essay
    asks_for_all = bool(periods) and content <= _SUMMARY_TERMS and not asks_for_tasks
    return Question(
        text=text,
        terms=tuple(dict.fromkeys(tokens.stems(text))),
        n_content_terms=n_content_terms,
        named_speakers=named,
        name_terms=name_terms,
        embedding_text=embedding_text,
        periods=periods,
        asks_when=asks_when,
        means_both=means_both,
        asks_of_self=not named and _ASKS_OF_SELF.search(text) is not None,
        keys=tuple(dict.fromkeys(tokens.identifier_keys(text))) if n_content_terms else (),
        asks_for_all=asks_for_all,
        asks_for_gist=asks_for_all,
        asks_for_tasks=asks_for_tasks,
        task_terms=frozenset(others if asks_for_tasks else ()),
        asks_of_now=not periods and not is_past,
    )


def _names_tasks(terms: set[str], text: str) -> bool:
    """Whether a question means open tasks, by their name or state, or by what is or remains to do."""
    words = {*text.translate(_PUNCTUATION).split()}
    is_named = bool(terms & _TASK_TERMS) and "done" not in words
    remains = bool(terms & _REMAINING) and not words.isdisjoint(("do", "done"))
    return is_named or remains or _TO_DO.search(text) is not None


def _in_first_person(text: str, speakers: list[str]) -> tuple[tuple[str, ...], str]:
    """The named speakers, and the text in their first person, unless only pronouns remain.

    A speaker is named by the whole name or its first word, unless several share it.
    """
    speakers_by_name: dict[str, set[str]] = {}
    for speaker in speakers:
        folded = speaker.casefold()
        for name in {folded, folded.split(" ")[0]} - tokens.STOP_WORDS:
            speakers_by_name.setdefault(name, set()).add(speaker)
    words = list(_WORD.finditer(text))
    named: dict[str, None] = {}
    kept, done, place = [], 0, 0
    longest = max((name.count(" ") + 1 for name in speakers_by_name), default=0)
    while place < len(words):
        length = 0
        for length in range(min(longest, len(words) - place), 0, -1):
            start, end = words[place].start(), words[place + length - 1].end()
            meant = speakers_by_name.get(
                _POSSESSIVE.sub("", " ".join(text[start:end].casefold().split())), ()
            )
            if len(meant) == 1:
                named |= dict.fromkeys(meant)
                before = text[done:start]
                before = before[:-4] if before.casefold().endswith("the ") else before
                kept += [before, "my" if _POSSESSIVE.search(text[start:end]) else "I"]
                done = end
                break
        else:
            length = 1
        place += length
    kept.append(text[done:])
    embedding_text = " ".join("".join(kept).split())
    if len(named) == 1:
        embedding_text = _PRONOUN.sub(lambda match: _OWN_PRONOUNS[match[0]], embedding_text)
    says_more = any(word not in ("I", "my") for word in _WORD.findall(embedding_text))
    return tuple(named), embedding_text if says_more else text


def _are_joined(text: str, named: Sequence[str]) -> bool:
    """Whether two names are joined ("Mara and Brian"), or the text says "both"."""
    one, other = (re.escape(name.split()[0]) for name in named)
    side = r"(?:['’]s)?\s*(?:and|or|&|,)\s*"
    joined = rf"{one}{side}{other}|{other}{side}{one}|\bboth\b"
    return re.search(joined, text, re.IGNORECASE) is not None
