"""A query, and what it asks for by its words alone: who, when, and the rest, which is matched by meaning.

A question without a word of time pays for one look at its words; what they mean reads ``time_scope``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.retrieval.dialogue_context import DialogueTurn
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
        " recap gist important event anything everything show list tell say said talk discuss mention"
        " write wrote note diary journal entry log day"
    )
)
"""Terms of a question that asks for all of a time; another term asks for one thing of it."""
_TASK = frozenset(tokens.stems("task todo open due overdue pending undone"))
_AHEAD = frozenset(tokens.stems("still next left remaining need must yet"))
_TO_DO = _TASK | _AHEAD | frozenset(tokens.stems("done list show tell step thing"))
"""Terms of a question that asks for open tasks, by their name or state, or with "do" by what lies ahead."""
_NAMED_ELSEWHERE = frozenset(
    tokens.stems(
        "aufgabe aufgaben todos offen offene offenen fällig überfällig erledigen tun machen"
        " taken doen open tâche tâches faire tarea tareas pendiente pendientes hacer"
        " compiti attività fare tarefas pendentes fazer"
    )
)
_ELSEWHERE = _NAMED_ELSEWHERE | frozenset(
    tokens.stems(
        "was welche ist sind muss müssen soll ich wir noch alles zu meine haben habe"
        " wat welke staat staan er nog moet moeten ik we wij te zijn mijn"
        " que quoi quelles il reste reste-t-il t à encore dois devons je nous mes sont ouvertes en retard"
        " qué cuáles son mis hay tengo tenemos queda quedan por las están"
        " cosa che quali devo dobbiamo da sono ancora resta in sospeso"
        " o quais são as ainda tenho temos de falta"
    )
)
"""The same of German, Dutch, French, Spanish, Italian and Portuguese: names of tasks, and with them what stands beside
(own choice; their words of the past are not among them)."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_OWN_PRONOUNS = {"she": "I", "he": "I", "her": "my", "his": "my", "him": "me"}
_PRONOUN = re.compile(rf"\b(?:{'|'.join(_OWN_PRONOUNS)})\b")
_OWNER = re.compile(r"['’]s$")
_MARKS = str.maketrans(
    dict.fromkeys("\t\n\r.,;:!?()[]{}<>\"'`/\\|*_-\u2013\u2014\u2018\u2019\u201c\u201d", " ")
)
_CALENDAR = (
    " day ", " days ", " week", " month", " year", " night", " morning", " afternoon", " evening",
    " today ", " yesterday ", " tomorrow ", " tonight ", " monday ", " tuesday ", " wednesday ",
    " thursday ", " friday ", " saturday ", " sunday ", " january ", " february ", " april ",
    " june ", " july ", " august ", " september ", " october ", " november ", " december ",
    " spring ", " summer ", " autumn ", " fall ", " winter ", " quarter", " decade", "ties ",
    " christmas ", " xmas ", " easter ", " halloween ", " thanksgiving ", " pentecost ",
    " epiphany ", " juneteenth ", " ago ", " recent", " lately ", " fortnight", " hours ",
    " minutes ", " just now ", " march ", " in may ", " was may ", " last may ", " next may ",
    " during may ", " since may ", " until may ", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
)  # fmt: skip
"""One of these is in every question with a time by the calendar."""
_ORDER = (
    " first ", " last ", " latest ", " recent ", " previous ", " prior ", " second ", " third ",
    " fourth ", " fifth ", " sixth ", " seventh ", " eighth ", " ninth ", " tenth ", " eleventh ",
    " twelfth ", "1st ", "2nd ", "3rd ", "th ", " newest ", " final ", " earliest ", " oldest ",
    " initial ", " penultimate ", " our conversation", " our chat", " our session", " our talk",
    " our discussion", " conversation about ", " before ", " after ", " since ", " until ", " till ", " between ",
    " following ", " preceding ", " ago ", " back ", " earlier ",
)  # fmt: skip
_TALK = (
    " conversation", " session", " chat", " talk", " discuss", " spoke", " speak", " mention",
    " exchange", " dialog", " reference", " came ", " comes ", " happened ", " happens ", " come up ", " brought up ", " bring up ",
    " raised ", " told ", " tell ", " said ", " say ", " ask", " cover", " complain", " wrote ",
    " refer", " last time ",
)  # fmt: skip
"""One of each is in every question that places a memory among the conversations."""


class TimeScope(NamedTuple):
    """Where a question looks.

    Attributes:
        periods: Days as proleptic ordinals: first, and the one after the last; in order. A day that
            is meant roughly lies inside a second, longer one.
        sessions: Ids of the conversations (and paths of notes) meant, in order of time; empty where
            it names none, or none is found.
        hard: Whether what lies outside cannot answer; else it is a preference.
        rest: The question without the words of time; empty where it has no others.
        event: What the question asks what came ``side`` of, before or after; empty where it does not.
        rows: The passages that came then, the nearest first (``time_scope``).
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
"""Of a question that does not say when or where it looks."""


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
        asks_for_all: Whether it asks what a time was about ("what happened in March?", "notes of 4 May"),
            for all and nothing in particular; then what is of that time answers, whatever it says.
        asks_for_gist: Whether it does, or only gists are wanted; else none answers.
        asks_for_tasks: Whether it asks what is open; ``tasks_of`` are the terms that say of whom or what.
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
    asks_for_all: bool = False
    asks_for_gist: bool = False
    asks_for_tasks: bool = False
    tasks_of: frozenset[str] = frozenset()
    scope: TimeScope = ANY_TIME


def may_name_time(text: str) -> tuple[bool, bool]:
    """Whether a question may name a time by the calendar, and a place among the conversations.

    >>> may_name_time("who knows the Sunday song?"), may_name_time("why is the sky blue?")
    ((True, False), (False, False))
    >>> may_name_time("what did we discuss before the move?")
    (False, True)
    """
    padded = f" {text.casefold().translate(_MARKS)} "
    return (
        # Two months are common words without a capital.
        any(cue in padded for cue in _CALENDAR) or "May" in text or "March" in text,
        any(cue in padded for cue in _TALK) and any(cue in padded for cue in _ORDER),
    )


def understand(
    text: str, periods: tuple[tuple[int, int], ...], speakers: Iterable[str], rest: str = ""
) -> Question:
    """Read a query.

    Args:
        rest: The text without the words that say when, if it has any; empty where it has no others.

    >>> asked = understand("When did Mara's cat arrive?", (), ["Mara", "Brian"])
    >>> asked.named_speakers, asked.dense, asked.asks_when
    (('Mara',), 'When did my cat arrive?', True)
    >>> understand("what do I still have to do?", (), ()).asks_for_tasks
    True
    >>> understand("What was March about?", ((740041, 740072),), (), "What was about?").asks_for_gist
    True
    """
    named, dense = _in_first_person(rest or text, list(speakers))
    means_both = len(named) == 2 and _are_joined(text, named)
    name_terms = frozenset(term for name in named for term in tokens.stems(name))
    beside = {*tokens.stems(rest if periods else text)}
    besides = len(beside - name_terms)
    asks_for_all = bool(periods) and beside <= _SUMMING_UP
    words = {*text.casefold().translate(_MARKS).split()}
    is_past = not _PAST.isdisjoint(text.casefold().rstrip("?!. ").split())
    is_of_now = not periods and not is_past
    to_do = _to_do(beside, words, is_past=is_past)
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
        asks_for_all=asks_for_all,
        asks_for_gist=asks_for_all,
        asks_for_tasks=bool(to_do),
        tasks_of=frozenset(beside - to_do if to_do else ()),
        asks_of_now=is_of_now,
    )


def _to_do(terms: set[str], words: set[str], *, is_past: bool) -> frozenset[str]:
    """The words with which a question asks for open tasks, if these are all but names; none if it does not.

    It names them, or their state, or has "do" with what is left.
    """
    if terms & _NAMED_ELSEWHERE and len(terms & _ELSEWHERE) > 1:  # one may be an English word
        return _ELSEWHERE
    is_named = bool(terms & _TASK) and "done" not in words
    is_left = bool(terms & _AHEAD) and not words.isdisjoint(("do", "done"))
    return _TO_DO if (is_named or is_left) and not is_past else frozenset()


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
