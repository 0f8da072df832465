"""Evidence for an episode boundary between two turns, and how it combines.

Each sign gives a probability e in 0 … 1 that there is a boundary; independent signs combine to
1 − Π(1 − e). The constants are calibrated on LoCoMo (see each).

The surprise of a turn (CMA §3.1, after EM-LLM) is the sum of two standardised parts: the bits per word
stem of its text under an n-gram model of the turns before it, and its embedding novelty,
1 − cos(turn, mean of the turns before it).
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean

from clsm_cli.config import BoundarySettings

PRIOR_COHERENCE = 0.48
"""Cosine of a turn to the mean of the three before it: mean over LoCoMo's sessions (μ₀)."""
PRIOR_DEVIATION = 0.13
"""Standard deviation of that cosine within a session of LoCoMo (σ₀)."""
PRIOR_TURNS = 8.0
"""Weight of these two priors against the segment's own figures, in turns (n₀)."""
MAX_COHERENCE_EVIDENCE = 0.55
"""Evidence of the largest drop in coherence: too little to fire alone."""
MIN_SURPRISE_EVIDENCE, MAX_SURPRISE_EVIDENCE = 0.5, 0.65
"""Evidence of a surprise just above μ + γσ, and from one deviation above that."""


def combine(evidence: Iterable[float]) -> float:
    """Probability that at least one of independent signs is right: 1 − Π(1 − e).

    >>> combine([0.5, 0.5]), combine([]), combine([0.2, 1.0])
    (0.75, 0.0, 1.0)
    """
    return 1.0 - math.prod(1.0 - e for e in evidence)


def gap_evidence(minutes: float | None, new_day: bool, settings: BoundarySettings) -> float:
    """Evidence of a silence: 0 up to ``gap_ignored``, ½ at ``gap_half``, 1 from ``gap_certain`` on.

    In between, e is linear in log(minutes), since silences span orders of magnitude:
    e = ½ · ln(t/ignored) / ln(half/ignored), and ½ + ½ · ln(t/half) / ln(certain/half) above.
    A change of date gives 1, but only after ``gap_half``: a conversation may pass midnight. A gap
    that is unknown (None) or negative gives 0.

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
        return 0.5 * _log_position(minutes, settings.gap_ignored, settings.gap_half)
    return 0.5 + 0.5 * _log_position(minutes, settings.gap_half, settings.gap_certain)


def _log_position(value: float, low: float, high: float) -> float:
    """Position of ``value`` between ``low`` (0) and ``high`` (1) on a logarithmic scale."""
    low = max(low, 1e-3)  # 0 has no logarithm
    return max(0.0, math.log(value / low) / math.log(high / low))


def coherence_evidence(cosine: float, past: Sequence[float]) -> float:
    """Evidence of a turn's cosine to the three turns before it.

    z = (μ − cosine)/σ with the segment's own figures, shrunk towards the priors:
    μ = (Σ past + n₀μ₀)/(n + n₀),  σ² = (Σ (past − μ)² + n₀σ₀²)/(n + n₀),  σ ≥ σ₀/2.
    e rises linearly from 0 at z = 0 to ``MAX_COHERENCE_EVIDENCE`` at z = 1½. The prior keeps the
    first turns of a segment from firing on noise, the lower bound of σ a very uniform segment.

    With no past, z = (0.48 − 0.09)/0.13 = 3, the maximum; and 0.35 is at z = 1:

    >>> coherence_evidence(0.09, []), round(coherence_evidence(0.35, []), 4)
    (0.55, 0.3667)

    Eight turns at 0.30 bring the mean down to 0.39, so 0.40 is no drop at all:

    >>> coherence_evidence(0.40, [0.3] * 8)
    0.0
    """
    weight = len(past) + PRIOR_TURNS
    mean = (sum(past) + PRIOR_TURNS * PRIOR_COHERENCE) / weight
    squares = sum((x - mean) ** 2 for x in past) + PRIOR_TURNS * PRIOR_DEVIATION**2
    deviation = max(math.sqrt(squares / weight), PRIOR_DEVIATION / 2)
    z = (mean - cosine) / deviation
    return MAX_COHERENCE_EVIDENCE * min(1.0, max(0.0, z / 1.5))


def surprise_evidence(z: float, gamma: float) -> float:
    """Evidence of a turn's surprise, ``z`` deviations above the mean of its window.

    0 up to γ (CMA: surprise > μ + γσ); from there, over one deviation, from
    ``MIN_SURPRISE_EVIDENCE`` to ``MAX_SURPRISE_EVIDENCE``.

    >>> surprise_evidence(1.0, 1.0), round(surprise_evidence(1.5, 1.0), 3)
    (0.0, 0.575)
    >>> surprise_evidence(9.0, 1.0)
    0.65
    """
    if z <= gamma:
        return 0.0
    return MIN_SURPRISE_EVIDENCE + (MAX_SURPRISE_EVIDENCE - MIN_SURPRISE_EVIDENCE) * min(
        1.0, z - gamma
    )


UNSEEN_BITS = 15.0
"""Bits of a word stem that is neither learnt nor in ``BACKGROUND``: one of 2¹⁴ stems that share half the mass."""

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
"""Probability of the commonest stems of conversation, rounded; their sum is a bit less than ½."""


BITS_DEVIATION = 2.0
"""Typical deviation of bits per word within a session of LoCoMo (σ_b)."""
NOVELTY_DEVIATION = 0.13
"""Typical deviation of 1 − cos(turn, mean of those before) within a session of LoCoMo (σ_n)."""
MIN_VARIANCE = 2.0
"""Lower bound for the variance of a window of surprises."""
MAX_DEVIATIONS = 3.0
"""Bound of |z|."""


class WordModel:
    """Interpolated bigram model with Witten–Bell smoothing, trained turn by turn.

    P₁(w)   = (c(w)   + T·B(w))       / (N + T)
    P₂(w|v) = (c(v,w) + T(v)·P₁(w))   / (c(v) + T(v)),   P₂ = P₁ where v was never followed

    c counts, N words in all, T distinct words, T(v) distinct followers of v, c(v) followers of v;
    B(w) is ``BACKGROUND`` or 2^-``UNSEEN_BITS``. B > 0, so every probability is above zero and the
    logarithm finite. Source: Witten and Bell 1991, method C.

    Learning one word leaves half the mass to the background, so "pear" costs one bit more:

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
        self._follower_tokens: Counter[str] = Counter()
        self._follower_types: Counter[str] = Counter()
        self._total = 0

    def learn(self, words: Sequence[str]) -> None:
        """Count the words of one turn and its pairs of neighbours."""
        self._words.update(words)
        self._total += len(words)
        for pair in pairwise(words):
            self._follower_types[pair[0]] += pair not in self._pairs
            self._pairs[pair] += 1
            self._follower_tokens[pair[0]] += 1

    def bits(self, words: Sequence[str]) -> float:
        """Mean of −log₂ P over the words; 0 when there are none."""
        if not words:
            return 0.0
        first = math.log2(self._unigram(words[0]))
        rest = (math.log2(self._bigram(v, w)) for v, w in pairwise(words))
        return -(first + sum(rest)) / len(words)

    def _unigram(self, word: str) -> float:
        background = BACKGROUND.get(word, math.exp2(-UNSEEN_BITS))
        types = len(self._words)
        if not types:
            return background
        return (self._words[word] + types * background) / (self._total + types)

    def _bigram(self, before: str, word: str) -> float:
        types = self._follower_types[before]
        if not types:
            return self._unigram(word)
        seen = self._pairs[before, word]
        return (seen + types * self._unigram(word)) / (self._follower_tokens[before] + types)


def turn_surprise(bits: float, novelty: float) -> float:
    """Sum of bits and novelty, each in typical deviations within a LoCoMo session.

    s = bits/σ_b + novelty/σ_n, bits in bits per word, novelty = 1 − cos in 0 … 2. Fixed scales
    weigh both parts alike; ``deviations`` subtracts the mean.

    >>> turn_surprise(9.0, 0.52)
    8.5
    """
    return bits / BITS_DEVIATION + novelty / NOVELTY_DEVIATION


def deviations(value: float, past: Sequence[float]) -> float:
    """How many standard deviations ``value`` lies above the mean of the ``past`` ones.

    z = d / √(max(σ, √2)² + d²/k),  d = x − μ,  k = min(n, 9),  μ and σ of the n past values

    √2 is the deviation of a sum of two independent standard parts. As lower bound of σ, it keeps a
    uniform past from turning noise into surprise, and the root above zero. The value itself counts
    as one of k, so |z| < √k ≤ 3: no value is surprising after a few turns, no outlier is beyond
    CMA's range of γ, and γ = 3 switches surprise off. No past: 0.

    μ = 2, σ = 2, d = 6, k = 2, so z = 6/√(4 + 18):

    >>> round(deviations(8.0, [0.0, 4.0]), 4), deviations(5.0, [5.0]), deviations(9.0, [])
    (1.2792, 0.0, 0.0)
    """
    if not past:
        return 0.0
    mean = fmean(past)
    variance = fmean([(x - mean) ** 2 for x in past])
    excess = value - mean
    own = excess**2 / min(len(past), MAX_DEVIATIONS**2)
    return excess / math.sqrt(max(variance, MIN_VARIANCE) + own)
