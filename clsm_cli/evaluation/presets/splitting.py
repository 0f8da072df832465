"""Retrieval in rounds, as Smriti does it: a question and its parts, then what was not found.

Splitting and follow-ups are ``text/compound``'s. Smriti's own is when it splits: not for a word of
cause alone, but for any long text, any conjunction or relative word, two quotations or two names.
It ends when a round brings no new document and the top score rises by less than a fixed amount.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.evaluation.presets import compound
from clsm_cli.scoring import rank_fusion
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clsm_cli.evaluation.presets.preset import Rounds

    Scores = dict[int, float]
    Search = Callable[[str], Scores]

LONG = 8
"""Words beyond which a question counts as complex."""
# fmt: off
_SPLITS = frozenset((
    "and", "or", "but", "that", "which", "who", "where", "when", "while", "although",
    "before", "after", "since", "until", "then", "vs", "versus", "than", "compared", "difference",
))
# fmt: on
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"[^"\n]+"|“[^”\n]+”')


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


def queries(text: str, rounds: Rounds) -> list[tuple[str, float]]:
    """The question and its parts with their weights; a longer part tells more and weighs more."""
    if not is_complex(text):
        return [(text, 1.0)]
    found = compound.parts(text)[: rounds.queries]
    return [
        (part.text, part.weight + (_bonus(part.text, rounds) if at else 0.0))
        for at, part in enumerate(found)
    ]


def _bonus(text: str, rounds: Rounds) -> float:
    """The bonus of a part: of three words the first, of five the second."""
    words = len(text.split())
    three, five = rounds.specific
    return five if words >= 5 else three if words >= 3 else 0.0


def run(
    text: str, rounds: Rounds, search: Search, texts_of: Callable[[Mapping[int, float]], str]
) -> Scores:
    """What all rounds find, best first.

        score = Σ weight · score × boost^(n − 1),  for a document that n texts found

    Args:
        text: The question.
        rounds: How many, and when to end.
        search: A text → document → score.
        texts_of: What some documents say.
    """
    asked = queries(text, rounds)
    found = [(weight, search(part)) for part, weight in asked]
    fused = rank_fusion.fuse_rounds(found)
    for _ in range(rounds.most - 1):
        seen = frozenset(tokens.stems(texts_of(fused)))
        follow = compound.follow_up(text, seen)
        if follow is None or follow.text in {part for part, _ in asked}:
            break
        asked.append((follow.text, rounds.follow))
        found.append((rounds.follow, search(follow.text)))
        before, fused = fused, rank_fusion.fuse_rounds(found)
        gained = max(fused.values(), default=0.0) - max(before.values(), default=0.0)
        if not fused.keys() - before.keys() and gained < rounds.gain:
            break
    return fused
