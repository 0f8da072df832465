"""Link a query to the nodes that it names, and correct misspelt names before the search.

A query names a node if it contains one of its labels or aliases, or is part of one, on word
boundaries; otherwise, if one of its words misspells one. A word is a misspelling if no passage
contains it, if it is more than one piece of the model's vocabulary (so it is neither a common word
nor a common name: "Maria" is not taken for "Marit"), and if a name in the store is similar.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.text import tokens
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.sentences import capitals_inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.index.graph_queries import NodeRow
    from clsm_cli.store.index.index_queries import Index

MAX_NAME_WORDS = 5
"""Words of a name that is searched for in the query, at most."""
MAX_SHORT_QUERY = 3
"""Content words of a query that is searched for in names, at most."""
MIN_EDITED_LETTERS, MIN_SWAPPED_LETTERS = 5, 4
"""Letters of a word that may be misspelt, at least, and of one in which only two letters are swapped."""
MIN_SWAP_SIMILARITY = 0.75
MIN_SIMILARITY = 0.8
"""Similarity (1 − edits / letters, a swap of neighbours being one edit) from which a word is a
misspelt name: one edit in five to nine letters, two in ten.
"""
_MAX_QUERY_WORDS = 64
_WORD = re.compile(r"[^\s,;:!?\"“”()\[\]]+")


def link_entities(index: Index, query: str, near: Mapping[int, NodeRow]) -> dict[int, str]:
    """The nodes that a query names: number → kind of match (exact, alias, fuzzy)."""
    words = _words(query)
    return (
        _in_query(index, words, near) or _around_query(words, near) or _misspelt(index, words, near)
    )


def names_inside(index: Index, query: str) -> list[str]:
    """The capitalised words inside the sentences of a query that are, or begin, a name of a node."""
    words = capitals_inside(query)
    return [w for w in words if graph_queries.begins_name(index.connection, node_id(w))]


def _words(query: str) -> list[str]:
    words = [word.strip(".'’") for word in _WORD.findall(query)[:_MAX_QUERY_WORDS]]
    return [word.removesuffix("'s").removesuffix("’s") for word in words]


def _in_query(index: Index, words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Nodes whose name the query contains; of overlapping names the longest, then the first."""
    runs = [
        (start, end, node_id(" ".join(words[start:end])))
        for length in range(min(MAX_NAME_WORDS, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
        for end in [start + length]
        if length > 1 or words[start].casefold() not in tokens.STOP_WORDS
    ]
    numbers_by_name = graph_queries.nodes_by_name(
        index.connection, sorted({name for _, _, name in runs})
    )
    unrecorded = {node.id: [number] for number, node in near.items() if node.last is None}
    linked: dict[int, str] = {}
    taken: set[int] = set()
    for start, end, name in runs:
        numbers = numbers_by_name.get(name) or unrecorded.get(name) or []
        if numbers and taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            own = graph_queries.number_of(name)
            for number in numbers:
                linked.setdefault(number, "exact" if number == own else "alias")
    return linked


def _around_query(words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Nodes whose name contains a short query."""
    asked = [word.casefold() for word in words if word.casefold() not in tokens.STOP_WORDS]
    if not 0 < len(asked) <= MAX_SHORT_QUERY:
        return {}
    wanted = f" {' '.join(asked)} "
    return {
        number: "alias"
        for number, node in near.items()
        for name in node.names
        if wanted in f" {name.casefold().replace('-', ' ')} "
    }


def _misspelt(index: Index, words: list[str], near: Mapping[int, NodeRow]) -> dict[int, str]:
    """Nodes with a name that a query word misspells."""
    parts: dict[str, set[int]] = {}
    for number, node in near.items():
        for part in node.label.casefold().replace("-", " ").split():
            parts.setdefault(part, set()).add(number)
    likely_names = _likely_names(index, words, parts)
    return {
        number: "fuzzy" for _, likely in likely_names for name in likely for number in name.numbers
    }


class LikelyName(NamedTuple):
    """A word of names that a query word may misspell, the nodes with it, and its similarity."""

    part: str
    numbers: set[int]
    similarity: float


def _likely_names(
    index: Index, words: list[str], near_words: Mapping[str, set[int]]
) -> Iterator[tuple[str, list[LikelyName]]]:
    """The words that no passage contains and that may misspell a name, with the words of these names.

    Args:
        near_words: Words of names, with their nodes, that are compared even if their first letter
            differs.
    """
    for written in (word for word in words if len(word) >= MIN_SWAPPED_LETTERS):
        word = written.casefold()
        if any(index.postings(stem) for stem in tokens.stems(word)):
            continue
        parts = {part: {*numbers} for part, numbers in near_words.items()}
        for name, node in graph_queries.names_with_initial(index.connection, word[0]):
            parts.setdefault(name.split("-")[0], set()).add(graph_queries.number_of(node))
        # rapidfuzz takes 10 ms to load, so only words with nearly the same letters are compared.
        near_by = [part for part in parts if len({*word} ^ {*part}) <= 2 + len(word) // 10]
        if near_by:
            from rapidfuzz.distance import OSA

            least = MIN_SIMILARITY
            if len(word) < MIN_EDITED_LETTERS:
                near_by = [part for part in near_by if sorted(word) == sorted(part)]
                least = MIN_SWAP_SIMILARITY
            likely = [
                LikelyName(part, parts[part], OSA.normalized_similarity(word, part))
                for part in near_by
            ]
            if likely := [name_part for name_part in likely if name_part.similarity >= least]:
                yield written, likely


def correct_names(index: Index, text: str, engine: Engine | None) -> tuple[str, str]:
    """Correct misspelt names in a question; return it with a warning, "" if nothing was misspelt.

    Args:
        engine: Open; without one, every unknown word that is similar to a name is corrected.
    """
    corrections: list[str] = []
    for word, likely in _likely_names(index, [*dict.fromkeys(_words(text))], {}):
        if any(map(str.isdigit, word)):
            continue  # a code must match exactly
        if engine is not None and len(engine.encode(word).pieces) < 2:
            continue
        best = min(likely, key=lambda name_part: (-name_part.similarity, name_part.part))
        nodes = graph_queries.nodes(index.connection, best.numbers).values()
        spelt = (part for node in nodes for part in node.label.replace("-", " ").split())
        name = next((part for part in spelt if part.casefold() == best.part), best.part)
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", name.replace("\\", r"\\"), text)
        corrections.append(f'nothing has "{word}"; read as "{name}"')
    return text, "; ".join(corrections)
