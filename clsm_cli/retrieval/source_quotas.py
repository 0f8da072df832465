"""Limits for untrusted text: it must really answer, and no single source may fill an answer.

Whoever can make an agent read a page can write what is found for many questions: their own words,
over and over. So a text of trust tool or web is held to more than what a person said. It is no
filler: it stays out where the best trusted passage answers as well, is nearer in meaning, and holds
of the question what it lacks. And of all items of an answer one such source has a share.

What is trusted is never held back here: one note or one long talk may well be all that is asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.store.index import ranking_queries
from clsm_cli.text import factuality, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

NAME = re.compile(r"(?<=[\w,;:] )[A-Z][\w-]+")
"""A word with a capital inside a sentence."""


def drop_lookalikes(
    index: Index, question: Question, candidates: Sequence[Candidate], settings: RecallSettings
) -> list[Candidate]:
    """Candidates without untrusted ones that only resemble an answer.

    Args:
        question: What is asked; where it asks for what a tool or a page said, all stay.
    """
    if not settings.untrusted_floor or factuality.asks_for_output(question.text):
        return list(candidates)
    strange = ranking_queries.untrusted_rows(index.connection, [each.row for each in candidates])
    best = next((each for each in candidates if each.row not in strange), None)
    if not strange or best is None:
        return list(candidates)
    least = settings.untrusted_floor * similarity(best)
    held = _held(index, question, strange | {best.row})
    names = frozenset(tokens.stems(" ".join(NAME.findall(question.text)))) & held[best.row]

    def stays(each: Candidate) -> bool:
        if each.row not in strange or best.confidence < settings.rivals * each.confidence:
            return True
        return held[each.row] >= (held[best.row] if similarity(each) < least else names)

    return [each for each in candidates if stays(each)]


def similarity(candidate: Candidate) -> float:
    """How near a passage is to a question in meaning; its confidence if there is no model."""
    cosine = candidate.evidence.cosine
    return candidate.confidence if cosine is None else cosine


def _held(index: Index, question: Question, rows: set[int]) -> dict[int, frozenset[str]]:
    """Which search terms of a question some passages contain."""
    found: dict[int, set[str]] = {row: set() for row in rows}
    for term in question.terms:
        for row, _, _ in index.postings(term):
            if row in rows:
                found[row].add(term)
    return {row: frozenset(terms) for row, terms in found.items()}


class SourceQuota:
    """Counts the items of each untrusted source: a document, or a conversation with its tools.

    Args:
        question: Where it asks for what a tool or a page said, nothing is counted.
    """

    def __init__(self, question: Question, k: int, settings: RecallSettings) -> None:
        free = settings.source_share >= 1 or factuality.asks_for_output(question.text)
        self._most = None if free else max(1, int(settings.source_share * k))
        self._taken: Counter[tuple[str | None, str]] = Counter()

    def is_used_up(self, passage: Passage) -> bool:
        """Whether the source of a passage has used up its share."""
        if self._most is None or passage.trust not in UNTRUSTED:
            return False
        return self._taken[passage.document, passage.session] >= self._most

    def take(self, passage: Passage) -> None:
        """Count an item of an answer."""
        if passage.trust in UNTRUSTED:
            self._taken[passage.document, passage.session] += 1
