"""Turn ranked passages into the items of an answer, with their sources and without repeats.

A turn is returned as it is. Notes rank best by block, but read best by section; a window of about
450 characters (``recall.window``) around the block has nearly the recall of both per item. Per
token, single blocks contain more evidence, so a small budget has smaller windows, or none.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from clsm_cli.model.ids import normalise_text, statement_id
from clsm_cli.model.trust import TRUSTED, UNTRUSTED
from clsm_cli.retrieval.answer import ActivationPath, Memory, Signals, Source
from clsm_cli.retrieval.candidates import allowed_rows
from clsm_cli.retrieval.demotion import dice, distinct_terms
from clsm_cli.store.index import source_locations
from clsm_cli.text import factuality, sameness, tokens
from clsm_cli.text.sentences import sentence_naming

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.question import Query, Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.retrieval.supersession import Superseded
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage


def build_items(
    index: Index,
    question: Question,
    candidates: Sequence[Candidate],
    query: Query,
    settings: RecallSettings,
    superseded: Mapping[int, Superseded],
) -> list[Memory]:
    """Build the best items; a statement derived from n turns uses n of ``query.k``, others one.

    A score is relative to that of a passage with the best value of every signal; the list ends
    where it falls below ``settings.faded``, unless ``query.min_score`` says where. A turn in two
    files is returned once.

    A turn says more than the statement made of it: so the first of its turns that has its words,
    found or not, replaces the statement, and lists its id. If none has them (the statement was
    corrected, or its turn forgotten), the statement is an item itself. A near-verbatim repeat of an
    item is folded into it: its source is added there, and it uses one of ``query.k``.

    What is over is shown without its neighbours, which may still hold, and is no neighbour itself.
    """
    characters = 4 * query.budget if query.unit == "tokens" else query.budget
    window = min(settings.window, characters // BUDGET_PARTS)
    full_score = _full_score(candidates)
    allowed = allowed_rows(index, question, settings, query.filters)
    seeds = sorted({candidate.way.seed for candidate in candidates[: query.k] if candidate.way})
    starts = index.passages(seeds)
    marked = {row: mark for row, mark in superseded.items() if mark.until}
    over = {passage.id for passage in index.passages(sorted(marked)).values()}
    items, quota, room = _ItemList(settings.fold), SourceQuota(question, query.k, settings), query.k
    for candidate, retrieved in _in_order(index, candidates, query.k):
        is_faded = candidate.score < settings.faded * full_score
        if room <= 0 or (query.min_score is None and is_faded):
            break
        turn = _source_turn(index, retrieved, allowed)
        states = () if turn is None else (retrieved.id,)
        row, passage = turn or (candidate.row, retrieved)
        if passage.id in items.places:
            items.fold(items.places[passage.id], (), states, candidate.confidence)
        elif not quota.is_used_up(passage):
            mark = marked.get(row) or marked.get(candidate.row)
            shown = window_passages(
                index,
                row,
                passage,
                over | items.places.keys(),
                0 if mark else window,
                only_below=candidate.is_definition,
            )
            sources = _sources(index, passage, shown)
            memory = _memory(candidate, passage, shown, sources, full_score)
            told_at = index.after_cutoff.get(row)
            memory = memory._replace(
                states=states,
                told_later=told_at[:10] if told_at else None,
                way=_activation_path(candidate, starts),
            )
            memory = mark.marked(memory) if mark else memory
            items.add(memory, passage, candidate.signals.date, shown)
            quota.take(passage)
            room -= max(1, len(passage.sources))
    return items.memories


def _full_score(candidates: Sequence[Candidate]) -> float:
    """The score of a passage with the best share of every signal; 1 if there is none above 0."""
    columns = zip(*(candidate.shares for candidate in candidates), strict=True)
    return sum(max(0.0, *shares) for shares in columns) or 1.0


class _ItemList:
    """The items of an answer, and what they show.

    Attributes:
        memories: The items, best first.
        places: Id of a passage that an item shows → the item's place.
    """

    def __init__(self, min_dice: float) -> None:
        self.memories: list[Memory] = []
        self.places: dict[str, int] = {}
        self._min_dice = min_dice
        self._passages: list[tuple[Passage, float]] = []
        """The passage of each item, and how well it fits the time asked about."""

    def add(self, memory: Memory, passage: Passage, date: float, shown: Sequence[Passage]) -> None:
        """Add an item, or fold it into the one that it repeats.

        Args:
            date: How well the passage fits the time asked about, 0 … 1; 0 if none is.
            shown: The passages in the item's text.
        """
        place = self._repeated(passage, date)
        if place is None:
            place = len(self.memories)
            self.memories.append(memory)
            self._passages.append((passage, date))
        else:
            self.fold(place, memory.sources, memory.states, memory.confidence)
        self.places.update((other.id, place) for other in shown)

    def fold(
        self, place: int, sources: tuple[Source, ...], states: tuple[str, ...], sure: float
    ) -> None:
        """Add the sources and statements of what an item shows too; it answers if one of both does."""
        memory = self.memories[place]
        self.memories[place] = memory._replace(
            sources=(*memory.sources, *sources),
            states=(*memory.states, *states),
            confidence=max(memory.confidence, round(sure, 4)),
        )

    def _repeated(self, passage: Passage, date: float) -> int | None:
        """The place of the item that a passage repeats; None if there is none.

        Repeats are turns of one speaker with a Dice's coefficient of search terms from ``min_dice``
        on; windows of notes are cut from one text and never repeat it. If a time is asked for,
        turns of different times (``date``) are not repeats.
        """
        for place, (other, other_date) in enumerate(self._passages):
            # Stemming a text takes 1 ms, so cheaper conditions come first.
            if (
                date == other_date
                and passage.speaker == other.speaker
                and passage.document is other.document is None
                and len(distinct_terms(passage.text)) >= _MIN_FOLD_TERMS
                and dice(passage.text, other.text) >= self._min_dice
                and sameness.has_same_particulars(passage.text, other.text)
            ):
                return place
        return None


_MIN_FOLD_TERMS = 4
"""Search terms below which texts are not compared: "Thanks, Mara!" is said a hundred times (own choice)."""


class SourceQuota:
    """Limits the items of each untrusted source: a document, or the tools of a conversation.

    Whoever makes an agent read a page can write text that is retrieved for many questions; trusted
    text has no limit. Nor has any if the question asks for what a tool or a page said.
    """

    def __init__(self, question: Question, k: int, settings: RecallSettings) -> None:
        free = settings.source_share >= 1 or factuality.asks_for_output(question.text)
        self._most = None if free else max(1, int(settings.source_share * k))
        self._taken: Counter[tuple[str | None, str]] = Counter()

    def is_used_up(self, passage: Passage) -> bool:
        """Whether the source of a passage has reached its limit."""
        if self._most is None or passage.trust not in UNTRUSTED:
            return False
        return self._taken[passage.document, passage.session] >= self._most

    def take(self, passage: Passage) -> None:
        """Count a passage that becomes an item of the answer."""
        if passage.trust in UNTRUSTED:
            self._taken[passage.document, passage.session] += 1


def _activation_path(candidate: Candidate, starts: Mapping[int, Passage]) -> ActivationPath | None:
    """The way to a candidate, with the first sentence of its start that has most words of the concept.

    Nothing is quoted from tools and pages, since the item that it explains may be trusted.
    """
    start = starts.get(candidate.way.seed) if candidate.way else None
    if candidate.way is None or start is None:
        return None
    concept, is_trusted = candidate.way.concept, start.trust in TRUSTED
    return ActivationPath(
        concept, start.id, sentence_naming(start.text, [concept]) if is_trusted else ""
    )


def _source_turn(
    index: Index, statement: Passage, allowed: Collection[int] | None
) -> tuple[int, Passage] | None:
    """The first turn or block that says a statement, with its row; None if none does.

    The id of a statement is the hash of its first text. If its text differs, a person edited it or
    it is an old value, and no turn says it.

    Args:
        allowed: Rows that may be shown; None: all.
    """
    if not statement.sources or statement.key != statement_id(normalise_text(statement.text)):
        return None
    rows = [row for row in index.rows_of(statement.sources) if allowed is None or row in allowed]
    words = frozenset(tokens.folded_words(statement.text))
    told = sorted(index.passages(rows).items(), key=lambda each: (each[1].time or "", each[1].id))
    for row, passage in told:
        turn_words = tokens.folded_words(f"{passage.heading} {passage.text}")
        if len(words.intersection(turn_words)) >= MIN_SHARED_WORDS * len(words):
            return row, passage
    return None


MIN_SHARED_WORDS = 0.5
"""Share of a statement's words that a turn and its heading must contain to say it: it may have "I" for a name."""


def _in_order(
    index: Index, candidates: Sequence[Candidate], k: int
) -> Iterator[tuple[Candidate, Passage]]:
    """Candidates with their passages; the order of ties does not depend on rows."""
    start = 0
    while start < len(candidates):
        end = start + 2 * k
        while end < len(candidates) and candidates[end].score == candidates[end - 1].score:
            end += 1
        batch = candidates[start:end]
        passages = index.passages([candidate.row for candidate in batch])
        pairs = [(candidate, passages[candidate.row]) for candidate in batch]
        yield from sorted(
            pairs, key=lambda p: (-p[0].score, p[1].time or "", p[1].id, p[1].episode or "~")
        )
        start = end


def _memory(
    candidate: Candidate,
    passage: Passage,
    shown: Sequence[Passage],
    sources: tuple[Source, ...],
    full: float,
) -> Memory:
    text = _joined(shown)
    return Memory(
        id=passage.id,
        kind=passage.kind,
        text=text,
        stream=passage.stream,
        score=round(max(0.0, candidate.score) / full, 4),
        confidence=round(candidate.confidence, 4),
        tokens=tokens.count_tokens(text),
        trust=passage.trust,
        session=passage.path if passage.document else passage.session,
        sources=sources,
        why=Signals(*(round(value, 4) for value in candidate.signals)),
        shares=Signals(*(round(share, 4) for share in candidate.shares)),
        heading=passage.heading,
        speaker=passage.speaker,
    )


def _joined(shown: Sequence[Passage]) -> str:
    """Join blocks, with a blank line where the note has one."""
    text = shown[0].text
    for before, after in pairwise(shown):
        gap = "\n\n" if after.line_start > before.line_end + 1 else "\n"
        text += gap + after.text
    return text


def _sources(index: Index, passage: Passage, shown: Sequence[Passage]) -> tuple[Source, ...]:
    """The sources of an item; for a statement, its own line, then its source turns."""
    turns = [turn for key in passage.sources for turn in index.by_key(key)[:1]]
    return (source_of(index, passage, shown), *(source_of(index, turn) for turn in turns))


def source_of(index: Index, passage: Passage, shown: Sequence[Passage] = ()) -> Source:
    """The source of a passage and of those shown with it; the first one decides what opens."""
    shown = shown or (passage,)
    first = min(shown, key=lambda block: block.line_start)
    file, line = source_locations.locate(index, first)
    return Source(
        path=passage.path,
        line_start=first.line_start,
        line_end=max(other.line_end for other in shown),
        turn_ids=tuple(dict.fromkeys(other.foreign_id or other.key for other in shown)),
        timestamp=passage.time,
        file=file,
        line=line,
    )


MAX_LIST_CHARACTERS = 1600
"""Characters of a window that shows a numbered list whole, at most: its steps belong together."""
MAX_LIST_FACTOR = 4
"""The same limit as a multiple of the window's length, if that is less."""
BUDGET_PARTS = 16
"""A window gets at most the budget divided by this: context of one item takes room from the others."""
_NUMBERED = re.compile(r"\d{1,3}[.)]\s")


def window_passages(
    index: Index,
    row: int,
    passage: Passage,
    taken: Collection[str],
    length: int,
    *,
    only_below: bool = False,
) -> list[Passage]:
    """The passages shown for one: a current block with its neighbours, up to ``length`` characters.

    Args:
        only_below: Whether it must be the first that is shown.
    """
    if passage.document is None or not passage.current or not length:
        return [passage]
    section = index.section(row)
    place = next((i for i, other in enumerate(section) if other.id == passage.id), None)
    if place is None:
        return [passage]
    if only_below:
        section, place = section[place:], 0
    start, end = grow_window(
        [len(other.text) for other in section],
        place,
        {i for i, other in enumerate(section) if other.id in taken},
        length,
    )
    start, end = _with_whole_lists(
        section, place, start, end, min(MAX_LIST_CHARACTERS, MAX_LIST_FACTOR * length)
    )
    return [other for other in section[start:end] if other.id not in taken]


def _with_whole_lists(
    section: Sequence[Passage], place: int, start: int, end: int, most: int
) -> tuple[int, int]:
    """Extend a window to whole numbered lists at its edges, or cut it before those that are too long."""
    for edge in (start, end - 1):
        first, last = numbered_run(section, edge)
        wide = min(start, first), max(end, last)
        if sum(len(other.text) for other in section[slice(*wide)]) <= most:
            start, end = wide
        elif last <= place:
            start = max(start, last)
        elif first > place:
            end = min(end, first)
    return start, end


def grow_window(
    lengths: Sequence[int], place: int, blocked: Collection[int], most: int
) -> tuple[int, int]:
    """Grow a window from one block, below and above in turn; return its first block and the one after its last.

    >>> grow_window([200, 100, 100, 300], 1, (), 450)
    (0, 3)
    """
    start, end, size = place, place + 1, lengths[place]

    def fits(other: int) -> bool:
        is_free = 0 <= other < len(lengths) and other not in blocked
        return is_free and size + lengths[other] <= most

    below = above = True
    while below or above:
        if below := below and fits(end):
            size += lengths[end]
            end += 1
        if above := above and fits(start - 1):
            start -= 1
            size += lengths[start]
    return start, end


def numbered_run(section: Sequence[Passage], place: int) -> tuple[int, int]:
    """The run of numbered items around a block: first, and the one after the last."""
    if not _NUMBERED.match(section[place].text):
        return place, place + 1
    start, end = place, place + 1
    while start > 0 and _NUMBERED.match(section[start - 1].text):
        start -= 1
    while end < len(section) and _NUMBERED.match(section[end].text):
        end += 1
    return start, end
