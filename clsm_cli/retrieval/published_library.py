"""A store as presets see it: all of it in memory, as the published systems hold theirs.

What that costs is no matter: presets are there to be measured. The default has nothing of this.
"""

from __future__ import annotations

from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.model.graph import Node, Statement
from clsm_cli.retrieval.published_units import Pool, of_kind
from clsm_cli.store import logs, shards
from clsm_cli.store.index import graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.model.codec import Record
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.retrieval.preset_settings import Episodes
    from clsm_cli.retrieval.published_units import Unit
    from clsm_cli.store.index.graph import NodeRow
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.index.search import Traits


class Library:
    """A store as presets see it.

    Attributes:
        engine: None: without meaning.
    """

    def __init__(self, index: Index, engine: Engine | None) -> None:
        self.index = index
        self.engine = engine
        self._pools: dict[tuple[object, ...], Pool] = {}
        self._vectors: dict[str, Sequence[float]] = {}

    @cached_property
    def records(self) -> dict[str, Record]:
        """All records of the graph, by id."""
        store = self.index.store
        return shards.load_graph(store.graphs(), logs.forgotten(store)).records

    @cached_property
    def passages(self) -> dict[int, Passage]:
        """All current passages, by row."""
        return self.index.passages(self.index.current_rows())

    @cached_property
    def traits(self) -> dict[int, Traits]:
        """Where they stand."""
        return self.index.traits(list(self.passages))

    @cached_property
    def rows_of(self) -> dict[str, list[int]]:
        """Key → its passages."""
        found: dict[str, list[int]] = {}
        for row, passage in sorted(self.passages.items()):
            found.setdefault(passage.key, []).append(row)
        return found

    @cached_property
    def nodes(self) -> dict[int, NodeRow]:
        """The nodes with a record, by number."""
        ids = [record.id for record in self.records.values() if isinstance(record, Node)]
        return graph.nodes(self.index.connection, [graph.number_of(each) for each in ids])

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The same by id."""
        return {row.id: number for number, row in self.nodes.items()}

    @cached_property
    def active(self) -> dict[int, int]:
        """Node → day of its last mention or use, as a proleptic ordinal, if it has one."""
        used = graph.uses(self.index.connection, self.numbers)
        found = {
            number: [day for day, _ in used.get(row.id, ())] + ([row.last] if row.last else [])
            for number, row in self.nodes.items()
        }
        return {number: max(days) for number, days in found.items() if days}

    @cached_property
    def outdated(self) -> frozenset[str]:
        """Turns that only statements rest on which hold no longer."""
        old: set[str] = set()
        now: set[str] = set()
        for record in self.records.values():
            if isinstance(record, Statement) and not record.withdrawn:
                (now if record.is_current else old).update(record.sources)
        return frozenset(old - now)

    @cached_property
    def _marked(self) -> dict[int, list[str]]:
        """Passage → ids of the nodes that it mentions."""
        found: dict[int, list[str]] = {}
        for mention in self.index.mentions(list(self.passages)):
            if mention.node in self.numbers:
                found.setdefault(mention.passage, []).append(mention.node)
        return found

    def pool(self, kinds: Sequence[str], how: Episodes) -> Pool:
        """The units of some kinds."""
        key = (*kinds, how.read)
        if key not in self._pools:
            units = [unit for kind in kinds for unit in of_kind(self, kind, how)]
            self._pools[key] = Pool(self, units)
        return self._pools[key]

    def encoded(self, text: str) -> Sequence[float] | None:
        """The sentence vector of a text; None without a model."""
        if self.engine is None:
            return None
        if text not in self._vectors:
            self._vectors[text] = self.engine.encode(text).sentence
        return self._vectors[text]

    def likeness(self, one: str, other: str) -> float:
        """The cosine of two texts; 0 without a model."""
        a, b = self.encoded(one), self.encoded(other)
        return 0.0 if a is None or b is None else cosine(a, b)

    def mentioned(self, unit: Unit) -> dict[str, int]:
        """The nodes that a unit mentions: id → number of its passages that do.

        A statement mentions its subject, and of what its turns mention that which its text names.
        """
        found: dict[str, int] = {}
        for row in unit.rows:
            for node in self._marked.get(row, ()):
                found[node] = found.get(node, 0) + 1
        if unit.kind in ("statement", "gist"):
            record = self.records.get(unit.id)
            rows = (row for key in unit.keys for row in self.rows_of.get(key, ()))
            told = {node for row in rows for node in self._marked.get(row, ())}
            named = {node for node in told if self._names(node, unit.text)}
            if isinstance(record, Statement) and record.subject in self.numbers:
                named.add(record.subject)
            found = dict.fromkeys(sorted(named), 1) | found
        return found

    def _names(self, node: str, text: str) -> bool:
        row = self.nodes[self.numbers[node]]
        words = f" {spaced(text)} "
        return any(f" {spaced(name)} " in words for name in (row.label, *row.aliases))

    def raw(self, rows: Sequence[int]) -> str:
        """The turns of an episode, each behind its speaker."""
        told = (self.passages[row] for row in rows)
        return "\n".join(f"{p.speaker}: {p.text}" if p.speaker else p.text for p in told)


_kept: list[Library] = []


def library(index: Index, engine: Engine | None) -> Library:
    """The store of an index as presets see it; the last one is kept for its next question."""
    if not _kept or _kept[0].index is not index or _kept[0].engine is not engine:
        _kept[:] = [Library(index, engine)]
    return _kept[0]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The product of two unit vectors.

    >>> cosine([0.6, 0.8], [1.0, 0.0])
    0.6
    """
    return float(sum(map(mul, one, other)))


def spaced(text: str) -> str:
    """A text's words, folded, with single blanks between them."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
