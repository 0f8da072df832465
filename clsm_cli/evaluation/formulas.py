"""Formulas and rules that only the systems compared with clsm need."""

from __future__ import annotations

import re
from math import fsum, log
from typing import TYPE_CHECKING, TypeVar

from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Scores = dict[int, float]

Id = TypeVar("Id", str, int)
RRF_K = 60  # dampens the top ranks (Cormack, Clarke and Büttcher, SIGIR 2009)


def reciprocal_ranks(rankings: Sequence[Sequence[Id]], k: int = RRF_K) -> dict[Id, float]:
    """Reciprocal rank fusion, best first; ties by id.

        score(d) = Σ over lists that hold d of 1 / (k + rank of d),  ranks from 1

    Of an id that a list repeats the best rank counts.

    >>> fused = reciprocal_ranks([["a", "b"], ["b", "c"]])
    >>> [(name, round(score * 61 * 62, 6)) for name, score in fused.items()]
    [('b', 123.0), ('a', 62.0), ('c', 61.0)]
    """
    votes = grouped(
        (name, 1 / (k + rank))
        for ranking in rankings
        for rank, name in enumerate(dict.fromkeys(ranking), 1)
    )
    return _best_first({name: fsum(found) for name, found in votes.items()})


def _best_first(scores: Mapping[Id, float]) -> dict[Id, float]:
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


MU = 200.0  # words that the collection adds to each passage (Dirichlet smoothing)


def gain(terms: Iterable[tuple[int, float]], length: int) -> float:
    """Mean over the terms of log P(t | passage) − log P(t | collection), in nats; without terms 0.

        P(t | passage) = (tf + µ · P(t | collection)) / (length + µ)

    Above 0 the passage says more about the question than any text of the collection would, below 0
    it distracts. A term that the collection does not have is left out (Zhai and Lafferty 2001).

    ``terms`` are, for each distinct term of the question, how often the passage has it, and its share
    of all words of the collection; ``length`` is in words.

    One term of probability 0.01: once in 20 words (1 + 2) / 220 against 0.01, and not at all:

    >>> round(gain([(1, 0.01)], 20), 3), round(gain([(0, 0.01)], 20), 3), gain([(0, 0.0)], 20)
    (0.31, -0.095, 0.0)
    """
    gains = [log((tf + MU * share) / ((length + MU) * share)) for tf, share in terms if share > 0]
    return fsum(gains) / len(gains) if gains else 0.0


LAMBDA = 0.7  # share of relevance against novelty (Smriti)


def mmr(scores: Sequence[float], similarity: Callable[[int, int], float], *, k: int) -> list[int]:
    """Positions of the best ``k`` items, in the order in which they add most.

        r(i) = max(0, score(i) / highest score)            0 … 1
        next = argmax r(i) · (λ − (1 − λ) · max similarity to what is chosen)

    After Carbonell and Goldstein 1998, with two differences. Scores are brought to 0 … 1 first: on
    fused ranks (about 1/60) the similarity would decide alone. And what an item repeats is taken
    off in proportion to its own relevance: a copy falls behind any item with more than (2λ − 1) / λ
    of its relevance (57 %), never behind one with less.

    Ties go to the earlier; ``similarity`` is of two items by position, up to 1, below 0 as 0.

    The second is a copy of the first; the third is another relevant item, the last irrelevant.
    After the first the second is worth 0.9 · (0.7 − 0.3) = 0.36, the third 0.8 · 0.7 = 0.56:

    >>> mmr([1.0, 0.9, 0.8, 0.1], lambda i, j: float({i, j} == {0, 1}), k=4)
    [0, 2, 1, 3]
    """
    highest = max(scores, default=0.0)
    relevance = [max(0.0, score / highest) if highest > 0 else 0.0 for score in scores]
    repeated = [0.0] * len(relevance)
    left = sorted(range(len(relevance)), key=lambda i: -scores[i])
    chosen: list[int] = []
    while left and len(chosen) < k:
        # Where nothing is chosen yet, or nothing is relevant, the scores decide.
        best = left[0]
        if chosen and relevance[best] > 0:
            best = max(
                left, key=lambda i: (relevance[i] * (LAMBDA - (1 - LAMBDA) * repeated[i]), -i)
            )
        chosen.append(best)
        left.remove(best)
        for i in left:
            repeated[i] = max(repeated[i], min(1.0, similarity(best, i)))
    return chosen


def pagerank(weights: Floats, seeds: Floats, restart: float) -> Floats:
    """Personalised PageRank, float64 [nodes]: the share of each node in the walk, together 1.

        p = r · s + (1 − r) · (Wᵀ p + m_dangling · s)

    s is the share of each seed, r (above 0) the chance to begin anew at one, and row i of W says where
    the walk goes from i: W_ij = w_ij / Σ_j w_ij; from a node without a way out it begins anew.

    ``weights`` are float64 [nodes, nodes], an undirected edge in both directions, and ``seeds``
    float64 [nodes]; both ≥ 0, the seeds not all 0.

    Node 1 is the seed, and 2 its only neighbour: p_1 = ½ + ½ p_2 and p_2 = ½ p_1.

    >>> import numpy as np
    >>> pagerank(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([3.0, 0.0]), 0.5).round(4).tolist()
    [0.6667, 0.3333]
    """
    import numpy as np

    source = seeds / seeds.sum()
    out = weights.sum(axis=1, keepdims=True)
    walk = np.where(out > 0, weights / np.where(out > 0, out, 1.0), source)
    identity = np.eye(len(source))
    # To 12 digits, so that nodes of the same share tie.
    return np.linalg.solve(identity - (1 - restart) * walk.T, restart * source).round(12)


class Link(NamedTuple):
    """One direction of an edge: what it conducts, 0 … 1; degree and dormancy of its target."""

    source: int
    target: int
    strength: float
    degree: int
    dormant: bool


HOPS, DECAY = 3, 0.5  # longest path, and the share that one edge passes on (CLS-M §4.2, listing)
THRESHOLD = 0.15  # least that arrives (§5.3: tuned after consolidation; 0.1 in the listing)
DAMPING = 0.2  # §5.3: "degree dampening (factor 0.2)"; read as an exponent, no formula is stated
DORMANT = 1.5  # a dormant node raises the threshold (§3.2, phase 3); the factor is not stated


def spread(
    seeds: Mapping[int, float],
    links: Callable[[Sequence[int]], Iterable[Link]],
    *,
    threshold: float = THRESHOLD,
    damping: float = DAMPING,
) -> dict[int, float]:
    """The activation of all nodes that it reaches from ``seeds`` (CLS-M §4.2; Collins & Loftus 1975).

    From a node i that just became more active, a neighbour j receives

        s = a_i · w_ij · decay · degree(j)^−damping

    and keeps the most that it ever received: a_j ← max(a_j, s). So activation tells the best single
    path. What is below the threshold does not arrive. All nodes of a hop pass on what they held when
    it began, so nothing depends on the order of links.

    ``seeds`` have the activation that a node begins with, 0 … 1; ``links`` gives those that leave some
    nodes.

    A chain 1 – 2 – 3 – 4 – 5 of full strength, without damping: a half, a quarter, an eighth.

    >>> chain = [Link(i, i + 1, 1.0, 2, False) for i in range(1, 5)]
    >>> def ahead(nodes): return [link for link in chain if link.source in nodes]
    >>> spread({1: 1.0}, ahead, threshold=0.1, damping=0.0)
    {1: 1.0, 2: 0.5, 3: 0.25, 4: 0.125}
    >>> list(spread({1: 1.0}, ahead, damping=0.0))
    [1, 2, 3]
    """
    reached = dict(sorted(seeds.items()))
    frontier = list(reached)
    for _ in range(HOPS):
        risen: dict[int, float] = {}
        for link in links(frontier):
            fan = max(link.degree, 1) ** -damping
            received = reached[link.source] * (min(link.strength, 1.0) * DECAY * fan)
            needed = threshold * (DORMANT if link.dormant else 1.0)
            most = max(reached.get(link.target, 0.0), risen.get(link.target, 0.0))
            if received >= needed and received > most:
                risen[link.target] = received
        frontier = sorted(risen)
        reached |= {node: risen[node] for node in frontier}
    return reached


# Smriti's retrieval in rounds; "code" marks what its article leaves to the published code.
ROUNDS = 3  # at most (code, multi-round-retrieval)
MOST_PARTS = 4  # the question and three parts (code, query-decomposition)
BOOST = 1.3  # factor for each further text that finds a document (§Result Fusion)
FOLLOW = 0.6  # weight of a follow-up (code)
GAIN = 0.05  # improvement below which it ends (§Adaptive Termination)
BONUS = (0.05, 0.1)  # for a part of three words, of five and more (§Multi-Round Retrieval)
LONG = 8  # words beyond which a question counts as complex
_LONGEST = 600  # characters; what is longer is a text, not a question
_RULES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<a>.+\?)\s+(?P<b>.+\?)",
        r"(?P<a>.+?)\s(?:vs\.?|versus|(?:as )?compared (?:to|with))\s(?P<b>.+)",
        r".*\b(?:differences?|similarit(?:y|ies)|contrast) between (?P<a>.+?) and (?P<b>.+)",
        r".*\bcompare (?P<a>.+?) (?:and|with|to) (?P<b>.+)",
        r".*\b(?:better|worse|more|less|rather)\b(?P<a>.+?) than (?P<b>.+)",
        r"(?P<a>.+?)\s(?:because(?: of)?|due to)\s(?P<b>.+)",
        r".*\b(?:why|reasons? (?:for|behind)|causes? of|what (?:caused|led to))\b(?P<a>.+)",
    )
)
_ITEMS = re.compile(r",\s*(?:(?:and|or)\s+)?|\s(?:and|or|but)\s", re.IGNORECASE)
_SPLITS = re.compile(
    r"(?:and|or|but|that|which|who|where|when|while|although|before|after|since|until|then|vs|versus"
    r"|than|compared|difference)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"[^"\n]+"|“[^”\n]+”')


def question_parts(text: str) -> dict[str, float]:
    """The question, then the questions it is made of, at most four in all, with their weights.

    Comparison, cause, list, conjunction: the first rule that fires decides
    (``query-decomposition.ts``). The i-th weighs max(0.4, 1 − 0.2·i), and more the longer it is.

    >>> list(question_parts("REST vs GraphQL for mobile apps?"))[1:]
    ['REST', 'GraphQL for mobile apps']
    >>> list(question_parts("What do we know about tea, soup, and bread?").items())[1:3]
    [('What do we know about tea', 0.9), ('soup', 0.6)]
    """
    if len(text) > _LONGEST:
        return {text: 1.0}
    matches = (rule.fullmatch(text.strip()) for rule in _RULES)
    found = next((match for match in matches if match), None)
    pieces = [*found.groupdict().values()] if found else _ITEMS.split(text)
    stripped = dict.fromkeys(piece.strip(" ,;:.!?") for piece in pieces)
    parts = [each for each in stripped if each != text.strip(" ?.!") and tokens.stems(each)]
    weights = (max(0.4, round(1 - 0.2 * at, 1)) for at in range(1, MOST_PARTS))
    weighed = {text: 1.0}
    for part, weight in zip(parts, weights, strict=False):
        words = len(part.split())
        weighed[part] = weight + (BONUS[1] if words >= 5 else BONUS[0] if words >= 3 else 0.0)
    return weighed


def is_complex(text: str) -> bool:
    """Whether Smriti takes a question apart: a long one, or one with two quotations or names.

    So is any with a conjunction or relative word.

    >>> is_complex("Why we switched to SQLite"), is_complex("tabs or spaces")
    (False, True)
    >>> is_complex("did Ilse meet Joris")
    True
    """
    words = _WORD.findall(text)
    names = [word for word in words[1:] if word[0].isupper() and len(word) > 1]
    return (
        len(words) > LONG
        or any(map(_SPLITS.fullmatch, words))
        or len(_QUOTED.findall(text)) >= 2
        or len(names) >= 2
    )


def follow_up(text: str, seen_terms: AbstractSet[str]) -> str:
    """The words of a question of which nothing that was found tells, as a next question.

    ``seen_terms`` are the search terms of everything that was found. Words of three letters and more
    count; it is empty when none is missing, or when all are, which would ask the same again.

    >>> follow_up("Mara's boat in Haarlem", {"mara", "boat"})
    'Haarlem'
    """
    missing: dict[str, str] = {}
    is_seen = False
    for word in text.split():
        terms = [term for term in tokens.stems(word) if len(term) > 2]
        unseen = [term for term in terms if term not in seen_terms]
        is_seen = is_seen or len(unseen) < len(terms)
        if unseen:
            missing.setdefault(unseen[0], word.strip("\"'.,;:!?()“”’‘"))
    return " ".join(missing.values()) if is_seen else ""


def retrieve_in_rounds(
    text: str, search: Callable[[str], Scores], texts_of: Callable[[Mapping[int, float]], str]
) -> Scores:
    """What all rounds find, best first: a question's parts, then what was missing.

    It ends when a round brings no new document and the top score rises by less than a fixed amount.

        score = Σ weight · score × boost^(n − 1),  for a document that n texts found
    """
    asked = question_parts(text) if is_complex(text) else {text: 1.0}
    found = [(weight, search(part)) for part, weight in asked.items()]
    fused = _fused(found)
    for _ in range(ROUNDS - 1):
        follow = follow_up(text, frozenset(tokens.stems(texts_of(fused))))
        if not follow or follow in asked:
            break
        asked[follow] = FOLLOW
        found.append((FOLLOW, search(follow)))
        before, fused = fused, _fused(found)
        gained = max(fused.values(), default=0.0) - max(before.values(), default=0.0)
        if not fused.keys() - before.keys() and gained < GAIN:
            break
    return fused


def _fused(found: Sequence[tuple[float, Scores]]) -> Scores:
    parts = grouped((n, weight * score) for weight, scores in found for n, score in scores.items())
    return _best_first({n: fsum(votes) * BOOST ** (len(votes) - 1) for n, votes in parts.items()})
