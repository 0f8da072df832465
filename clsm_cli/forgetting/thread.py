"""A conversation or document in its order: which turns go on about somebody who was named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.forgetting.person import told_in
from clsm_cli.text.person_words import PLAIN, SINGULAR, gender_of_noun, language_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from clsm_cli.forgetting.person import Person
    from clsm_cli.model.episodes import Turn
    from clsm_cli.text.person_words import Language, Word

REACH = 4
"""Turns or blocks after the last one about somebody in which a pronoun may still mean them."""
NEXT = 2
"""The same for what says less: a role that was not told, an answer, *you*."""
FEW = 5
"""Words with a meaning of their own in a fragment."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s")
_LABELLED = re.compile(r"\s*(?:[-*+]\s+)?\**([^:\n]{1,40}?)\**:\**\s+(.+)\Z")
_COUNTED = re.compile(r"\d[\d.,]*\d")


class Thread:
    """Walks through turns.

    Args:
        person: Who goes.
        turns: In their order.
        gone: Keys of those that go.
    """

    def __init__(self, person: Person, turns: Sequence[Turn], gone: AbstractSet[str]) -> None:
        self._person, self._turns, self._gone = person, turns, gone
        self._gender = person.gender
        self._near: int | None = None
        self._about: list[int] = []
        self._rivals: list[str | None] = []

    def walk(self) -> Iterator[tuple[int, str]]:
        """Places of turns that refer to the person, and what in each of them does."""
        cards = dict(self._cards())
        for place, turn in enumerate(self._turns):
            if turn.key in self._gone:
                if why := self._why_before(place):
                    yield place - 1, why
                self._follow(place)
                continue
            why = cards.get(place) or self._why(place)
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

    def _language(self, place: int) -> Language:
        texts = [self._turns[place].text]
        if self._near is not None:
            texts.append(self._turns[self._near].text)
        return language_of("\n".join(texts))

    def _why(self, place: int) -> str | None:
        """What in a turn leads back to the last one about the person."""
        near = self._near
        if near is None or self._turns[place].heading != self._turns[near].heading:
            return None
        if place - near > REACH:
            return self._role(place, told_only=True)
        return (
            self._listed(place)
            or self._pronoun(place)
            or self._role(place, told_only=place - near > 1)
            or self._answer(place)
            or self._addressed(place)
            or self._echo(place)
            or self._fragment(place)
        )

    def _why_before(self, place: int) -> str | None:
        """What in the turn before one that goes is told by it: "A man called", then his name."""
        before = place - 1
        if before < 0 or self._turns[before].key in self._gone or before in self._about:
            return None
        if self._turns[before].heading != self._turns[place].heading:
            return None
        words = words_of(self._turns[place].text)
        language = language_of(told_in(self._turns[place]))
        opening = words[0].low if words else ""
        if not (language.pronoun(opening) & SINGULAR or language.is_a("the", opening)):
            return None
        for word in words_of(self._turns[before].text):
            if language.pronoun(word.low) & SINGULAR or gender_of_noun(word.low):
                return f"“{word.text}”, told by the next"
        return None

    def _cards(self) -> Iterator[tuple[int, str]]:
        """Items of a list in which one gives the name by itself: "- Name: Piet"."""
        for place, turn in enumerate(self._turns):
            found = _LABELLED.match(turn.text)
            if turn.key not in self._gone or not found:
                continue
            rest = words_of(found.group(2))
            if not self._person.is_named_in(found.group(2)) or len(rest) > 3:
                continue
            for step in (1, -1):
                other = place + step
                while self._goes_on(other - step, other):
                    label = _LABELLED.match(self._turns[other].text)
                    if label and label.group(1) == found.group(1):
                        break
                    yield other, f"“{found.group(1)}” in the same list is their name"
                    other += step

    def _goes_on(self, one: int, other: int) -> bool:
        """Whether two places are items of one list."""
        if not 0 <= min(one, other) <= max(one, other) < len(self._turns):
            return False
        first, second = self._turns[min(one, other)], self._turns[max(one, other)]
        is_list = _ITEM.match(first.text) and _ITEM.match(second.text)
        return bool(is_list) and first.heading == second.heading

    def _listed(self, place: int) -> str | None:
        """An item of a list that begins with a line about the person and a colon."""
        first = place
        while first > 0 and self._goes_on(first - 1, first):
            first -= 1
        head = first - 1
        is_item = _ITEM.match(self._turns[place].text)
        if is_item and head in self._about and self._turns[head].text.rstrip().endswith(":"):
            return "in a list about them"
        return None

    def _pronoun(self, place: int) -> str | None:
        language = self._language(place)
        words = words_of(self._turns[place].text)
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
            before = [g for s, g, is_subject in blocking if s < sentence or is_subject]
            if not any(_agree(kinds, gender) for gender in (*before, *self._rivals)):
                if self._gender is None and len(kinds & SINGULAR) == 1:
                    self._gender = min(kinds & SINGULAR)
                return f"“{word.text}” may be them"
        return None

    def _fits(self, kinds: frozenset[str], before: Sequence[Word], place: int) -> bool:
        """Whether a pronoun can stand for the person."""
        if kinds & SINGULAR:
            return self._gender is None or self._gender in kinds
        near = self._near or 0
        return self._person.is_several and place - near <= 1 and not _plural(before)

    def _others(self, place: int) -> Iterator[tuple[int, str | None]]:
        """Other people in a turn: where, and their gender where the word tells."""
        language = self._language(place)
        words = words_of(self._turns[place].text)
        for at, word in enumerate(words):
            before = words[at - 1].low if at else ""
            noun = gender_of_noun(word.low) if language.name == "english" else None
            if noun and word.low not in self._person.roles:
                if language.is_function_word(before) and not language.pronoun(before):
                    yield at, None if noun == "any" else noun
            elif (
                word.is_name_like
                and language.name != "german"
                and not language.is_function_word(word.low)
                and len(word.text) > 1
                and (word.is_first or not language.is_function_word(before))
                and (not word.is_first or _is_subject(words, at, language))
            ):
                yield at, _gender_in(words[at + 1 :], language)

    def _role(self, place: int, *, told_only: bool) -> str | None:
        """A noun for the person: one that was told of them, or the first to come after them."""
        language = self._language(place)
        words = words_of(self._turns[place].text)
        for at, word in enumerate(words):
            before = [each.low for each in words[max(0, at - 3) : at]]
            if word.low in self._person.roles and any(map(language.is_function_word, before)):
                return f"“{word.text}” is what they are called"
            gender = gender_of_noun(word.low) if language.name == "english" else None
            if gender is None or told_only:
                continue
            is_theirs = gender == "any" or self._gender in (None, gender)
            is_known = "the" in before or (word.is_first and word.is_name_like)
            if is_theirs and is_known and not self._rivals:
                return f"“{word.text}” may be them"
        return None

    def _answer(self, place: int) -> str | None:
        asked, turn = self._turns[place - 1], self._turns[place]
        is_about = place - 1 in self._about and not self._person.said(asked)
        if is_about and asked.text.rstrip().endswith("?") and turn.speaker != asked.speaker:
            return "answers a question about them"
        return None

    def _addressed(self, place: int) -> str | None:
        near = self._near or 0
        if not self._person.said(self._turns[near]) or place - near > NEXT:
            return None
        language = self._language(place)
        for word in words_of(self._turns[place].text):
            if language.is_a("you", word.low):
                return f"“{word.text}”, said to them"
        return None

    def _echo(self, place: int) -> str | None:
        """Says again what a turn about the person said."""
        language = self._language(place)
        own = _content(self._turns[place].text, language)
        counted = {*_COUNTED.findall(self._turns[place].text)}
        for other in self._about[-REACH:]:
            text = self._turns[other].text
            if counted & {*_COUNTED.findall(text)}:
                return "has a number of what goes"
            shared = own & _content(text, language)
            if len(shared) >= 2 and 2 * len(shared) >= len(own):
                return "says again what goes"
        return None

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
        words = words_of(turn.text)
        language = self._language(place)
        is_short = 0 < sum(not language.is_function_word(word.low) for word in words) <= FEW
        is_short &= not is_asked or any(language.is_a(k, words[0].low) for k in ("and", "other"))
        opening = words[0].low if words else ""
        begins = any(language.is_a(kind, opening) for kind in ("own", "the", "we"))
        begins |= language.name != PLAIN and language.is_function_word(opening)
        if not is_short or begins or any(language.is_a("verb", word.low) for word in words[1:]):
            return None
        return None if any(True for _ in self._others(place)) else "goes on with it"


def _agree(kinds: AbstractSet[str], gender: str | None) -> bool:
    """Whether a pronoun can stand for somebody of a gender."""
    return gender is None or gender in kinds


def _gender_in(words: Sequence[Word], language: Language) -> str | None:
    """The gender of the first pronoun of a rest."""
    for word in words:
        kinds = language.pronoun(word.low) & SINGULAR
        if len(kinds) == 1:
            return min(kinds)
    return None


def _is_subject(words: Sequence[Word], at: int, language: Language) -> bool:
    """Whether a first word looks like a name with its verb: "Tom will", "Olaf pays"."""
    after = words[at + 1].low if at + 1 < len(words) else ""
    if language.is_a("verb", after):
        return True
    if language.is_function_word(after):
        return language.name != "english" and not language.pronoun(after)
    if not after.endswith(("s", "ed")) or at + 2 >= len(words):
        return False
    return (
        words[at + 2].start == words[at + 1].start + len(after) + 1
    )  # and no comma: "Six months, …"


def _plural(words: Sequence[Word]) -> bool:
    """Whether a noun of several stands among words."""
    return any(word.low.endswith("s") and len(word.low) > 3 for word in words)


def _content(text: str, language: Language) -> set[str]:
    found = {word.low for word in words_of(text)}
    return {word for word in found if len(word) > 2 and not language.is_function_word(word)}
