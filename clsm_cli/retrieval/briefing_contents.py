"""What a briefing needs from the whole store: statements, recent sentences, people and projects.

It depends on neither the time nor a query, so it is kept in a file until the store changes. The heads
weigh every sentence, list item and row: how likely it is to be useful weeks later, no noise, and
understood as it stands or under its headings. Text is quoted; nothing is rewritten.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from typing import TYPE_CHECKING, Any, cast

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model import clocks
from clsm_cli.model.episodes import Document, lowest_trust
from clsm_cli.model.graph import Node, Statement
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episode_files, logs, record_files
from clsm_cli.store.index import source_locations
from clsm_cli.store.index.derived import records_of
from clsm_cli.store.index.graph_queries import recent_files
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.prepared_briefing import NEED, Contents, Item, RankedItem, make_item
from clsm_cli.text import dumps, todo
from clsm_cli.text.plain import to_plain
from clsm_cli.text.time import expressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clsm_cli.heads.judge import UnitProbabilities
    from clsm_cli.model.codec import Record
    from clsm_cli.model.episodes import Episode, Turn
    from clsm_cli.model.trust import Trust
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store


ROLE_WORTH = {"log": 1.0, "living": 1.0, "list": 0.7, "instruction": 0.4, "reference": 0.1}
"""How much of what documents of a role say is about what goes on (own choice)."""
LEAST_ROLE = 0.5
"""Worth of a document below which none of it is read."""
KEEP = 0.5
"""Power of the probability that a sentence is useful weeks later: what is news need not be."""
LEAST = 0.1
"""Worth of a line below which it is not kept."""
LONGEST = 400
"""Characters of a line; what is longer is told by recall."""
DONE = 0.5
"""Share of its worth that a ticked item has: of 28, somebody wanted 14 % on the next morning, of all 3,579
lines that were judged for that 30 %, of open tasks 46 %."""
ALONE = 0.8
"""Probability of being understood alone from which a line needs no heading."""
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+")
_ANY_DAYS = (date(2001, 1, 1), date(2013, 8, 17))
_FEWEST = 3
"""Words of a line that says something."""


MOST = 400
"""Lines that are kept: nobody reads more at the start of a session."""
DAYS = 28
"""Days before the newest episode in which what was said is looked at: four weeks."""
RULES = ("preference", "convention", "correction", "workflow")
"""Kinds of statements that say how to do things."""
STATED = 0.6
"""Worth of a statement of which no sentence is weighed, as those of older conversations."""
NAMED = 12
"""Mentions at which a person or project is worth half a line."""
LABEL = 40
"""Characters before a colon that are a label at most."""
SAME = 0.8
"""Share of the words of a line from which a better one says it already."""


def collect(store: Store, until: datetime | None = None) -> Contents:
    """Read the contents from the index, which is updated first if the lock is free.

    Args:
        until: Leave out episodes that start later; None: the newest are wanted.
    """
    with open_index(store, None) as opened:
        index = opened.index
        forgotten = logs.load_tombstones(store)
        records = records_of(index.connection, "statement", forgotten)
        known = record_files.load_statements(
            store, {record.id: record for record in records}, now=""
        )
        current = [each for each in known.values() if _holds(each)]
        ended = ended_sentences(known.values())
        found_documents = records_of(index.connection, "document", forgotten)
        documents = [each for each in found_documents if isinstance(each, Document)]
        anyway = store.settings.context.loaded
        loaded = [each for each in documents if each.path.rpartition("/")[2] in anyway]
        paths = {each.path for each in loaded}
        read: list[set[str]] = []
        found: list[RankedItem] = []
        for source in sources(_episodes(store, index, until), documents):
            if source.turns[0].path in paths:
                read += _lines_of(source)
            else:
                found += source_items(source, ended)
        worth: dict[str, float] = {}
        for line in found:
            key = line.item.id.partition("-")[0]
            worth[key] = max(worth.get(key, 0.0), line.worth)
        rest = _StatementsAndNodes(
            index, worth, frozenset(each.id for each in loaded), known, store.zone
        )
        found += rest.statements(current)
        found += rest.nodes(records_of(index.connection, "node", forgotten))
        folders = {each.path.rpartition("/")[0] for each in loaded}
        best = tuple(_opening(index, line) for line in _best(found, read))
        return Contents(best, tuple(sorted(folders)), _problems(index))


def _opening(index: Index, line: RankedItem) -> RankedItem:
    """A line with the place where it can be opened, if it has none yet."""
    told = [] if line.item.file else index.by_key(line.item.id[:12])
    file, first = source_locations.locate(index, told[0]) if told else ("", 0)
    if not file:
        return line
    at = first + line.item.line - told[0].line_start
    return line._replace(item=line.item.with_location(file, at))


class Ended(NamedTuple):
    """Sentences that hold no longer, as ``text_key`` has them.

    Attributes:
        texts: Those that no current statement says.
        told: What statements say by the turns that they rest on, those that ended and those that hold.
    """

    texts: frozenset[str]
    told: Mapping[str, tuple[set[str], set[str]]]

    def has(self, turn: str, text: str) -> bool:
        """Whether what a turn says in a sentence ended, wherever a statement tells it behind headings."""
        key = text_key(text)
        gone, held = (
            any(f" {each}".endswith(f" {key}") for each in keys)
            for keys in self.told.get(turn, ((), ()))
        )
        return key in self.texts or (gone and not held)


def ended_sentences(known: Iterable[Statement]) -> Ended:
    """What statements that ended say, of all that are known."""
    texts: tuple[set[str], set[str]] = set(), set()
    told: dict[str, tuple[set[str], set[str]]] = {}
    for each in known:
        key, holds = text_key(each.text), _holds(each)
        texts[holds].add(key)
        for turn in each.sources:
            told.setdefault(turn, (set(), set()))[holds].add(key)
    return Ended(frozenset(texts[False] - texts[True]), told)


def _holds(each: Statement) -> bool:
    return each.is_current and each.state != "done" and each.text != ""


def _episodes(store: Store, index: Index, until: datetime | None) -> Iterator[Episode]:
    stamp = None if until is None else f"{until.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    for path in recent_files(index.connection, DAYS, stamp):
        try:
            yield episode_files.read(store.root / path)
        except DamagedStoreError:
            continue  # the index names it among the problems


class _StatementsAndNodes(NamedTuple):
    """What there is besides the sentences.

    Attributes:
        worth: Of the best sentence of each turn.
        loaded: Ids of documents that the agent reads anyway.
    """

    reader: Index
    worth: Mapping[str, float]
    loaded: frozenset[str]
    known: Mapping[str, Statement]
    zone: tzinfo

    def statements(self, current: Iterable[Statement]) -> Iterator[RankedItem]:
        """Statements that replaced something, tasks, rules, and statements about people."""
        for each in current:
            old = self.known.get(each.supersedes or "")
            sections = {
                "tasks": each.kind == "task",
                "changed": old is not None,
                "rules": each.kind in RULES,
                "who": each.stream == "identity" or each.pinned,
            }
            section = next((name for name, holds in sections.items() if holds), None)
            if section is None:
                continue
            told, known = self._told(each.sources, LEAST if each.due else 0.0)
            if old is not None and not any(p.document in self.loaded for p in told):
                known = max(known, STATED)
            if each.pinned or known:
                before = old.text if old is not None else ""
                found = self._of_statement(each, told[0] if told else None, before)
                thread = f"{told[0].path}\n{told[0].heading}" if told else each.topic
                thread = section if section == "changed" else thread
                yield RankedItem(found, section, 1.0 if each.pinned else known, thread)

    def nodes(self, found: Iterable[Record]) -> Iterator[RankedItem]:
        """Persons and projects with a summary or statements."""
        for node in found:
            if isinstance(node, Node) and node.kind in ("person", "project") and node.summary:
                told, known = self._told(node.sources, 0.0)
                if told and known:
                    summary = make_item(
                        node.id,
                        node.kind,
                        node.summary,
                        stream=node.stream,
                        trust=lowest_trust([cast("Trust", passage.trust) for passage in told]),
                        time=node.last,
                        about=", ".join((node.label, *node.aliases)),
                        **_place(self.reader, told[0]),
                    )
                    worth = round(known * node.confidence * node.n / (node.n + NAMED), 4)
                    yield RankedItem(summary, "who", worth, node.id)

    def _told(self, sources: Sequence[str], least: float) -> tuple[list[Passage], float]:
        """Where something was told, and what that is worth: 0 if the agent reads it anyway."""
        found = [turn for key in sources for turn in self.reader.by_key(key)[:1]]
        told = [passage for passage in found if passage.trust not in UNTRUSTED]
        if not found or any(passage.document is None for passage in told):
            return told, STATED
        unread = [passage.key for passage in told if passage.document not in self.loaded]
        return told, max((self.worth.get(key, least) for key in unread), default=0.0)

    def _of_statement(self, each: Statement, told: Passage | None, before: str) -> Item:
        """With the place where its author wrote it; what a person wrote into the topic file stands there."""
        place = told or next(iter(self.reader.by_key(each.id)), None)
        when = each.valid_from or (None if told else each.recorded_at)
        return make_item(
            each.id,
            each.kind,
            each.text,
            stream=each.stream,
            trust=each.trust,
            time=(told.time if told else None) or when,
            state=each.state,
            due=each.due if each.kind == "task" else self._day_ahead(each, told),
            before=before,
            **_place(self.reader, place),
        )

    def _day_ahead(self, each: Statement, told: Passage | None) -> str | None:
        """The day ahead that a statement names, counted from when it was told or corrected."""
        at = clocks.day_of(told.time if told else each.recorded_at, self.zone)
        _, _, item = each.text.rpartition(": ")  # a heading before it may name other days
        return _day_ahead(item, at) or _day_ahead(each.text, at)


def _place(index: Index, told: Passage | None) -> dict[str, Any]:
    """Where a passage stands: as it was given, and what can be opened."""
    if told is None:
        return {}
    file, line = source_locations.locate(index, told)
    return {"path": told.path, "line": told.line_start, "file": file, "file_line": line}


def _lines_of(source: Source) -> Iterator[set[str]]:
    """The words of each line of a document."""
    lines = (text_key(line) for turn in source.turns for line in turn.text.split("\n"))
    return (set(line.split()) for line in lines if line)


def _best(found: Sequence[RankedItem], read: Iterable[set[str]]) -> Iterator[RankedItem]:
    """The best lines: one of those that say the same, and the newest of a label under a heading.

    Args:
        read: The words of what the agent reads anyway, a set a line.
    """
    newest: dict[tuple[str, str], str] = {}
    for line in found:
        topic = _topic(line)
        newest[topic] = max(newest.get(topic, ""), _day(line))
    last = max(newest.values(), default="")
    kept, shown, count = list(read), set[str](), 0
    for line in sorted(found, key=lambda line: (-_need(line, last), line.item.id)):
        words = set(text_key(line.item.text).split())
        is_old = _topic(line)[1] != "" and _day(line) < newest[_topic(line)]
        whole, *ends = _without_headings(line.item)
        is_told = not shown.isdisjoint(ends) or any(_says(words, other) for other in kept)
        if not (is_old or is_told):
            kept.append(words)
            shown.add(whole)
            count += 1
            yield line
        if count == MOST:
            return


def _need(line: RankedItem, last: str) -> float:
    """What a line is worth on the last day that anything was said; what is due then, as such."""
    section = "due" if (line.item.due or "") >= last else line.section
    return line.worth_on(last) * NEED.get(section, 1.0)


def _day(line: RankedItem) -> str:
    return (line.item.time or "")[:10]


def _topic(line: RankedItem) -> tuple[str, str]:
    """The heading and label of a line, as ``Mail › Open`` in the notes of many days."""
    label, colon, _ = line.item.text.partition(": ")
    is_label = colon and len(label) <= LABEL and line.item.kind != "task"
    return line.item.about, label if is_label else ""


def _without_headings(item: Item) -> list[str]:
    """A line as it is shown, and without the first of its headings, the first two, and so on.

    >>> _without_headings(make_item("f-1", "task", "Kettle › Open: Export to DATEV"))
    ['kettle open export to datev', 'open export to datev', 'export to datev']
    """
    headings, colon, text = f"{item.about}: {item.text}".removeprefix(": ").partition(": ")
    titles = [*(headings.split(" › ") if colon else [headings]), text]
    return [text_key(" ".join(titles[first:])) for first in range(len(titles) if colon else 1)]


def _says(words: set[str], other: set[str]) -> bool:
    """Whether nearly all words of a line stand in a better one."""
    return len(words & other) >= SAME * len(words)


def _problems(index: Index) -> tuple[str, ...]:
    problems = list(index.problems())
    if not problems:
        return ()
    path, line, reason = problems[0]
    where = path if line is None else f"{path}, line {line}"
    more = f" (and {len(problems) - 1} more places)" if len(problems) > 1 else ""
    return (f"{where}: {reason}{more}; the rest was read. See: clsm status",)


class Source(NamedTuple):
    """A document as it is now, or an episode of a conversation, which ``thread`` names."""

    turns: tuple[Turn, ...]
    thread: str | None = None


def sources(episodes: Iterable[Episode], documents: Iterable[Document]) -> Iterator[Source]:
    """Conversations, and the documents with their current blocks among those of the episodes."""
    blocks: dict[str, Turn] = {}
    for episode in episodes:
        if episode.document is None:
            turns = _readable(episode.turns)
            named = (replace(turn, path=episode.session) for turn in turns if turn.path == "-")
            yield Source(tuple(named) or turns, episode.id)
        else:
            blocks.update((turn.key, turn) for turn in episode.turns)
    for document in documents:
        there = ((blocks[b.key], b) for b in document.blocks if b.key in blocks)
        turns = _readable(
            replace(turn, path=document.path, line_start=block.line_start, heading=block.heading)
            for turn, block in there
        )
        if turns:
            yield Source(turns)


def _readable(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Blocks and turns without those of tools and pages, and without dumps."""
    return tuple(
        replace(turn, text=dumps.without_dumps(turn.text))
        for turn in turns
        if turn.trust not in UNTRUSTED
    )


def source_items(source: Source, ended: Ended) -> Iterator[RankedItem]:
    """The sentences of a document or conversation that are worth a line and hold still."""
    from clsm_cli.heads.judge import about_document, judge_units

    about = about_document(source.turns) if source.thread is None else None
    role = 1.0
    if about is not None:
        role = sum(worth * about[name] for name, worth in ROLE_WORTH.items())
        role *= 1 - about["template"]
    if role < LEAST_ROLE:
        return
    for each in judge_units(source.turns, about):
        turn = source.turns[each.unit.turn]
        raw = turn.text[each.unit.start : each.unit.end]
        text = to_plain(raw, has_addresses=True)
        worth = role * _worth(each)
        if worth < LEAST or len(text) > LONGEST or len(_WORD.findall(text)) < _FEWEST:
            continue
        if not (ended.has(turn.key, text) or todo.is_dropped(raw)):
            yield _line(turn, raw, text, each, worth, source.thread)


def _worth(each: UnitProbabilities) -> float:
    """How likely a sentence is to matter: usefulness weeks later counts for less here."""
    chances = each.chances
    stands = max(chances["alone"], chances["with headings"])
    return round(float(chances["keep"] ** KEEP) * (1 - chances["noise"]) * stands, 4)


def _line(
    turn: Turn, raw: str, text: str, each: UnitProbabilities, worth: float, thread: str | None
) -> RankedItem:
    at = date.fromisoformat(turn.time[:10]) if turn.time else None
    task = next(iter(todo.todos(raw, at)), None)
    is_open = task is not None and task.state != "done"
    due = _day_ahead(text, at) if task is None else task.due if is_open else None
    section = "tasks" if is_open else "lately" if at else "who"
    about = turn.speaker or (_about(turn.heading, text) if each.chances["alone"] < ALONE else "")
    found = make_item(
        turn.key if each.unit.start == 0 else f"{turn.key}-{each.unit.number + 1}",
        "task" if is_open else "passage",
        text,
        stream="flow",
        trust=turn.trust,
        time=turn.time,
        path=turn.path,
        line=turn.line_start + (0 if turn.speaker else turn.text.count("\n", 0, each.unit.start)),
        state=task.state if task is not None else None,
        due=due,
        about=about,
    )
    worth = round(worth * DONE, 4) if task is not None and not is_open else worth
    return RankedItem(found, section, worth, thread or "\n".join((turn.path, *turn.heading)))


def _day_ahead(text: str, at: date | None) -> str | None:
    """The first day after it was written that a text itself names.

    If nobody knows when that was, the last one that it names with its year.

    >>> _day_ahead("They meet on 17 March 2026.", date(2026, 2, 23))
    '2026-03-17'
    >>> _day_ahead("They meet on 17 March 2026, or on 20 April.", None)
    '2026-03-17'
    """
    if at is None:
        # What a text means whenever it is read has a year of its own.
        read = [{each.day for each in expressions.find_expressions(text, day)} for day in _ANY_DAYS]
        return max((day.isoformat() for day in set.intersection(*read) if day), default=None)
    days = [each.day for each in expressions.find_expressions(text, at)]
    return min((day.isoformat() for day in days if day and day > at), default=None)


def _about(heading: Sequence[str], text: str) -> str:
    """The innermost heading that names something, unless the text does so itself."""
    for title in reversed(heading[1:] or heading):
        name = to_plain(title)
        if len("".join(_WORD.findall(name))) > len(name) / 3:
            return "" if text_key(name) in text_key(text) else name
    return ""


def text_key(text: str) -> str:
    """The words of a text, by which two are the same.

    >>> text_key("- **Rent**: 900 euros.") == text_key("rent 900 Euros")
    True
    """
    return " ".join(re.findall(r"\w+", to_plain(text).lower()))
