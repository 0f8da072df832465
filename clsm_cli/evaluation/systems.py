"""The systems that are compared: clsm, published ones, plain searches, the files that an agent loads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from math import inf, isnan
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation import measures
from clsm_cli.evaluation.benches import Bench, startup_files
from clsm_cli.evaluation.dataset import LabelledQuery
from clsm_cli.evaluation.formulas import reciprocal_ranks
from clsm_cli.evaluation.measures import CONCEPTS, Item, K, Retrieved, answer_result
from clsm_cli.evaluation.nodes import case_chat, choose_concepts
from clsm_cli.evaluation.presets.library import Library, Unit
from clsm_cli.model.grouping import grouped
from clsm_cli.retrieval.question import Query, understand
from clsm_cli.retrieval.recall import recall, retrieve_passages
from clsm_cli.scoring.match import min_max, weighted
from clsm_cli.store.index import codes
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.tokens import STOP_WORDS, folded_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]

System = Callable[[Bench, Sequence[LabelledQuery]], Iterator[Retrieved]]  # an answer to each
# Places in the pool, best first, and that it holds an answer; None: there is no scale for that.
Ranked = tuple[Sequence[int], float | None]
MOST = 200  # passages that a baseline returns at most


class PassagePool:
    """The turns and blocks of a store, each once, in the order of their files."""

    def __init__(self, library: Library) -> None:
        self._library = library
        found, in_file = library.passages, attrgetter("path", "line_start", "key", "part")
        first: dict[str, Unit] = {}
        for unit in sorted(library.units("turn"), key=lambda unit: in_file(found[unit.rows[0]])):
            first.setdefault(unit.id, unit)
        self._units = list(first.values())
        self._passages = [found[unit.rows[0]] for unit in self._units]

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """What is returned of each passage."""
        return tuple(map(self._library.item, self._units))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What word search reads of each: who speaks, the heading path, the text."""
        return tuple(f"{each.speaker} {each.embedded_text}".strip() for each in self._passages)

    @cached_property
    def _bm25(self) -> Any:
        from bm25s import BM25

        index, terms = BM25(k1=K1, b=B, method="lucene"), _terms(self.texts)
        if any(terms):  # the library cannot make an index of nothing
            index.index(terms, show_progress=False)
        return index if any(terms) else None

    def bm25(self, text: str) -> Floats:
        """The BM25 of a query and every passage, float32 [passages].

        Lucene's variant (Kamphuis et al., ECIR 2020), over Snowball's English stems.
        """
        import numpy as np

        known = self._bm25.get_tokens_ids(_terms([text])[0]) if self._bm25 else []
        scores = self._bm25.get_scores_from_ids(known) if known else np.zeros(len(self.texts))
        return np.asarray(scores, np.float32)

    @cached_property
    def _vectors(self) -> Floats:
        """Unit vectors [passages, 384] as the index keeps them, or nan."""
        import numpy as np

        stored = self._library.index.vectors.sentence_rows() or b""
        size = codes.SENTENCE_BYTES
        vectors = np.full((len(self._units), 2 * size), np.nan, np.float32)
        for place, unit in enumerate(self._units):
            if stored and unit.vector >= 0:
                at = unit.vector * size
                vectors[place] = codes.unit(stored[at : at + size])
        return vectors

    def cosines(self, text: str) -> Floats:
        """The cosine of a query and every passage, float32 [passages]; nan without a vector.

        The speakers whom the query names say "I" in it: a name pulls the sentence vector towards
        whatever mentions it (recall@10 on LoCoMo is half as high with names).
        """
        import numpy as np

        speakers = tuple(self._library.index.speakers())
        asked = understand(text, (), speakers).embedding_text
        sentence = np.asarray(self._library.encoded(asked), np.float32)
        found: Floats = np.einsum("ij,j->i", self._vectors, sentence)
        return found

    def shared(self, text: str) -> Floats:
        """The share of a query's words that each passage holds, float64 [passages]."""
        import numpy as np

        asked = query_words(text)
        shared = (asked.intersection(folded_words(each)) for each in self.texts)
        return np.array([len(each) / max(1, len(asked)) for each in shared])

    @cached_property
    def loaded(self) -> list[int]:
        """Places of the files that are loaded at every start, whatever is asked.

        Without any, as in a conversation: the last session from its beginning, then the one before.
        """
        passages = self._passages
        listed = grouped((passage.path, place) for place, passage in enumerate(passages))
        places = [place for path in startup_files(listed) for place in listed[path]]
        by_time = sorted(range(len(passages)), key=lambda at: passages[at].time or "")
        sessions = [list(run) for _, run in groupby(by_time, key=lambda at: passages[at].session)]
        return places or [place for run in reversed(sessions) for place in run]

    def concepts(self, places: Iterable[int]) -> tuple[frozenset[str], ...]:
        """The nodes that some passages mention, in the order of the first that does."""
        return self._library.concepts(self._units[place] for place in places)


_passage_pool = lru_cache(maxsize=1)(PassagePool)  # one library is asked at a time

# BM25's saturation and length normalisation: Anserini's for passages. On LoCoMo 63.0 % recall@10,
# with the 1.5 and 0.75 that the library has by default 61.4 %; on the sample memory 58.1 and 50.7.
K1, B = 0.9, 0.4
_SUFFIX = re.compile(r"['’]\w+")


def _terms(texts: Sequence[str]) -> list[list[str]]:
    """Stems, without the library's longer list of stop words (its short one: 59.0 % instead of 63.0)."""
    from bm25s import tokenize
    from snowballstemmer import stemmer

    stems = stemmer("english").stemWords
    found: list[list[str]] = tokenize(
        list(texts), stopwords="en_plus", stemmer=stems, return_ids=False, show_progress=False
    )
    return found


def query_words(text: str) -> frozenset[str]:
    """The words of a query that grep looks for.

    >>> sorted(query_words("Where did Mara's heron go?"))
    ['go', 'heron', 'mara']
    """
    return frozenset(folded_words(_SUFFIX.sub("", text.casefold()))) - STOP_WORDS


def library_system(answer: Callable[[Library, Query], Retrieved]) -> System:
    """A system that is asked with clsm's own store, and with its default budget."""

    def ask(bench: Bench, queries: Sequence[LabelledQuery]) -> Iterator[Retrieved]:
        settings = bench.store.settings.recall
        with open_index(bench.store, bench.factory.embedder) as opened:
            library = Library(opened.index, bench.engine)
            for each in queries:
                yield answer(library, bench.query(each, settings.k, settings.budget))

    return ask


def _baseline(rank: Callable[[PassagePool, str], Ranked]) -> System:
    """A way to rank passages that needs nothing of clsm but their text."""

    def answer(library: Library, query: Query) -> Retrieved:
        pool = _passage_pool(library)
        places, confidence = rank(pool, query.text)
        items = tuple(pool.items[place] for place in places[:MOST])
        return Retrieved(items, pool.concepts(places[:K]), confidence)

    return library_system(answer)


def by_score(scores: Floats, above: float = -inf) -> Ranked:
    """Passages whose score is above a limit, the highest first, ties in the order of their files.

    Nan is left out. The best score is the confidence.

    >>> import numpy as np
    >>> by_score(np.array([0.25, np.nan, 0.5, 0.25], np.float32))
    ([2, 0, 3], 0.5)
    """
    import numpy as np

    order = np.argsort(np.nan_to_num(-scores, nan=inf), kind="stable")
    places = order[scores[order] > above][:MOST].tolist()
    return places, float(scores[places[0]]) if places else 0.0


def rrf(pool: PassagePool, text: str) -> Ranked:
    """Reciprocal rank fusion of BM25 and MiniLM; the best fused score says how far both agree."""
    both = by_score(pool.bm25(text), 0.0), by_score(pool.cosines(text))
    fused = reciprocal_ranks([places for places, _ in both])
    return list(fused), next(iter(fused.values()), 0.0)


def fusion(pool: PassagePool, text: str) -> Ranked:
    """0.4 BM25 + 0.6 cosine, each brought to 0 … 1; the best is near 1, so there is no confidence."""
    by_words, by_meaning = pool.bm25(text), pool.cosines(text)
    either = {*by_score(by_words, 0.0)[0], *by_score(by_meaning)[0]}
    places = sorted(place for place in either if not isnan(by_meaning[place]))
    pairs = zip(*(min_max(each[places].tolist()) for each in (by_words, by_meaning)), strict=True)
    fused = [weighted(pair, (0.4, 0.6)) for pair in pairs]
    return [places[at] for at in sorted(range(len(places)), key=lambda at: -fused[at])], None


def recall_system(change: Callable[[Bench], Bench] = lambda bench: bench) -> System:
    """``clsm recall`` on the consolidated store, or on one that is changed before it is asked."""

    def ask(bench: Bench, queries: Sequence[LabelledQuery]) -> Iterator[Retrieved]:
        bench = change(bench)
        asked = list(map(bench.query, queries))
        answers = recall(bench.store, asked, bench.engine, bench.factory.embedder)
        yield from map(answer_result, answers)

    return ask


def ask_packed(bench: Bench, queries: Sequence[LabelledQuery]) -> Iterator[Retrieved]:
    """Clsm told how many tokens are left: it packs for them, where others are cut in rank order.

    Only what fits 1,000 tokens and the reduced contexts is asked for and measured.
    """
    found = measures.budgets(bench.whole)
    budgets = sorted({found[name] for name in measures.PACKED})
    asked = [bench.query(each, budget=size) for each in queries for size in budgets]
    answers = recall(bench.store, asked, bench.engine, bench.factory.embedder)
    for _ in queries:
        packed = {budget: answer_result(next(answers)).items for budget in budgets}
        yield Retrieved((), packed=packed)


def ask_best_passages(bench: Bench, queries: Sequence[LabelledQuery]) -> Iterator[Retrieved]:
    """The simplest way to rank concepts: by Σ score⁴ of the best five passages that mention them.

    One that the question names comes first; below .30 of the best, one is left out.
    """
    concepts = {each.id: each for each in choose_concepts(case_chat(bench.case))}
    names = {}
    for node, each in concepts.items():
        forms = "|".join(sorted(map(re.escape, (each.label, *each.aliases))))
        names[node] = re.compile(rf"(?<!\w)(?:{forms})(?!\w)", re.IGNORECASE)
    mentions = grouped((turn, node) for node, each in concepts.items() for turn in each.turns)
    with open_index(bench.store, bench.factory.embedder) as opened:
        index = opened.index
        for query in queries:
            settings = bench.store.settings.recall
            _, found = retrieve_passages(index, bench.query(query), bench.engine, settings)
            scores = {each.row: each.score for each in found.candidates}
            best = sorted(scores, key=lambda row: (-scores[row], row))[:5]
            worth: dict[str, float] = {}
            for row, passage in index.passages(best).items():
                for node in mentions.get(passage.foreign_id or passage.key, ()):
                    worth[node] = worth.get(node, 0.0) + max(0.0, scores[row]) ** 4
            most = max(worth.values(), default=0.0) or 1.0
            shares = {node: value / most for node, value in worth.items()}
            shares |= {node: 1.0 for node, name in names.items() if name.search(query.text)}
            kept = [node for node, share in shares.items() if share >= 0.30]
            kept.sort(key=lambda node: (-shares[node], node))
            yield Retrieved((), tuple(concepts[node].names for node in kept[:CONCEPTS]))


CLSM, WITHOUT = "clsm", "clsm without {}"  # as it is shipped, and without a mechanism
MINILM = "MiniLM"  # the embedding alone, which others are compared with (reach)
_RANKED: dict[str, Callable[[PassagePool, str], Ranked]] = {
    # As grep -iwE 'a|b|c' and a count: whole words, whatever their case, no stop words.
    "grep": lambda pool, text: by_score(pool.shared(text), 0.0),
    "BM25": lambda pool, text: by_score(pool.bm25(text), 0.0),
    MINILM: lambda pool, text: by_score(pool.cosines(text)),
    "RRF": rrf,
    "fusion": fusion,
    "static": lambda pool, _: (pool.loaded, None),
}
BASELINES = {name: _baseline(rank) for name, rank in _RANKED.items()}  # what there is without clsm
MAIN = (CLSM, "BM25", MINILM)  # the systems whose answers are pooled, and that are put to probes


def ask_main(bench: Bench, queries: Sequence[LabelledQuery]) -> dict[str, list[Retrieved]]:
    """What clsm, BM25 and MiniLM return for each query."""
    asked = {CLSM: recall_system(), **BASELINES}
    return {name: list(asked[name](bench, queries)) for name in MAIN}
