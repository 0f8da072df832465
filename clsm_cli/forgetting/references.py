"""Turns that stay but seem to refer to a forgotten person: listed for review, never removed by themselves.

``find_references`` walks through each conversation and document in its order. From a turn that goes on, a
``Thread`` is open: a pronoun, the role that was told of the person, an answer leads back to it until
another person comes between or the subject changes. Apart from threads, a part of the name, a number
of theirs or a statement about them leads back from anywhere (``Person``). Missing a sentence is harm,
offering one too many a nuisance: doubt speaks for offering.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.forgetting import selection
from clsm_cli.forgetting.person import Person
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Edge
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.person_words import (
    PLAIN,
    SINGULAR,
    gender_in,
    gender_of_noun,
    is_subject,
    language_of,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import tzinfo

    from clsm_cli.forgetting.selection import Chosen, Wanted
    from clsm_cli.forgetting.store_contents import StoreContents
    from clsm_cli.model.episodes import Turn
    from clsm_cli.text.person_words import Language, Word


class Reference(NamedTuple):
    """A turn or block that stays and seems to be about somebody who goes.

    Attributes:
        id: What ``clsm forget`` takes.
        place: File and line, or conversation.
        why: What in it leads back.
    """

    id: str
    kind: str
    text: str
    place: str
    time: str | None
    why: str


def find_references(
    memory: StoreContents, chosen: Chosen, wanted: Wanted, zone: tzinfo
) -> tuple[Reference, ...]:
    """What stays and refers to somebody.

    Args:
        wanted: What was asked for; nothing is offered where no person was, and nothing that a
            source, a conversation or a time leaves out.
    """
    names = selection.person_meant(memory, wanted)
    if not names:
        return ()
    gone = chosen.turns
    person = Person.of(names, [memory.turns[key].turn for key in sorted(gone)])
    words = (word for told in memory.turns.values() for word in words_of(told.turn.text))
    ordinary = {word.text for word in words if word.text.islower()}
    found: dict[str, str] = {}
    for keys in _in_order(memory):
        turns = [memory.turns[key].turn for key in keys]
        if any(key in gone for key in keys):
            for place, reason in Thread(person, turns, gone, ordinary).walk():
                found.setdefault(keys[place], reason)
                person.remember(turns[place])
    for key, told in memory.turns.items():
        if key not in found and (why := person.why_anywhere(told.turn)):
            found[key] = why
    for key, why in _stated(memory, person):
        found.setdefault(key, why)
    within = selection.narrow(memory, wanted, zone) - gone
    offered = [key for key in memory.turns if key in found and key in within]
    return tuple(_refers(memory, key, found[key]) for key in offered)


def _in_order(memory: StoreContents) -> Iterator[list[str]]:
    """Keys of what was told together: conversations, documents as they are, and as they were."""
    sessions: dict[tuple[str, str | None], list[str]] = {}
    waiting = sorted(memory.turns, key=lambda key: memory.turns[key].episode is None)
    for key in waiting:
        told = memory.turns[key]
        sessions.setdefault((told.session, told.document and told.episode), []).append(key)
    yield from sessions.values()
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


def _refers(memory: StoreContents, key: str, why: str) -> Reference:
    told = memory.turns[key]
    turn = told.turn
    who = f"{turn.speaker}: " if turn.speaker else ""
    is_block = told.document is not None
    place = f"{told.session}:{turn.line_start}" if is_block else told.session
    text = who + " ".join(turn.text.split())
    return Reference(key, "block" if is_block else "turn", text, place, turn.time, why)


MOST = 3
"""Words of a value that is a name and nothing more."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s")
_LABELLED = re.compile(r"\s*(?:[-*+]\s+)?\**([^:\n]{1,40}?)\**:\**\s+(.+)\Z")


REACH = 4
"""Turns or blocks after the last one about somebody in which a pronoun may still mean them."""
NEXT = 2
"""The same for what says less: a role that was not told, an answer, *you*."""
FEW = 5
"""Words with a meaning of their own in a fragment."""


class Thread:
    """Walks through turns."""

    def __init__(
        self,
        person: Person,
        turns: Sequence[Turn],
        gone: AbstractSet[str],
        ordinary: AbstractSet[str],
    ) -> None:
        self._person, self._turns, self._gone = person, turns, gone
        self._ordinary = ordinary
        self._gender = person.gender
        self._near: int | None = None
        self._about: list[int] = []
        self._rivals: list[str | None] = []
        self._read: dict[int, list[Word]] = {}
        self._spoken: dict[tuple[int, int], Language] = {}

    def walk(self) -> Iterator[tuple[int, str]]:
        """Places of turns that refer to the person, and what in each of them does."""
        listed = dict(items(self._person, self._turns, self._gone))
        for place, turn in enumerate(self._turns):
            if turn.key in self._gone:
                self._follow(place)
                continue
            why = listed.get(place) or self._why(place)
            if why:
                self._follow(place)
                yield place, why
            elif self._near is not None:
                self._rivals += [gender for _, gender in self._others(place)]

    def _follow(self, place: int) -> None:
        if self._turns[place].key in self._gone:
            self._gender = self._person.gender
        self._near = place
        self._about.append(place)
        self._rivals = []

    def _words(self, place: int) -> list[Word]:
        if place not in self._read:
            self._read[place] = words_of(self._turns[place].text)
        return self._read[place]

    def _language(self, place: int) -> Language:
        """Told by a turn and the one that it goes on from."""
        near = place if self._near is None else self._near
        if (place, near) not in self._spoken:
            texts = self._turns[place].text, self._turns[near].text
            self._spoken[place, near] = language_of("\n".join(texts))
        return self._spoken[place, near]

    def _why(self, place: int) -> str | None:
        """What in a turn leads back to the last one about the person."""
        near = self._near
        if near is None or self._turns[place].heading != self._turns[near].heading:
            return None
        if place - near > REACH:
            return self._role(place, told_only=True)
        return (
            self._pronoun(place)
            or self._role(place, told_only=place - near > 1)
            or self._answer(place)
            or self._addressed(place)
            or self._reply(place)
            or self._fragment(place)
        )

    def _pronoun(self, place: int) -> str | None:
        language = self._language(place)
        words = self._words(place)
        others = dict(self._others(place))
        blocking: list[tuple[int, str | None, bool]] = []
        sentence = 0
        for at, word in enumerate(words):
            sentence += word.is_first
            if at in others:
                blocking.append((sentence, others[at], word.is_first))
            kinds = language.pronoun(word.low)
            if not kinds or not self._fits(kinds, words[:at], place):
                continue
            before = [g for s, g, leads in blocking if s < sentence or leads]
            if not any(_agree(kinds, gender) for gender in (*before, *self._rivals)):
                if self._gender is None and len(kinds & SINGULAR) == 1:
                    self._gender = min(kinds & SINGULAR)
                return f"“{word.text}” may be them"
        return None

    def _fits(self, kinds: frozenset[str], before: Sequence[Word], place: int) -> bool:
        if kinds & SINGULAR:
            return self._gender is None or self._gender in kinds
        near = self._near or 0
        return self._person.is_several and place - near <= 1 and not _plural(before)

    def _others(self, place: int) -> Iterator[tuple[int, str | None]]:
        """Other people in a turn: where, and their gender where the word tells."""
        language = self._language(place)
        words = self._words(place)
        for at, word in enumerate(words):
            before = words[at - 1].low if at else ""
            noun = gender_of_noun(word.low, language)
            if noun and word.low not in self._person.roles:
                if language.is_function_word(before) and not language.pronoun(before):
                    yield at, None if noun == "any" else noun
            elif (
                word.is_name_like
                and language.name != "german"
                and not language.is_function_word(word.low)
                and word.low not in self._ordinary
                and len(word.text) > 1
                and (word.is_first or not language.is_function_word(before))
                and (not word.is_first or is_subject(words, at, language))
            ):
                yield at, gender_in(words[at + 1 :], language)

    def _role(self, place: int, *, told_only: bool) -> str | None:
        """A noun for the person: one that was told of them, or the first to come after them."""
        language = self._language(place)
        words = self._words(place)
        for at, word in enumerate(words):
            before = [each.low for each in words[max(0, at - 3) : at]]
            if word.low in self._person.roles and any(map(language.is_function_word, before)):
                return f"“{word.text}” is what they are called"
            gender = gender_of_noun(word.low, language)
            if gender is None or told_only:
                continue
            is_theirs = gender == "any" or self._gender in (None, gender)
            is_known = "the" in before or (word.is_first and word.is_name_like)
            if is_theirs and is_known and not self._rivals:
                return f"“{word.text}” may be them"
        return None

    def _answer(self, place: int) -> str | None:
        asked, turn = self._turns[place - 1], self._turns[place]
        is_about = place - 1 in self._about and not self._person.is_speaker(asked)
        if is_about and asked.text.rstrip().endswith("?") and turn.speaker != asked.speaker:
            return "answers a question about them"
        return None

    def _addressed(self, place: int) -> str | None:
        near = self._near or 0
        if not self._person.is_speaker(self._turns[near]) or place - near > NEXT:
            return None
        language = self._language(place)
        for word in self._words(place):
            if language.is_a("you", word.low):
                return f"“{word.text}”, said to them"
        return None

    def _reply(self, place: int) -> str | None:
        """A question or a few words of another, right after a turn that goes."""
        before, turn = self._turns[place - 1], self._turns[place]
        if before.key not in self._gone or turn.speaker == before.speaker:
            return None
        is_short = turn.text.rstrip().endswith("?") or len(self._words(place)) <= FEW
        return "a reply to what goes" if is_short else None

    def _fragment(self, place: int) -> str | None:
        """A few words that go on with what the same one just said: "Six weeks, no lifting"."""
        near, turn = self._near or 0, self._turns[place]
        between = self._turns[near + 1 : place]
        is_asked = turn.text.rstrip().endswith("?")  # "And at night?" is of what was just told
        is_same = turn.speaker == self._turns[near].speaker
        if is_asked == is_same or place - near > (1 if is_asked else NEXT):
            return None
        if any(each.speaker == turn.speaker for each in between):
            return None
        is_next_item = is_item(turn) and is_item(self._turns[near])
        if turn.text.rstrip().endswith(":") or (
            is_next_item and self._words(place)[0].is_name_like
        ):
            return None
        words = self._words(place)
        language = self._language(place)
        is_short = 0 < sum(not language.is_function_word(word.low) for word in words) <= FEW
        is_short &= not is_asked or any(language.is_a(k, words[0].low) for k in ("and", "other"))
        opening = words[0].low if words else ""
        begins = any(language.is_a(kind, opening) for kind in ("own", "the", "we"))
        begins |= language.name != PLAIN and language.is_function_word(opening)
        if not is_short or begins or any(language.is_a("verb", word.text) for word in words[1:]):
            return None
        return None if any(True for _ in self._others(place)) else "goes on with it"


def _agree(kinds: AbstractSet[str], gender: str | None) -> bool:
    return gender is None or gender in kinds


def _plural(words: Sequence[Word]) -> bool:
    return any(word.low.endswith("s") and len(word.low) > 3 for word in words)


def is_item(turn: Turn) -> bool:
    """Whether a block is an item of a list."""
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
    if not (place < len(turns) and is_item(turns[place])):
        return
    known: set[str] = set()
    heading = turns[place].heading
    while 0 <= place < len(turns) and is_item(turns[place]) and turns[place].heading == heading:
        label = _LABELLED.match(turns[place].text)
        if label and label.group(1) in known:
            return
        known |= {label.group(1)} if label else set()
        yield place
        place += step
