"""What a node is: the sentences that define it best, of those that name it and still hold."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from clsm_cli.heads import definition_head
from clsm_cli.heads.unit_features import is_stock
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.store.index.evidence_queries import SourceTurn
from clsm_cli.text.known_names import Matcher
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import split
from clsm_cli.text.tokens import terms

MAX_SENTENCES, MAX_CHARS = 2, 240
"""Sentences of a description, and characters of each, at most."""
MIN_PROBABILITY = 0.48
"""Probability of a definition from which a second sentence describes a node: about two good signs."""
MIN_MENTION = 0.2
"""The same of the first: what is said of it last, if nothing defines it, and no list of numbers."""
_MIN_OVERLAP = 0.6
"""Shared terms of two sentences, as a share of those of the shorter one, from which one is dropped."""


class Quote(NamedTuple):
    """A plain sentence about a node: its probability of defining it, its time ("" without), its turn."""

    text: str
    probability: float
    time: str
    key: str


def quotes(
    matcher: Matcher, turns: Mapping[str, SourceTurn], sections: Mapping[str, str]
) -> dict[str, list[Quote]]:
    """The sentences about each node in some turns; none from tools or pages, of what is over, or stock.

    Args:
        sections: Key of a block that opens a section → the node that its heading names.
    """
    found: dict[str, list[Quote]] = {}
    for key, turn in turns.items():
        if not turn.is_current or turn.trust in UNTRUSTED:
            continue
        is_dated, named = turn.time is not None, matcher.find(turn.text)
        told: list[tuple[str, definition_head.Definition | None]] = []
        for start, end in split(turn.text):
            inside = {each.node: each for each in reversed(named) if start <= each.start < end}
            marked = turn.text[start:end]
            if not inside or is_stock(marked):
                continue
            plain = to_plain(marked)
            for node, span in inside.items():
                name = to_plain(turn.text[span.start : span.end])
                told.append((node, definition_head.judge(marked, plain, name, is_dated=is_dated)))
        if key in sections:
            below = definition_head.below_heading(turn.text, turn.heading)
            told.append((sections[key], below))
        for node, each in told:
            if each is not None:
                quote = Quote(each.text, each.probability, turn.time or "", key)
                found.setdefault(node, []).append(quote)
    return found


def quotes_of(text: str, name: str, time: str, key: str) -> Iterator[Quote]:
    """The sentences of a dated text that have a name."""
    for each in definition_head.definitions(text, name, "", is_dated=True):
        yield Quote(each.text, each.probability, time, key)


def best_quotes(candidates: Iterable[Quote]) -> list[Quote]:
    """At most two sentences that define a thing, best first, or the one that comes nearest to it.

    Sentences that share most of their words with a better one are left out. Ties go to the newer time, then
    key, then text.
    """
    ranked = sorted(set(candidates), key=lambda each: (each.key, each.text))
    ranked.sort(key=lambda each: each.time, reverse=True)
    ranked.sort(key=lambda each: -each.probability)
    chosen: list[Quote] = []
    for each in ranked:
        least = MIN_PROBABILITY if chosen else MIN_MENTION
        if len(chosen) == MAX_SENTENCES or each.probability < least:
            break
        if len(each.text) <= MAX_CHARS and not any(_is_alike(each, old) for old in chosen):
            chosen.append(each)
    return chosen


def _is_alike(one: Quote, other: Quote) -> bool:
    left, right = terms(one.text), terms(other.text)
    return len(left & right) >= _MIN_OVERLAP * max(1, min(len(left), len(right)))
