"""What turns tell of a person who is forgotten: other names, roles, numbers, gender."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.forgetting.selection import names_pattern
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.person_words import PLAIN, SINGULAR, gender_of_noun, language_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.model.episodes import Turn
    from clsm_cli.text.person_words import Language, Word

BESIDE = 7
"""Words on either side of a name among which a role of it is looked for."""
_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ ()/.-]{0,2}\d){5,}(?![\w])")
_ASIDE = re.compile(r" \(([^()\n]{1,40})\)")
_DIGITS = 8
"""The last digits of a number tell it from others, however it is written."""
_LEAST = 6
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SHORT = 3
"""Letters of a title ("Mr", "Dr"), and the fewest of a part of a name."""


class Person:
    """Somebody who is forgotten.

    Attributes:
        names: In lower case.
        nodes: Ids that the names have.
        roles: Nouns that were said of them; True where as "my" or "our".
        gender: he, she; None where the turns do not tell.
        is_several: They were named together with others.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = {name.casefold() for name in names}
        self.nodes = {node_id(name) for name in names}
        self._pattern = names_pattern(self.names, re.IGNORECASE)
        self._parts = {
            word.low for name in names for word in words_of(name) if len(word.text) >= _SHORT
        }
        self._initials = {
            "".join(word.text[0] for word in words_of(name)) for name in names if " " in name
        }
        self._marks: set[str] = set()
        self.roles: dict[str, bool] = {}
        self.gender: str | None = None
        self.is_several = False

    @classmethod
    def of(cls, names: Sequence[str], turns: Iterable[Turn]) -> Person:
        """Somebody, from the turns that name them or that they said."""
        person = cls(names)
        genders: Counter[str] = Counter()
        for turn in turns:
            is_named = person.is_named_in(text_with_headings(turn))
            if is_named or person.is_speaker(turn):
                person.remember(turn)
            if is_named:
                genders.update(person._learn(text_with_headings(turn)))
        if genders["he"] != genders["she"]:
            person.gender = "he" if genders["he"] > genders["she"] else "she"
        return person

    def remember(self, turn: Turn) -> None:
        """Take in the numbers and addresses of a turn that is about them."""
        self._marks |= contact_marks(turn.text)

    def is_named_in(self, text: str) -> bool:
        """Whether a text has one of the person's names."""
        return self._pattern.search(text) is not None

    def is_speaker(self, turn: Turn) -> bool:
        """Whether the person said the turn."""
        return turn.speaker.casefold() in self.names

    def _learn(self, text: str) -> Iterator[str]:
        """Take in what stands beside the name; gives the genders it shows."""
        words = words_of(text)
        language = language_of(text)
        for match in self._pattern.finditer(text):
            first = sum(word.start < match.start() for word in words)
            last = first + len(words_of(match.group()))
            for word in words[last : last + 1]:  # "Piet Bakker": a blank between, and no more
                is_after = word.is_name_like and word.start == match.end() + 1
                if is_after and not word.is_first and language.name != "german":
                    self._parts.add(word.low)
            if aside := _ASIDE.match(text, match.end()):
                said = (word.low for word in words_of(aside.group(1)))
                self.roles |= {low: False for low in said if not language.is_function_word(low)}
            around = [*words[max(0, first - 1) : first], *words[last : last + 1]]
            self.is_several |= any(language.is_a("and", word.low) for word in around)
            yield from self._roles(words, first, last, language)
        named = self._pattern.search(text)
        for word in words if named else ():
            kinds = language.pronoun(word.low)
            if named and word.start > named.end() and len(kinds) == 1 and kinds <= SINGULAR:
                yield from kinds

    def _roles(
        self, words: Sequence[Word], first: int, last: int, language: Language
    ) -> Iterator[str]:
        for place in range(max(0, first - BESIDE), min(len(words), last + BESIDE)):
            word = words[place]
            if first <= place < last or language.is_function_word(word.low):
                continue
            owned = _is_owned(words, place, language) and _is_told(
                words, place, first, last, language
            )
            gender = gender_of_noun(word.low, language)
            before = [
                each.low for each in words[max(0, place - (2 if place > last else 1)) : place]
            ]
            is_foreign = language.name != PLAIN and any(map(language.is_function_word, before))
            if gender or is_foreign or (owned and place == first - 1):
                self.roles[word.low] = self.roles.get(word.low, False) or owned
            is_certain = place == first - 1 or owned  # "aunt Edith", "my aunt is Edith"
            if gender in SINGULAR and is_certain:
                yield from (gender,) * 2

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
        for place in called:
            if _is_owned(words, place, language):
                return f"“{words[place].text}” is what they are called"
        return None

    def _is_part(self, words: Sequence[Word], place: int) -> bool:
        word = words[place]
        is_part = word.low.removesuffix("'s") in self._parts or (
            word.low[-1:] == "s" and word.low[:-1] in self._parts
        )
        if word.text in self._initials:
            return True
        if not (is_part and word.is_name_like):
            return False
        after = words[place + 1 : place + 2]
        before = words[place - 1 : place] if place else []
        others = [each for each in after if each.is_name_like and not each.is_first]
        others += [
            each
            for each in before
            if each.is_name_like
            and not word.is_first
            and len(each.text) > _SHORT
            and not each.is_first
        ]
        return not any(each.low not in self._parts for each in others)


def _is_owned(words: Sequence[Word], place: int, language: Language) -> bool:
    """Whether a noun is "my" or "our" one."""
    return any(language.is_a("own", each.low) for each in words[max(0, place - 3) : place])


def _is_told(words: Sequence[Word], place: int, first: int, last: int, language: Language) -> bool:
    """Whether a noun is said of a name: "my tenant Piet", "Piet is my tenant", "my tenant is Piet"."""
    if place < first:
        between = words[place + 1 : first]
        return not between or language.is_function_word(between[0].low)
    return all(language.is_function_word(each.low) for each in words[last : max(last, place - 1)])


def text_with_headings(turn: Turn) -> str:
    """The text of a turn under its headings."""
    return "\n".join((*turn.heading, turn.text))


def contact_marks(text: str) -> set[str]:
    """Long numbers and addresses in a text, written one way.

    >>> contact_marks("Call +31 6 5550 1234.") == contact_marks("0031655501234"), contact_marks("in 2024, 900 euros")
    (True, set())
    """
    numbers = (re.sub(r"\D", "", found) for found in _NUMBER.findall(text))
    found = {number[-_DIGITS:] for number in numbers if len(number) >= _LEAST}
    return found | {address.casefold() for address in _ADDRESS.findall(text)}
