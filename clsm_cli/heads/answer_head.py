"""Whether a passage answers a question, and is not only about the same thing.

Signs of nearness, of words and of meaning, are the same for "when was the flat built" and "what is the
rent" beside a sentence about the rent. A cross-encoder reads both at once (fitted by
``scripts/fit_answers.py``; figures on memories that it did not see: ``weights/answer.json``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.heads import cross_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence

CLASSES = ("about it at most", "answers")


def answers(question: str, passages: Sequence[str]) -> list[float]:
    """How likely each passage answers a question, 0 … 1.

    Args:
        passages: Each ``shown`` with its speaker or heading.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    read = cross_encoder.load("answer").probabilities
    return [read(question, passage)[1] for passage in passages]


def shown(text: str, speaker: str, heading: str) -> str:
    """A passage as the head reads it: behind whoever said it, or the headings that it stands under.

    >>> shown("900 euros.", "", "Flat › Rent"), shown("I moved.", "user", "")
    ('Flat › Rent: 900 euros.', 'I moved.')
    """
    before = heading if speaker in ("", "user", "assistant") else speaker
    return f"{before}: {text}" if before else text
