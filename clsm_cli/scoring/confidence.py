"""How sure an answer is: a probability from evidence that does not depend on the rest of the store."""

from __future__ import annotations

from math import exp

from clsm_cli.records import NamedTuple

COSINE = 6.1
COVERAGE = 2.3
LEAD = 22.0
ASKER = 2.1
BIAS = -4.1
"""By logistic regression, see docs/experiments.md."""
DATE = 1.5
"""A question that names a day or a conversation asks for one of its few passages instead of one of all:
that alone raises the odds. Less than log(all passages / those of a day), which is 3 to 5, as of that day
there may also be nothing to tell."""


class Evidence(NamedTuple):
    """What speaks for a passage, or for the best of several.

    Attributes:
        bm25: Raw, 0 without a common word.
        coverage: Share of the question's idf that its words hold, or of that whose terms the model
            does not know where that is more, 0 … 1.
        cosine: Of its sentence vector, −1 … 1; None without one.
        lead: By how much the MaxSim of what the person asked about said exceeds that of what others
            said; 0 where nobody is asked about. Negative: it was somebody else.
        date: How well it fits the time that is asked about, 0 … 1; 0 where none is.
        asker: 1 where the question is about the asker ("my", "we"), else 0: what somebody asks of
            themselves is likelier to be in their memory than what is asked of the world.
    """

    bm25: float
    coverage: float
    cosine: float | None
    lead: float
    date: float = 0.0
    asker: float = 0.0


def of(evidence: Evidence) -> float:
    """Probability that something with this evidence is relevant.

        p = 1 / (1 + exp(−(a · cosine + b · coverage + c · lead + d · date + e · asker + f)))

    Without a vector the coverage stands for it.

    >>> round(of(Evidence(4.0, 1.0, 0.6, 0.0)), 2), round(of(Evidence(0.0, 0.0, 0.2, 0.0)), 2)
    (0.87, 0.05)
    """
    cosine = evidence.coverage if evidence.cosine is None else evidence.cosine
    sure = COSINE * cosine + COVERAGE * evidence.coverage + LEAD * evidence.lead + BIAS
    return 1 / (1 + exp(-sure - DATE * evidence.date - ASKER * evidence.asker))


def best(evidence: list[Evidence]) -> Evidence:
    """The strongest of each kind of evidence.

    >>> best([Evidence(1.0, 0.5, None, 0.1), Evidence(0.0, 0.75, 0.3, 0.1)])
    Evidence(bm25=1.0, coverage=0.75, cosine=0.3, lead=0.1, date=0.0, asker=0.0)
    """
    cosines = [each.cosine for each in evidence if each.cosine is not None]
    return Evidence(
        max((each.bm25 for each in evidence), default=0.0),
        max((each.coverage for each in evidence), default=0.0),
        max(cosines, default=None),
        max((each.lead for each in evidence), default=0.0),
        max((each.date for each in evidence), default=0.0),
        max((each.asker for each in evidence), default=0.0),
    )
