"""Turns that stay but seem to refer to a forgotten person: listed for review, never removed by themselves.

A part of the name, a number of theirs, "my tenant" or a statement about them leads back from anywhere.
For some turns after one that is about them, so does a pronoun, a noun for a person, a question, or a
remark without a verb. Missing a sentence is harm, offering one too many a nuisance: doubt speaks for
offering.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.forgetting import selection
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.person_words import PLAIN, is_person_noun, language_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import tzinfo

    from clsm_cli.forgetting.selection import Chosen, StoreContents, StoredTurn, Wanted
    from clsm_cli.model.episodes import Turn
    from clsm_cli.text.person_words import Language, Word


class Reference(NamedTuple):
    """A turn or block that stays and seems to be about somebody who goes, and what in it leads back."""

    id: str
    kind: str
    text: str
    place: str
    time: str | None
    why: str


def find_references(
    memory: StoreContents, chosen: Chosen, wanted: Wanted, zone: tzinfo
) -> tuple[Reference, ...]:
    """What stays and refers to the person that is ``wanted``, within the source, session and time."""
    names = selection.person_meant(memory, wanted)
    if not names:
        return ()
    gone = chosen.turns
    person = Person(names, memory, gone)
    stays = {key: each.turn for key, each in memory.turns.items() if key not in gone}
    found = {key: why for key, turn in stays.items() if (why := person.why_anywhere(turn))}
    for keys in _in_order(memory):
        if not gone.isdisjoint(keys) or not found.keys().isdisjoint(keys):
            _follow(person, [memory.turns[key].turn for key in keys], gone, found)
    marks = {mark for key in (*gone, *found) for mark in contact_marks(memory.turns[key].turn.text)}
    for key, turn in stays.items():
        if not marks.isdisjoint(contact_marks(turn.text)):
            found.setdefault(key, "it has a number or address of theirs")
    for key, why in _stated(memory, person):
        found.setdefault(key, why)
    within = selection.narrow(memory, wanted, zone) - gone
    offered = [key for key in memory.turns if key in found and key in within]
    return tuple(_refers(memory.turns[key], found[key]) for key in offered)


def _follow(
    person: Person, turns: Sequence[Turn], gone: AbstractSet[str], found: dict[str, str]
) -> None:
    """Add to what is found the turns that lead back to one before them."""
    last: int | None = None
    for place, turn in enumerate(turns):
        is_about = turn.key in gone or turn.key in found
        if not is_about and last is not None:
            why = person.why_near(turn, turns[last], away=place - last)
            if why is not None:
                found[turn.key] = why
                is_about = True
        last = place if is_about else last


def _in_order(memory: StoreContents) -> Iterator[list[str]]:
    """Keys of what was told together: conversations, documents as they are, and as they were."""
    waiting = sorted(memory.turns.items(), key=lambda each: each[1].episode is None)
    together = (((told.session, told.document and told.episode), key) for key, told in waiting)
    yield from grouped(together).values()
    for record in memory.records.values():
        if isinstance(record, Document):
            yield [block.key for block in record.blocks if block.key in memory.turns]


def _stated(memory: StoreContents, person: Person) -> Iterator[tuple[str, str]]:
    """Turns that a statement or connection about the person rests on."""
    for row in memory.statements.values():
        if row.kind != "gist" and (row.subject in person.nodes or person.is_named_in(row.text)):
            yield from (
                (key, f"a statement about them rests on it ({row.id})") for key in row.sources
            )
    for record in memory.records.values():
        if isinstance(record, Edge) and {record.source, record.target} & person.nodes:
            why = f"a connection of theirs rests on it ({record.id})"
            yield from ((key, why) for key in record.sources)


def _refers(told: StoredTurn, why: str) -> Reference:
    place = told.session if told.document is None else f"{told.session}:{told.turn.line_start}"
    return Reference(told.turn.key, told.kind, told.said, place, told.turn.time, why)


BESIDE = 7
"""Words on either side of a name among which what they are called is looked for."""
REACH = 4
"""Turns or blocks after the last one about somebody in which a pronoun may still mean them."""
NEXT = 2
"""The same for a remark."""
FEW = 5
"""Words with a meaning of their own in a remark."""
_SHORT = 3
"""Letters of a title ("Mr", "Dr"), and the fewest of a part of a name."""


class Person(selection.Subject):
    """Somebody who is forgotten, from the turns that go.

    Attributes:
        nodes: Ids that the names have.
        roles: Nouns that were said of them: tenant, sister.
    """

    def __init__(self, names: Sequence[str], memory: StoreContents, gone: AbstractSet[str]) -> None:
        super().__init__(names)
        self.nodes = {node_id(name) for name in names}
        self.roles: set[str] = set()
        words = [word for name in names for word in words_of(name)]
        self._parts = {word.low for word in words if len(word.text) >= _SHORT}
        self._initials = {
            "".join(word.text[0] for word in words_of(name)) for name in names if " " in name
        }
        for key in gone:
            turn = memory.turns[key].turn
            self._learn("\n".join((*turn.heading, turn.text)))
        others = {name for name in _people(memory) if not all(map(self._has_part, words_of(name)))}
        self._others = selection.names_pattern(others) if others else None

    def _learn(self, text: str) -> None:
        """Take in what stands beside the name: more of it ("Piet Bakker"), and nouns for them."""
        words, language = words_of(text), language_of(text)
        for match in self._pattern.finditer(text):
            first = sum(word.start < match.start() for word in words)
            for place in range(max(0, first - BESIDE), min(len(words), first + BESIDE)):
                word = words[place]
                is_next = word.start == match.end() + 1 and word.is_name_like
                if is_next and not word.is_first and language.name != "german":
                    self._parts.add(word.low)
                elif word.low not in self._parts and _is_noun(words, place, language):
                    self.roles.add(word.low)

    def why_anywhere(self, turn: Turn) -> str | None:
        """What leads from a turn to them, wherever it was told."""
        words = words_of(turn.text)
        for place, word in enumerate(words):
            if word.text in self._initials or self._is_part(words, place):
                return f"“{word.text}” is part of the name"
            if word.low in self.roles and _is_owned(words, place, language_of(turn.text)):
                return f"“{word.text}” is what they are called"
        return None

    def why_near(self, turn: Turn, last: Turn, *, away: int) -> str | None:
        """What leads from a turn to the last one about them, some places before it."""
        words, language = words_of(turn.text), language_of(f"{turn.text}\n{last.text}")
        if not words or turn.heading != last.heading:
            return None
        why = self._pronoun(turn.text, words, language) if away <= REACH else None
        why = why or self._noun(words, language, is_next=away == 1)
        if why is None and away == 1 and any(t.text.rstrip().endswith("?") for t in (turn, last)):
            return "a question, or the answer to one"
        return self._remark(turn, last, words, language) if why is None and away <= NEXT else why

    def _pronoun(self, text: str, words: Sequence[Word], language: Language) -> str | None:
        """A pronoun that may be theirs.

        In a sentence after somebody else was named it is the other's, unless there are pronouns for a
        man and for a woman, and only one other.
        """
        kinds = {k for k in ("he", "she") for word in words if word.low in language.kinds[k]}
        start = 0
        for word in words:
            start = word.start if word.is_first else start
            is_pronoun = language.is_third_person(word.low)
            if is_pronoun and len(self._others_in(text[:start])) < len(kinds):
                return f"“{word.text}” may be them"
        return None

    def _noun(self, words: Sequence[Word], language: Language, *, is_next: bool) -> str | None:
        """A noun that was told of them, or the first for a person to come after them."""
        for place, word in enumerate(words):
            before = _before(words, place)
            if word.low in self.roles and any(map(language.is_function_word, before)):
                return f"“{word.text}” is what they are called"
            is_known = "the" in before or (word.is_first and word.is_name_like)
            if is_next and is_known and is_person_noun(word.low, language):
                return f"“{word.text}” may be them"
        return None

    def _remark(
        self, turn: Turn, last: Turn, words: Sequence[Word], language: Language
    ) -> str | None:
        """What is said to them, or a few words without a verb: "Six weeks, no lifting"."""
        said = (word.text for word in words if language.is_a("you", word.low))
        if self.is_speaker(last) and (you := next(said, None)):
            return f"“{you}”, said to them"
        first = words[0].low
        is_new = any(language.is_a(kind, first) for kind in ("own", "the", "we"))
        is_new |= language.name != PLAIN and language.is_function_word(first)
        is_new |= any(language.is_a("verb", word.text) for word in words[1:])
        if is_new or turn.speaker != last.speaker or self._others_in(turn.text):
            return None
        meaning = sum(not language.is_function_word(word.low) for word in words)
        return "goes on with it" if 0 < meaning <= FEW else None

    def _others_in(self, text: str) -> set[str]:
        """The other people that a text names."""
        found = self._others.findall(text) if self._others else ()
        return {name for name in found if name[0].isupper()}

    def _is_part(self, words: Sequence[Word], place: int) -> bool:
        """Whether a word is a part of the name, and no other name beside it makes it another's."""
        if not self._has_part(words[place]):
            return False
        beside = [*words[place + 1 : place + 2]]
        if place and not words[place].is_first and len(words[place - 1].text) > _SHORT:
            beside.append(words[place - 1])
        return all(self._has_part(w) for w in beside if w.is_name_like and not w.is_first)

    def _has_part(self, word: Word) -> bool:
        bare = {word.low.removesuffix("'s"), word.low.removesuffix("s")}
        return word.is_name_like and not bare.isdisjoint(self._parts)


def _people(memory: StoreContents) -> set[str]:
    """Names of people: of who speaks, and of whom consolidation took for a person."""
    names = {told.turn.speaker for told in memory.turns.values() if told.turn.speaker[:1].isupper()}
    for record in memory.records.values():
        if isinstance(record, Node) and record.kind == "person":
            names |= {record.label or record.id, *record.aliases}
    return names


def _before(words: Sequence[Word], place: int) -> list[str]:
    """Words before a noun, among which its article stands."""
    return [word.low for word in words[max(0, place - 3) : place]]


def _is_owned(words: Sequence[Word], place: int, language: Language) -> bool:
    """Whether a noun is "my" or "our" one."""
    return any(language.is_a("own", each) for each in _before(words, place))


def _is_noun(words: Sequence[Word], place: int, language: Language) -> bool:
    """Whether a word may be a noun for a person; not in English, any word after a function word."""
    if language.name == PLAIN:
        return is_person_noun(words[place].low, language)
    is_after = any(map(language.is_function_word, _before(words, place)))
    return is_after and not language.is_function_word(words[place].low)


_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ ()/.-]{0,2}\d){5,}(?![\w])")
_DIGITS = 8
"""The last digits of a number tell it from others, however it is written."""
_LEAST = 6
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def contact_marks(text: str) -> set[str]:
    """Long numbers and addresses in a text, written one way.

    >>> contact_marks("Call +31 6 5550 1234.") == contact_marks("0031655501234"), contact_marks("in 2024, 900 euros")
    (True, set())
    """
    numbers = (re.sub(r"\D", "", found) for found in _NUMBER.findall(text))
    found = {number[-_DIGITS:] for number in numbers if len(number) >= _LEAST}
    return found | {address.casefold() for address in _ADDRESS.findall(text)}
