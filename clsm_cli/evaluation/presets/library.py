"""A store as units that presets rank, and what they return in the form that is measured.

What that costs does not matter: presets are there to be measured. What they rank are units: nodes,
episodes, statements, gists and turns.
"""

from __future__ import annotations

from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import label_keys
from clsm_cli.evaluation.measures import Item
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Node, Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, shards
from clsm_cli.store.index import graph_queries
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.evaluation.presets.channels import TextView
    from clsm_cli.evaluation.presets.preset import Episodes
    from clsm_cli.model.codec import Record
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.index.graph_queries import NodeRow
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.ranking_queries import Traits


class Unit(NamedTuple):
    """Something that a preset can find.

    Attributes:
        kind: node, episode, statement, gist or turn.
        text: What is returned, and what is compared where no vector is stored.
        rows: The passages it is made of, in order.
        keys: The turns that it is made of or rests on.
        days: On which those were told, as proleptic ordinals.
        time: When the last of them was told.
        vector: Row of its sentence vector; −1: its text is encoded.
    """

    id: str
    kind: str
    text: str
    rows: tuple[int, ...]
    keys: tuple[str, ...]
    days: frozenset[int]
    time: str | None
    trust: str
    vector: int


class Pool:
    """Units that are ranked in one list, with the words of each.

    Attributes:
        units: By kind, then id.
        of_row: Passage → place of the unit that is made of it.
        lengths: Terms of each unit.
        nodes: What each mentions: id of the node → how many of its passages do.
    """

    def __init__(self, library: Library, units: Sequence[Unit]) -> None:
        self.units = sorted(units, key=lambda unit: (unit.kind, unit.id))
        self.of_row = {row: at for at, unit in enumerate(self.units) for row in unit.rows}
        traits = library.traits
        self.lengths = [sum(traits[row].length for row in unit.rows) for unit in self.units]
        self.nodes = [library.mentioned(unit) for unit in self.units]


def units_of_kind(library: Library, kind: str, how: Episodes) -> list[Unit]:
    """All units of a kind."""
    if kind == "node":
        return [_node(library, row) for row in library.nodes.values()]
    if kind == "episode":
        return _episodes(library, how)
    wanted = "passage" if kind == "turn" else kind
    found = [(row, p) for row, p in library.passages.items() if p.kind == wanted]
    return [_of_passage(library, kind, row, passage) for row, passage in found]


def _of_passage(library: Library, kind: str, row: int, passage: Passage) -> Unit:
    keys = passage.sources or (passage.key,)
    rows = [each for key in keys for each in library.rows_of.get(key, ())] or [row]
    days, time = _told(library, rows)
    return Unit(
        id=passage.id,
        kind=kind,
        text=passage.text,
        rows=(row,),
        keys=keys,
        days=days,
        time=time or passage.time,
        trust=passage.trust,
        vector=library.traits[row].vector,
    )


def _episodes(library: Library, how: Episodes) -> list[Unit]:
    """Episodes by the passages that name them; what is no longer current is left out."""
    members: dict[str, list[int]] = {}
    for row, passage in sorted(library.passages.items()):
        if passage.episode is not None and passage.kind == "passage":
            members.setdefault(passage.episode, []).append(row)
    units = []
    for episode, rows in members.items():
        record = library.records.get(episode)
        first = library.passages[rows[0]]
        days, time = _told(library, rows)
        units.append(
            Unit(
                id=episode,
                kind="episode",
                text=_narrative(record) if how.read == "narrative" else library.raw(rows),
                rows=tuple(rows),
                keys=tuple(dict.fromkeys(library.passages[row].key for row in rows)),
                days=days,
                time=time,
                trust=first.trust,
                vector=-1,
            )
        )
    return [unit._replace(text=unit.text or library.raw(unit.rows)) for unit in units]


def _narrative(record: Record | None) -> str:
    if not isinstance(record, EpisodeRecord):
        return ""
    return "\n".join(filter(None, (record.title, record.narrative)))


def _node(library: Library, row: NodeRow) -> Unit:
    record = library.records.get(row.id)
    keys = record.sources if isinstance(record, Node) else ()
    rows = [each for key in keys for each in library.rows_of.get(key, ())]
    days, time = _told(library, rows)
    return Unit(
        id=row.id,
        kind="node",
        text=graph_queries.node_text(row.label, row.aliases, row.summary),
        rows=(),
        keys=keys,
        days=days,
        time=time,
        trust="agent",
        vector=row.vector,
    )


def _told(library: Library, rows: Sequence[int]) -> tuple[frozenset[int], str | None]:
    days = frozenset(day for row in rows if (day := library.traits[row].day) is not None)
    return days, max((time for row in rows if (time := library.passages[row].time)), default=None)


class Library:
    """A store as presets see it."""

    def __init__(self, index: Index, engine: Engine) -> None:
        self.index = index
        self.engine = engine
        self._pools: dict[tuple[object, ...], Pool] = {}
        self._vectors: dict[str, Sequence[float]] = {}

    @cached_property
    def records(self) -> dict[str, Record]:
        """All records of the graph, by id."""
        store = self.index.store
        return shards.load_graph(store.graphs(), logs.load_tombstones(store)).records

    @cached_property
    def passages(self) -> dict[int, Passage]:
        """All current passages, by row."""
        return self.index.passages(self.index.current_rows())

    @cached_property
    def traits(self) -> dict[int, Traits]:
        """Traits of the passages, by row."""
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
        return graph_queries.nodes(
            self.index.connection, [graph_queries.number_of(each) for each in ids]
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The nodes with a record, by id."""
        return {row.id: number for number, row in self.nodes.items()}

    @cached_property
    def active(self) -> dict[int, int]:
        """Node → day of its last mention or use, as a proleptic ordinal, if it has one."""
        used = graph_queries.recall_counts(self.index.connection, self.numbers)
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
        found: dict[int, list[str]] = {}
        for mention in self.index.mentions(list(self.passages)):
            if mention.node in self.numbers:
                found.setdefault(mention.passage, []).append(mention.node)
        return found

    def pool(self, kinds: Sequence[str], how: Episodes) -> Pool:
        """The units of some kinds."""
        key = (*kinds, how.read)
        if key not in self._pools:
            units = [unit for kind in kinds for unit in units_of_kind(self, kind, how)]
            self._pools[key] = Pool(self, units)
        return self._pools[key]

    def encoded(self, text: str) -> Sequence[float]:
        """The sentence vector of a text."""
        if text not in self._vectors:
            self._vectors[text] = self.engine.encode(text).sentence
        return self._vectors[text]

    def likeness(self, one: str, other: str) -> float:
        """The cosine of two texts."""
        return cosine(self.encoded(one), self.encoded(other))

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
        words = f" {folded_words(text)} "
        return any(f" {folded_words(name)} " in words for name in (row.label, *row.aliases))

    def raw(self, rows: Sequence[int]) -> str:
        """The turns of an episode, each behind its speaker."""
        told = (self.passages[row] for row in rows)
        return "\n".join(f"{p.speaker}: {p.text}" if p.speaker else p.text for p in told)


_kept: list[Library] = []


def library(index: Index, engine: Engine) -> Library:
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


def folded_words(text: str) -> str:
    """A text's words, folded, with single blanks between them."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def as_items(view: TextView, found: Sequence[Unit], raw: int) -> list[Item]:
    """Units as items, in their order; the first ``raw`` episodes carry their turns."""
    listed = []
    for unit in found:
        text = unit.text
        if unit.kind == "episode" and raw > 0:
            raw -= 1
            text = f"{text}\n\n{view.library.raw(unit.rows)}"
        listed.append(_item(view.library, unit, text))
    return listed


def _item(library: Library, unit: Unit, text: str) -> Item:
    """A turn is itself; all else stands for the turns of each file that it rests on."""
    rested = (row for key in unit.keys for row in library.rows_of.get(key, ()))
    files = {**_by_file(library, unit.rows), **_by_file(library, rested)} or {("", ()): unit.time}
    groups, times = [turns for _, turns in files], list(files.values())
    first = 0 if unit.kind == "turn" else 1
    resting = [turn for turns in groups[first:] for turn in turns]
    return Item(
        id=unit.id,
        text=text,
        tokens=tokens.count_tokens(text),
        turns=tuple(dict.fromkeys(resting or groups[0])),
        day=(times[min(first, len(times) - 1)] or "")[:10],
        uses=max(1, len(resting)) if first else 1,
    )


def _by_file(
    library: Library, rows: Iterable[int]
) -> dict[tuple[str, tuple[str, ...]], str | None]:
    """The turns of some passages by their file, each with the time of the first."""
    by_path: dict[str, list[Passage]] = {}
    for row in rows:
        by_path.setdefault(library.passages[row].path, []).append(library.passages[row])
    return {
        (path, tuple(dict.fromkeys(each.foreign_id or each.key for each in found))): found[0].time
        for path, found in by_path.items()
    }


def as_concepts(view: TextView, found: Sequence[Unit], limit: int) -> tuple[tuple[str, ...], ...]:
    """The keys of the nodes that were found; else of those that what was found mentions.

    The nodes of the best unit come first, of one unit those that more of its passages mention.
    """
    library = view.library
    if any(unit.kind == "node" for unit in found):
        nodes = [unit.id for unit in found]
    else:
        mentioned = map(library.mentioned, found)
        nodes = [
            n for held in mentioned for n in sorted(held, key=lambda each: (-held[each], each))
        ]
    rows = (library.nodes[library.numbers[node]] for node in list(dict.fromkeys(nodes))[:limit])
    return tuple(tuple(sorted(label_keys((row.id, row.label, *row.aliases)))) for row in rows)
