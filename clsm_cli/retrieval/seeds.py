"""What a query names: the nodes that activation starts from.

By name first: a label or alias that stands in the query, or a query that stands in a name, on the
borders of words; else a name that a word of the query misspells. Then by meaning, or by words where
there is no model: the words of passages count without being seeds.
"""

from __future__ import annotations

import re
from heapq import nlargest
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.store.index import graph
from clsm_cli.text import tokens
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.store.index.graph import NodeRow
    from clsm_cli.store.index.reader import Index

LONGEST_NAME = 5
"""Words of a name that is looked for in the query."""
SHORT_QUERY = 3
"""Words, without those that say nothing, of a query that is looked for in names."""
LEAST_COSINE = 0.30
"""Of a node's text to the query, for a seed by meaning."""
MOST = 5
"""Seeds by meaning, and by words."""
ALIAS = 1 / 1.2
"""Activation of what is named by an alias or in part; an exact name has 20 % more (CLS-M §3.2)."""
FUZZY = 0.6
WORDS = 0.5
"""Activation of the node whose passages share most words with the query."""
MISSPELT = 5
"""Letters of a word that may be misspelt."""
_MAX_QUERY_WORDS = 64
_WORD = re.compile(r"[^\s,;:!?\"“”()\[\]]+")


class Seed(NamedTuple):
    """How a query names a node (exact, alias, fuzzy, bm25, cosine), and with what it begins."""

    kind: str
    activation: float


def named(index: Index, query: str, near: Mapping[int, NodeRow]) -> dict[int, Seed]:
    """The nodes that a query names by the words of a name.

    Args:
        index: Fresh.
        query: As it was asked.
        near: Nodes that its best passages mention.
    """
    words = [word.strip(".'’") for word in _WORD.findall(query)[:_MAX_QUERY_WORDS]]
    words = [word.removesuffix("'s").removesuffix("’s") for word in words]
    return (
        _in_query(index, words, near) or _around_query(words, near) or _misspelt(index, words, near)
    )


def choose(
    named: Mapping[int, Seed], meanings: Mapping[int, float], by_words: Mapping[int, float]
) -> dict[int, Seed]:
    """All seeds: what is named, and what is nearest by meaning or by words.

    Args:
        named: By name.
        meanings: Node → cosine of its text.
        by_words: Node → BM25 of the passages that mention it, as a share of the most; nothing where
            meaning is known.
    """
    chosen = dict(named)
    for number in nlargest(MOST, meanings, key=lambda each: (meanings[each], each)):
        if meanings[number] >= LEAST_COSINE:
            chosen.setdefault(number, Seed("cosine", meanings[number]))
    for number in nlargest(MOST, by_words, key=lambda each: (by_words[each], each)):
        if by_words[number] > 0:
            chosen.setdefault(number, Seed("bm25", WORDS * by_words[number]))
    return chosen


def _in_query(index: Index, words: list[str], near: Mapping[int, NodeRow]) -> dict[int, Seed]:
    """Names that stand in the query; of names that overlap the longest, then the first."""
    runs = [
        (start, end, node_id(" ".join(words[start:end])))
        for length in range(min(LONGEST_NAME, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
        for end in [start + length]
        if length > 1 or words[start].casefold() not in tokens.STOP_WORDS
    ]
    known = graph.named(index.connection, sorted({name for _, _, name in runs}))
    unrecorded = {node.id: [number] for number, node in near.items() if node.last is None}
    found: dict[int, Seed] = {}
    taken: set[int] = set()
    for start, end, name in runs:
        numbers = known.get(name) or unrecorded.get(name) or []
        if numbers and taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            for number in numbers:
                is_exact = number == graph.number_of(name)
                found.setdefault(number, Seed("exact", 1.0) if is_exact else Seed("alias", ALIAS))
    return found


def _around_query(words: list[str], near: Mapping[int, NodeRow]) -> dict[int, Seed]:
    """Names in which a short query stands."""
    asked = [word.casefold() for word in words if word.casefold() not in tokens.STOP_WORDS]
    if not 0 < len(asked) <= SHORT_QUERY:
        return {}
    wanted = f" {' '.join(asked)} "
    return {
        number: Seed("alias", ALIAS)
        for number, node in near.items()
        for name in (node.label, *node.aliases)
        if wanted in f" {name.casefold().replace('-', ' ')} "
    }


def _misspelt(index: Index, words: list[str], near: Mapping[int, NodeRow]) -> dict[int, Seed]:
    """Nodes of whose label a word is one letter away from one that stands nowhere in the store."""
    parts: dict[str, list[tuple[str, int]]] = {}
    for number, node in near.items():
        for part in node.label.casefold().replace("-", " ").split():
            parts.setdefault(part[0], []).append((part, number))
    found: dict[int, Seed] = {}
    for word in (word.casefold() for word in words if len(word) >= MISSPELT):
        alike = [number for part, number in parts.get(word[0], ()) if is_near(word, part)]
        if alike and not any(index.postings(stem) for stem in tokens.stems(word)):
            found |= dict.fromkeys(alike, Seed("fuzzy", FUZZY))
    return found


def is_near(a: str, b: str) -> bool:
    """Whether two words of one first letter are one edit apart, or two neighbours changed places.

    >>> is_near("hardn", "hardin"), is_near("hradin", "hardin"), is_near("garden", "hardin")
    (True, True, False)
    """
    if a == b or a[0] != b[:1] or abs(len(a) - len(b)) > 1:
        return False
    start = next(
        (at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    first, second = a[start:], b[start:]
    if len(first) == len(second):
        swapped = first[1::-1] + first[2:]
        return first[1:] == second[1:] or swapped == second
    longer, shorter = sorted((first, second), key=len, reverse=True)
    return longer[1:] == shorter
