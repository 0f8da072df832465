"""Smriti's retrieval in rounds: a question is taken apart, and what was missing is asked for.

Any text of more than eight words is split, and any with a conjunction or relative word, two
quotations or two names. It ends when a round brings no new document and the top score rises by less
than a fixed amount. "code" marks what the article leaves to the published code.
"""

from __future__ import annotations

import re
from math import fsum
from typing import TYPE_CHECKING

from clsm_cli.evaluation.formulas import best_first
from clsm_cli.model.grouping import grouped
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    Scores = dict[int, float]

ROUNDS = 3
"""At most (code, multi-round-retrieval)."""
MOST_PARTS = 4
"""The question and three parts (code, query-decomposition)."""
BOOST = 1.3
"""Factor for each further text that finds a document (§Result Fusion)."""
FOLLOW = 0.6
"""Weight of a follow-up (code)."""
GAIN = 0.05
"""Improvement below which it ends (§Adaptive Termination)."""
BONUS = (0.05, 0.1)
"""For a part of three words, of five and more (§Multi-Round Retrieval)."""
LONG = 8
"""Words beyond which a question counts as complex."""
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
# fmt: off
_SPLITS = frozenset((
    "and", "or", "but", "that", "which", "who", "where", "when", "while", "although",
    "before", "after", "since", "until", "then", "vs", "versus", "than", "compared", "difference",
))
# fmt: on
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"[^"\n]+"|“[^”\n]+”')


def question_parts(text: str) -> dict[str, float]:
    """The question, then the questions it is made of, at most four in all, with their weights.

    Comparison, cause, list, conjunction: the first rule that fires decides
    (``query-decomposition.ts``). The i-th weighs max(0.4, 1 − 0.2·i), and more the longer it is.

    >>> list(question_parts("REST vs GraphQL for mobile apps?"))[1:]
    ['REST', 'GraphQL for mobile apps']
    >>> list(question_parts("What do we know about tea, soup, and bread?").items())[1:3]
    [('What do we know about tea', 0.9), ('soup', 0.6)]
    """
    if len(text) > _LONGEST:
        return {text: 1.0}
    matches = (rule.fullmatch(text.strip()) for rule in _RULES)
    found = next((match for match in matches if match), None)
    pieces = [*found.groupdict().values()] if found else _ITEMS.split(text)
    stripped = dict.fromkeys(piece.strip(" ,;:.!?") for piece in pieces)
    parts = [each for each in stripped if each != text.strip(" ?.!") and tokens.stems(each)]
    weights = (max(0.4, round(1 - 0.2 * at, 1)) for at in range(1, MOST_PARTS))
    rest = zip(parts, weights, strict=False)
    return {text: 1.0} | {part: weight + _bonus(part) for part, weight in rest}


def _bonus(text: str) -> float:
    words = len(text.split())
    return BONUS[1] if words >= 5 else BONUS[0] if words >= 3 else 0.0


def is_complex(text: str) -> bool:
    """Whether Smriti takes a question apart.

    >>> is_complex("Why we switched to SQLite"), is_complex("tabs or spaces")
    (False, True)
    >>> is_complex("did Ilse meet Joris")
    True
    """
    words = _WORD.findall(text)
    names = [word for word in words[1:] if word[0].isupper() and len(word) > 1]
    return (
        len(words) > LONG
        or not _SPLITS.isdisjoint(word.casefold() for word in words)
        or len(_QUOTED.findall(text)) >= 2
        or len(names) >= 2
    )


def follow_up(text: str, seen_terms: AbstractSet[str]) -> str:
    """The words of a question of which nothing that was found tells, as a next question.

    ``seen_terms`` are the search terms of everything that was found. Words of three letters and more
    count; it is empty when none is missing, or when all are, which would ask the same again.

    >>> follow_up("Mara's boat in Haarlem", {"mara", "boat"})
    'Haarlem'
    """
    missing: dict[str, str] = {}
    is_seen = False
    for word in text.split():
        terms = [term for term in tokens.stems(word) if len(term) > 2]
        unseen = [term for term in terms if term not in seen_terms]
        is_seen = is_seen or len(unseen) < len(terms)
        if unseen:
            missing.setdefault(unseen[0], word.strip("\"'.,;:!?()“”’‘"))
    return " ".join(missing.values()) if is_seen else ""


def retrieve_in_rounds(
    text: str, search: Callable[[str], Scores], texts_of: Callable[[Mapping[int, float]], str]
) -> Scores:
    """What all rounds find, best first.

    score = Σ weight · score × boost^(n − 1),  for a document that n texts found
    """
    asked = question_parts(text) if is_complex(text) else {text: 1.0}
    found = [(weight, search(part)) for part, weight in asked.items()]
    fused = _fused(found)
    for _ in range(ROUNDS - 1):
        follow = follow_up(text, frozenset(tokens.stems(texts_of(fused))))
        if not follow or follow in asked:
            break
        asked[follow] = FOLLOW
        found.append((FOLLOW, search(follow)))
        before, fused = fused, _fused(found)
        gained = max(fused.values(), default=0.0) - max(before.values(), default=0.0)
        if not fused.keys() - before.keys() and gained < GAIN:
            break
    return fused


def _fused(found: Sequence[tuple[float, Scores]]) -> Scores:
    parts = grouped((n, weight * score) for weight, scores in found for n, score in scores.items())
    return best_first({name: fsum(each) * BOOST ** (len(each) - 1) for name, each in parts.items()})
