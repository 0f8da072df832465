"""The owner model: adjust a sentence's probability by the owner's decisions on similar ones.

Twenty decisions are too few to fit a head, but enough to correct one. The logit of the shipped head is
the mean of a Gaussian process; decisions are its observations (Rasmussen and Williams 2006, *Gaussian
Processes for Machine Learning*, §3.4: Laplace's approximation). A sentence unlike all decided ones keeps
its probability, and the contribution of each decision can be named.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

MEANING_VARIANCE, DOCUMENT_VARIANCE, OWNER_VARIANCE = 4.0, 2.0, 0.3
"""Variances of the correction shared by sentences of the same meaning, of one document, and of one owner.

Chosen from 12 settings (meaning 1 to 8, document 0 to 4) on labels of 19 workspaces, each held out of the
head; see docs/statements.md.
"""
_NEWTON_STEPS = 30
_MAX_DISTANCE = 2.0
"""Maximum distance of a logit from the threshold's at which decisions are applied."""


class Decision(NamedTuple):
    """A sentence that the owner kept or rejected.

    Attributes:
        name: Id of its statement or review item.
        document: Its document or session; "" if unknown.
        vector: Unit vector of the text.
        chance: Probability of ``keep`` by the shipped head.
        is_kept: The decision.
    """

    name: str
    text: str
    document: str
    vector: Any
    chance: float
    is_kept: bool


class Owner:
    """The decisions of one owner, and the corrections they imply for other sentences.

    >>> import numpy as np
    >>> kept = Decision("f-1", "a", "", np.array([1.0, 0.0]), 0.5, True)
    >>> owner = Owner([kept])
    >>> owner.chance(0.5, np.array([1.0, 0.0]), "") > owner.chance(0.5, np.array([0.0, 1.0]), "") > 0.5
    True
    """

    def __init__(self, decisions: Sequence[Decision] = ()) -> None:
        self.decisions = list(decisions)
        self._weights: Any = self._fitted() if decisions else None

    def chance(self, chance: float, vector: Any, document: str) -> float:
        """The corrected probability of ``keep`` of a sentence, to four decimals.

        Args:
            chance: Probability by the shipped head.
            vector: Unit vector of its text.
            document: Its document or session.
        """
        if not self.decisions:
            return chance
        shift = sum(share for share, _ in self.contributions(vector, document))
        return round(1 / (1 + math.exp(-logit(chance) - shift)), 4)

    def contributions(self, vector: Any, document: str) -> list[tuple[float, Decision]]:
        """The contribution of each decision to the logit of a sentence, the strongest first."""
        if not self.decisions:
            return []
        row = self._likeness([vector], [document])[0] * self._weights
        found = list(zip(row.tolist(), self.decisions, strict=True))
        return sorted(found, key=lambda pair: (-abs(pair[0]), pair[1].name))

    def _likeness(self, vectors: Sequence[Any], documents: Sequence[str]) -> Any:
        """The kernel between sentences and decisions, [n, decisions]."""
        import numpy as np

        known = np.array([each.vector for each in self.decisions], np.float64)
        cosines = np.array(vectors, np.float64) @ known.T
        same = [
            [document != "" and document == each.document for each in self.decisions]
            for document in documents
        ]
        return (
            MEANING_VARIANCE * np.maximum(cosines, 0) ** 2
            + DOCUMENT_VARIANCE * np.array(same)
            + OWNER_VARIANCE
        )

    def _fitted(self) -> Any:
        """Weights of the kernel's columns at the posterior mode, by Newton's method."""
        import numpy as np

        kernel = self._likeness(
            [each.vector for each in self.decisions], [each.document for each in self.decisions]
        )
        prior = np.array([logit(each.chance) for each in self.decisions])
        decided = np.array([float(each.is_kept) for each in self.decisions])
        weights = np.zeros(len(decided))
        for _ in range(_NEWTON_STEPS):
            found = prior + kernel @ weights
            chances = 1 / (1 + np.exp(-found))
            slopes = chances * (1 - chances) + 1e-6
            wanted = slopes * (found - prior) + decided - chances
            weights = np.linalg.solve(np.eye(len(decided)) + slopes[:, None] * kernel, wanted)
        return weights


def logit(chance: float) -> float:
    """The logit of a probability, clipped to 0.001 … 0.999.

    >>> logit(0.5), round(logit(1.0), 2)
    (0.0, 6.91)
    """
    clipped = min(0.999, max(0.001, chance))
    return math.log(clipped / (1 - clipped))


def is_unsure(chance: float, worth: float) -> bool:
    """Whether a probability is so near the threshold that decisions may move it across.

    >>> is_unsure(0.5, 0.6), is_unsure(0.02, 0.6)
    (True, False)
    """
    return abs(logit(chance) - logit(worth)) <= _MAX_DISTANCE
