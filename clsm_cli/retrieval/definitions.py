"""A question about one thing alone ("who is Noor?", "Lantern") is answered by what says what that is.

Every passage with the name has all words of such a question, so nothing in them decides. The
passage that defines the thing best (``heads/definition_head``) stands before all others. Of 112
names in eight public workspaces, 62 instead of 42 are then answered first, 85 instead of 78 among
three (``fixtures/questions/defined``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.retrieval import entity_linking
from clsm_cli.text import tokens
from clsm_cli.text.language_data import pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.index_queries import Index

MAX_WORDS = 4
"""Words of a name that is asked about, at most (own choice)."""
HEAD_SIZE = 40
"""Best passages that are looked at (docs/experiments.md, Definitions)."""
_STEP = 1e-3
"""Difference of scores by which a definition precedes the next item."""
_MARKS = ".,;:!?\"'“”‘’()[]"


def asked_name(text: str) -> str:
    """The words of a question that are not about asking, if they are few enough for a name, else "".

    >>> asked_name("Who is Noor?"), asked_name("tell me about the signal shed"), asked_name("Lantern")
    ('Noor', 'signal shed', 'Lantern')
    >>> asked_name("When does the train to the coast leave on Sunday morning?")
    ''
    """
    rest = pattern("definitions.asks").sub("", f"{text} ").split()
    words = [word.strip(_MARKS).removesuffix("'s").removesuffix("’s") for word in rest]
    kept = [word for word in words if word and word.casefold() not in tokens.STOP_WORDS]
    return " ".join(kept) if len(kept) <= MAX_WORDS else ""


def definition_first(
    index: Index, question: Question, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The candidates; the one that best defines what a question is only about precedes all others."""
    short = len(question.terms) <= MAX_WORDS + 1 and not question.periods
    name = asked_name(question.text) if short else ""
    is_name = name != name.lower() or bool(name and entity_linking.link_entities(index, name, {}))
    chances = _chances(index, name, candidates[:HEAD_SIZE]) if is_name else {}
    if not chances:
        return list(candidates)
    best = max(chances, key=chances.__getitem__)  # the first of equal ones
    score = round(max(candidate.score for candidate in candidates) + _STEP, 6)
    reordered = [
        candidate._replace(score=score, is_definition=True) if candidate.row == best else candidate
        for candidate in candidates
    ]
    return sorted(reordered, key=lambda candidate: -candidate.score)


def _chances(index: Index, name: str, candidates: Sequence[Candidate]) -> dict[int, float]:
    """Row → probability that it defines a thing, of those that do."""
    from clsm_cli.heads import definition_head
    from clsm_cli.model.trust import UNTRUSTED

    passages = index.passages([candidate.row for candidate in candidates])
    chances: dict[int, float] = {}
    for row, passage in ((candidate.row, passages[candidate.row]) for candidate in candidates):
        if passage.kind == "gist" or passage.trust in UNTRUSTED:
            continue
        is_below = passage.document is not None and name.casefold() in passage.heading.casefold()
        definitions = definition_head.definitions(
            passage.text,
            name,
            passage.heading,
            is_dated=passage.time is not None,
            opens_section=is_below and index.section(row)[0].id == passage.id,
        )
        chance = max((one.probability for one in definitions), default=0.0)
        if chance >= definition_head.MIN_DEFINITION:
            chances[row] = chance
    return chances
