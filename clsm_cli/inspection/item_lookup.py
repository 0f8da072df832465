"""Look up one thing by its id: a turn, a block, an episode, a record, or a concept."""

import re
from collections.abc import Iterable
from datetime import timedelta, tzinfo
from typing import Any

from clsm_cli.errors import BadInputError
from clsm_cli.model import clocks
from clsm_cli.model.codec import Record, encode
from clsm_cli.model.episodes import Document, Episode, EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import MIN_PREFIX, resolve_id, whole_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episode_files, logs
from clsm_cli.store.index import source_locations
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.passages import Passage
from clsm_cli.store.layout import Store
from clsm_cli.store.logs import ReviewItem
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.time import expressions

_ID = re.compile(r"\s*|[a-z]-[0-9a-f]*")


class SourceTurn(NamedTuple):
    """A turn or block; ``source`` as ingested, ``file`` a path that can be opened, or ""."""

    id: str
    speaker: str
    time: str | None
    text: str
    source: str
    file: str
    line: int


class ResolvedTime(NamedTuple):
    """A time expression of a text, with its first and last day as ISO dates."""

    text: str
    first: str
    last: str


def resolved_times(text: str, said: str | None, zone: tzinfo) -> tuple[ResolvedTime, ...]:
    """The certain times of a text, resolved from the day it was said, in text order.

    >>> from datetime import UTC
    >>> resolved_times("We met last Friday, in some May.", "2026-03-09T08:00:00Z", UTC)
    (ResolvedTime(text='last Friday', first='2026-03-06', last='2026-03-06'),)
    """
    at = clocks.day_of(said, zone)
    found = expressions.find_expressions(text, at) if at else []
    return tuple(
        ResolvedTime(each.text.strip(), str(each.first), str(each.until - timedelta(1)))
        for each in found
        if each.certain
    )


def times_of(row: Statement, text: str, zone: tzinfo) -> tuple[ResolvedTime, ...]:
    """Resolved times of a statement; without a turn, relative to ``recorded_at``."""
    return resolved_times(text, row.valid_from if row.sources else row.recorded_at, zone)


class FoundItem(NamedTuple):
    """The item of an id, and its sources, earliest first."""

    id: str
    kind: str
    text: str = ""
    facts: dict[str, Any] = {}  # noqa: RUF012
    told: tuple[SourceTurn, ...] = ()
    times: tuple[ResolvedTime, ...] = ()  # certain time expressions of a statement, turn or block


def nearest(wanted: str, names: Iterable[tuple[str, str]]) -> list[str]:
    """At most five items with similar names (at least 65 %, as a whole or by whole words), best first."""
    from rapidfuzz import fuzz, utils

    words = utils.default_process(wanted)
    known = ((utils.default_process(name), item) for name, item in names)
    near = [(max(fuzz.ratio(words, n), fuzz.token_set_ratio(words, n)), item) for n, item in known]
    near.sort(key=lambda pair: -pair[0])
    return list(dict.fromkeys(item for score, item in near if score >= 65))[:5]


def not_found(wanted: str, reason: str, names: Iterable[tuple[str, str]], find: str) -> Exception:
    """The error for an unknown name: similar names, else how to ``find`` one."""
    near = ", ".join(nearest(wanted, names))
    return BadInputError(wanted, reason, f"near it are: {near}" if near else find)


class QuestionSources(NamedTuple):
    """Sources of the two sentences of a review question; None if unknown."""

    kept: SourceTurn | None
    other: SourceTurn | None


def question_sources(store: Store, items: Iterable[ReviewItem]) -> dict[str, QuestionSources]:
    """Review item id → the sources of its sentences.

    ``about`` lists the statement or turn of the first sentence, then the turns of the other.
    """
    with open_index(store, None) as opened:
        index = opened.index
        return {
            item.id: QuestionSources(
                _earliest_source(index, item.about[:1]), _earliest_source(index, item.about[1:])
            )
            for item in items
        }


def _earliest_source(index: Index, ids: Iterable[str]) -> SourceTurn | None:
    for each in ids:
        record = index.record(each)
        if isinstance(record, Statement):
            return next(iter(_record_item(index, record).told), None)
        if found := _first_part(index, each):
            return found[0]
    return None


def is_known(store: Store, wanted: str) -> bool:
    """Whether it is an id, a unique prefix of one, or the name of a node.

    A name that only occurs in texts is not known: it must be searched for.
    """
    with open_index(store, None) as opened:
        index = opened.index
        node = index.node(index.node_of(node_id(wanted))) if wanted.strip() else None
        return node is not None or resolve_id(wanted, index.ids(wanted)) is not None


def look_up(store: Store, wanted: str) -> FoundItem:
    """The item of an id or id prefix, or the concept of that name."""
    wanted = whole_id(wanted)
    with open_index(store, None) as opened:
        index = opened.index
        known = {wanted} if index.name_counts(wanted) else index.ids(wanted)
        chosen = resolve_id(wanted, known if len(wanted) >= MIN_PREFIX else known & {wanted})
        if chosen is None and wanted.strip():
            chosen = index.node_of(node_id(wanted))
        found = _describe(store, index, chosen) if chosen else None
        if found is not None:
            return found._replace(times=_times(index.record(found.id), found, store.zone))
        names = [] if _ID.fullmatch(wanted) else index.names()
    reason = "nothing in this store has that id or name"
    raise not_found(wanted or "ID", reason, names, "find ids with: clsm recall")


def _times(record: Record | None, found: FoundItem, zone: tzinfo) -> tuple[ResolvedTime, ...]:
    if isinstance(record, Statement):
        return times_of(record, found.text, zone)
    is_turn = found.kind in ("turn", "block")
    return resolved_times(found.text, found.facts.get("time"), zone) if is_turn else ()


def _describe(store: Store, index: Index, wanted: str) -> FoundItem | None:
    record = index.record(wanted)
    files = index.episode_files(wanted)
    if files:
        derived = encode(record) if record else {}
        read = episode_files.read(store.root / files[0])
        episode = episode_files.without_forgotten(read, logs.load_tombstones(store))
        file = str((store.root / files[0]).absolute())
        return None if episode is None else _episode_item(episode, files[0], file, derived)
    if record is not None:
        return _record_item(index, record)
    if passages := index.by_key(wanted):
        return _passage_item(index, wanted, passages)
    names = index.name_counts(wanted)
    if names:
        facts = {"names": dict(names), "mentions": sum(count for _, count in names)}
        return FoundItem(wanted, "concept", ", ".join(name for name, _ in names), facts)
    return None


def _record_item(index: Index, record: Record) -> FoundItem:
    facts = encode(record)
    kind = facts.pop("record")
    if isinstance(record, Document):
        path = source_locations.readable_source(record.origin) or ""
        here = SourceTurn(record.id, "", None, "", record.path, path, 1)
        return FoundItem(record.id, kind, record.path, facts, (here,))
    own = index.by_key(record.id)
    text = ""
    match record:
        case Statement():
            text = own[0].text if own else record.text
            facts["kind"] = record.kind
        case Node():
            described = f"{record.label or record.id}. {record.summary}"
            text = described if record.summary else record.label
            facts["kind"] = record.kind
        case Edge():
            text = f"{record.source} {record.type} {record.target}"
    sources = () if isinstance(record, EpisodeRecord) else record.sources
    turns = [turn for key in sources for turn in _first_part(index, key)]
    turns += [_source_turn(index, passage) for passage in own if not turns]
    turns.sort(key=lambda turn: turn.time or "~")
    return FoundItem(record.id, kind, text, facts, tuple(turns))


def _first_part(index: Index, key: str) -> list[SourceTurn]:
    """The turn or block of a key; of a long one, the first part."""
    return [_source_turn(index, passage) for passage in index.by_key(key)[:1]]


def _source_turn(index: Index, passage: Passage) -> SourceTurn:
    said = (passage.key, passage.speaker, passage.time, passage.text)
    source = f"{passage.path}:{passage.line_start}"
    return SourceTurn(*said, source, *source_locations.locate(index, passage))


def _episode_item(episode: Episode, path: str, file: str, derived: dict[str, Any]) -> FoundItem:
    facts = {"title": derived.get("title", ""), "file": path}
    facts |= {name: getattr(episode, name) for name in ("session", "start", "end")}
    facts |= {"participants": list(episode.participants), "trust": episode.trust}
    facts["turns"] = len(episode.turns)
    names = ("topic", "narrative", "valence", "novelty", "surprise", "decisions", "open_questions")
    facts |= {name: derived[name] for name in names if name in derived}
    text = "\n".join(
        f"{turn.key}  {turn.speaker}: {turn.text}" if turn.speaker else f"{turn.key}  {turn.text}"
        for turn in episode.turns
    )
    source_turn = SourceTurn(episode.id, "", episode.start, "", episode.session, file, 1)
    return FoundItem(episode.id, "episode", text, _without_empty(facts), (source_turn,))


def _passage_item(index: Index, wanted: str, passages: list[Passage]) -> FoundItem:
    first = passages[0]
    kind = first.kind if first.kind != "passage" else "block" if first.document else "turn"
    names = "time speaker role trust stream session episode heading current foreign_id"
    facts = {name: getattr(first, name) for name in names.split()}
    text = "\n".join(passage.text for passage in passages)
    source = _source_turn(index, first)._replace(text=text)
    return FoundItem(wanted, kind, text, _without_empty(facts), (source,))


def _without_empty(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in (None, "", [])}
