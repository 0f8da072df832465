"""The concepts that a query names.

A label or alias that stands in the query, or a query that stands in a name, on the borders of words;
where there is none, the names that its words misspell. What is near in meaning, or mentioned by what was
found, is weighed as evidence (``concepts``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.store.index import graph_queries
from clsm_cli.text import tokens
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.store.index.graph_queries import NodeRow
    from clsm_cli.store.index.index_queries import Index

LONGEST_NAME = 5
"""Words of a name that is looked for in the query."""
SHORT_QUERY = 3
"""Words, without those that say nothing, of a query that is looked for in names."""
MISSPELT = 5
"""Letters of a word that may be misspelt."""
ALIKE = 0.8
"""Share of letters that stay (1 − edits / letters, neighbours that changed places being one edit) from
which a word is a misspelt name: one edit in five to nine letters, two in ten."""
_MAX_QUERY_WORDS = 64
_WORD = re.compile(r"[^\s,;:!?\"“”()\[\]]+")


def link_entities(index: Index, query: str, near: Mapping[int, NodeRow]) -> dict[int, str]:
    """The nodes that a query names: number → how (exact, alias, fuzzy)."""
    words = [word.strip(".'’") for word in _WORD.findall(query)[:_MAX_QUERY_WORDS]]
    words = [word.removesuffix("'s").removesuffix("’s") for word in words]
    return (
        _in_query(index, words, near) or _around_query(words, near) or _misspelt(index, words, near)
    )


def _in_query(index: Index, words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Names in the query; of overlapping ones the longest, then the first."""
    runs = [
        (start, end, node_id(" ".join(words[start:end])))
        for length in range(min(LONGEST_NAME, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
        for end in [start + length]
        if length > 1 or words[start].casefold() not in tokens.STOP_WORDS
    ]
    known = graph_queries.nodes_by_name(index.connection, sorted({name for _, _, name in runs}))
    unrecorded = {node.id: [number] for number, node in near.items() if node.last is None}
    found: dict[int, str] = {}
    taken: set[int] = set()
    for start, end, name in runs:
        numbers = known.get(name) or unrecorded.get(name) or []
        if numbers and taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            for number in numbers:
                found.setdefault(
                    number, "exact" if number == graph_queries.number_of(name) else "alias"
                )
    return found


def _around_query(words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Names that contain a short query."""
    asked = [word.casefold() for word in words if word.casefold() not in tokens.STOP_WORDS]
    if not 0 < len(asked) <= SHORT_QUERY:
        return {}
    wanted = f" {' '.join(asked)} "
    return {
        number: "alias"
        for number, node in near.items()
        for name in (node.label, *node.aliases)
        if wanted in f" {name.casefold().replace('-', ' ')} "
    }


def _misspelt(index: Index, words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Nodes with a word in their name that resembles a query word unknown to the store."""
    parts: dict[str, set[int]] = {}
    for number, node in near.items():
        for part in node.label.casefold().replace("-", " ").split():
            parts.setdefault(part, set()).add(number)
    found: dict[int, str] = {}
    for word in (word.casefold() for word in words if len(word) >= MISSPELT):
        if any(index.postings(stem) for stem in tokens.stems(word)):
            continue
        for name, known in graph_queries.names_from(index.connection, word[0]):
            parts.setdefault(name.split("-")[0], set()).add(graph_queries.number_of(known))
        # rapidfuzz takes 10 ms to load, so it is asked only about what has nearly the same letters.
        near_by = [part for part in parts if len({*word} ^ {*part}) <= 2 + len(word) // 10]
        if near_by:
            from rapidfuzz.distance import OSA

            for part in near_by:
                if OSA.normalized_similarity(word, part) >= ALIKE:
                    found |= dict.fromkeys(parts[part], "fuzzy")
    return found
