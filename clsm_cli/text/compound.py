"""Questions that ask for several things at once, and the single questions they are made of.

After Smriti's query decomposition: comparison, cause, list, conjunction; the first rule that fires
decides. A question without one of a few words is simple, and only that is looked at until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

# fmt: off
MARKERS: frozenset[str] = frozenset((
    "and", "or", "vs", "vs.", "versus", "than", "compare", "compared", "differ", "differs", "different",
    "why", "because", "due", "caused", "causes", "cause", "reason", "reasons",
))
# fmt: on
"""Folded words, cut at blanks, without one of which a question is simple."""
_LONGEST = 600
"""Characters; what is longer is a text, not a question."""
_MOST = 4


class Part(NamedTuple):
    """A question, or one of those it is made of; ``weight`` is 1 for the question itself."""

    text: str
    weight: float


def is_compound(text: str) -> bool:
    """Whether ``parts`` may find more than the text itself; loads and compiles nothing.

    >>> is_compound("What does Mara want?"), is_compound("What do Mara and Brian want?")
    (False, True)
    """
    if len(text) > _LONGEST:
        return False
    return not MARKERS.isdisjoint(text.casefold().split()) or text.count("?") > 1


def parts(text: str) -> list[Part]:
    """Return the question, then the questions it is made of, at most four in all.

    The i-th weighs max(0.4, 1 − 0.2·i) (Smriti, ``query-decomposition.ts``). None is a marker
    alone, and each carries the words that all share.

    >>> [part.text for part in parts("What do Mara and Brian both like?")][1:]
    ['What does Mara like', 'What does Brian like']
    """
    whole = [Part(text, 1.0)]
    if not is_compound(text):
        return whole
    from clsm_cli.text import compound_rules

    asked = [part for part in compound_rules.split(text) if any(map(str.isalnum, part))]
    found = asked[: _MOST - 1]
    return whole + [Part(part, max(0.4, round(1 - 0.2 * i, 1))) for i, part in enumerate(found, 1)]


def follow_up(text: str, seen_terms: AbstractSet[str]) -> Part | None:
    """Return the words of a question of which nothing that was found tells, as a next question.

    Args:
        text: The question.
        seen_terms: Search terms (``tokens.stems``) of everything that was found.

    Returns:
        Its key words (three letters and more) that are missing, at weight 0.6; None when none is,
        or when all are, which would ask the same again.

    >>> follow_up("Mara's boat in Haarlem", {"mara", "boat"})
    Part(text='Haarlem', weight=0.6)
    """
    from clsm_cli.text import tokens

    missing: dict[str, str] = {}
    is_seen = False
    for word in text.split():
        terms = [term for term in tokens.stems(word) if len(term) > 2]
        unseen = [term for term in terms if term not in seen_terms]
        is_seen = is_seen or len(unseen) < len(terms)
        if unseen:
            missing.setdefault(unseen[0], word.strip("\"'.,;:!?()“”’‘"))
    return Part(" ".join(missing.values()), 0.6) if missing and is_seen else None
