"""Queries that a store should have no answer to: near its topics, and far from them."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from clsm_cli.model.graph import Node
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clsm_cli.forgetting.memory import Memory

NEAR = (
    ("blood", "What is the blood type of {}?"),
    ("shoes", "What size of shoes does {} wear?"),
    ("school", "Which school did {} go to?"),
    ("middle", "What is the middle name of {}?"),
    ("football", "Which football team does {} support?"),
    ("instrument", "What instrument did {} learn as a child?"),
    ("Christmas", "Where did {} spend last Christmas?"),
    ("vote", "Which party does {} vote for?"),
    ("passport", "When does the passport of {} expire?"),
    ("tattoo", "What tattoo does {} have?"),
)
"""What may be asked of a person and is seldom recorded, each with the word that matters."""
FAR = (
    ("Jupiter", "How many moons does Jupiter have?"),
    ("chess", "Who won the chess championship in 1972?"),
    ("sponge", "How do I bake a sponge cake?"),
    ("enzyme", "Which enzyme digests starch?"),
    ("Roman", "When did the Roman republic end?"),
    ("photosynthesis", "What do plants need for photosynthesis?"),
    ("ethanol", "What is the boiling point of ethanol?"),
    ("sewing", "How does a sewing machine make a stitch?"),
    ("volcano", "Which volcano buried Pompeii?"),
    ("violin", "How many strings does a violin have?"),
)
"""What no memory of a person's own life or work is asked, each with the word that matters."""
PERSON = "person"
"""Kind of node that is asked about."""


def of(held: Memory) -> Iterator[tuple[str, str]]:
    """Near and far in turn, each with where it lies; none whose word the store holds."""
    texts = [told.turn.text for told in held.told.values()]
    texts += [row.text for row in held.statements.values()]
    known = frozenset(chain.from_iterable(map(stems, texts)))
    people = sorted(
        (r for r in held.records.values() if isinstance(r, Node) and r.kind == PERSON),
        key=lambda node: (-node.n, node.id),
    )
    names = [node.label or node.id for node in people]
    near = [
        (form.format(names[place % len(names)]), "near what is known")
        for place, form in enumerate(_unknown(NEAR, known))
        if names
    ]
    far = [(text, "far from what is known") for text in _unknown(FAR, known)]
    return (each for pair in zip_longest(near, far) for each in pair if each is not None)


def _unknown(forms: Iterable[tuple[str, str]], known: frozenset[str]) -> list[str]:
    return [form for word, form in forms if known.isdisjoint(stems(word))]
