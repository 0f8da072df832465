"""Who else is named in a store, so that a pronoun after their name is theirs.

A name counts as a person's if one speaks under it, if consolidation took it for a person's, or if the
name head does, from all its uses in the store and what the name means. Of English, it has learnt most:
there, several words with capitals are a name sooner. A single word may be any that begins a sentence;
in another language it is not looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.forgetting import selection
from clsm_cli.heads.name_head import judge_names, name_features
from clsm_cli.model.graph import Node
from clsm_cli.text.name_matching import find_names
from clsm_cli.text.person_words import PLAIN, is_person_noun, language_of, words_of
from clsm_cli.text.sentences import split

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from clsm_cli.forgetting.selection import StoreContents
    from clsm_cli.store.index.vectors import Embed
    from clsm_cli.text.person_words import Language, Word

LEAST = 0.5, 0.5
"""Probability from which a name is taken for a thing's, and for a person's."""
LEAST_LONG = 0.25, 0.4
"""The same for one of several words in English."""


def people_named(memory: StoreContents, near: Iterable[str], embed: Embed | None) -> frozenset[str]:
    """The names of people in a store.

    Args:
        near: The texts whose names matter.
        embed: None: only those that are known already.
    """
    found = {stored.turn.speaker for stored in memory.turns.values()}
    for node in memory.records.values():
        if isinstance(node, Node) and node.kind == "person":
            found |= {node.label or node.id, *node.aliases}
    if embed is not None:
        unknown: dict[str, tuple[float, float]] = {}
        for text in near:
            for name, least in _candidates(text):
                if name not in found:
                    unknown[name] = min(least, unknown.get(name, LEAST))
        texts = [stored.turn.text for stored in memory.turns.values()]
        found.update(_judged(unknown, texts, embed))
    return frozenset(found)


def _candidates(text: str) -> Iterator[tuple[str, tuple[float, float]]]:
    """What may be a person's name, and how sure that must be."""
    words = words_of(text)
    language = language_of(text)
    is_plain = language.name == PLAIN
    for begin, end in find_names(text, split(text)):
        first, _, more = text[begin:end].partition(" ")
        name = more if language.is_function_word(first.lower()) else text[begin:end]
        if " " in name:
            yield name, LEAST_LONG if is_plain else LEAST
        elif name and is_plain:
            yield name, LEAST
    for word in words if is_plain else ():
        if word.is_first and word.is_name_like and not language.is_function_word(word.low):
            yield word.text, LEAST


def _judged(
    names: Mapping[str, tuple[float, float]], texts: Sequence[str], embed: Embed
) -> Iterator[str]:
    """Those of some names that are people's."""
    if not names:
        return
    features = name_features(sorted(names), texts)
    rows = [
        [*row, *map(float, vector.sentence)]
        for row, vector in zip(features.values(), embed(list(features)), strict=True)
    ]
    for name, told in zip(features, judge_names(rows), strict=True):
        thing, person = names[name]
        if told.thing >= thing and told.kinds["person"] >= person:
            yield name


def sentence_start(words: Sequence[Word], of: Word) -> int:
    """Where the sentence of a word begins."""
    return max(
        (word.start for word in words if word.is_first and word.start <= of.start), default=0
    )


class OtherPeople:
    """Tells the pronouns of a forgotten person from those of others.

    Args:
        named: Names of people, the person's among them.
        is_called: Whether the person is called so.
        roles: What else they are called.
    """

    def __init__(
        self, named: Iterable[str], is_called: Callable[[str], bool], roles: Container[str]
    ) -> None:
        self._is_called, self._roles = is_called, roles
        others = {name for name in named if name[:1].isupper() and not is_called(name)}
        self._pattern = selection.names_pattern(others) if others else None

    def is_theirs(
        self, text: str, words: Sequence[Word], pronoun: Word, language: Language
    ) -> bool:
        """Whether somebody else is the last who was named before the sentence of a pronoun.

        Not if there are pronouns for a man and for a woman, and only one other.
        """
        start = sentence_start(words, pronoun)
        own = [w.start for w in words if w.start < pronoun.start and self._is_called(w.text)]
        since = own[-1] if own else -1
        others = {at: name for at, name in self._before(text, words, start, language) if at > since}
        if not others:
            return False
        later = [word.low for word in words if word.start >= min(others)]
        kinds = {kind for kind in ("he", "she") if any(w in language.kinds[kind] for w in later)}
        return len(kinds) <= len({*others.values()})

    def are_named_in(self, text: str) -> bool:
        """Whether a text has the name of somebody else."""
        return any(self._before(text, (), len(text), language_of("")))

    def _before(
        self, text: str, words: Sequence[Word], end: int, language: Language
    ) -> Iterator[tuple[int, str]]:
        """Where somebody else is named before a place, and how: by name, or "the plumber"."""
        if self._pattern is not None:
            for match in self._pattern.finditer(text, 0, end):
                if match.group()[0].isupper():
                    yield match.start(), match.group()
        for at, word in enumerate(words):
            before = [each.low for each in words[max(0, at - 3) : at]]
            is_told = word.start < end and any(language.is_a("the", each) for each in before)
            if is_told and is_person_noun(word.low, language) and word.low not in self._roles:
                yield word.start, word.low
