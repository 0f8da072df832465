"""The retrieval of five published systems, over clsm's own records, vectors and BM25.

Each is a function that finds units, best first. A value names its section of the source; what the
source leaves open says "not stated", and the value is ours. Where a language model chose or judged,
a rule stands for it (docs/evaluation.md). The crashes and losses of a system are not reproduced.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date
from functools import cache, lru_cache
from math import exp, log
from typing import TYPE_CHECKING

from clsm_cli.evaluation import formulas
from clsm_cli.evaluation.dataset import packaged_yaml
from clsm_cli.evaluation.formulas import Link, reciprocal_ranks, retrieve_in_rounds
from clsm_cli.evaluation.measures import Retrieved, within_budget
from clsm_cli.evaluation.presets.library import Library, Pool, Unit, folded_words, node_text
from clsm_cli.model import clocks
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.retrieval import time_scope
from clsm_cli.retrieval.recall import STEEPNESS
from clsm_cli.scoring import packing
from clsm_cli.scoring.retention import DORMANT_RETENTION, STREAM_DAYS, retention
from clsm_cli.text import route, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.retrieval.question import Query
    from clsm_cli.store.index.graph_queries import NodeRow

    Scores = dict[int, float]  # place of a unit in its pool → score
    Found = list[tuple[Unit, float]]


def retrieve(library: Library, query: Query, name: str) -> Retrieved:
    """Concepts and items as a published system would return them, best first.

    ``query`` says what is asked, when, and within how many tokens; nothing else of it counts.
    """
    found = PRESETS[name](library, query)
    concepts = library.concepts(unit for unit, _ in found)
    items = {library.item(unit): score for unit, score in found}
    if name == "cls-m":
        sized = [item._replace(tokens=len(item.text)) for item in items]
        fitting = {item.id for item in within_budget(sized, CHARACTERS)}
        items = {item: score for item, score in items.items() if item.id in fitting}
    costs = [item.tokens for item in items]
    if sum(costs) <= query.budget:
        return Retrieved(tuple(items), concepts)
    best = max(items.values()) or 1.0
    worth = [exp(STEEPNESS * round(max(0.0, score / best), 4)) for score in items.values()]
    kept = sorted(packing.knapsack(worth, costs, query.budget))
    return Retrieved(tuple(list(items)[at] for at in kept), concepts)


CHARACTERS = 8192  # §5.3: 8 KB of characters
SEEDS = 5  # not stated
LEAST_SEED = 0.3  # least cosine of a seed: not stated
EXACT = 1.2  # §5.3: "a 20% boost for exact matches"


def cls_m(library: Library, query: Query, most: int = SEEDS) -> Found:
    """CLS-M: the ten nodes (§5.3) to which activation spreads from hybrid seeds.

    §3.2, step 1: "query terms activate matching nodes". A node that is named in the query, or whose
    text has the whole query in it (§5.3), begins with its boosted cosine, any other with its cosine.
    """
    pool = library.pool("node")
    rows = [library.nodes[unit.id] for unit in pool.units]
    asked = f" {folded_words(query.text)} "
    starts = {}
    for at, near in pool.cosines(query.text).items():
        is_inside = asked.strip() and asked in f" {folded_words(pool.units[at].text)} "
        if library.names(query.text, rows[at]) or is_inside:
            starts[at] = min(1.0, EXACT * max(0.0, near))
        elif near >= LEAST_SEED:
            starts[at] = near
    # §5.3: PMI weights; how they come to 0..1 is not stated: here a share of the largest.
    current, places = library.current_links, {row.id: at for at, row in enumerate(rows)}
    largest = max((e.weight for links in current.values() for _, e in links), default=0.0) or 1.0
    today = date.fromisoformat(query.now[:10]).toordinal()

    def links(frontier: Sequence[int]) -> Iterable[Link]:
        for here in frontier:
            for other, edge in library.links.get(rows[here].id, ()):
                if other in places and clocks.holds(edge, query.now):
                    there, degree = places[other], len({end for end, _ in current[other]})
                    last, stream = library.active[other], rows[there].stream
                    is_dormant = (
                        last > 0
                        and retention(today - last, STREAM_DAYS[stream]) < DORMANT_RETENTION
                    )
                    yield Link(here, there, edge.weight / largest, degree, is_dormant)

    reached = formulas.spread(pool.best(starts, most), links)
    return pool.found(reached, 10)


def nemori(library: Library, query: Query) -> Found:
    """Nemori: ten episodes (§4.1.4) by title and narrative (§3.1.3), and twice as many statements.

    Dense search alone (§3.3), from a cosine of 0 (σ_s, §4.1.4). The first two episodes carry their
    original messages (§4.1.4).
    """
    episodes, statements = library.pool("episode"), library.pool("statement")
    found = episodes.found(episodes.cosines(query.text, 0.0), 10)
    for at, (unit, score) in enumerate(found[:2]):
        found[at] = unit._replace(text=f"{unit.text}\n\n{library.raw(unit.rows)}"), score
    return found + statements.found(statements.cosines(query.text, 0.0), 20)


def caim(library: Library, query: Query) -> Found:
    """CAIM: thoughts that share a tag or a date with the query, then a filter of relevance.

    §3.3.1: nothing is retrieved where earlier information is not needed. §3.3.2 a–c: every thought
    (§3.2) with an identical tag or timestamp. §3.3.2 d: what answers the query is kept, which a
    language model judged there; here a cosine of 0.3 or a common word, and 0.35 of the best cosine.
    How many are returned is not stated.
    """
    known = any(library.names(query.text, row) for row in library.nodes.values())
    if route.choose_route(query.text, has_current=False, known=known).route == "none":
        return []
    pool = library.pool("statement")
    named = by_tags(library, query, pool) | by_dates(library, query, pool)
    near, shared = pool.cosines(query.text), pool.words(query.text)
    kept = {at: near[at] for at in named if near[at] >= 0.3 or at in shared}
    best = max(kept.values(), default=0.0)
    return pool.found({at: n for at, n in kept.items() if n >= 0.35 * best}, 10)


def by_dates(library: Library, query: Query, pool: Pool) -> set[int]:
    """Units with a day that is asked about."""
    asked = time_scope.resolve(library.index, query.text, query.now).periods
    days = enumerate(map(library.days, pool.units))
    return {at for at, own in days if any(a <= day < b for a, b in asked for day in own)}


def by_tags(library: Library, query: Query, pool: Pool) -> set[int]:
    """Units with a tag in common with the query."""
    texts, tagged = _tagged(library, pool)
    near = [library.likeness(query.text, text) for text in texts]
    mine = tags_by_likeness(query.text, near)
    return {at for at, tags in enumerate(tagged) if not tags.isdisjoint(mine)}


@cache
def ontology() -> dict[str, list[str]]:
    """The tags of CAIM's ontology of three levels (§3.2), each with its synonyms."""
    levels = packaged_yaml("presets/ontology.yaml").values()
    return {
        tag: words for level in levels for tags in level.values() for tag, words in tags.items()
    }


@cache
def _tags_by_stem() -> dict[str, str]:
    found = {tag: tokens.stems(" ".join([tag, *words])) for tag, words in ontology().items()}
    return {stem: tag for tag, stems in found.items() for stem in stems}


@lru_cache(maxsize=1)
def _tagged(library: Library, pool: Pool) -> tuple[list[str], list[frozenset[str]]]:
    """Each tag of the ontology with its synonyms as a text, and the tags of each unit."""
    texts = [f"{tag}: {', '.join(synonyms)}" for tag, synonyms in ontology().items()]
    stored = [library.cosines(text) for text in texts]
    tagged = []
    for unit in pool.units:
        near = [row[unit.vector] for row in stored if 0 <= unit.vector < len(row)]
        tagged.append(frozenset(tags_by_likeness(unit.text, near)))
    return texts, tagged


def tags_by_likeness(text: str, near: Sequence[float]) -> tuple[str, ...]:
    """At most three tags of a text, the same way when stored and asked.

    In CAIM a language model picks two or three tags of the ontology for any text (§3.2, appendix A);
    here its words do, those with more different ones first, and where they are not enough the cosine
    to each tag (``near``), of a third tag at least 0.35 (not stated).
    """
    known = _tags_by_stem()
    hits = Counter(known[stem] for stem in dict.fromkeys(tokens.stems(text)) if stem in known)
    found = dict.fromkeys(word for word, _ in hits.most_common(3))
    for cosine, word in sorted(zip(near, ontology(), strict=False), key=lambda c: (-c[0], c[1])):
        if len(found) >= 3 or (len(found) >= 2 and cosine < 0.35):
            break
        found[word] = None
    return tuple(found)[:3]


AGREED = (1.0, 1.05, 1.15)  # factor for what one, two or three channels find (code, hybrid-search)
# Days and weights of the parts of recency, from a minute to a year (code).
HALF_LIVES = (1 / 1440, 1 / 24, 1.0, 7.0, 30.0, 90.0, 365.0)
SHARES = (0.25, 0.20, 0.15, 0.15, 0.10, 0.08, 0.07)


def smriti(library: Library, query: Query) -> Found:
    """Smriti: words, meaning and graph fused by rank, weighed by kind and age, in rounds.

    What sessions and stream files hold (code, recall), 15 results (code, multi-round-retrieval), of
    which marginal relevance chooses ten with λ = 0.7 (code, graphrag).
    """
    pool = library.pool("turn", "statement")
    scores = retrieve_in_rounds(
        query.text,
        lambda part: pool.best(_smriti_search(library, part, pool, query.now), 15),
        lambda places: " ".join(pool.units[at].text for at in places),
    )
    found = pool.found(scores, 15)

    def likeness(i: int, j: int) -> float:
        return library.likeness(found[i][0].text, found[j][0].text)

    return [found[at] for at in formulas.mmr([score for _, score in found], likeness, k=10)]


def _smriti_search(library: Library, text: str, pool: Pool, now: str) -> Scores:
    """Votes of 1 / (60 + rank) with ranks from 0 (code, hybrid-search), then kind and age."""
    rankings = [
        list(pool.best(pool.words(text), 15)),  # how many: not stated
        list(pool.best(pool.cosines(text, 0.3), 10)),  # code, recall; top-k 10
        list(pool.best(_node_scores(library, text, pool, now), 15)),  # not stated
    ]
    found = {}
    for at, vote in reciprocal_ranks(rankings, k=59).items():
        voters, unit = sum(at in ranking for ranking in rankings), pool.units[at]
        # Inference, direct knowledge or testimony (code): it outranks the votes.
        known = 0.85 if unit.kind == "statement" else 1.0 if unit.trust == "tool" else 0.75
        score = vote * AGREED[voters - 1] + 0.1 * known
        found[at] = score * (0.5 + 0.5 * recency(library.time(unit), now))
    return found


def _node_scores(library: Library, text: str, pool: Pool, now: str) -> Scores:
    """Of each unit the best of its nodes: 0.6 · cosine + 0.25 · PageRank / its maximum + 0.15 · text.

    The weights are those of §Scoring Layer until there is feedback.
    """
    terms = dict.fromkeys(tokens.stems(text))
    nodes = {}
    for row, rank in zip(library.nodes.values(), _pagerank(library, now), strict=True):
        near = 0.6 * max(0.0, library.cosine(text, row.vector))
        nodes[row.id] = near + 0.25 * float(rank) + 0.15 * _in_node(row, terms)
    best = ((at, max((nodes[n] for n in own), default=0.0)) for at, own in enumerate(pool.nodes))
    return {at: score for at, score in best if score > 0}


@lru_cache(maxsize=1)
def _pagerank(library: Library, now: str) -> NDArray[np.float64]:
    """PageRank of all nodes over the edges that hold now, as a share of the highest.

    The walk begins anew anywhere; an edge is followed with a chance of 0.85 (code, graphrag).
    """
    import numpy as np

    place = {node: at for at, node in enumerate(library.nodes)}
    weights = np.zeros((len(place), len(place)))
    for node, links in library.links.items():
        for other, edge in links:
            if other in place and clocks.holds(edge, now):
                here, there = place[node], place[other]
                weights[here, there] = max(weights[here, there], edge.weight)
    ranks = formulas.pagerank(weights, np.ones(len(place)), restart=0.15)
    shares: NDArray[np.float64] = ranks / max(float(ranks.max(initial=0.0)), 1e-300)
    return shares


def _in_node(row: NodeRow, terms: Collection[str]) -> float:
    """min(1, mean over the terms of 1 + ln(1 + tf)  ×  (½ + ½ coverage))."""
    stems, every = tokens.stems(node_text(row)), max(1, len(terms))
    known = [count for term in terms if (count := stems.count(term))]
    mean = sum(1 + log(1 + count) for count in known) / every
    return min(1.0, mean * (0.5 + 0.5 * len(known) / every))


def recency(time: str | None, now: str) -> float:
    """Σ weight · 2^(−age / half-life): Smriti's temporal relevance; 0 for what has no time.

    >>> [round(recency(day, "2026-02-17T00:00:00Z"), 3) for day in ("2026-02-17", "2026-02-10")]
    [1.0, 0.306]
    """
    if time is None:
        return 0.0
    age = max(0.0, (clocks.seconds(now, UTC) - clocks.seconds(time, UTC)) / 86_400)
    parts = zip(HALF_LIVES, SHARES, strict=True)
    return sum(weight * 2 ** -(age / half_life) for half_life, weight in parts)


def cma(library: Library, query: Query) -> Found:
    """CMA: hybrid search over facts, gists and fragments, valued by gain, packed as a knapsack.

    §4.3: BM25 and dense vectors, fused by reciprocal rank as in the store that it names; 50
    candidates each, and for the reranker (not stated). §3.2: the value of a fragment is its gain
    (§3.3.1), its weight the tokens.
    """
    pool = library.pool("statement", "gist", "fragment")
    channels = (pool.words(query.text), pool.cosines(query.text, 0.0))
    votes = pool.best(reciprocal_ranks([list(pool.best(each, 50)) for each in channels]), 50)
    found = pool.found(gains(library, query.text, pool, votes), 50)
    costs = [tokens.count_tokens(unit.text) for unit, _ in found]
    chosen = packing.knapsack([score for _, score in found], costs, query.budget)
    return [found[at] for at in chosen]


def gains(library: Library, text: str, pool: Pool, places: Iterable[int]) -> Scores:
    """The information gain of units, times their importance; what does not help is left out.

    §6.3: a distractor, here a value that was superseded, scores below 0.
    """
    counts = pool.counts(text)
    total = sum(pool.lengths) or 1
    shares = {term: min(1.0, sum(tf.values()) / total) for term, tf in counts.items()}
    found: Scores = {}
    for at in places:
        unit = pool.units[at]
        terms = [(tf.get(at, 0), shares[term]) for term, tf in counts.items()]
        old = sum(key in library.outdated for key in unit.keys) / max(1, len(unit.keys))
        value = (formulas.gain(terms, pool.lengths[at]) - old) * _importance(library, unit)
        if value > 0:
            found[at] = value
    return found


def _importance(library: Library, unit: Unit) -> float:
    """Factor for a fragment: half once it was consolidated (§4.4 step 5), more if surprising (§5.1).

    How much either is, is not stated; a surprise counts in full from three standard deviations.
    """
    record = library.records.get(unit.id)
    if unit.kind != "fragment" or not isinstance(record, EpisodeRecord):
        return 1.0
    factor = 0.5 if record.stage == "consolidated" else 1.0
    return factor * (1 + 0.15 * min(1.0, max(0.0, record.surprise / 3)))


PRESETS: dict[str, Callable[[Library, Query], Found]]
PRESETS = {"cls-m": cls_m, "nemori": nemori, "caim": caim, "smriti": smriti, "cma": cma}
