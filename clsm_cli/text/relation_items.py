"""A sentence as words, marks and mentions, and what can be told of a mention by its looks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text import relation_words as words
from clsm_cli.text.relation_rules import verb_forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.text.relation_rules import Target


class Named(NamedTuple):
    """A mention of a node in a text.

    Attributes:
        start: first character.
        end: the character after the last.
        node: id of the node.
        kind: kind of the node, ``""`` where it is not known.
    """

    start: int
    end: int
    node: str
    kind: str = ""


class Item(NamedTuple):
    """A word, a mark or a mention; a mention has a node."""

    text: str  # lower-case
    raw: str = ""
    node: str = ""
    kind: str = ""
    person: bool = False
    title: bool = False  # set like a title
    owner: bool = False  # "my": a mention and a determiner
    cited: bool = False  # inside quotation marks
    first: bool = False  # the speaker
    glued: bool = False  # no blank before it


_TOKEN = re.compile(r"['\u2019](?:s|m|ve|re|ll|d)\b|[^\W_]+(?:['\u2019._-][^\W_]+)*|[^\w\s]")
_CONTRACTION = re.compile(r"(n['\u2019]t|['\u2019](?:s|m|ve|re|ll|d))$", re.IGNORECASE)
_QUOTED = re.compile('"[^"\n]{1,1000}"|\u201c[^\u201d\n]{1,1000}\u201d')
_CITED = re.compile(r"[ \t]*>")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,4}[.)])[ \t]+(?:\[[xX]\][ \t]+)?")
_FIRST = frozenset({"i", "we", "my", "our"})
_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]y)\b(?!['\u2019]d)")
_SILENT = frozenset('*[]`#"\u201c\u201d_')  # marks that part no words
STOPS: frozenset[str] = frozenset(".,;:!)(\u2014\u2013\u2026-")
"""Marks at which a phrase ends."""


def apart(named: Sequence[Named]) -> list[Named]:
    """Return the longest of overlapping mentions, by start."""
    kept: list[Named] = []
    for each in sorted(named, key=lambda each: (each.start, -each.end, each.node)):
        if kept and each.start < kept[-1].end:
            if each.end - each.start > kept[-1].end - kept[-1].start:
                kept[-1] = each
        else:
            kept.append(each)
    return kept


class Reader:
    """Turns the sentences of one text, in order, into items."""

    def __init__(
        self, text: str, named: Sequence[Named], speaker: str | None, people: frozenset[str]
    ) -> None:
        self._text = text
        self._named = named
        self._speaker = speaker
        self._people = people
        self._next = 0
        self._cited = bytearray(len(text))
        for match in _QUOTED.finditer(text):
            self._cited[match.start() : match.end()] = b"\1" * (match.end() - match.start())
        self._narrates = speaker is not None and _FIRST_PERSON.search(text) is not None

    def mentions(self, start: int, end: int) -> list[Named]:
        """Return the mentions of the next sentence."""
        inside: list[Named] = []
        while self._next < len(self._named) and self._named[self._next].start < end:
            each = self._named[self._next]
            if each.start >= start and each.end <= end and not self._is_plain(each):
                inside.append(each)
            self._next += 1
        return inside

    def _is_plain(self, each: Named) -> bool:
        """Whether a mention without a kind is only an adverb or an inflected verb."""
        word = self._text[each.start : each.end]
        if each.kind or not word.islower() or " " in word:
            return False
        forms = {form for _, form in verb_forms().get(word, ())}
        inflected = bool(forms) and forms.isdisjoint({"base", "ing", "third"})
        return inflected or word in words.AFTERWARDS or word.endswith("ly")

    def items(self, start: int, end: int, inside: Sequence[Named]) -> list[Item]:
        """Return the words, marks and mentions of a sentence, without its bullet."""
        sentence = self._text[start:end]
        bullet = _BULLET.match(sentence)
        cited = _CITED.match(sentence) is not None
        position = start + bullet.end() if bullet else start
        items: list[Item] = []
        for each in inside:
            items += self._words(position, each.start, cited=cited)
            items.append(self._mention(each))
            position = max(position, each.end)
        items += self._words(position, end, cited=cited)
        if self._narrates and not bullet and items and _elided(items) and not items[0].cited:
            items.insert(0, self._first("i"))
        return items

    def _mention(self, each: Named) -> Item:
        raw = self._text[each.start : each.end]
        before, behind = self._text[max(0, each.start - 1) : each.start], self._text[each.end :][:1]
        title = raw[0] in '*_"\u201c' or (before != "" and before in '*_"\u201c' and behind != "")
        bold = raw.startswith("**") or self._text[max(0, each.start - 2) : each.start] == "**"
        person = each.node in self._people or each.kind == "person"
        return Item(
            raw.lower().strip('*_[]"`#'),
            raw.strip('*_[]"'),
            each.node,
            each.kind,
            person,
            title and not bold,
            cited=bool(self._cited[each.start]),
        )

    def _words(self, start: int, end: int, *, cited: bool) -> Iterator[Item]:
        for match in _TOKEN.finditer(self._text, start, max(start, end)):
            word = match.group()
            if word in _SILENT:
                continue
            inside = cited or bool(self._cited[match.start()])
            ending = _CONTRACTION.search(word) if len(word) > 1 else None
            parts = [word[: ending.start()], ending.group()] if ending else [word]
            for part in parts:
                lower = part.lower().replace("\u2019", "'")
                if lower in _FIRST and not inside and self._speaker is not None and part != "i":
                    yield self._first(lower)
                elif part:
                    start = match.start() + (len(parts[0]) if part is not parts[0] else 0)
                    glued = start > 0 and not self._text[start - 1].isspace()
                    yield Item(lower, part, cited=inside, glued=glued)

    def _first(self, word: str) -> Item:
        owner = word in {"my", "our"}
        return Item(word, word, self._speaker or "", person=True, owner=owner, first=True)


def _elided(items: Sequence[Item]) -> bool:
    """Whether a sentence begins with a past verb that has lost its "I": "Went camping."."""
    at = 0
    while at < len(items) and (items[at].text in words.ADVERBS or items[at].text.endswith("ly")):
        at += 1
    if at >= len(items) or items[at].node:
        return False
    forms = {form for _, form in verb_forms().get(items[at].text, ())}
    return "past" in forms and "base" not in forms and items[at].text not in {"was", "were"}


def heads(items: Sequence[Item], at: int) -> bool:
    """Whether a mention ends its noun phrase and does not begin a clause."""
    if at + 1 >= len(items):
        return True
    behind = items[at + 1]
    if behind.node:
        return behind.first and not behind.owner
    if behind.text == "'s" or (behind.glued and behind.text in "-/+&'"):
        return False
    if items[at].text.endswith("ing") and behind.text in words.DETERMINERS:
        return False  # "watching our pets"
    return (
        behind.text in STOPS
        or behind.text in words.AFTERWARDS | words.HEADS
        or behind.text[0].isdigit()
        or behind.text.endswith("ly")
        or not behind.text[0].isascii()
    )


def may_be_person(items: Sequence[Item], at: int) -> bool:
    """Whether a mention is a person, or may be one: a plain capitalised name without article."""
    item = items[at]
    if item.person or item.kind:
        return item.person
    if at == 0 and item.raw.endswith("ing"):
        return False  # "Writing": the capital of the sentence
    article = at > 0 and items[at - 1].text in {"the", "a", "an"}
    plain = not item.title and not item.raw.isupper()
    plain = plain and all(word[:1].isupper() for word in item.raw.split())
    return plain and not article


def fits(target: Target, items: Sequence[Item], at: int) -> bool:
    """Whether the mention at a place is what a rule asks for."""
    item = items[at]
    if target in {"any", "person"}:
        return target == "any" or may_be_person(items, at)
    if target == "thing" or item.person:
        return not item.person
    if target in {"title", "project"}:
        return item.title if target == "title" else item.kind == "project"
    behind = items[at + 1].text if at + 1 < len(items) else ""
    if target in {"role", "known"}:
        vague = items[at].text.endswith(("fan", "lover", "bit", "lot", "believer", "one", "mess"))
        return behind != "of" and not vague and (target == "role" or item.kind != "")
    nouns = {*item.text.split()[-1:], behind if behind in words.HEADS else ""}
    nouns |= {each.text for each in items[at - 1 : at] if target == "owned"}
    if item.kind == target or not nouns.isdisjoint(_NOUNS[target]):
        return True
    named = target == "place" and item.raw[:1].isupper() and not item.title
    return named or (target == "activity" and item.text.endswith("ing"))


_NOUNS: dict[str, frozenset[str]] = {
    "place": words.PLACES,
    "event": words.EVENTS,
    "activity": words.ACTIVITIES | words.EVENTS,
    "owned": words.OWNED,
}
"""Last words of a name that are of a sort."""
