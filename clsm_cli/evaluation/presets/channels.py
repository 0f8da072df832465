"""Retrieval channels of presets: each scores units, and ``retrieve`` fuses the scores."""

from __future__ import annotations

from datetime import date
from functools import cached_property, lru_cache
from math import log
from typing import TYPE_CHECKING

from clsm_cli.evaluation import formulas
from clsm_cli.evaluation.formulas import Link, spread
from clsm_cli.evaluation.presets.library import folded_words
from clsm_cli.model import clocks
from clsm_cli.scoring import match
from clsm_cli.scoring.retention import DORMANT, STREAM_DAYS, retention
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import ontology as store_ontology
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.codes import SENTENCE_STEP
from clsm_cli.text import tokens
from clsm_cli.text.tagging import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.evaluation.presets.library import Library, Pool, Unit
    from clsm_cli.evaluation.presets.preset import GraphScore, Preset, Tags
    from clsm_cli.store.index.graph_queries import NodeRow

    Scores = dict[int, float]

K1, B = 1.2, 0.75
"""BM25 as search engines ship it; no source states its own."""


class Context(NamedTuple):
    """What is the same for all texts of one question.

    Attributes:
        now: ISO 8601.
        periods: Days that are asked about: first, and the day after the last.
    """

    library: Library
    preset: Preset
    now: str
    periods: tuple[tuple[int, int], ...]


class TextView:
    """One text that is asked, and what it finds; looked up when a channel wants it."""

    def __init__(self, context: Context, text: str) -> None:
        self.context = context
        self.text = text
        self.terms = tuple(dict.fromkeys(tokens.stems(text)))
        self.library = context.library

    @cached_property
    def cosines(self) -> Sequence[float]:
        """Of the stored sentence vectors, by row; empty where none are stored."""
        sentence = self.library.encoded(self.text)
        stored = self.library.index.vectors.sentence_rows()
        if stored is None:
            return ()
        (found,) = self.library.engine.products(stored, len(sentence), [sentence], SENTENCE_STEP)
        return found.tolist()

    def cosine(self, unit: Unit) -> float:
        """The cosine of a unit to the text; 0 where its vector is not stored."""
        if 0 <= unit.vector < len(self.cosines):
            return self.cosines[unit.vector]
        return self.library.likeness(self.text, unit.text) if unit.vector < 0 else 0.0

    def channel(self, name: str, pool: Pool) -> Scores:
        """Place of a unit → score, for what a channel finds."""
        if name == "activation":
            return self._activation(pool)
        if name == "words":
            return self.words(pool)
        if name == "meaning":
            return {at: self.cosine(unit) for at, unit in enumerate(pool.units)}
        if name == "tags":
            return self._tags(pool)
        if name == "dates":
            return self._dates(pool)
        return self._graph(pool)

    def words(self, pool: Pool) -> Scores:
        """BM25 of units that share a term with the text."""
        counts = self.counts(pool)
        average = sum(pool.lengths) / len(pool.lengths) if pool.lengths else 1.0
        scores: Scores = {}
        for held in counts.values():
            idf = match.idf(len(pool.units), len(held))
            postings = [(at, tf, pool.lengths[at]) for at, tf in held.items()]
            match.add_bm25(scores, postings, idf, average or 1.0, k1=K1, b=B)
        return scores

    def counts(self, pool: Pool) -> dict[str, dict[int, int]]:
        """Term → unit → occurrences."""
        found: dict[str, dict[int, int]] = {}
        for term in self.terms:
            held: dict[int, int] = {}
            for row, tf, _ in self.library.index.postings(term):
                at = pool.of_row.get(row)
                if at is not None:
                    held[at] = held.get(at, 0) + tf
            found[term] = held
        return found

    def _dates(self, pool: Pool) -> Scores:
        asked = self.context.periods
        return {
            at: 1.0
            for at, unit in enumerate(pool.units)
            if any(first <= day < until for first, until in asked for day in unit.days)
        }

    def _tags(self, pool: Pool) -> Scores:
        settings = self.context.preset.tags
        assert settings is not None  # preset.load sees to it
        tagger = Tagger.for_library(self.library, settings)
        mine = set(tagger.tag_text(self.text))
        common = {
            at: float(len(mine & set(tagger.tag_unit(unit)))) for at, unit in enumerate(pool.units)
        }
        return {at: count for at, count in common.items() if count}

    def _graph(self, pool: Pool) -> Scores:
        nodes = self.node_scores()
        best = {
            at: max((nodes[node] for node in mentioned), default=0.0)
            for at, mentioned in enumerate(pool.nodes)
        }
        return {at: score for at, score in best.items() if score > 0}

    def node_scores(self) -> dict[str, float]:
        """Smriti's score of a node: a · cosine + b · PageRank / its maximum + c · text."""
        how = self.context.preset.graph
        assert how is not None  # preset.load sees to it
        ranks = _pagerank(self.library, how, self.context.now)
        most = max(ranks.values(), default=1.0)
        found = {}
        for number, row in self.library.nodes.items():
            near = self.cosines[row.vector] if 0 <= row.vector < len(self.cosines) else 0.0
            found[row.id] = (
                how.cosine * max(0.0, near)
                + how.pagerank * ranks.get(number, 0.0) / most
                + how.text * self._in_node(row)
            )
        return found

    def _in_node(self, row: NodeRow) -> float:
        """min(1, mean over the terms of 1 + ln(1 + tf)  ×  (½ + ½ coverage))."""
        held = tokens.stems(graph_queries.node_text(row.label, row.aliases, row.summary))
        counts = [held.count(term) for term in self.terms]
        known = [count for count in counts if count]
        if not known:
            return 0.0
        mean = sum(1 + log(1 + count) for count in known) / len(counts)
        return min(1.0, mean * (0.5 + 0.5 * len(known) / len(counts)))

    def _activation(self, pool: Pool) -> Scores:
        spreading = self.context.preset.spreading
        assert spreading is not None  # preset.load sees to it
        places = {unit.id: at for at, unit in enumerate(pool.units) if unit.kind == "node"}
        nodes = self.library.nodes
        return {
            places[nodes[number].id]: activation
            for number, activation in spread(self.seeds, self._links, spreading).items()
            if nodes[number].id in places
        }

    @property
    def seeds(self) -> dict[int, float]:
        """Where activation begins: node → activation.

        A node that the text names has its cosine times ``exact``, at most 1; any other its cosine.
        """
        how = self.context.preset.seeds
        assert how is not None  # preset.load sees to it
        found = []
        for number, row in self.library.nodes.items():
            near = self.cosines[row.vector] if 0 <= row.vector < len(self.cosines) else None
            if (how.named and self.names(row)) or (how.contained and self._is_in(row)):
                start = 1.0 if near is None else min(1.0, how.exact * max(0.0, near))
                found.append((-start, row.id, number))
            elif near is not None and near >= how.least:
                found.append((-near, row.id, number))
        return {number: -start for start, _, number in sorted(found)[: how.most]}

    def names(self, row: NodeRow) -> bool:
        """Whether the text has the label of a node, or an alias."""
        folded = map(folded_words, (row.label, *row.aliases))
        return any(words and f" {words} " in self._spaced for words in folded)

    def _is_in(self, row: NodeRow) -> bool:
        whole = folded_words(graph_queries.node_text(row.label, row.aliases, row.summary))
        return bool(self._spaced.strip()) and self._spaced in f" {whole} "

    @cached_property
    def _spaced(self) -> str:
        return f" {folded_words(self.text)} "

    def _links(self, numbers: Sequence[int]) -> Iterable[Link]:
        nodes, now = self.library.nodes, self.context.now
        for row in graph_queries.links(self.library.index.connection, numbers):
            other = nodes.get(row.other)
            if other is not None and clocks.holds(row, now):
                strength = row.weight / self._largest
                yield Link(row.node, row.other, strength, other.degree, self._is_dormant(other))

    def _is_dormant(self, row: NodeRow) -> bool:
        last = self.library.active.get(row.number)
        if last is None:
            return False
        days = date.fromisoformat(self.context.now[:10]).toordinal() - last
        return retention(days, STREAM_DAYS[row.stream]) < DORMANT

    @cached_property
    def _largest(self) -> float:
        how = self.context.preset.seeds
        if how is None or not how.relative:
            return 1.0
        return max((row.strongest for row in self.library.nodes.values()), default=0.0) or 1.0


def _pagerank(library: Library, how: GraphScore, now: str) -> dict[int, float]:
    """PageRank of all nodes over the edges that hold now: the walk begins anew anywhere."""
    rows: dict[int, dict[int, float]] = {number: {} for number in library.nodes}
    for row in graph_queries.links(library.index.connection, list(rows)):
        if row.other in rows and clocks.holds(row, now):
            there = rows[row.node]
            there[row.other] = max(there.get(row.other, 0.0), row.weight)
    seeds = dict.fromkeys(rows, 1.0)
    return formulas.pagerank(rows, seeds, restart=1 - how.damping, tolerance=1e-6)


class Tagger:
    """Tags texts of one store, the same way when stored and asked.

    In CAIM a language model picks two or three tags of the ontology, for any text; here the words of
    a text do, and where they are not enough the cosine to "tag: its synonyms".
    """

    def __init__(self, library: Library, settings: Tags) -> None:
        self._library = library
        self._settings = settings
        self._ontology, _ = store_ontology.load(library.index.store)
        self._of_units: dict[str, tuple[str, ...]] = {}

    @staticmethod
    @lru_cache(maxsize=1)
    def for_library(library: Library, settings: Tags) -> Tagger:
        """The tagger of a store, kept for its next question."""
        return Tagger(library, settings)

    def tag_text(self, text: str) -> tuple[str, ...]:
        """The tags of a text, at most as many as the settings say."""
        near = [self._library.likeness(text, tag) for tag in self._texts]
        return self._filled(text, near)

    def tag_unit(self, unit: Unit) -> tuple[str, ...]:
        """The tags of a stored text, by its stored vector."""
        if unit.id not in self._of_units:
            at = unit.vector
            near = [row[at] for row in self._stored if 0 <= at < len(row)]
            self._of_units[unit.id] = self._filled(unit.text, near)
        return self._of_units[unit.id]

    def _filled(self, text: str, near: Sequence[float]) -> tuple[str, ...]:
        how = self._settings
        words = [tag.word for tag in self._ontology.tags]
        found = dict.fromkeys(tags_of(text, self._ontology))
        for cosine, word in sorted(zip(near, words, strict=False), key=lambda c: (-c[0], c[1])):
            if len(found) >= how.most or (len(found) >= how.fewest and cosine < how.least):
                break
            found[word] = None
        return tuple(found)[: how.most]

    @cached_property
    def _texts(self) -> list[str]:
        return [f"{tag.word}: {', '.join(tag.synonyms)}" for tag in self._ontology.tags]

    @cached_property
    def _stored(self) -> list[memoryview[float]]:
        """For each tag the cosine of every stored sentence vector; empty where none are stored."""
        vectors = [self._library.encoded(text) for text in self._texts]
        stored = self._library.index.vectors.sentence_rows()
        if stored is None or not vectors:
            return []
        return self._library.engine.products(stored, len(vectors[0]), vectors, SENTENCE_STEP)
