"""The looks of a recall: the first leaves out what is archived, the second does not.

A word of the question that few passages hold brings back the archived ones that hold it
(``Search.wake``). The second look is taken where the first found nothing, or is not sure of it while
something archived is among what is nearest to the question in meaning.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.retrieval import concepts, feedback, items, rivals, shares, updates, windows
from clsm_cli.retrieval.finding import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.answer import Concept, Memory
    from clsm_cli.retrieval.finding import Found
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.retrieval.query import Query
    from clsm_cli.store.index.reader import Index

DOUBT = 3.0
"""How many times the floor an answer must be sure to do without the archive. Facts that were told once and
asked for after the store had grown tenfold are recalled as if nothing were archived; at 2 times seven
points fewer."""
HINTING = 0.5
"""Share of the floor above which a question without an answer is still told the concepts that are nearest
to it: they claim nothing."""
NEAREST = 3
"""Passages nearest to the question in meaning, of which one must be archived to look there in doubt. With
one, seven points of what the doubt brought are lost; with five nothing is gained."""


class Look(NamedTuple):
    """One pass of a recall: what it found, and which concepts and memories are sure enough."""

    found: Found
    concepts: tuple[Concept, ...]
    memories: list[Memory]

    def is_sure(self, floor: float) -> bool:
        """Whether it answers well above the floor, so that no other pass is needed."""
        return bool(self.memories) and self.found.ranked.confidence >= DOUBT * floor


def take(index: Index, query: Query, engine: Engine, *, has_model: bool) -> Iterator[Look]:
    """What a query finds; where that is not enough, what it finds in all, the archive too.

    The index is left looking as the last of them did.
    """
    settings = _settings(index, query)
    for shown in (False, True):
        index.look_into_archive(shown=shown)
        found = find(index, query, engine, settings, has_model=has_model)
        named, memories = _chosen(index, query, found, settings)
        look = Look(found, named, memories)
        yield look
        if not index.has_archived() or look.is_sure(settings.floor):
            return
        if look.memories and not _archive_is_near(index, found):
            return


def _archive_is_near(index: Index, found: Found) -> bool:
    """Whether of the passages nearest to the question in meaning one is archived.

    The scan of the sentence vectors has seen them all already; without a model nobody knows.
    """
    from clsm_cli.store.index import archived

    cosines = found.ranked.cosines
    if not cosines:
        return True
    nearest = nlargest(NEAREST, range(len(cosines)), key=cosines.__getitem__)
    return archived.is_among(index.connection, nearest)


def _settings(index: Index, query: Query) -> RecallSettings:
    """The settings, with what was learnt from feedback."""
    from datetime import datetime

    learnt = feedback.learnt(index.store, datetime.fromisoformat(query.now), query.seed)
    return feedback.tuned(index.store.settings.recall, learnt)


_CODE = 5
"""Characters of a word of letters and digits that is a code, and no ordinal or version ("2nd", "v12")."""


def _holds_identifiers(index: Index, found: Found) -> bool:
    """Whether the best passage holds every number, code and address of the question, if it has any."""
    mixed = [term for term in found.question.terms if not (term.isalpha() or term.isdigit())]
    written = [*found.question.keys, *(word for word in mixed if len(word) >= _CODE)]
    return bool(written) and all(
        any(row == candidate.row for row, _, _ in index.postings(word))
        for candidate in found.ranked.candidates[:1]
        for word in written
    )


def _chosen(
    index: Index, query: Query, found: Found, settings: RecallSettings
) -> tuple[tuple[Concept, ...], list[Memory]]:
    """Concepts and memories that are sure enough, best first.

    Below the floor there are no memories, unless the best one holds what the question identifies
    something by.
    """
    kept, faded, is_silent = found.ranked.candidates, settings.faded, False
    if query.min_score is not None:
        kept = [candidate for candidate in kept if candidate.confidence >= query.min_score]
        faded = float("-inf")  # a score may be below 0
    elif not _holds_identifiers(index, found):
        sure = found.ranked.confidence
        is_silent = sure < settings.floor
        kept = kept if sure >= HINTING * settings.floor else []
    kept = shares.answering(index, found.question, kept, settings)
    if not kept:
        return (), []
    named = concepts.rank(index, query.text, kept, settings.concepts, found.ranked.cosines)
    if is_silent:
        return named, []
    settings = settings._replace(window=windows.within(settings.window, query.budget, query.unit))
    ended = (
        updates.found(index, found.question, kept, query.as_of or query.known_at)
        if found.ranked.cosines and settings.rivals
        else {}
    )
    kept = rivals.ordered(index, found.question, kept, settings, ended)
    share = shares.Share(found.question, query.k, settings)
    return named, items.of(index, kept, query.k, settings, share, ended, faded=faded)
