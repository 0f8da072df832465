"""What a briefing needs of the whole store, read from the index: statements, recent sentences, who is who.

It depends on neither the time nor a query, so it is kept in a file until the store changes.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.episodes import Document, lowest_trust
from clsm_cli.model.graph import Node, Statement
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.records import NamedTuple
from clsm_cli.retrieval.briefing import Contents, Line, item
from clsm_cli.retrieval.briefing_lines import LEAST, key_of, lines, sources
from clsm_cli.store import episodes, logs, statements
from clsm_cli.store.index import openable
from clsm_cli.store.index.derived import records_of
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.recent import recent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clsm_cli.model.codec import Record
    from clsm_cli.model.episodes import Episode
    from clsm_cli.model.trust import Trust
    from clsm_cli.retrieval.briefing import Item
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.layout import Store

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
    """Read the contents from the index, which is brought up to date if the lock is free.

    Args:
        store: Whose.
        until: Leave out episodes that start later; None: the newest are wanted.
    """
    with open_index(store, None) as opened:
        index = opened.index
        forgotten = logs.forgotten(store)
        records = records_of(index.connection, "statement", forgotten)
        known = statements.load(store, {record.id: record for record in records}, now="")
        current = [each for each in known.values() if _holds(each)]
        ended = frozenset(key_of(each.text) for each in known.values() if not _holds(each))
        ended -= {key_of(each.text) for each in current}
        documents = [
            each
            for each in records_of(index.connection, "document", forgotten)
            if isinstance(each, Document)
        ]
        loaded = [
            d for d in documents if d.path.rpartition("/")[2] in store.settings.context.loaded
        ]
        unread = [each for each in documents if each not in loaded]
        found = [
            line
            for source in sources(_episodes(store, index, until), unread)
            for line in lines(source, ended)
        ]
        worth: dict[str, float] = {}
        for line in found:
            key = line.item.id.partition("-")[0]
            worth[key] = max(worth.get(key, 0.0), line.worth)
        rest = _Rest(index, worth, frozenset(each.id for each in loaded), known)
        found += rest.statements(current)
        found += rest.nodes(records_of(index.connection, "node", forgotten))
        folders = {each.path.rpartition("/")[0] for each in loaded}
        best = tuple(_opening(index, line) for line in _best(found))
        return Contents(best, tuple(sorted(folders)), tuple(_problems(index)))


def _opening(index: Index, line: Line) -> Line:
    """A line with the place where it can be opened, if it has none yet."""
    key = line.item.id[:12]
    told = next((p for p in index.by_key(key) if (p.key, p.part) == (key, 0)), None)
    if line.item.file or told is None:
        return line
    place = openable.spot(index, told)
    if place is None:
        return line
    return line._replace(
        item=line.item.at(place.file, place.line + line.item.line - told.line_start)
    )


def _holds(each: Statement) -> bool:
    return each.is_current and each.state != "done" and each.text != ""


def _episodes(store: Store, index: Index, until: datetime | None) -> Iterator[Episode]:
    stamp = None if until is None else f"{until.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    for path in recent(index.connection, DAYS, stamp):
        try:
            yield episodes.read(store.root / path)
        except DamagedStoreError:
            continue  # the index names it among the problems


class _Rest(NamedTuple):
    """What else there is beside the sentences.

    Attributes:
        worth: Of the best sentence of each turn that was weighed.
        loaded: Ids of documents that the agent reads anyway.
        known: All statements, by id.
    """

    reader: Index
    worth: Mapping[str, float]
    loaded: frozenset[str]
    known: Mapping[str, Statement]

    def statements(self, current: Iterable[Statement]) -> Iterator[Line]:
        """What took the place of something, tasks, rules and what is said of people."""
        for each in current:
            old = self.known.get(each.supersedes or "")
            if old is not None and each.kind != "task":
                section = "changed"
            elif each.kind == "task":
                section = "tasks"
            elif each.kind in RULES:
                section = "rules"
            elif each.stream == "identity" or each.pinned:
                section = "who"
            else:
                continue
            told, known = self._told(each.sources, LEAST if each.due else 0.0)
            if old is not None and not any(p.document in self.loaded for p in told):
                known = max(known, STATED)
            if each.pinned or known:
                found = _of_statement(self.reader, each, told[0] if told else None)
                if old is not None:
                    found = found._replace(before=old.text).at(found.file, found.file_line)
                thread = f"{told[0].path}\n{told[0].heading}" if told else each.topic
                thread = section if section == "changed" else thread
                yield Line(found, section, 1.0 if each.pinned else known, thread)

    def nodes(self, found: Iterable[Record]) -> Iterator[Line]:
        """Persons and projects of which something is said."""
        for node in found:
            if isinstance(node, Node) and node.kind in ("person", "project") and node.summary:
                told, known = self._told(node.sources, 0.0)
                if told and known:
                    place = openable.spot(self.reader, told[0])
                    summary = item(
                        node.id,
                        node.kind,
                        node.summary,
                        stream=node.stream,
                        trust=lowest_trust([cast("Trust", passage.trust) for passage in told]),
                        time=node.last,
                        path=told[0].path,
                        line=told[0].line_start,
                        about=", ".join((node.label, *node.aliases)),
                        file=place.file if place else "",
                        file_line=place.line if place else 0,
                    )
                    yield Line(summary, "who", round(known * node.n / (node.n + NAMED), 4), node.id)

    def _told(self, sources: Sequence[str], least: float) -> tuple[list[Passage], float]:
        """Where something was told, and what that is worth: 0 if the agent reads it anyway."""
        found = [
            p for key in sources for p in self.reader.by_key(key) if (p.key, p.part) == (key, 0)
        ]
        told = [passage for passage in found if passage.trust not in UNTRUSTED]
        if not found or any(passage.document is None for passage in told):
            return told, STATED
        unread = [passage.key for passage in told if passage.document not in self.loaded]
        return told, max((self.worth.get(key, least) for key in unread), default=0.0)


def _of_statement(index: Index, each: Statement, told: Passage | None) -> Item:
    """With the place where its author wrote it; what a person wrote into the topic file stands there."""
    place = told or next((p for p in index.by_key(each.id) if p.key == each.id), None)
    when = each.valid_from or (None if told else each.recorded_at)
    opens = openable.spot(index, place) if place else None
    return item(
        each.id,
        each.kind,
        each.text,
        stream=each.stream,
        trust=each.trust,
        time=(told.time if told else None) or when,
        path=place.path if place else "",
        line=place.line_start if place else 0,
        state=each.state,
        due=each.due,
        file=opens.file if opens else "",
        file_line=opens.line if opens else 0,
    )


def _best(found: Sequence[Line]) -> Iterator[Line]:
    """The best; of what says the same, one, and of a label under a heading the newest."""
    newest: dict[tuple[str, str], str] = {}
    for line in found:
        topic = _topic(line)
        newest[topic] = max(newest.get(topic, ""), _day(line))
    last = max(newest.values(), default="")
    kept: list[set[str]] = []
    for line in sorted(found, key=lambda line: (-line.value(last), line.item.id)):
        words = set(key_of(line.item.text).split())
        is_old = _topic(line)[1] != "" and _day(line) < newest[_topic(line)]
        if not is_old and not any(_says(words, other) for other in kept):
            kept.append(words)
            yield line
        if len(kept) == MOST:
            return


def _day(line: Line) -> str:
    return (line.item.time or "")[:10]


def _topic(line: Line) -> tuple[str, str]:
    """The heading and label of a line, as ``Mail › Open`` in the notes of many days."""
    label, colon, _ = line.item.text.partition(": ")
    return line.item.about, label if colon and len(label) <= LABEL else ""


def _says(words: set[str], other: set[str]) -> bool:
    """Whether nearly all words of a line stand in a better one."""
    return len(words & other) >= SAME * len(words)


def _problems(index: Index) -> Sequence[str]:
    problems = list(index.problems())
    if not problems:
        return ()
    path, line, reason = problems[0]
    where = path if line is None else f"{path}, line {line}"
    more = f" (and {len(problems) - 1} more places)" if len(problems) > 1 else ""
    return (f"{where}: {reason}{more}; the rest was read. See: clsm status",)
