"""Baselines by words alone: what ``grep`` finds, and BM25 of a library that others use too."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from clsm_cli.evaluation.systems.baseline import Ranked
from clsm_cli.evaluation.systems.pool import KEPT, MOST
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.systems.baseline import Rank
    from clsm_cli.evaluation.systems.pool import Pool

    Floats = NDArray[np.float32]

K1, B = 0.9, 0.4
"""BM25's saturation and length normalisation: Anserini's for passages. On LoCoMo 63.0 % recall@10,
with the 1.5 and 0.75 that the library has by default 61.4 %; on the sample memory 58.1 and 50.7."""
_SUFFIX = re.compile(r"['’]\w+")
_WORD = re.compile(r"\w+")


def grep(pool: Pool) -> Rank:
    """Passages by how many distinct words of the query they hold, ties in the order of their files.

    As ``grep -iwE 'a|b|c'`` and a count: whole words, whatever their case, no stop words. The
    confidence is the share of the query's words that the best passage holds.
    """
    held = [frozenset(_WORD.findall(text.casefold())) for text in pool.texts]

    def rank(text: str, _at: str) -> Ranked:
        words = searched(text)
        counts = [len(words & each) for each in held]
        places = sorted(
            (at for at, count in enumerate(counts) if count), key=lambda at: -counts[at]
        )
        return Ranked(places, counts[places[0]] / len(words) if places else 0.0)

    return rank


def searched(text: str) -> frozenset[str]:
    """The words of a query that are looked for.

    >>> sorted(searched("Where did Mara's heron go?"))
    ['go', 'heron', 'mara']
    """
    return frozenset(_WORD.findall(_SUFFIX.sub("", text.casefold()))) - STOP_WORDS


def bm25(pool: Pool) -> Rank:
    """BM25: passages by score, ties in the order of their files; none without a word of the query.

    The confidence is the best score.
    """
    score = scorer(pool)

    def rank(text: str, _at: str) -> Ranked:
        return best(score(text))

    return rank


def best(scores: Floats) -> Ranked:
    """Passages whose score is above 0, the highest first, ties in the order of their files.

    >>> import numpy as np
    >>> best(np.array([0.0, 1.5, 2.0, 1.5], np.float32))
    Ranked(places=[2, 1, 3], confidence=2.0)
    """
    import numpy as np

    places = [at for at in np.argsort(-scores, kind="stable")[:MOST].tolist() if scores[at] > 0]
    return Ranked(places, float(scores[places[0]]) if places else 0.0)


@lru_cache(maxsize=KEPT)
def scorer(pool: Pool) -> Callable[[str], Floats]:
    """The BM25 of a query and every passage, float32 [passages].

    Lucene's variant (Kamphuis et al., ECIR 2020) as the library ``bm25s`` has it, over Snowball's
    English stems, without the library's longer list of English stop words (its short one leaves
    "what" and "did" in: 59.0 % instead of 63.0).
    """
    import numpy as np
    from bm25s import BM25, tokenize
    from snowballstemmer import stemmer

    stems = stemmer("english").stemWords

    def terms(texts: Sequence[str]) -> list[list[str]]:
        found: list[list[str]] = tokenize(
            list(texts), stopwords="en_plus", stemmer=stems, return_ids=False, show_progress=False
        )
        return found

    listed = terms(pool.texts)
    index = BM25(k1=K1, b=B, method="lucene")
    if any(listed):  # the library cannot make an index of nothing
        index.index(listed, show_progress=False)

    def scores(text: str) -> Floats:
        known = index.get_tokens_ids(terms([text])[0]) if any(listed) else []
        if not known:
            return np.zeros(len(listed), np.float32)
        found: Floats = index.get_scores_from_ids(known)
        return found

    return scores
