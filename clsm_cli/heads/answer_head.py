"""Whether a passage answers a question, and is not only about the same thing.

Signs of nearness, of words and of meaning, are the same for "when was the flat built" and "what is the
rent" beside a sentence about the rent. A cross-encoder reads both at once (fitted by
``scripts/fit_answers.py``; figures on memories that it did not see: ``weights/answer.json``).
"""

from __future__ import annotations

from collections.abc import Iterator

from clsm_cli.heads import cross_encoder
from clsm_cli.text import tokens

CLASSES = ("about it at most", "answers")
LONGEST, LEAST = 280, 120
"""Characters of a passage that are read with what stands before it (some seventy word pieces, as many as
the model gets), and of the passage alone, however much stands before it."""


def answers(question: str, passage: str) -> float:
    """How likely a passage answers a question, 0 … 1.

    Args:
        passage: ``shown`` with its speaker or heading.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    return cross_encoder.load("answer").probabilities(question, passage)[1]


def shown(question: str, text: str, speaker: str, heading: str) -> str:
    """A passage as the head reads it: behind whoever said it, or the headings that it stands under.

    Of a long one, the part that has most words of the question, the first of equal ones.

    >>> shown("rent?", "900 euros.", "", "Flat › Rent"), shown("moved?", "I moved.", "user", "")
    ('Flat › Rent: 900 euros.', 'I moved.')
    """
    before = heading if speaker in ("", "user", "assistant") else speaker
    room = max(LEAST, LONGEST - len(before))
    if len(text) > room:
        wanted = tokens.terms(question)
        text = max(_parts(text, room), key=lambda part: len(wanted & tokens.terms(part)))
    return f"{before}: {text}" if before else text


def _parts(text: str, room: int) -> Iterator[str]:
    r"""A text in parts of whole lines, as long as they may be.

    >>> [*_parts("one two\nthree\nfour", 14)]
    ['one two\nthree', 'four']
    """
    import textwrap

    part = ""
    for line in text.split("\n"):
        for piece in textwrap.wrap(line, room):
            if part and len(part) + len(piece) >= room:
                yield part
                part = ""
            part += f"\n{piece}" if part else piece
    yield part
