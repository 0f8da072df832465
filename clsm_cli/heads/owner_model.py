"""The owner model: adjust a sentence's probability by the owner's decisions on similar ones.

Twenty decisions are too few to fit a head, and enough to correct one. The logit of the shipped head is
the mean of a Gaussian process, decisions are its observations (Rasmussen and Williams 2006, *Gaussian
Processes for Machine Learning*, §3.4: Laplace's approximation). So what is like nothing that was decided
keeps its probability, and what each decision adds to another can be named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

MEANING, DOCUMENT, OWNER = 4.0, 2.0, 0.3
"""Variance of the correction that sentences of one meaning, of one document, and all of an owner share.

Chosen on labels of nineteen workspaces, each left out of the head, from twelve settings: 1 to 8 for
meaning, 0 to 4 for a document; see docs/statements.md.
"""
_STEPS = 30
_UNSURE = 2.0
"""Distance of a logit from that of the threshold within which a sentence's vector is asked for."""


class Decision(NamedTuple):
    """A sentence that the owner kept or rejected.

    Attributes:
        name: Id of its statement or question.
        text: Its words.
        document: The document or session that it stands in; "" where none is known.
        vector: Of the text, of length 1.
        chance: Probability of ``keep`` by the shipped head.
        is_kept: What the owner said.
    """

    name: str
    text: str
    document: str
    vector: Any
    chance: float
    is_kept: bool


class Owner:
    """The decisions of one owner, and what they say of other sentences.

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
        """The probability of ``keep`` of a sentence, corrected; to four decimals.

        Args:
            chance: By the shipped head.
            vector: Of its text, of length 1.
            document: What it stands in.
        """
        if not self.decisions:
            return chance
        shift = sum(share for share, _ in self.why(vector, document))
        return round(1 / (1 + math.exp(-logit(chance) - shift)), 4)

    def why(self, vector: Any, document: str) -> list[tuple[float, Decision]]:
        """What each decision adds to the logit of a sentence, the strongest first."""
        if not self.decisions:
            return []
        row = self._likeness([vector], [document])[0] * self._weights
        found = list(zip(row.tolist(), self.decisions, strict=True))
        return sorted(found, key=lambda pair: (-abs(pair[0]), pair[1].name))

    def _likeness(self, vectors: Sequence[Any], documents: Sequence[str]) -> Any:
        """The kernel between some sentences and the decisions, [n, decisions]."""
        import numpy as np

        known = np.array([each.vector for each in self.decisions], np.float64)
        cosines = np.array(vectors, np.float64) @ known.T
        same = [
            [document != "" and document == each.document for each in self.decisions]
            for document in documents
        ]
        return MEANING * np.maximum(cosines, 0) ** 2 + DOCUMENT * np.array(same) + OWNER

    def _fitted(self) -> Any:
        """Newton's method for the mode of the posterior, as weights of the kernel's columns."""
        import numpy as np

        kernel = self._likeness(
            [each.vector for each in self.decisions], [each.document for each in self.decisions]
        )
        prior = np.array([logit(each.chance) for each in self.decisions])
        decided = np.array([float(each.is_kept) for each in self.decisions])
        weights = np.zeros(len(decided))
        for _ in range(_STEPS):
            found = prior + kernel @ weights
            chances = 1 / (1 + np.exp(-found))
            slopes = chances * (1 - chances) + 1e-6
            wanted = slopes * (found - prior) + decided - chances
            weights = np.linalg.solve(np.eye(len(decided)) + slopes[:, None] * kernel, wanted)
        return weights


def logit(chance: float) -> float:
    """The logit of a probability, which is taken for at least 0.001 and at most 0.999.

    >>> logit(0.5), round(logit(1.0), 2)
    (0.0, 6.91)
    """
    held = min(0.999, max(0.001, chance))
    return math.log(held / (1 - held))


def is_unsure(chance: float, worth: float) -> bool:
    """Whether decisions about others may move a sentence over the threshold, either way.

    >>> is_unsure(0.5, 0.6), is_unsure(0.02, 0.6)
    (True, False)
    """
    return abs(logit(chance) - logit(worth)) <= _UNSURE
