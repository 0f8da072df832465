"""How surprising a turn is, given the turns before it (CMA §3.1, after EM-LLM).

Surprise is the sum of two standardised parts: the bits per word stem of its text under an n-gram model
of the turns before it, and its embedding novelty, 1 − cos(turn, mean of the turns before it).
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

UNSEEN_BITS = 15.0
"""Bits of a word stem that is neither known nor common: one of 2¹⁴ stems in half the mass."""

_PER_MILLE = (
    "great:15 thank:15 make:12 like:12 love:10 wow:8 yeah:8 help:8 see:8 go:8 time:8 work:8 get:8 "
    "good:8 got:7 look:7 hey:6 feel:6 awesom:6 amaz:6 keep:6 cool:6 lot:6 know:6 think:6 want:6 "
    "last:5 sound:5 let:5 peopl:5 way:5 take:5 thing:5 made:5 one:5 new:5 day:5 need:5 back:5 "
    "much:4 sure:4 realli:4 definit:4 someth:4 ok:4 okay:4 nice:4 say:4 said:4 tell:4 talk:4 "
    "tri:4 hope:4 right:4 well:4 yes:4 no:4 hi:4 pleas:3 sorri:3 today:3 start:3 mean:3 come:3 "
    "use:3 find:3 give:3 haha:3 hear:3 hard:3 fun:3 happen:3 glad:3 year:3 still:3 would:3"
)
BACKGROUND: dict[str, float] = {
    stem: int(count) / 1000 for stem, count in (pair.split(":") for pair in _PER_MILLE.split())
}
"""Probability of the commonest stems of talk, rounded; together a bit less than half of all."""


BITS_DEVIATION = 2.0
"""Usual deviation of bits per word within a session of LoCoMo."""
NOVELTY_DEVIATION = 0.13
"""Usual deviation of 1 − cos(turn, mean of those before) there."""
LEAST_SPREAD = 2.0
"""Least variance of a window of surprises."""
MOST_DEVIATIONS = 3.0
"""Bound of z."""


class WordModel:
    """Interpolated bigram model with Witten–Bell smoothing, learnt turn by turn.

    P₁(w)   = (c(w)   + T·B(w))       / (N + T)
    P₂(w|v) = (c(v,w) + T(v)·P₁(w))   / (c(v) + T(v)),   P₂ = P₁ where v was never followed

    c counts, N words in all, T distinct words, T(v) distinct followers of v, c(v) followers of v;
    B(w) is ``BACKGROUND`` or 2^-``UNSEEN_BITS``. Every probability is above zero because B is, so
    the logarithm is always finite. Source: Witten and Bell 1991, method C.

    One word learnt leaves half the mass to the background, so "pear" costs one bit more:

    >>> model = WordModel()
    >>> model.bits(["pear"])
    15.0
    >>> model.learn(["apple"])
    >>> model.bits(["pear"]), round(model.bits(["apple"]), 3)
    (16.0, 1.0)
    """

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._follows: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._total = 0

    def learn(self, words: Sequence[str]) -> None:
        """Count the words of one turn and its pairs of neighbours."""
        self._words.update(words)
        self._total += len(words)
        for pair in pairwise(words):
            self._kinds[pair[0]] += pair not in self._pairs
            self._pairs[pair] += 1
            self._follows[pair[0]] += 1

    def bits(self, words: Sequence[str]) -> float:
        """Mean of −log₂ P over the words; 0 when there are none."""
        if not words:
            return 0.0
        first = math.log2(self._unigram(words[0]))
        rest = (math.log2(self._bigram(v, w)) for v, w in pairwise(words))
        return -(first + sum(rest)) / len(words)

    def _unigram(self, word: str) -> float:
        background = BACKGROUND.get(word, math.exp2(-UNSEEN_BITS))
        kinds = len(self._words)
        if not kinds:
            return background
        return (self._words[word] + kinds * background) / (self._total + kinds)

    def _bigram(self, before: str, word: str) -> float:
        kinds = self._kinds[before]
        if not kinds:
            return self._unigram(word)
        seen = self._pairs[before, word]
        return (seen + kinds * self._unigram(word)) / (self._follows[before] + kinds)


def turn_surprise(bits: float, novelty: float) -> float:
    """The two parts on one scale, each in deviations usual within a LoCoMo session, summed.

    s = bits/σ_b + novelty/σ_n, bits in bits per word, novelty = 1 − cos in 0 … 2. Fixed scales
    weigh the parts alike and leave their means to ``deviations``.

    >>> turn_surprise(9.0, 0.52)
    8.5
    """
    return bits / BITS_DEVIATION + novelty / NOVELTY_DEVIATION


def deviations(value: float, past: Sequence[float]) -> float:
    """How many standard deviations ``value`` lies above the mean of the ``past`` ones.

    z = d / √(max(σ, √2)² + d²/k),  d = x − μ,  k = min(n, 9),  μ and σ of the n past values

    √2 is the deviation of a sum of two independent standard parts: the floor keeps an even past
    from turning noise into surprise, and the root from being zero. The value itself counts as one
    of k, so |z| < √k ≤ 3: a few turns alone make nothing surprising, no outlier is beyond CMA's
    range of γ, and γ = 3 switches surprise off. No past: 0.

    μ = 2, σ = 2, d = 6, k = 2, so z = 6/√(4 + 18):

    >>> round(deviations(8.0, [0.0, 4.0]), 4), deviations(5.0, [5.0]), deviations(9.0, [])
    (1.2792, 0.0, 0.0)
    """
    if not past:
        return 0.0
    mean = fmean(past)
    spread = fmean([(x - mean) ** 2 for x in past])
    excess = value - mean
    own = excess**2 / min(len(past), MOST_DEVIATIONS**2)
    return excess / math.sqrt(max(spread, LEAST_SPREAD) + own)
