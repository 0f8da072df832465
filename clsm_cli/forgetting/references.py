"""Turns that stay but seem to refer to a forgotten person: listed for review, never removed by themselves.

In each conversation and document, after a turn that goes a ``Thread`` is open for some turns: a pronoun,
a noun for a person, an answer or a fragment leads back to it. A part of the name, a number of theirs or
a statement about them leads back from anywhere (``Person``). A part of the name that nobody else in the
store has, such as the first name, opens a ``Thread`` as the whole name does. Missing a sentence is harm, offering one
too many a nuisance: doubt speaks for offering.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.forgetting import selection
from clsm_cli.forgetting.other_people import OtherPeople, people_named
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Edge
from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.person_words import PLAIN, is_person_noun, language_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import tzinfo

    from clsm_cli.forgetting.selection import Chosen, StoreContents, StoredTurn, Wanted
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.index.vectors import Embed
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
    memory: StoreContents,
    chosen: Chosen,
    wanted: Wanted,
    zone: tzinfo,
    embed: Embed | None = None,
) -> tuple[Reference, ...]:
    """What stays and refers to the person that is ``wanted``, within the source, session and time.

    Args:
        embed: Helps to tell whose pronouns are another's.
    """
    names = selection.person_meant(memory, wanted)
    if not names:
        return ()
    gone = chosen.turns
    person = Person(names, [memory.turns[key].turn for key in sorted(gone)])
    person.tell_apart(told.turn.text for told in memory.turns.values())
    walks = []
    for keys in _in_order(memory):
        turns = [memory.turns[key].turn for key in keys]
        if any(turn.key in gone or person.is_called_in(turn.text) for turn in turns):
            walks.append(turns)
    named = people_named(memory, {turn.text for turns in walks for turn in turns}, embed)
    others = OtherPeople(named, person.is_called, person.roles)
    found: dict[str, str] = {}
    for turns in walks:
        for place, reason in Thread(person, turns, gone, others).walk():
            found.setdefault(turns[place].key, reason)
            person.remember(turns[place])
    for key, told in memory.turns.items():
        if key not in found and (why := person.why_anywhere(told.turn)):
            found[key] = why
    for key, why in _stated(memory, person):
        found.setdefault(key, why)
    within = selection.narrow(memory, wanted, zone) - gone
    offered = [key for key in memory.turns if key in found and key in within]
    return tuple(_refers(memory.turns[key], found[key]) for key in offered)


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
"""Words on either side of a name among which a role of it is looked for."""
_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ ()/.-]{0,2}\d){5,}(?![\w])")
_DIGITS = 8
"""The last digits of a number tell it from others, however it is written."""
_LEAST = 6
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SHORT = 3
"""Letters of a title ("Mr", "Dr"), and the fewest of a part of a name."""


class Person(selection.Subject):
    """Somebody who is forgotten, from the turns that name them or that they said.

    Attributes:
        nodes: Ids that the names have.
        roles: Nouns that were said of them; True where as "my" or "our".
    """

    def __init__(self, names: Sequence[str], turns: Iterable[Turn]) -> None:
        super().__init__(names)
        self.nodes = {node_id(name) for name in names}
        self.roles: dict[str, bool] = {}
        self._parts = {
            word.low for name in names for word in words_of(name) if len(word.text) >= _SHORT
        }
        self._initials = {
            "".join(word.text[0] for word in words_of(name)) for name in names if " " in name
        }
        self._marks: set[str] = set()
        self._shared: set[str] = set()
        for turn in turns:
            text = "\n".join((*turn.heading, turn.text))
            is_named = self.is_named_in(text)
            if is_named or self.is_speaker(turn):
                self.remember(turn)
            if is_named:
                self._learn(text)

    def remember(self, turn: Turn) -> None:
        """Take in the numbers and addresses of a turn about them."""
        self._marks |= contact_marks(turn.text)

    def _learn(self, text: str) -> None:
        """Take in what stands beside the name: more of it, and roles."""
        words = words_of(text)
        language = language_of(text)
        for match in self._pattern.finditer(text):
            first = sum(word.start < match.start() for word in words)
            last = first + len(words_of(match.group()))
            for word in words[last : last + 1]:  # "Piet Bakker": a blank between, and no more
                is_after = word.is_name_like and word.start == match.end() + 1
                if is_after and not word.is_first and language.name != "german":
                    self._parts.add(word.low)
            for place in range(max(0, first - BESIDE), min(len(words), last + BESIDE)):
                if not first <= place < last:
                    self._role(words, place, language, is_before=place == first - 1)

    def _role(
        self, words: Sequence[Word], place: int, language: Language, *, is_before: bool
    ) -> None:
        low = words[place].low
        if language.is_function_word(low):
            return
        owned = _is_owned(words, place, language)
        before = (each.low for each in words[max(0, place - 2) : place])
        is_foreign = language.name != PLAIN and any(map(language.is_function_word, before))
        if is_person_noun(low, language) or is_foreign or (owned and is_before):
            self.roles[low] = self.roles.get(low, False) or owned

    def why_anywhere(self, turn: Turn) -> str | None:
        """What leads from a turn to them, wherever it was told."""
        shared = contact_marks(turn.text) & self._marks
        if shared:
            return "it has a number or address of theirs"
        words = words_of(turn.text)
        for place, word in enumerate(words):
            if self._is_part(words, place):
                return f"“{word.text}” is part of the name"
        called = [place for place, word in enumerate(words) if self.roles.get(word.low)]
        language = language_of(turn.text if called else "")
        owned = (words[place].text for place in called if _is_owned(words, place, language))
        return next((f"“{text}” is what they are called" for text in owned), None)

    def tell_apart(self, texts: Iterable[str]) -> None:
        """Take in which parts of the name another person has too, from all texts of the store."""
        for text in texts:
            words = self._words(text)
            for place, word in enumerate(words):
                parts = self._parts_in(word)
                if parts and any(each.low not in self._parts for each in _beside(words, place)):
                    self._shared |= parts

    def is_called(self, name: str) -> bool:
        """Whether a name has no word but parts of theirs."""
        return all(self._parts_in(word) for word in words_of(name))

    def is_called_in(self, text: str) -> bool:
        """Whether a text has a part of the name that nobody else has."""
        words = self._words(text)
        return any(
            self._is_part(words, place) and not self._parts_in(word) & self._shared
            for place, word in enumerate(words)
        )

    def _words(self, text: str) -> list[Word]:
        """The words of a text; none where it has no part of the name."""
        low = text.lower()
        return words_of(text) if any(part in low for part in self._parts) else []

    def _parts_in(self, word: Word) -> set[str]:
        bare = {word.low.removesuffix("'s"), word.low.removesuffix("s")}
        return bare & self._parts if word.is_name_like else set()

    def _is_part(self, words: Sequence[Word], place: int) -> bool:
        word = words[place]
        if word.text in self._initials:
            return True
        beside = _beside(words, place)
        return bool(self._parts_in(word)) and all(each.low in self._parts for each in beside)


def _beside(words: Sequence[Word], place: int) -> list[Word]:
    """Words next to a part of a name that may be other parts of it."""
    others = [*words[place + 1 : place + 2]]
    if place and not words[place].is_first and len(words[place - 1].text) > _SHORT:
        others.append(words[place - 1])
    return [each for each in others if each.is_name_like and not each.is_first]


def _is_owned(words: Sequence[Word], place: int, language: Language) -> bool:
    """Whether a noun is "my" or "our" one."""
    return any(language.is_a("own", each.low) for each in words[max(0, place - 3) : place])


def contact_marks(text: str) -> set[str]:
    """Long numbers and addresses in a text, written one way.

    >>> contact_marks("Call +31 6 5550 1234.") == contact_marks("0031655501234"), contact_marks("in 2024, 900 euros")
    (True, set())
    """
    numbers = (re.sub(r"\D", "", found) for found in _NUMBER.findall(text))
    found = {number[-_DIGITS:] for number in numbers if len(number) >= _LEAST}
    return found | {address.casefold() for address in _ADDRESS.findall(text)}


MOST = 3
"""Words of a value that is a name and nothing more."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s")
_LABELLED = re.compile(r"\s*(?:[-*+]\s+)?\**([^:\n]{1,40}?)\**:\**\s+(.+)\Z")
REACH = 4
"""Turns or blocks after the last one about somebody in which a pronoun may still mean them."""
NEXT = 2
"""The same for a few words that go on with what was said."""
FEW = 5
"""Words with a meaning of their own in a fragment."""


class Thread:
    """Walks through turns."""

    def __init__(
        self, person: Person, turns: Sequence[Turn], gone: AbstractSet[str], others: OtherPeople
    ) -> None:
        self._person, self._turns, self._gone, self._others = person, turns, gone, others
        self._about: list[int] = []

    def walk(self) -> Iterator[tuple[int, str]]:
        """Places of turns that refer to the person, and what in each of them does."""
        listed = dict(items(self._person, self._turns, self._gone))
        for place, turn in enumerate(self._turns):
            if turn.key in self._gone:
                self._about.append(place)
            elif why := listed.get(place) or self._named(turn) or self._why(place):
                self._about.append(place)
                yield place, why

    def _named(self, turn: Turn) -> str | None:
        is_named = self._person.is_called_in(turn.text)
        return self._person.why_anywhere(turn) if is_named else None

    def _why(self, place: int) -> str | None:
        """What in a turn leads back to the last one about the person."""
        near = self._about[-1] if self._about else None
        if near is None or self._turns[place].heading != self._turns[near].heading:
            return None
        words = words_of(self._turns[place].text)
        language = language_of(f"{self._turns[place].text}\n{self._turns[near].text}")
        if place - near > REACH:
            return self._role(words, language, told_only=True)
        text = self._turns[place].text
        pronouns = (
            word.text
            for word in words
            if language.is_third_person(word.low)
            and not self._others.is_theirs(text, words, word, language)
        )
        return (
            next((f"“{word}” may be them" for word in pronouns), None)
            or self._role(words, language, told_only=place - near > 1)
            or self._answer(place)
            or self._addressed(place, words, language)
            or self._reply(place, words)
            or self._fragment(place, words, language)
        )

    def _role(self, words: Sequence[Word], language: Language, *, told_only: bool) -> str | None:
        """A noun for the person: one that was told of them, or the first to come after them."""
        for at, word in enumerate(words):
            before = [each.low for each in words[max(0, at - 3) : at]]
            if word.low in self._person.roles and any(map(language.is_function_word, before)):
                return f"“{word.text}” is what they are called"
            is_known = "the" in before or (word.is_first and word.is_name_like)
            if not told_only and is_known and is_person_noun(word.low, language):
                return f"“{word.text}” may be them"
        return None

    def _answer(self, place: int) -> str | None:
        if place - 1 in self._about and self._turns[place - 1].text.rstrip().endswith("?"):
            return "answers a question about them"
        return None

    def _addressed(self, place: int, words: Sequence[Word], language: Language) -> str | None:
        near = self._about[-1]
        if not self._person.is_speaker(self._turns[near]) or place - near > NEXT:
            return None
        found = (word.text for word in words if language.is_a("you", word.low))
        return next((f"“{text}”, said to them" for text in found), None)

    def _reply(self, place: int, words: Sequence[Word]) -> str | None:
        """A question or a few words of another, right after a turn that goes."""
        before, turn = self._turns[place - 1], self._turns[place]
        if before.key not in self._gone or turn.speaker == before.speaker:
            return None
        is_short = turn.text.rstrip().endswith("?") or len(words) <= FEW
        return "a reply to what goes" if is_short else None

    def _fragment(self, place: int, words: Sequence[Word], language: Language) -> str | None:
        """A few words that go on: "Six weeks, no lifting", or, asked by another, "And at night?"."""
        near, turn = self._about[-1], self._turns[place]
        if not words or self._others.are_named_in(turn.text):
            return None
        is_asked = turn.text.rstrip().endswith("?")
        is_other = is_asked == (turn.speaker == self._turns[near].speaker)
        between = {each.speaker for each in self._turns[near + 1 : place]}
        if is_other or place - near > NEXT or turn.speaker in between:
            return None
        is_short = 0 < sum(not language.is_function_word(word.low) for word in words) <= FEW
        is_short &= not is_asked or any(language.is_a(k, words[0].low) for k in ("and", "other"))
        opening = words[0].low
        begins = any(language.is_a(kind, opening) for kind in ("own", "the", "we"))
        begins |= language.name != PLAIN and language.is_function_word(opening)
        if not is_short or begins or any(language.is_a("verb", word.text) for word in words[1:]):
            return None
        return "goes on with it"


def is_item(turn: Turn) -> bool:
    """Whether a block is a list's."""
    return _ITEM.match(turn.text) is not None


def items(
    person: Person, turns: Sequence[Turn], gone: AbstractSet[str]
) -> Iterator[tuple[int, str]]:
    """Places of items of a list that is about somebody, and why it is.

    Either the list begins with a line that names them and ends with a colon, or one of its items
    gives the name by itself ("- Name: Piet").
    """
    for place, turn in enumerate(turns):
        if turn.key not in gone or not person.is_named_in(turn.text):
            continue
        if turn.text.rstrip().endswith(":") and not is_item(turn):
            for other in _onwards(turns, place + 1, 1):
                yield other, "in a list about them"
        label = _LABELLED.match(turn.text)
        value = label.group(2) if label else ""
        if label and person.is_named_in(value) and len(words_of(value)) <= MOST:
            for other in (*_onwards(turns, place, 1), *_onwards(turns, place, -1)):
                yield other, f"“{label.group(1)}” in the same list is their name"


def _onwards(turns: Sequence[Turn], place: int, step: int) -> Iterator[int]:
    """Items from a place on, of its list; a label that comes again begins another."""
    known: set[str] = set()
    heading = turns[place].heading if place < len(turns) else ()
    while 0 <= place < len(turns) and is_item(turns[place]) and turns[place].heading == heading:
        label = _LABELLED.match(turns[place].text)
        if label and label.group(1) in known:
            return
        known |= {label.group(1)} if label else set()
        yield place
        place += step
