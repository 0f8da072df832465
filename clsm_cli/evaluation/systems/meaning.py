"""Baselines by meaning, and by words and meaning together."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from clsm_cli.evaluation.systems import words
from clsm_cli.evaluation.systems.baseline import Ranked
from clsm_cli.evaluation.systems.pool import MOST
from clsm_cli.retrieval.question import understand
from clsm_cli.scoring.fusion import spread, weighted
from clsm_cli.scoring.rank_fusion import reciprocal_ranks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.systems.baseline import Rank
    from clsm_cli.evaluation.systems.pool import Pool

BM25_SHARE = 0.4
"""Of the fused score; the rest is the cosine's."""


def cosines(pool: Pool, text: str) -> NDArray[np.float32]:
    """The cosine of a query and every passage, float32 [passages]; nan without a vector.

    The speakers whom the query names say "I" in it: a name pulls the sentence vector towards
    whatever mentions it (recall@10 on LoCoMo is half as high with names).
    """
    import numpy as np

    asked = understand(text, (), pool.speakers).dense
    sentence = np.asarray(pool.bench.engine.encode(asked).sentence, np.float32)
    found: NDArray[np.float32] = np.einsum("ij,j->i", pool.vectors, sentence)
    return found


def minilm(pool: Pool) -> Rank:
    """Passages by the cosine of their sentence vectors; the best cosine is the confidence."""
    return lambda text, _at: nearest(cosines(pool, text))


def nearest(scores: NDArray[np.float32]) -> Ranked:
    """Places by score, ties in the order of their files; nan is left out.

    >>> import numpy as np
    >>> nearest(np.array([0.25, np.nan, 0.5, 0.25], np.float32))
    Ranked(places=[2, 0, 3], confidence=0.5)
    """
    import numpy as np

    places = np.argsort(np.nan_to_num(-scores, nan=np.inf), kind="stable")[:MOST]
    places = places[~np.isnan(scores[places])]
    return Ranked(places.tolist(), float(scores[places[0]]) if len(places) else 0.0)


def rrf(pool: Pool) -> Rank:
    """Reciprocal rank fusion of BM25 and MiniLM, k = 60 (Cormack, Clarke and Büttcher, SIGIR 2009).

    The confidence is the best fused score, which says how far both agree.
    """
    by_words, by_meaning = words.bm25(pool), minilm(pool)

    def rank(text: str, at: str) -> Ranked:
        lists = [by_words(text, at).places, by_meaning(text, at).places]
        fused = reciprocal_ranks(lists)
        return Ranked(list(fused), next(iter(fused.values()), 0.0))

    return rank


def fusion(pool: Pool) -> Rank:
    """0.4 BM25 + 0.6 cosine, each brought to 0 … 1 over what either of them returns.

    The best of every query is near 1, so there is no confidence.
    """
    score = words.scorer(pool)

    def rank(text: str, _at: str) -> Ranked:
        by_words, by_meaning = score(text), cosines(pool, text)
        either = {*words.best(by_words).places, *nearest(by_meaning).places}
        places = sorted(place for place in either if not isnan(by_meaning[place]))
        pairs = zip(
            spread(by_words[places].tolist()), spread(by_meaning[places].tolist()), strict=True
        )
        fused = [weighted(pair, (BM25_SHARE, 1 - BM25_SHARE)) for pair in pairs]
        order = sorted(range(len(places)), key=lambda at: -fused[at])
        return Ranked([places[at] for at in order])

    return rank
