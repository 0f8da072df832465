"""How strongly each sign speaks for a boundary between two turns, and their combination.

Every sign gives a probability e in 0 … 1 that a boundary lies here, judged by itself; independent
signs combine to 1 − Π(1 − e). The constants are calibrated on LoCoMo (see each).

The surprise of a turn (CMA §3.1, after EM-LLM) is the sum of two standardised parts: the bits per word
stem of its text under an n-gram model of the turns before it, and its embedding novelty,
1 − cos(turn, mean of the turns before it).
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.config import BoundarySettings

USUAL_COHERENCE = 0.48
"""Cosine of a turn to the mean of the three before it: mean over LoCoMo's sessions."""
USUAL_DEVIATION = 0.13
"""Its standard deviation within a session there."""
PRIOR_TURNS = 8.0
"""Weight of those two against the segment's own figures, in turns."""
COHERENCE_MOST = 0.55
"""What a drop of coherence says at most: too little to fire alone, or with intent and entities."""
SURPRISE_LEAST, SURPRISE_MOST = 0.5, 0.65
"""What surprise says just above μ + γσ, and from one deviation above that on."""


def combine(evidence: Iterable[float]) -> float:
    """Probability that at least one of independent signs is right: 1 − Π(1 − e).

    >>> combine([0.5, 0.5]), combine([]), combine([0.2, 1.0])
    (0.75, 0.0, 1.0)
    """
    return 1.0 - math.prod(1.0 - e for e in evidence)


def gap_evidence(minutes: float | None, new_day: bool, settings: BoundarySettings) -> float:
    """What a silence says: 0 up to ``gap_ignored``, ½ at ``gap_half``, 1 from ``gap_certain`` on.

    Between them e is linear in log(minutes), for silences are spread over orders of magnitude:
    e = ½ · ln(t/ignored) / ln(half/ignored), and ½ + ½ · ln(t/half) / ln(certain/half) above.
    A change of date counts 1, but only after ``gap_half``: a talk may well pass midnight. A gap
    that is unknown (None) or negative says nothing.

    >>> from clsm_cli.config import BoundarySettings
    >>> s = BoundarySettings()
    >>> [round(gap_evidence(t, False, s), 3) for t in (None, -9, 5, 30, 60, 240)]
    [0.0, 0.0, 0.0, 0.5, 0.667, 1.0]
    >>> gap_evidence(20, True, s) < 0.5, gap_evidence(31, True, s)
    (True, 1.0)
    """
    if minutes is None or minutes <= max(0.0, settings.gap_ignored):
        return 0.0
    if minutes >= settings.gap_certain or (new_day and minutes >= settings.gap_half):
        return 1.0
    if minutes < settings.gap_half:
        return 0.5 * _share(minutes, settings.gap_ignored, settings.gap_half)
    return 0.5 + 0.5 * _share(minutes, settings.gap_half, settings.gap_certain)


def _share(value: float, low: float, high: float) -> float:
    """Where ``value`` lies between ``low`` (0) and ``high`` (1) on a logarithmic scale."""
    low = max(low, 1e-3)  # 0 has no logarithm
    return max(0.0, math.log(value / low) / math.log(high / low))


def coherence_evidence(cosine: float, past: Sequence[float]) -> float:
    """What it says that a turn is this close to the three before it.

    z = (μ − cosine)/σ with the segment's own figures, shrunk towards the usual ones:
    μ = (Σ past + n₀μ₀)/(n + n₀),  σ² = (Σ (past − μ)² + n₀σ₀²)/(n + n₀),  σ ≥ σ₀/2.
    e rises linearly from 0 at z = 0 to ``COHERENCE_MOST`` at z = 1½. The prior keeps the first
    turns of a segment, and the floor a very even one, from firing on noise.

    With no past, z = (0.48 − 0.09)/0.13 = 3, so e is at its most; and 0.35 is at z = 1:

    >>> coherence_evidence(0.09, []), round(coherence_evidence(0.35, []), 4)
    (0.55, 0.3667)

    Eight turns at 0.30 bring the mean down to 0.39, so 0.40 is no drop at all:

    >>> coherence_evidence(0.40, [0.3] * 8)
    0.0
    """
    weight = len(past) + PRIOR_TURNS
    mean = (sum(past) + PRIOR_TURNS * USUAL_COHERENCE) / weight
    squares = sum((x - mean) ** 2 for x in past) + PRIOR_TURNS * USUAL_DEVIATION**2
    deviation = max(math.sqrt(squares / weight), USUAL_DEVIATION / 2)
    z = (mean - cosine) / deviation
    return COHERENCE_MOST * min(1.0, max(0.0, z / 1.5))


def surprise_evidence(z: float, gamma: float) -> float:
    """What it says that a turn's surprise lies ``z`` deviations above the mean of its window.

    Nothing up to γ (CMA: surprise > μ + γσ); then from ``SURPRISE_LEAST``, in one deviation, to
    ``SURPRISE_MOST``.

    >>> surprise_evidence(1.0, 1.0), round(surprise_evidence(1.5, 1.0), 3)
    (0.0, 0.575)
    >>> surprise_evidence(9.0, 1.0)
    0.65
    """
    if z <= gamma:
        return 0.0
    return SURPRISE_LEAST + (SURPRISE_MOST - SURPRISE_LEAST) * min(1.0, z - gamma)


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
