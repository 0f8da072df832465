"""The objects of a verb: the mentions that head the noun phrase behind it, or before its clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.text import relation_words as words
from clsm_cli.text.relation_items import STOPS, heads
from clsm_cli.text.relation_rules import verb_forms
from clsm_cli.text.relation_subjects import joined_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.text.relation_items import Item

_TRANSITIVE = frozenset(
    [
        "buy",
        "make",
        "do",
        "attend",
        "visit",
        "join",
        "build",
        "create",
        "own",
        "adopt",
        "bake",
        "use",
    ]
)


def shown(item: Item) -> str:
    """Return a word as the rules see it: a mention is "@"."""
    return "@" if item.node and not item.owner else item.text


def phrase(items: Sequence[Item], start: int) -> list[int]:
    """Return the mentions that head the noun phrase at a place, and those listed behind it."""
    found: list[int] = []
    at, length = start, 0
    while at < len(items) and length <= (4 if not found else 2):
        item = items[at]
        behind = items[at + 1].text if at + 1 < len(items) else ""
        if not item.node or item.owner:
            if _ends_phrase(items, at, length):
                break
            at, length = at + 1, length + 1
        elif behind == "'s":
            at, length = at + 2, length + 1
        elif _is_out_of_place(items, at, length):
            break
        elif heads(items, at):
            found.append(at)
            at, length = _next_listed(items, at + 1), 0
        elif item.person or not _modifies(items, at):
            break
        else:
            at, length = at + 1, length + 1
    return found


def _ends_phrase(items: Sequence[Item], at: int, length: int) -> bool:
    """Whether a word or mark cannot stand inside a noun phrase."""
    word = items[at].text
    if word in words.BLOCKS or _is_verb(items[at]) or not (word[0].isalnum() or word == "+"):
        return True
    if word in {"time", "fun", "blast", "trouble"}:
        return True  # "had a good time meeting them"
    if length and _is_plural(items[at - 1]) and word in verb_forms():
        return True  # "our neighbours play"
    opened = length > 0 or items[at - 1].text in words.DETERMINERS
    return word.endswith("ing") and not opened  # "researching old maps"


def _is_out_of_place(items: Sequence[Item], at: int, length: int) -> bool:
    """Whether a mention in a phrase is no object: the speaker, one word of a title, a call."""
    item = items[at]
    if item.first or (item.cited and not item.title and items[at - 1].cited):
        return True
    if item.person and length and items[at - 1].text not in words.DETERMINERS:
        return True  # "the thought, Tom"
    # "our pets play"
    return length > 0 and _is_plural(items[at - 1]) and item.text in verb_forms()


def _is_plural(item: Item) -> bool:
    return item.text.endswith("s") and not item.text.endswith(("ss", "us")) and item.text != "'s"


def _modifies(items: Sequence[Item], at: int) -> bool:
    """Whether a mention is only the first part of a compound: "pottery" in "pottery wheel"."""
    behind = items[at + 1]
    plain = (
        behind.text not in words.BLOCKS | words.DETERMINERS
        and not _is_verb(behind)
        and behind.text != "'s"
    )
    return behind.node != "" or (plain and (behind.text[0].isalnum() or behind.text in "+-/"))


def fronted(items: Sequence[Item], subject: int, behind: int, verb: str, follow: str) -> list[int]:
    """Return the object that stands before its clause: "the parade I went to last week"."""
    front = subject - 1
    if front > 0 and items[front].text in {"that", "which"}:
        front -= 1
    if not (verb in _TRANSITIVE or follow.endswith("to ")) or front < 0 or not items[front].node:
        return []
    opening = {each.text for each in items[max(0, front - 3) : front]}
    determined = not opening.isdisjoint(words.DETERMINERS | {"one"})
    if items[front].person or not determined or not joined_to(items, front):
        return []
    ending = items[behind].text if behind < len(items) else "."
    after = (words.AFTERWARDS - words.DETERMINERS - {"her", "to"}) | STOPS | {"few", "couple"}
    return [front] if ending in after or ending.endswith("ly") else []


def _is_verb(item: Item) -> bool:
    forms = {form for _, form in verb_forms().get(item.text, ())}
    return bool(forms) and item.text not in {
        "named",
        "called",
        "play",
        "painted",
        "plant",
        "run",
        "plants",
        "runs",
        "plays",
        "show",
    }


def _next_listed(items: Sequence[Item], at: int) -> int:
    """Return where the next phrase of a list starts; the end of the items if none does."""
    marks = [each.text for each in items[at : at + 2]]
    if marks[:2] == [",", "and"]:
        return at + 2
    return at + 1 if marks[:1] in (["and"], [","], ["&"]) else len(items)
