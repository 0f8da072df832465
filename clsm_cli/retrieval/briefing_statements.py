"""The lines of a briefing that memory keeps as records: statements, persons and projects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta, tzinfo
from functools import partial
from typing import Any, cast

from clsm_cli.model import clocks
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import lowest_trust
from clsm_cli.model.graph import Node, Statement
from clsm_cli.model.trust import UNTRUSTED, Trust
from clsm_cli.retrieval.briefing_items import LEAST, VERSION, BriefingItem, RankedItem, make_item
from clsm_cli.retrieval.briefing_rules import MIN_RULE_P
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import source_locations
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.memo import Memo
from clsm_cli.store.index.passages import Passage
from clsm_cli.text.plain import plain_words, to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.time import ahead

RULES = ("preference", "convention", "correction", "workflow")
"""Kinds of statements that say how to do things."""
REST = 0.04
"""Factor of the worth of a statement that belongs to no section and is in no recent line (own
choice): it fills what is left of a budget.
"""
STATED = 0.6
"""Worth of a statement without a scored sentence, such as one from an older conversation."""
NAMED = 12
"""Mentions at which a person or project has a worth of ½."""
_YEAR = timedelta(366)
_LONG_AGO = date(2001, 1, 1)
_MAX_CHARS = 240
"""Characters of the whole line of a summary, at most."""


class StatementsAndNodes(NamedTuple):
    """Makes the lines of statements and nodes.

    Attributes:
        worth: Turn → worth of its best sentence.
        shown: The words of each sentence that has a line.
        loaded: Ids of documents that the agent reads anyway.
        by_id: All statements, by id.
        doubted: Id of a statement that is perhaps no longer true → the day since when.
        rules: Id of a statement → probability that it says how things are done.
    """

    reader: Index
    worth: Mapping[str, float]
    shown: frozenset[str]
    loaded: frozenset[str]
    by_id: Mapping[str, Statement]
    doubted: Mapping[str, str]
    rules: Mapping[str, float]
    zone: tzinfo
    memo: Memo

    def statements(self, current: Iterable[Statement]) -> Iterator[RankedItem]:
        """Statements that replaced something, tasks, rules, about people, what names a day ahead; and the others."""
        for statement in current:
            old = self.by_id.get(statement.supersedes or "")
            rule = self.rules.get(statement.id, 0.0)
            section = _section(statement, is_change=old is not None)
            least = {"tasks": LEAST, "due": STATED, "rules": STATED}.get(section, 0.0)
            passages, source_worth = self._trusted_sources(statement.sources, least)
            if passages and all(map(_is_assistants, passages)):  # a person sets the rules
                section, rule = "due" if section == "rules" else section, 0.0
            if old is not None and not any(passage.document in self.loaded for passage in passages):
                source_worth = max(source_worth, STATED)
            if statement.pinned or source_worth:
                before = old.text if old is not None else ""
                item = self._of_statement(statement, passages[0] if passages else None, before)
                is_shown = statement.kind == "gist" or plain_words(item.text) in self.shown
                if section == "due" and not item.due and rule >= MIN_RULE_P:
                    section = "rules"
                if section == "due" and is_shown:
                    continue
                if section == "due" and not item.due:
                    section, source_worth = "lately" if item.told_on else "who", source_worth * REST
                thread = (
                    f"{passages[0].path}\n{passages[0].heading}" if passages else statement.topic
                )
                thread = section if section == "changed" else thread
                yield RankedItem(
                    item, section, 1.0 if statement.pinned else source_worth, thread, rule
                )

    def nodes(self, records: Iterable[Record]) -> Iterator[RankedItem]:
        """Persons and projects with a summary or statements."""
        for node in records:
            if isinstance(node, Node) and node.kind in ("person", "project") and node.summary:
                passages, source_worth = self._trusted_sources(node.sources, 0.0)
                if passages and source_worth:
                    summary = make_item(
                        node.id,
                        node.kind,
                        text := _full_line(node.summary, passages[0].text),
                        stream=node.stream,
                        trust=lowest_trust([cast("Trust", passage.trust) for passage in passages]),
                        time=max(
                            (passage.time for passage in passages if passage.time), default=None
                        ),
                        about=", ".join(
                            name
                            for name in (node.label, *node.aliases)
                            if f" {plain_words(name)} " not in f" {plain_words(text)} "
                            and not plain_words(name).startswith(
                                f"{plain_words(text.partition(':')[0])} "
                            )
                        ),
                        **_place(self.reader, passages[0]),
                    )
                    worth = round(source_worth * node.confidence * node.n / (node.n + NAMED), 4)
                    yield RankedItem(summary, "who", worth, node.id)

    def _trusted_sources(self, sources: Sequence[str], least: float) -> tuple[list[Passage], float]:
        """The trusted source passages, and their worth: 0 if the agent reads them anyway."""
        turns = [turn for key in sources for turn in self.reader.by_key(key)[:1]]
        trusted = [passage for passage in turns if passage.trust not in UNTRUSTED]
        if not turns or any(passage.document is None for passage in trusted):
            return trusted, STATED
        unread = [passage.key for passage in trusted if passage.document not in self.loaded]
        return trusted, max((self.worth.get(key, least) for key in unread), default=0.0)

    def _of_statement(
        self, statement: Statement, passage: Passage | None, before: str
    ) -> BriefingItem:
        """A statement with the location of its source, or of the topic file for one written by hand."""
        place = passage or next(iter(self.reader.by_key(statement.id)), None)
        about, text = _parted(statement.text, passage.text if passage else "")
        when = statement.valid_from or (None if passage else statement.recorded_at)
        key, time = (
            (passage.key, passage.time) if passage else (statement.id, statement.recorded_at)
        )
        days = days_written(self.reader, key, time)
        due = statement.due or self.memo.value(
            ("day ahead", VERSION, statement.text, days), partial(_day_ahead, statement.text, days)
        )
        return make_item(
            statement.id,
            statement.kind,
            text,
            stream=statement.stream,
            trust=statement.trust,
            about=about,
            time=(passage.time if passage else None) or when or time_noted(due, days),
            state=statement.state,
            due=due,
            before=before,
            perhaps_until=self.doubted.get(statement.id),
            **_place(self.reader, place),
        )


def _day_ahead(text: str, days: tuple[date, date | None]) -> str | None:
    """The first day that a statement names after it was told or corrected."""
    item = text.rfind(": ") + 1  # a heading before it may name other days
    return ahead.day_ahead(text, *days, start=item) or ahead.day_ahead(text, *days)


def time_noted(due: str | None, days: tuple[date, date | None]) -> str | None:
    """The day since which a line without one names a day ahead; None if it was there at the first capture."""
    at, since = days
    return at.isoformat() if due and since and at - since < _YEAR else None


def days_written(index: Index, key: str, time: str | None) -> tuple[date, date | None]:
    """The day on which something was written, or else the last and the first possible one.

    A block without a day was written between two captures of its document. The first capture tells
    nothing: then only a day that is the same a year before counts, as one with its year or weekday
    is.
    """
    zone = index.store.zone
    if day := clocks.day_of(time, zone):
        return day, None
    before, at = index.capture_times(index.episode_of(key) or "")
    last = clocks.day_of(at, zone) or _LONG_AGO
    return last, clocks.day_of(before, zone) or last - _YEAR


def _is_assistants(passage: Passage) -> bool:
    return passage.document is None and passage.role == "assistant"


def _section(statement: Statement, *, is_change: bool) -> str:
    """The section of a statement; what belongs to no other may name a day ahead, or fills what is left."""
    sections = {
        "tasks": statement.kind == "task",
        "changed": is_change,
        "rules": statement.kind in RULES,
        "who": statement.stream == "identity" or statement.pinned,
    }
    return next((name for name, holds in sections.items() if holds), "due")


def _parted(statement: str, turn_text: str) -> tuple[str, str]:
    r"""Split a statement into its headings and its author's words.

    >>> _parted("Hall › Rent: Lift: 9 euros", "- Rent is due.\n- **Lift:** 9 euros")
    ('Hall › Rent', 'Lift: 9 euros')
    >>> _parted("Rent: 9 euros", "- The rent is ten euros.")
    ('', 'Rent: 9 euros')
    """
    parts, words = statement.split(": "), f" {plain_words(turn_text)} "
    for start in range(len(parts)):
        text = ": ".join(parts[start:])
        if f" {plain_words(text)} " in words:
            return ": ".join(parts[:start]), text
    return "", statement


def _place(index: Index, passage: Passage | None) -> dict[str, Any]:
    """The location of a passage: path and line as given, and of the file to open."""
    if passage is None:
        return {}
    file, line = source_locations.locate(index, passage)
    return {"path": passage.path, "line": passage.line_start, "file": file, "file_line": line}


def _full_line(summary: str, turn_text: str) -> str:
    r"""The line of a turn that begins a summary; the rest of the summary may come from elsewhere.

    >>> _full_line("Jo: night baker. Jo rows.", "- Mia: baker.\n- Jo: night baker. Allergic to nuts.")
    'Jo: night baker. Allergic to nuts.'
    """
    first = next(iter(sentences(summary)), summary).rstrip(".")
    lines = (to_plain(line, has_addresses=True) for line in turn_text.split("\n"))
    return next((line for line in lines if first in line and len(line) <= _MAX_CHARS), summary)
