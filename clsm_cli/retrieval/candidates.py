"""The passages that may answer a question: the nearest by words, by meaning, by date and over the graph.

The scans by words and by meaning are exact. What is dearer, late interaction and the look at a passage's
surroundings, is done for candidates alone, so its cost does not grow with the store.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation, lexical_search
from clsm_cli.retrieval.dense_search import Meaning
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.dense_search import Engine, LateInteraction
    from clsm_cli.retrieval.lexical_search import LexicalMatches
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import Member, Traits


class CandidateSet(NamedTuple):
    """The candidates for a question, and what stands around them.

    Attributes:
        view: Of the index, in which they were found.
        traits: Of each, by its row, in order of row.
        near: The same, and those of the passages beside them.
        members: The passages of each of their groups.
        cosines: Of every stored sentence vector to ``Question.dense``, by its row; empty without a model.
        asked: Of the same to the question as it was asked.
    """

    view: Index
    settings: RecallSettings
    question: Question
    traits: dict[int, Traits]
    near: dict[int, Traits]
    members: dict[int, list[Member]]
    words: LexicalMatches
    cosines: Sequence[float]
    asked: Sequence[float]
    late: LateInteraction | None

    def maxsim(self, *, after: bool) -> list[float | None]:
        """Late interaction of each, taken as one text with what is beside it; None without a vector."""
        late = self.late
        return [
            late.window_scores(row, each.previous, each.next if after else None)
            if late is not None and each.vector >= 0
            else None
            for row, each in self.traits.items()
        ]

    def place(self, row: int) -> tuple[str, int, int]:
        """What decides between equal ones: the key, which does not depend on rows."""
        traits = self.near[row]
        return traits.key, traits.part, row


def find(
    index: Index,
    question: Question,
    engine: Engine | None,
    settings: RecallSettings,
    allowed: Collection[int] | None = None,
) -> CandidateSet:
    """Every passage with evidence for the question.

    Args:
        engine: Open; None: words only.
        allowed: Passages that may be returned; None for all.
    """
    limit, meaning = settings.candidates, Meaning(index, question, engine)
    words = lexical_search.search(index, question, settings, meaning.unfamiliarity(), allowed)
    nearest, by_words = meaning.nearest(limit, allowed), _best(index, words.scores, limit)
    others: list[Iterable[int]] = [index.on_days(*each, limit) for each in question.periods]
    if meaning.cosines and settings.weight_graph:
        best = [*nearest[:1], *_best(index, words.scores, 1)]
        others.append(activation.linked_passages(index, question, best))
    for first, until in question.periods if question.asks_for_gist else ():
        from clsm_cli.store.index.ranking_queries import Filters

        others.append(index.matching_rows(Filters(kind="gist", first=first, until=until)))
    rows = {*by_words, *_best(index, words.literal, limit), *nearest}
    rows |= {row for each in others for row in each if allowed is None or row in allowed}
    found = index.traits(sorted(rows))
    beside = {
        row for each in found.values() for row in (each.previous, each.next) if row is not None
    }
    near = found | index.traits(sorted(beside - found.keys()))
    is_wanted = question.asks_for_gist
    return CandidateSet(
        index,
        settings,
        question,
        traits={row: found[row] for row in sorted(found) if is_wanted or found[row].kind != "gist"},
        near=near,
        members=index.members(sorted({each.group for each in found.values()})),
        words=words,
        cosines=meaning.cosines,
        asked=meaning.asked,
        late=meaning.late_interaction(words.idf, settings.least_idf, near),
    )


def _best(index: Index, scores: dict[int, float], limit: int) -> list[int]:
    """The rows with the highest scores; ties at the end by key."""
    if len(scores) <= limit:
        return list(scores)
    last = nlargest(limit, scores.values())[-1]
    above = [row for row, score in scores.items() if score > last]
    equal = [row for row, score in scores.items() if score == last]
    room = limit - len(above)
    return above + (equal if len(equal) == room else index.in_order(equal)[:room])
