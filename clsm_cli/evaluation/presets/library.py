"""A store as published systems see it: nodes, episodes, statements, gists and turns, to be ranked."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import mul

from clsm_cli.evaluation.dataset import label_keys
from clsm_cli.evaluation.measures import Item
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.scoring import match
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, shards
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.codes import SENTENCE_STEP
from clsm_cli.store.index.derived import EPISODE_EDGES
from clsm_cli.store.index.graph_queries import NodeRow
from clsm_cli.store.index.index_queries import Index
from clsm_cli.text import tokens

K1, B = 1.2, 0.75  # BM25 as search engines ship it; no source states its own


class Unit(NamedTuple):
    """Something that a system can find."""

    id: str
    kind: str  # node, episode (its narrative), fragment (its turns), statement, gist or turn
    text: str
    rows: tuple[int, ...]  # the passages it is made of, in order
    keys: tuple[str, ...]  # the turns that it is made of or rests on
    trust: str
    vector: int  # row of its sentence vector; −1: its text is encoded

    @property
    def is_derived(self) -> bool:
        """Whether consolidation wrote it."""
        return self.kind in ("statement", "gist")


class Library:
    """A store as published systems see it; what is archived counts as everything else."""

    def __init__(self, index: Index, engine: Engine) -> None:
        store = index.store
        self.index = index.with_archive()
        self.engine = engine
        self.records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
        self.passages = self.index.current_passages()  # by row, and so are their traits
        self.traits = self.index.traits(list(self.passages))
        self.encoded = lru_cache(maxsize=None)(lambda text: engine.encode(text).sentence)
        self.pool = lru_cache(maxsize=None)(lambda *kinds: Pool(self, kinds))
        self.cosines = lru_cache(maxsize=8)(self._cosines)  # to every stored vector, by its row

    @cached_property
    def _rows_of(self) -> dict[str, list[int]]:
        return grouped((passage.key, row) for row, passage in sorted(self.passages.items()))

    @cached_property
    def nodes(self) -> dict[str, NodeRow]:
        """The nodes with a record, by id."""
        nodes = (record for record in self.records.values() if isinstance(record, Node))
        numbers = [graph_queries.number_of(each.id) for each in nodes]
        found = graph_queries.nodes(self.index.connection, numbers).values()
        return {row.id: row for row in found}

    @cached_property
    def links(self) -> dict[str, list[tuple[str, Edge]]]:
        """The edges of each node and where they lead from it, closed and superseded ones too."""
        return grouped(
            (node, (other, record))
            for record in self.records.values()
            if isinstance(record, Edge) and record.type not in EPISODE_EDGES
            for node, other in ((record.source, record.target), (record.target, record.source))
            if node in self.nodes
        )

    @cached_property
    def current_links(self) -> dict[str, list[tuple[str, Edge]]]:
        """Those that nothing has ended."""
        return {
            node: [each for each in links if not (each[1].superseded_at or each[1].valid_until)]
            for node, links in self.links.items()
        }

    @cached_property
    def active(self) -> dict[str, int]:
        """Node → day of its last mention or use, as a proleptic ordinal; 0: it has none."""
        used = dict(self.index.connection.execute("SELECT id, MAX(day) FROM uses GROUP BY id"))
        return {id_: max(row.last or 0, used.get(id_, 0)) for id_, row in self.nodes.items()}

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
        mentions = self.index.mentions(list(self.passages))
        return grouped((each.passage, each.node) for each in mentions if each.node in self.nodes)

    def units(self, kind: str) -> list[Unit]:
        """All units of a kind."""
        if kind in ("episode", "fragment"):
            return self._episodes(kind)
        if kind == "node":
            found = ((row, self.records[row.id]) for row in self.nodes.values())
            return [
                Unit(row.id, kind, node_text(row), (), record.sources, "agent", row.vector)
                for row, record in found
                if isinstance(record, Node)
            ]
        units = []
        for row, each in self.passages.items():
            if each.kind == ("passage" if kind == "turn" else kind):
                keys, vector = each.sources or (each.key,), self.traits[row].vector
                units.append(Unit(each.id, kind, each.text, (row,), keys, each.trust, vector))
        return units

    def _episodes(self, kind: str) -> list[Unit]:
        """Episodes by the passages that name them; what is no longer current is left out."""
        members = grouped(
            (passage.episode, row)
            for row, passage in sorted(self.passages.items())
            if passage.episode is not None and passage.kind == "passage"
        )
        units = []
        for id_, rows in members.items():
            record, text = self.records.get(id_), ""
            if kind == "episode" and isinstance(record, EpisodeRecord):
                text = "\n".join(filter(None, (record.title, record.narrative)))
            keys = tuple(dict.fromkeys(self.passages[row].key for row in rows))
            trust = self.passages[rows[0]].trust
            units.append(Unit(id_, kind, text or self.raw(rows), tuple(rows), keys, trust, -1))
        return units

    def _rows_with(self, keys: Iterable[str]) -> list[int]:
        return [row for key in keys for row in self._rows_of.get(key, ())]

    def source_rows(self, unit: Unit) -> list[int]:
        """The passages that a unit is or rests on; its own where nothing of those is left."""
        is_made = unit.kind in ("turn", "episode", "fragment")
        return (not is_made and self._rows_with(unit.keys)) or list(unit.rows)

    def days(self, unit: Unit) -> set[int]:
        """The days on which it was told, as proleptic ordinals."""
        return {day for row in self.source_rows(unit) if (day := self.traits[row].day) is not None}

    def time(self, unit: Unit) -> str | None:
        """When the last of it was told; if nobody knows, when it was written."""
        for rows in (self.source_rows(unit), unit.rows):
            if times := [time for row in rows if (time := self.passages[row].time)]:
                return max(times)
        return None

    def raw(self, rows: Iterable[int]) -> str:
        """The turns of an episode, each behind its speaker."""
        passages = (self.passages[row] for row in rows)
        return "\n".join(f"{p.speaker}: {p.text}" if p.speaker else p.text for p in passages)

    def _cosines(self, text: str) -> Sequence[float]:
        stored, vector = self.index.vectors.sentence_rows(), self.encoded(text)
        if stored is None:
            return []
        (found,) = self.engine.products(stored, len(vector), [vector], SENTENCE_STEP)
        return found.tolist()

    def cosine(self, text: str, vector: int) -> float:
        """The cosine of a text to a stored vector; 0 where it is not stored."""
        return match.cosine_at(self.cosines(text), vector) or 0.0

    def likeness(self, one: str, other: str) -> float:
        """The cosine of two texts."""
        return float(sum(map(mul, self.encoded(one), self.encoded(other))))

    def names(self, text: str, row: NodeRow) -> bool:
        """Whether a text has the label of a node, or an alias."""
        words, folded = f" {folded_words(text)} ", map(folded_words, (row.label, *row.aliases))
        return any(name and f" {name} " in words for name in folded)

    def mentioned(self, unit: Unit) -> dict[str, int]:
        """The nodes that a unit mentions: id → number of its passages that do.

        A statement mentions its subject, and of what its turns mention that which its text names.
        """
        found = Counter(node for row in unit.rows for node in self._marked.get(row, ()))
        if not unit.is_derived:
            return found
        record = self.records.get(unit.id)
        rows = self._rows_with(unit.keys)
        named = {
            node
            for node in {node for row in rows for node in self._marked.get(row, ())}
            if self.names(unit.text, self.nodes[node])
        }
        if isinstance(record, Statement) and record.subject in self.nodes:
            named.add(record.subject)
        return dict.fromkeys(sorted(named), 1) | found

    def item(self, unit: Unit) -> Item:
        """A unit as it is measured: a turn is itself, all else stands for the turns it rests on.

        A statement takes as many places as it has turns, as in an answer of ``recall``.
        """
        sources = [self.passages[row] for row in self.source_rows(unit)]
        turns = tuple(dict.fromkeys(each.foreign_id or each.key for each in sources))
        day = ((sources[0].time if sources else "") or "")[:10]
        uses = max(1, len(turns)) if unit.is_derived else 1
        return Item(unit.id, unit.text, tokens.count_tokens(unit.text), turns, day, uses)

    def concepts(self, found: Iterable[Unit]) -> tuple[frozenset[str], ...]:
        """The keys of the nodes that were found; else of those that what was found mentions.

        The nodes of the best unit come first, of one unit those that more of its passages mention.
        """
        nodes: dict[str, None] = {}
        for unit in found:
            counts = {unit.id: 1} if unit.kind == "node" else self.mentioned(unit)
            nodes |= dict.fromkeys(sorted(counts, key=lambda each: (-counts[each], each)))
        limit = self.index.store.settings.recall.concepts
        rows = (self.nodes[node] for node in list(nodes)[:limit])
        return tuple(label_keys((row.id, row.label, *row.aliases)) for row in rows)


class Pool:
    """Units of some kinds that are ranked in one list, by kind, then id; ``lengths`` are in terms."""

    def __init__(self, library: Library, kinds: Iterable[str]) -> None:
        units = (unit for kind in kinds for unit in library.units(kind))
        self.units = sorted(units, key=lambda unit: (unit.kind, unit.id))
        self.lengths = [sum(library.traits[row].length for row in unit.rows) for unit in self.units]
        self._library = library
        self._of_row = {row: at for at, unit in enumerate(self.units) for row in unit.rows}

    def best(self, scores: Mapping[int, float], k: int) -> dict[int, float]:
        """The best ``k`` by score, ties by id."""
        order = sorted(scores, key=lambda at: (-scores[at], self.units[at].id, at))
        return {at: scores[at] for at in order[:k]}

    def found(self, scores: Mapping[int, float], k: int) -> list[tuple[Unit, float]]:
        """The units of the best ``k``, with their scores."""
        return [(self.units[at], score) for at, score in self.best(scores, k).items()]

    @cached_property
    def nodes(self) -> list[dict[str, int]]:
        """What each unit mentions: id of the node → how many of its passages do."""
        return [self._library.mentioned(unit) for unit in self.units]

    def cosines(self, text: str, least: float = -1.1) -> dict[int, float]:
        """The cosine of every unit to a text, if it is at least so much."""
        cosine, likeness = self._library.cosine, self._library.likeness
        near = (
            likeness(text, unit.text) if unit.vector < 0 else cosine(text, unit.vector)
            for unit in self.units
        )
        return {at: value for at, value in enumerate(near) if value >= least}

    def words(self, text: str) -> dict[int, float]:
        """BM25 of units that share a term with a text."""
        average = sum(self.lengths) / max(1, len(self.lengths)) or 1.0
        scores: dict[int, float] = {}
        for frequencies in self.counts(text).values():
            idf = match.idf(len(self.units), len(frequencies))
            postings = [(at, tf, self.lengths[at]) for at, tf in frequencies.items()]
            match.add_bm25(scores, postings, idf, average, k1=K1, b=B)
        return scores

    def counts(self, text: str) -> dict[str, dict[int, int]]:
        """Term of a text → unit → occurrences."""
        found: dict[str, dict[int, int]] = {}
        for term in dict.fromkeys(tokens.stems(text)):
            frequencies = found[term] = {}
            for row, tf, _ in self._library.index.postings(term):
                at = self._of_row.get(row)
                if at is not None:
                    frequencies[at] = frequencies.get(at, 0) + tf
        return found


def node_text(row: NodeRow) -> str:
    """What is compared of a node: its names and summary."""
    return graph_queries.node_text(row.label, row.aliases, row.summary)


def folded_words(text: str) -> str:
    """A text's words, folded, with single blanks between them.

    >>> folded_words("Memory_v2: failed!")
    'memory v2 failed'
    """
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
