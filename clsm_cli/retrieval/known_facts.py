"""Facts about the people and things that a message names, in short lines above the passages.

A message like "write to Tomas about the disk" is answered by passages about disks; none of them
says who Tomas is. The statements are already ranked with the passages, so this needs no model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.model.ids import normalise_text
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.retrieval.answer import KnownFact
from clsm_cli.retrieval.concepts import BY_NAME
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.retrieval.answer import Concept, Memory
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage


MAX_ACTIVATED = 2
"""Concepts used if the message names none: the best that its passages mention (own choice, as are those below)."""
MAX_STATEMENTS = 60
"""Statements considered: the best for the message."""
MAX_FACTS = 4
"""Facts returned, at most; two per concept."""
BUDGET_SHARE = 0.2
"""Share of the budget for facts, at most: the passages are the answer."""

_PREFIX_WORDS = 8
"""Words at the start of a statement that identify it in a summary."""


def find_facts(
    index: Index,
    concepts: Sequence[Concept],
    candidates: Sequence[Candidate],
    shown: Sequence[Memory],
    limit: int,
    unit: str,
) -> tuple[KnownFact, ...]:
    """Current, trusted statements about what a message names, unless a shown memory says them.

    Args:
        index: Up to date, without closed statements.
        candidates: Passages and statements, best for the message first.
        shown: Memories of the answer.
        limit: Total size of the facts, in ``unit`` (tokens or characters).
    """
    about = [concept for concept in concepts if concept.seed in BY_NAME] or list(
        concepts[:MAX_ACTIVATED]
    )
    rows = [candidate.row for candidate in candidates if candidate.traits.kind == "statement"][
        :MAX_STATEMENTS
    ]
    if not about or not rows:
        return ()
    passages = index.passages(rows)
    unsaid = [
        passage for passage in (passages[row] for row in rows) if not _is_covered(passage, shown)
    ]
    facts: dict[str, KnownFact] = {}
    room = limit
    for concept in about:
        node = index.node(concept.id)
        for passage in _of_concept(concept, node.summary if node else "", unsaid):
            text = " ".join(passage.text.split())
            fact = KnownFact(
                id=passage.id,
                about=concept.id,
                text=text,
                trust=passage.trust,
                time=passage.time,
                tokens=0,
            )
            fact = fact._replace(tokens=tokens.count_tokens(fact.line))
            if fact.id not in facts and fact.size(unit) <= room and len(facts) < MAX_FACTS:
                facts[fact.id] = fact
                room -= fact.size(unit)
    return tuple(facts.values())


def _is_covered(statement: Passage, shown: Sequence[Memory]) -> bool:
    """Whether a statement is untrusted, or one of the memories says it."""
    text = normalise_text(statement.text)
    return statement.trust in UNTRUSTED or any(
        statement.id in memory.states
        or memory.id in (statement.id, *statement.sources)
        or text in normalise_text(memory.text)
        for memory in shown
    )


def _of_concept(concept: Concept, summary: str, statements: Sequence[Passage]) -> Iterator[Passage]:
    """The statement quoted by a concept's summary, which says what it is, and the best one naming it."""
    names = "|".join(re.escape(name) for name in (concept.label, *concept.aliases))
    named = re.compile(rf"(?<!\w)(?:{names})(?!\w)", re.IGNORECASE)
    naming = [statement for statement in statements if named.search(statement.text)]
    quoted = {*summary.split()}
    if naming:
        yield max(
            naming, key=lambda statement: len(quoted & {*statement.text.split()[:_PREFIX_WORDS]})
        )
        yield naming[0]
