"""Split a compound question into the single questions it is made of, after Smriti's decomposition.

Comparison, cause, list, conjunction: the first rule that fires decides (``query-decomposition.ts``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


class Part(NamedTuple):
    """A question, or one of those it is made of; ``weight`` is 1 for the question itself."""

    text: str
    weight: float


_MOST = 4
_LONGEST = 600
"""Characters; what is longer is a text, not a question."""
_RULES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<a>.+\?)\s+(?P<b>.+\?)",
        r"(?P<a>.+?)\s(?:vs\.?|versus|(?:as )?compared (?:to|with))\s(?P<b>.+)",
        r".*\b(?:differences?|similarit(?:y|ies)|contrast) between (?P<a>.+?) and (?P<b>.+)",
        r".*\bcompare (?P<a>.+?) (?:and|with|to) (?P<b>.+)",
        r".*\b(?:better|worse|more|less|rather)\b(?P<a>.+?) than (?P<b>.+)",
        r"(?P<a>.+?)\s(?:because(?: of)?|due to)\s(?P<b>.+)",
        r".*\b(?:why|reasons? (?:for|behind)|causes? of|what (?:caused|led to))\b(?P<a>.+)",
    )
)
_ITEMS = re.compile(r",\s*(?:(?:and|or)\s+)?|\s(?:and|or|but)\s", re.IGNORECASE)


def question_parts(text: str) -> list[Part]:
    """The question, then the questions it is made of, at most four in all.

    The i-th weighs max(0.4, 1 − 0.2·i) (Smriti).

    >>> [part.text for part in question_parts("REST vs GraphQL for mobile apps?")][1:]
    ['REST', 'GraphQL for mobile apps']
    >>> [part.text for part in question_parts("What do we know about tea, soup, and bread?")][1:]
    ['What do we know about tea', 'soup', 'bread']
    """
    if len(text) > _LONGEST:
        return [Part(text, 1.0)]
    matches = (rule.fullmatch(text.strip()) for rule in _RULES)
    found = next((match for match in matches if match), None)
    pieces = [*found.groupdict().values()] if found else _ITEMS.split(text)
    parts: dict[str, None] = {}
    for piece in pieces:
        part = piece.strip(" ,;:.!?")
        if part != text.strip(" ?.!") and stems(part):
            parts[part] = None
    asked = list(parts)[: _MOST - 1]
    weights = (max(0.4, round(1 - 0.2 * at, 1)) for at in range(1, _MOST))
    return [Part(text, 1.0), *map(Part, asked, weights)]


def follow_up(text: str, seen_terms: AbstractSet[str]) -> Part | None:
    """The words of a question of which nothing that was found tells, as a next question.

    Args:
        text: The question.
        seen_terms: Search terms (``tokens.stems``) of everything that was found.

    Returns:
        Its key words (three letters and more) that are missing, at weight 0.6; None when none is,
        or when all are, which would ask the same again.

    >>> follow_up("Mara's boat in Haarlem", {"mara", "boat"})
    Part(text='Haarlem', weight=0.6)
    """
    missing: dict[str, str] = {}
    is_seen = False
    for word in text.split():
        terms = [term for term in stems(word) if len(term) > 2]
        unseen = [term for term in terms if term not in seen_terms]
        is_seen = is_seen or len(unseen) < len(terms)
        if unseen:
            missing.setdefault(unseen[0], word.strip("\"'.,;:!?()“”’‘"))
    return Part(" ".join(missing.values()), 0.6) if missing and is_seen else None
