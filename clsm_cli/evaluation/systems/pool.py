"""The passages that baselines rank: what a user has without clsm, loaded once for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import keys
from clsm_cli.evaluation.retrieved import of_passage
from clsm_cli.store.index import codes, graph
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.retrieved import Item
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.reader import Index

MOST = 200
"""Passages that a baseline returns at most."""
CONCEPTS = 10
"""Concepts that one returns at most, as many as the presets (CLS-M: top_k)."""
KEPT = 16
"""Benches whose passages stay in memory."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The turns and blocks of a bench, as they were ingested, in the order of their files.

    Attributes:
        passages: Each once; statements and gists, which clsm made, are none.
        vectors: Unit vectors float32 [passages, 384] as the index keeps them; nan without one.
        speakers: Everyone who speaks.
        mentioned: Key of a passage → the nodes of the consolidated store that it mentions, each
            as the keys of its names, in the order of their ids.
    """

    bench: Bench
    passages: tuple[Passage, ...]
    vectors: NDArray[np.float32]
    speakers: tuple[str, ...]
    mentioned: Mapping[str, tuple[tuple[str, ...], ...]]

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """What is returned of each passage."""
        return tuple(of_passage(each, count_tokens(each.text)) for each in self.passages)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What word search reads of each: who speaks, the heading path, the text."""
        return tuple(f"{each.speaker} {each.embedded_text}".strip() for each in self.passages)

    def concepts(self, places: Iterable[int]) -> tuple[tuple[str, ...], ...]:
        """The nodes that some passages mention, in the order of the first that does."""
        found: dict[tuple[str, ...], None] = {}
        for place in places:
            found |= dict.fromkeys(self.mentioned.get(self.passages[place].key, ()))
        return tuple(found)[:CONCEPTS]


@lru_cache(maxsize=KEPT)
def of(bench: Bench) -> Pool:
    """The passages of a bench."""
    with open_index(bench.raw, bench.shop.embedder) as opened:
        index = opened.index
        found = index.passages(index.current_rows())
        first: dict[str, int] = {}
        for row in sorted(found, key=lambda row: _place(found[row])):
            if found[row].kind == "passage":
                first.setdefault(found[row].id, row)
        rows = list(first.values())
        vectors = _vectors(index, rows)
        speakers = tuple(index.speakers())
    passages = tuple(found[row] for row in rows)
    return Pool(bench, passages, vectors, speakers, _mentioned(bench, passages))


def _place(passage: Passage) -> tuple[str, int, str, int]:
    """Where a passage stands: file, line, then parts of one turn in their order."""
    return passage.path, passage.line_start, passage.key, passage.part


def _vectors(index: Index, rows: Sequence[int]) -> NDArray[np.float32]:
    import numpy as np

    stored, size = index.vectors.sentence_rows(), codes.SENTENCE_BYTES
    traits = index.traits(rows)
    vectors = np.full((len(rows), 2 * size), np.nan, np.float32)
    for place, row in enumerate(rows):
        at = traits[row].vector
        if stored is not None and at >= 0:
            vectors[place] = codes.unit(stored[at * size : (at + 1) * size])
    return vectors


def _mentioned(bench: Bench, passages: Iterable[Passage]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """What passages mention, by key; see ``Pool``."""
    with open_index(bench.store, bench.shop.embedder) as opened:
        index = opened.index
        rows = index.rows_of({passage.key for passage in passages})
        key_of = {row: passage.key for row, passage in index.passages(rows).items()}
        marked = index.mentions(rows)
        numbers = {graph.number_of(mention.node) for mention in marked}
        nodes = {row.id: row for row in graph.nodes(index.connection, numbers).values()}
    names = {
        id_: tuple(sorted(keys((id_, node.label, *node.aliases)))) for id_, node in nodes.items()
    }
    found: dict[str, dict[str, None]] = {}
    for mention in sorted(marked, key=lambda each: each.node):
        if mention.node in names:
            found.setdefault(key_of[mention.passage], {})[mention.node] = None
    return {key: tuple(names[node] for node in listed) for key, listed in found.items()}
