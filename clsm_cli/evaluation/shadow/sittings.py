"""Sittings: conversations between long silences, replayed for shadow mode, and what was used of them.

An agent whose one conversation never ends still sits down to it anew every day, and loads its files
anew. So a conversation is cut where the silence is one that ends an episode
(``boundary.gap_certain``), and each part is looked at by itself.

The store knows more by now, so recall is asked for what was known a second before the first turn
(``known_at``): nothing that was said later is seen, the sitting itself included. What carries no
exact time cannot be judged so: such a block or turn counts if the store had it by then, or if its
day is an earlier one. Of the briefing, statements count that were recorded by then.

A text is *used* when a later turn takes up one of its sentences. Words are stems, each weighed by its
rarity in the store, 1 for a word that one passage alone holds. Of the sentence's words the turn
shares at least two, figures not counted; they are at least ``SHARE`` of its weight and weigh at least
``RARE`` together. Where both hold figures, they share one: another figure is another fact. Words of
the prompt that the text was fetched for do not count, they would come back in any answer. So a name
alone is no use, nor are words that everybody says.

It is a measure of likeness, not of cause, and the same for every source; how often it is right on
the sample memory is told in docs/evaluation.md.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DamagedStoreError
from clsm_cli.evaluation.systems import ALWAYS, startup_files
from clsm_cli.ingestion import markdown
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.ingestion.timestamps import instant
from clsm_cli.retrieval.briefing import brief
from clsm_cli.retrieval.recall import Query, recall
from clsm_cli.scoring import match
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episodes, inbox, logs
from clsm_cli.store.index import postings
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.ranking_queries import Filters
from clsm_cli.text import sentences, tokens

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.model.episodes import Episode, Turn
    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store

SPEAKING = ("user", "assistant")
"""Roles whose words are the conversation; what a tool printed may be the very file that was loaded."""


class Sitting(NamedTuple):
    """A conversation between two long silences.

    Attributes:
        start: When its first turn was said; if nobody knows, when the store got it.
        turns: What was said, in order.
        keys: Of all its turns, those of tools too.
        is_over: Whether nothing more is to come.
    """

    start: datetime
    turns: tuple[Turn, ...]
    keys: frozenset[str]
    is_over: bool


Undated = dict[str, tuple[str | None, str]]
"""What has no exact time, by key or id: its bare date if it has one, and when the store first got it."""


class StoreSittings(NamedTuple):
    """What the store was told; the newest sitting first."""

    sittings: tuple[Sitting, ...]
    undated: Undated


class _StoredTurn(NamedTuple):
    turn: Turn
    at: datetime
    recorded_at: str
    is_open: bool


def read_sittings(store: Store, since: str, now: datetime) -> StoreSittings:
    """The sittings that this machine took in since a time."""
    stored: dict[str, dict[str, _StoredTurn]] = {}
    undated: Undated = {}
    forgotten = logs.load_tombstones(store)
    for flow in store.flows():
        for episode in _episodes(flow, forgotten):
            _note(undated, episode.id, episode.start, episode.recorded_at)
            own = flow == store.flow and episode.document is None
            for turn in episode.turns:
                _note(undated, turn.key, turn.time, episode.recorded_at)
                if own:
                    told = stored.setdefault(episode.session, {})
                    _hear(told, turn, episode.recorded_at, is_open=episode.capped)
    for path in inbox.files(store.inbox):
        for item in inbox.read(path, forgotten).turns:
            _note(undated, item.turn.key, item.turn.time, item.recorded_at)
            told = stored.setdefault(item.session, {})
            _hear(told, item.turn, item.recorded_at, is_open=True)
    silence = timedelta(minutes=store.settings.boundary.gap_certain)
    found = [
        sitting
        for told in stored.values()
        for part in _parts((each for each in told.values() if each.recorded_at >= since), silence)
        if (sitting := _sitting(part, now - silence)) is not None
    ]
    found.sort(key=lambda sitting: (sitting.start, sitting.turns[0].key), reverse=True)
    return StoreSittings(tuple(found), undated)


def _episodes(flow: Path, forgotten: frozenset[str]) -> Iterator[Episode]:
    for path in episodes.files(flow):
        with suppress(DamagedStoreError):
            episode = episodes.without_forgotten(episodes.read(path), forgotten)
            if episode is not None:
                yield episode


def _is_exact(time: str | None) -> TypeGuard[str]:
    return time is not None and len(time) > len("2026-02-24")


def _note(undated: Undated, name: str, time: str | None, recorded_at: str) -> None:
    if not _is_exact(time):
        first = undated.get(name, (time, recorded_at))[1]
        undated[name] = time, min(first, recorded_at)


def _hear(stored: dict[str, _StoredTurn], turn: Turn, recorded_at: str, *, is_open: bool) -> None:
    """Add a turn to its conversation; without an exact time it was said with the one before it."""
    at = instant(turn.time) if _is_exact(turn.time) else None
    if at is None:
        last = next(reversed(stored.values()), None)
        at = last.at if last is not None else datetime.fromisoformat(recorded_at)
    stored[turn.key] = _StoredTurn(turn, at, recorded_at, is_open)


def _parts(stored: Iterable[_StoredTurn], silence: timedelta) -> Iterator[list[_StoredTurn]]:
    part: list[_StoredTurn] = []
    for each in sorted(stored, key=lambda each: each.at):
        if part and each.at - part[-1].at >= silence:
            yield part
            part = []
        part.append(each)
    if part:
        yield part


def _sitting(part: list[_StoredTurn], silent_since: datetime) -> Sitting | None:
    turns = tuple(h.turn for h in part if h.turn.role in SPEAKING and h.turn.text.strip())
    if not turns:
        return None
    return Sitting(
        start=part[0].at,
        turns=turns,
        keys=frozenset(h.turn.key for h in part),
        is_over=not part[-1].is_open or part[-1].at <= silent_since,
    )


PROMPTS = 20
"""Prompts of a sitting that are asked, from its first on."""
LONGEST = 4000
"""Characters of a prompt that are asked; a page that was pasted in is no question."""


class LoadedItem(NamedTuple):
    """One thing that would have been read."""

    id: str
    text: str
    tokens: int


class Replayed(NamedTuple):
    """What clsm would have given in a sitting."""

    briefing: tuple[LoadedItem, ...]
    answers: tuple[tuple[int, tuple[LoadedItem, ...]], ...]


def prompt_places(sitting: Sitting) -> list[int]:
    """The places of the turns that are asked: what the user said, the first ones."""
    places = [at for at, turn in enumerate(sitting.turns) if turn.role == "user"]
    return places[:PROMPTS]


def replay(
    store: Store,
    recorded: StoreSittings,
    chosen: Sequence[Sitting],
    engine: Engine,
    embedder: Embedder,
) -> Iterator[Replayed]:
    """What clsm would have given in some sittings; no trace is left."""
    unseen = [_unseen(sitting, recorded, store) for sitting in chosen]
    queries = [
        Query(
            text=sitting.turns[at].text[:LONGEST],
            now=_before(sitting).isoformat(),
            k=store.settings.recall.k,
            budget=store.settings.recall.budget,
            filters=Filters(without=tuple(sorted(hidden))),
            known_at=_before(sitting).isoformat(),
            is_gated=True,
        )
        for sitting, hidden in zip(chosen, unseen, strict=True)
        for at in prompt_places(sitting)
    ]
    answers = recall(store, queries, engine, embedder)
    for sitting, hidden in zip(chosen, unseen, strict=True):
        found = []
        for at in prompt_places(sitting):
            kept = (memory for memory in next(answers).memories if _was(memory, hidden))
            found.append((at, tuple(LoadedItem(m.id, m.text, m.tokens) for m in kept)))
        yield Replayed(_briefing(store, sitting, hidden), tuple(found))


def _before(sitting: Sitting) -> datetime:
    return sitting.start - timedelta(seconds=1)


def _unseen(sitting: Sitting, recorded: StoreSittings, store: Store) -> frozenset[str]:
    """What recall cannot know to be later: the sitting itself, and what came with no exact time."""
    known = utc_text(_before(sitting))
    day = sitting.start.astimezone(store.zone).date().isoformat()
    later = {
        name
        for name, (told_on, recorded_at) in recorded.undated.items()
        if recorded_at > known and not (told_on is not None and told_on < day)
    }
    return sitting.keys | later


def _was(memory: Memory, unseen: frozenset[str]) -> bool:
    """Whether nothing later stands in the window of a note; all else was filtered."""
    return memory.kind != "passage" or unseen.isdisjoint(memory.sources[0].turn_ids)


def _briefing(store: Store, sitting: Sitting, unseen: frozenset[str]) -> tuple[LoadedItem, ...]:
    found = brief(store, _before(sitting), store.settings.recall.budget)
    known = utc_text(_before(sitting))
    with open_index(store, None) as opened:
        return tuple(
            LoadedItem(item.id, item.text, item.tokens)
            for section in found.sections
            for item in section.items
            if not unseen & {item.id, item.id.partition("-")[0]}
            and (getattr(opened.index.record(item.id), "recorded_at", None) or "") <= known
        )


SHARE = 0.4
"""Part of a sentence's weight that a turn has to share."""
RARE = 1.3
"""Weight of what is shared, in words that one passage alone holds."""
LEAST = 2
"""Words that are shared, numbers not counted."""

Words = frozenset[str]


class Claim(NamedTuple):
    """A sentence or list item of a text: its words, and its size in estimated word pieces."""

    words: Words
    tokens: int


def distinct_stems(text: str) -> Words:
    """The distinct stems of a text; of a name with an underscore its parts do not count again.

    >>> sorted(distinct_stems("The memory_v2 of Margaret, 61.4 cm"))
    ['4', '61', 'cm', 'margaret', 'memory_v2']
    """
    found = set(tokens.stems(text))
    for name in [each for each in found if "_" in each]:
        found -= set(tokens.stems(name.replace("_", " ")))
    return frozenset(found)


def split_claims(text: str) -> tuple[Claim, ...]:
    """The sentences and list items of a text, but for those without a word.

    >>> [sorted(each.words) for each in split_claims("The password is lost. It was on a tin.")]
    [['lost', 'password'], ['tin']]
    """
    parts = [text[start:end] for start, end in sentences.split(text)]
    found = (Claim(distinct_stems(part), tokens.count_tokens(part)) for part in parts)
    return tuple(each for each in found if each.words)


class WordRarity:
    """How rare words are in a store: idf(n) / idf(1) of a word that n passages hold."""

    def __init__(self, connection: sqlite3.Connection, passages: int) -> None:
        """Count in an open index of so many passages."""
        self._connection = connection
        self._passages = max(2, passages)
        self._of = cache(self._rarity)

    def __call__(self, found: Iterable[str]) -> float:
        return sum(map(self._of, sorted(found)))

    def _rarity(self, word: str) -> float:
        held = postings.document_frequency(self._connection, word)
        holding = max(1, min(self._passages, held))
        return match.idf(self._passages, holding) / match.idf(self._passages, 1)


def used_claims(
    text: Sequence[Claim], turns: Sequence[Words], asked: Words, rarity: WordRarity
) -> tuple[Claim, ...]:
    """The sentences of a text that a turn takes up.

    Args:
        text: Its ``split_claims``.
        turns: Words of each turn that comes after it was loaded.
        asked: Words of the prompt that it was loaded for.
        rarity: Weighs words.
    """
    return tuple(each for each in text if _is_taken_up(each.words - asked, turns, rarity))


def _is_taken_up(said: Words, turns: Sequence[Words], rarity: WordRarity) -> bool:
    figures, whole = _figures(said), rarity(said)
    for turn in turns:
        shared = said & turn
        same = _figures(shared)
        if len(shared) - len(same) < LEAST or (figures and not same and _figures(turn)):
            continue
        weight = rarity(shared)
        if weight >= RARE and weight >= SHARE * whole:
            return True
    return False


def _figures(found: Words) -> Words:
    return frozenset(word for word in found if word.isdigit())


class StaticFiles(NamedTuple):
    """What was loaded: its tokens, its blocks (headings belong to none), and what cannot be read now."""

    tokens: int
    blocks: tuple[LoadedItem, ...]
    missing: tuple[str, ...]


def load_static(named: Sequence[str], start: datetime, store: Store) -> StaticFiles:
    """What is loaded at the start of a sitting."""
    day = start.astimezone(store.zone).date().isoformat()
    size = 0
    blocks: list[LoadedItem] = []
    missing: list[str] = []
    paths = (
        path
        for each in map(Path, named)
        for path in (_of_workspace(each, day) if each.is_dir() else [each])
    )
    for path in dict.fromkeys(paths):
        try:
            text = _text(path)
        except ValueError as error:
            missing.append(str(error))
            continue
        size += tokens.count_tokens(text)
        blocks += _blocks(text, path, store)
    return StaticFiles(size, tuple(blocks), tuple(missing))


def _of_workspace(folder: Path, before: str) -> list[Path]:
    fixed = [folder / name for name in ALWAYS if (folder / name).is_file()]
    dated = [path for path in (folder / "memory").glob("*.md") if path.stem < before]
    return list(map(Path, startup_files(map(str, (*fixed, *dated))))) or [folder / ALWAYS[-1]]


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or 'cannot be read'}") from None
    if len(data) > MAX_FILE:
        raise ValueError(f"{path}: is larger than {MAX_FILE >> 20} MiB")
    return data.decode("utf-8", "replace")


def _blocks(text: str, path: Path, store: Store) -> Iterator[LoadedItem]:
    document = markdown.read(text.encode(), path=path.name, zone=store.zone)
    if not isinstance(document, Problem):
        for number, block in enumerate(document.blocks):
            yield LoadedItem(f"{path}:{number}", block.text, tokens.count_tokens(block.text))
