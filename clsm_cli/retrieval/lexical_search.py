"""Lexical search: BM25 of passages and of their groups."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

from clsm_cli.retrieval import identifiers
from clsm_cli.scoring import match
from clsm_cli.scoring.confidence import SMALL_STORE
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.identifiers import CodePostings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import GroupMember

_BEYOND_LATIN = "\u0250"
"""First character after the letters of Latin scripts."""
GROUP_K1 = 1.2
GROUP_B = 0.5
"""BM25 parameters of groups, which are as long as the pages that Lucene's defaults are made for."""


class GroupScore(NamedTuple):
    """BM25 of a group as one text, and its coverage of the question's idf, 0 … 1."""

    score: float
    coverage: float


class LexicalMatches(NamedTuple):
    """The lexical matches of a ``question``.

    Attributes:
        scores: Passage → BM25; only passages that share a term with the question.
        idf: Term → inverse document frequency among all current passages.
        postings: Term → passage, occurrences, terms of the passage.
        exact_match: Passage → share of the question's out-of-vocabulary terms that it contains,
            0 … 1; only passages with such a term.
        full_match: The ``exact_match`` that counts as 1.
        passages: Passages of the index.
        codes: Codes of the question with their postings.
    """

    question: Question
    scores: dict[int, float]
    idf: dict[str, float]
    postings: dict[str, list[tuple[int, int, int]]]
    exact_match: dict[int, float]
    full_match: float
    passages: int
    codes: Sequence[CodePostings] = ()

    @property
    def content_terms(self) -> Sequence[str]:
        """The terms of the question without speakers' names, unless there are no others."""
        question = self.question
        return [t for t in question.terms if t not in question.name_terms] or question.terms

    def unseen_share(self) -> float:
        """Share of the question's idf in words that no passage contains, times N / (N + ``SMALL_STORE``).

        A missing word means more, the more passages there are.
        """
        terms = self.content_terms
        mass = sum(self.idf[term] for term in terms)
        missing = sum(self.idf[term] for term in terms if not self.postings[term])
        return missing / mass * self.passages / (self.passages + SMALL_STORE) if mass else 0.0

    def foreign_share(self) -> float:
        """Share of the question's idf in words of scripts that the English model cannot read."""
        mass = sum(self.idf[term] for term in self.content_terms)
        read = sum(self.idf[term] for term in self.content_terms if max(term) < _BEYOND_LATIN)
        return 1 - read / mass if mass else 0.0

    def idf_coverage(self, rows: Collection[int]) -> dict[int, float]:
        """Passage → share of the question's idf in its words, 0 … 1, for some passages.

        Names of speakers are ignored, unless there are no other terms: every turn of theirs has
        them.
        """
        terms = self.content_terms
        mass = sum(self.idf[term] for term in terms)
        covered: dict[int, float] = {}
        for term in terms:
            for passage, _, _ in self.postings[term]:
                if passage in rows:
                    covered[passage] = covered.get(passage, 0.0) + self.idf[term]
        return {passage: share / mass for passage, share in covered.items()}

    def score_groups(self, members: Mapping[int, Sequence[GroupMember]]) -> dict[int, GroupScore]:
        """Score groups by the words of their members.

        Names of speakers are ignored: in a conversation, they are in every group.
        """
        group_of = {member.row: group for group, peers in members.items() for member in peers}
        lengths = {
            group: sum(member.length for member in peers) for group, peers in members.items()
        }
        average = sum(lengths.values()) / len(lengths) if lengths else 1.0
        scores: dict[int, float] = {}
        covered: dict[int, float] = {}
        terms = [term for term in self.question.terms if term not in self.question.name_terms]
        mass = sum(self.idf[term] for term in terms)
        for term in terms:
            counts: dict[int, int] = {}
            for passage, tf, _ in self.postings[term]:
                group = group_of.get(passage)
                if group is not None:
                    counts[group] = counts.get(group, 0) + tf
            postings = [(group, tf, lengths[group]) for group, tf in counts.items()]
            match.add_bm25(scores, postings, self.idf[term], average, k1=GROUP_K1, b=GROUP_B)
            for group in counts:
                covered[group] = covered.get(group, 0.0) + self.idf[term]
        return {
            g: GroupScore(score, covered[g] / mass if mass else 0.0) for g, score in scores.items()
        }


def search(
    index: Index,
    question: Question,
    settings: RecallSettings,
    out_of_vocabulary: Mapping[str, float],
    allowed: Collection[int] | None = None,
) -> LexicalMatches:
    """BM25 of every passage that shares a term with the question.

    Args:
        out_of_vocabulary: Term → 0 … 1 (``dense_search.Meaning.out_of_vocabulary``).
        allowed: Passages that may be returned; None for all.
    """
    count, total_length = index.size()
    average = total_length / count if count else 1.0
    scores: dict[int, float] = {}
    idf: dict[str, float] = {}
    postings_by_key: dict[str, list[tuple[int, int, int]]] = {}
    for term in question.terms:
        postings = index.postings(term)
        idf[term] = match.idf(count, len(postings))
        if allowed is not None:
            postings = [posting for posting in postings if posting[0] in allowed]
        postings_by_key[term] = postings
        match.add_bm25(scores, postings, idf[term], average, k1=settings.bm25_k1, b=settings.bm25_b)
    written = {key: index.postings(key) for key in question.keys}
    codes = identifiers.find_codes(index, question)
    if question.n_content_terms:
        written |= {code.written: places for code, places in codes}
    for key, places in written.items():
        postings_by_key[key] = [
            posting for posting in places if allowed is None or posting[0] in allowed
        ]
    weights = {
        term: out_of_vocabulary[term] for term in question.terms if term in out_of_vocabulary
    }
    weights |= dict.fromkeys(written, 1.0)
    exact_match, full_match = _exact_match(postings_by_key, weights, count)
    return LexicalMatches(
        question=question,
        scores=scores,
        idf=idf,
        postings=postings_by_key,
        exact_match=exact_match,
        full_match=full_match,
        passages=count,
        codes=codes,
    )


def _exact_match(
    postings: Mapping[str, list[tuple[int, int, int]]], weights: Mapping[str, float], count: int
) -> tuple[dict[int, float], float]:
    """``exact_match`` of passages by some terms, Σ weight · idf, and ``full_match``.

    A term with a weight below 1 counts if at most √N of N passages contain it, where its idf is
    half that of a term in a single passage; commoner ones are left to dense search.

    The sum is divided by that of all terms in the store, or by the idf of a term in one passage, if
    that is larger. ``full_match`` is 1 for a question that the model knows, and approaches the best
    passage's sum the more of the question is out of vocabulary: if only exact matches count, the
    best one is full.
    """
    idf_weights = {
        term: share * match.idf(count, len(postings[term]))
        for term, share in weights.items()
        if postings[term] and share and (share == 1 or len(postings[term]) <= isqrt(count))
    }
    total = max(sum(idf_weights.values()), match.idf(count, 1))
    shares: dict[int, float] = {}
    for term, value in idf_weights.items():
        for passage, _, _ in postings[term]:
            shares[passage] = shares.get(passage, 0.0) + value / total
    best = max(shares.values(), default=1.0)
    stored_idf = sum(match.idf(count, len(places)) for places in postings.values() if places)
    share = sum(idf_weights.values()) / stored_idf if stored_idf else 0.0
    return shares, 1 - share + share * best
