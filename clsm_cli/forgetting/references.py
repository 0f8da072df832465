"""Turns that seem to refer to a forgotten person: offered for review, never removed automatically.

Anywhere, a part of the name, their phone number or address, "my tenant" or a statement about them is a
reference. In the few turns after one about them, so is a pronoun, a noun for a person, a question, or a
remark without a verb. A missed sentence does harm and a needless offer is a nuisance, so doubtful turns
are offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import tzinfo

from clsm_cli.forgetting import selection
from clsm_cli.forgetting.selection import ForgetRequest, Selection, StoreContents
from clsm_cli.model.episodes import Document, Turn
from clsm_cli.model.graph import Edge
from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import person_words
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.person_words import Language, Word, language_of, words_of


class Reference(NamedTuple):
    """A remaining turn or block that seems to refer to the forgotten person, and why."""

    id: str
    kind: str
    text: str
    place: str
    time: str | None
    why: str


def find_references(
    memory: StoreContents, chosen: Selection, wanted: ForgetRequest, zone: tzinfo
) -> tuple[Reference, ...]:
    """Remaining turns that refer to the requested person, within source, session and time."""
    names = selection.person_names(memory, wanted)
    if not names:
        return ()
    gone = chosen.turns
    person = Person(names, memory, gone)
    stays = {key: each.turn for key, each in memory.turns.items() if key not in gone}
    found = {key: why for key, turn in stays.items() if (why := person.why_anywhere(turn))}
    for keys in _contexts(memory):
        _follow(person, [memory.turns[key].turn for key in keys], gone, found)
    marks = {mark for key in (*gone, *found) for mark in contact_marks(memory.turns[key].turn.text)}
    for key, turn in stays.items():
        if not marks.isdisjoint(contact_marks(turn.text)):
            found.setdefault(key, "it has a number or address of theirs")
    for key, why in _statement_sources(memory, person):
        found.setdefault(key, why)
    within = selection.turns_within(memory, wanted, zone) - gone
    offered = [
        (memory.turns[key], found[key]) for key in memory.turns if key in found.keys() & within
    ]
    return tuple(
        Reference(each.turn.key, each.kind, each.one_line, each.place, each.turn.time, why)
        for each, why in offered
    )


def _follow(
    person: Person, turns: Sequence[Turn], gone: AbstractSet[str], found: dict[str, str]
) -> None:
    """Add to ``found`` the turns that refer back to an earlier turn about the person."""
    last: int | None = None
    for place, turn in enumerate(turns):
        is_about = turn.key in gone or turn.key in found
        if not is_about and last is not None:
            why = person.why_near(turn, turns[last], away=place - last)
            if why is not None:
                found[turn.key] = why
                is_about = True
        last = place if is_about else last


def _contexts(memory: StoreContents) -> Iterator[list[str]]:
    """Keys grouped by context: conversations, episodes of documents, and current documents."""
    waiting = sorted(memory.turns.items(), key=lambda each: each[1].episode is None)
    together = (((each.session, each.document and each.episode), key) for key, each in waiting)
    yield from grouped(together).values()
    for record in memory.records.values():
        if isinstance(record, Document):
            yield [block.key for block in record.blocks if block.key in memory.turns]


def _statement_sources(memory: StoreContents, person: Person) -> Iterator[tuple[str, str]]:
    """Source turns of statements and connections about the person, with the reason."""
    for row in memory.statements.values():
        if row.kind != "gist" and (row.subject in person.nodes or person.is_named_in(row.text)):
            why = f"a statement about them rests on it ({row.id})"
            yield from ((key, why) for key in row.sources)
    for record in memory.records.values():
        if isinstance(record, Edge) and {record.source, record.target} & person.nodes:
            why = f"a connection of theirs rests on it ({record.id})"
            yield from ((key, why) for key in record.sources)


ROLE_WINDOW = 7  # words on either side of a name to search for roles
MAX_DISTANCE = 4
"""Maximum distance, in turns or blocks, of a pronoun or remark from the last turn about the person."""
MAX_REMARK_WORDS = 8


class Person(selection.Subject):
    """A forgotten person, learnt from the removed turns."""

    def __init__(self, names: Sequence[str], memory: StoreContents, gone: AbstractSet[str]) -> None:
        super().__init__(names, words=selection.names_used_as_words(memory, names))
        self.nodes = {node_id(name) for name in names}
        self.roles: set[str] = set()  # nouns used for them: tenant, sister
        self._parts = {word.low for name in names for word in words_of(name)}
        for key in gone:
            self._learn(memory.turns[key].text)

    def _learn(self, text: str) -> None:
        """Learn from the words beside the name: more name parts ("Piet Bakker") and roles."""
        words, language = words_of(text), language_of(text)
        for match in self.places(text):
            first = sum(word.start < match.start() for word in words)
            for place in range(max(0, first - ROLE_WINDOW), min(len(words), first + ROLE_WINDOW)):
                word = words[place]
                is_next = word.start == match.end() + 1 and word.is_name_like
                if is_next and not word.is_first and language.name != "german":
                    self._parts.add(word.low)
                elif word.low not in self._parts and _is_noun(words, place, language):
                    self.roles.add(word.low)

    def why_anywhere(self, turn: Turn) -> str | None:
        """Why a turn refers to them, regardless of context; None if it does not."""
        words, language = words_of(turn.text), language_of(turn.text)
        for place, word in enumerate(words):
            is_word = word.low in self.words and not language.is_function_word(word.low)
            if is_word or self._is_part(words, place):
                return f"“{word.text}” is part of the name"
            is_owned = any(language.is_a("own", each) for each in _before(words, place))
            if word.low in self.roles and is_owned:
                return f"“{word.text}” is what they are called"
        return None

    def why_near(self, turn: Turn, last: Turn, *, away: int) -> str | None:
        """Why a turn refers back to ``last``, the last one about them, ``away`` turns before it."""
        words, language = words_of(turn.text), language_of(f"{turn.text}\n{last.text}")
        if not words or turn.heading != last.heading:
            return None
        pronouns = (word.text for word in words if language.is_third_person(word.low))
        if away <= MAX_DISTANCE and (pronoun := next(pronouns, None)):
            return f"“{pronoun}” may be them"
        why = self._noun(words, language, is_next=away == 1)
        if why is None and away == 1 and any(t.text.rstrip().endswith("?") for t in (turn, last)):
            return "a question, or the answer to one"
        if why is None and away <= MAX_DISTANCE:
            return self._remark(turn, last, words, language)
        return why

    def _noun(self, words: Sequence[Word], language: Language, *, is_next: bool) -> str | None:
        """One of their roles or, in the next turn, a noun for a person."""
        for place, word in enumerate(words):
            if word.low in self.roles:
                return f"“{word.text}” is what they are called"
            is_known = "the" in _before(words, place) or (word.is_first and word.is_name_like)
            if is_next and is_known and person_words.is_person_noun(word.low, language):
                return f"“{word.text}” may be them"
        return None

    def _remark(
        self, turn: Turn, last: Turn, words: Sequence[Word], language: Language
    ) -> str | None:
        """Words addressed to them, or a few words without a verb: "Six weeks, no lifting"."""
        forms = (word.text for word in words if language.is_a("you", word.low))
        if self.is_speaker(last) and (you := next(forms, None)):
            return f"“{you}”, said to them"
        first = words[0].low
        is_new = any(language.is_a(kind, first) for kind in ("own", "the", "we"))
        is_new |= language.name != person_words.ENGLISH and language.is_function_word(first)
        is_new |= any(language.is_a("verb", word.text) for word in words[1:])
        if is_new or turn.speaker != last.speaker:
            return None
        return "goes on with it" if len(words) <= MAX_REMARK_WORDS else None

    def _is_part(self, words: Sequence[Word], place: int) -> bool:
        """Whether a word is part of the name, and the next one does not make it another person's."""
        after = (w for w in words[place + 1 : place + 2] if w.is_name_like and not w.is_first)
        return self._has_part(words[place]) and all(map(self._has_part, after))

    def _has_part(self, word: Word) -> bool:
        bare = {word.low.removesuffix("'s"), word.low.removesuffix("s")}
        return word.is_name_like and not bare.isdisjoint(self._parts)


def _before(words: Sequence[Word], place: int) -> list[str]:
    """The three words before a noun, which include its article."""
    return [word.low for word in words[max(0, place - 3) : place]]


def _is_noun(words: Sequence[Word], place: int, language: Language) -> bool:
    """Whether a word may be a noun for a person; in other languages than English, any after a function word."""
    if language.name == person_words.ENGLISH:
        return person_words.is_person_noun(words[place].low, language)
    is_after = any(map(language.is_function_word, _before(words, place)))
    return is_after and not language.is_function_word(words[place].low)


_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ ()/.-]{0,2}\d){5,}(?![\w])")
_DIGITS = 8  # trailing digits that identify a phone number in any notation
_MIN_DIGITS = 6
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def contact_marks(text: str) -> set[str]:
    """Phone numbers and e-mail addresses in a text, normalised.

    >>> contact_marks("Call +31 6 5550 1234.") == contact_marks("0031655501234"), contact_marks("in 2024, 900 euros")
    (True, set())
    """
    numbers = (re.sub(r"\D", "", found) for found in _NUMBER.findall(text))
    found = {number[-_DIGITS:] for number in numbers if len(number) >= _MIN_DIGITS}
    return found | {address.casefold() for address in _ADDRESS.findall(text)}
