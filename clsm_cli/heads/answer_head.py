"""The answer head: the probability that a passage answers a question rather than shares its subject.

Lexical and embedding similarity to a sentence about the rent do not distinguish "when was the flat built"
from "what is the rent". A cross-encoder reads question and passage together (fitted by
``scripts/fit_answers.py``; figures on held-out memories: ``weights/answer.json``).
"""

from __future__ import annotations

from collections.abc import Iterator

from clsm_cli.heads import cross_encoder
from clsm_cli.text import tokens

MAX_CHARS, MIN_PASSAGE_CHARS = 280, 120
"""Maximum characters of a passage with its prefix (about 70 word pieces, the model's limit), and the number
that the passage always gets, however long its prefix is."""


def answer_probability(question: str, passage: str) -> float:
    """The probability that a passage answers a question.

    Args:
        passage: ``passage_text`` with its speaker or heading.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    return cross_encoder.load("answer").probabilities(question, passage)[1]


def passage_text(question: str, text: str, speaker: str, heading: str) -> str:
    """A passage with its speaker or heading as prefix, as the head reads it.

    A long one is reduced to the part with the most words of the question; ties: the first.

    >>> passage_text("rent?", "900 euros.", "", "Flat › Rent"), passage_text("moved?", "I moved.", "user", "")
    ('Flat › Rent: 900 euros.', 'I moved.')
    """
    before = heading if speaker in ("", "user", "assistant") else speaker
    room = max(MIN_PASSAGE_CHARS, MAX_CHARS - len(before))
    if len(text) > room:
        wanted = tokens.terms(question)
        text = max(_line_groups(text, room), key=lambda part: len(wanted & tokens.terms(part)))
    return f"{before}: {text}" if before else text


def _line_groups(text: str, room: int) -> Iterator[str]:
    r"""Split a text into groups of whole lines, each as long as ``room`` allows.

    >>> [*_line_groups("one two\nthree\nfour", 14)]
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
