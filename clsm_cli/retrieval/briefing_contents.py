"""The part of a briefing from the whole store: statements, recent sentences, people and projects.

It depends on neither the time nor a query, so it is cached until the store changes. Classifiers
score every sentence, list item and table row: the probability that it is useful weeks later, is not
noise, and can be understood by itself or under its headings. Text is quoted, never rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, tzinfo
from functools import partial
from itertools import chain

from clsm_cli.errors import ClsmError, DamagedStoreError, fault_text
from clsm_cli.heads.judge import UnitProbabilities, about_document, judge_units
from clsm_cli.heads.meanings import fingerprint
from clsm_cli.heads.units import lead_ins, units
from clsm_cli.model.episodes import Document, Episode, Turn
from clsm_cli.model.graph import Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.tombstones import visible
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.retrieval.briefing_items import (
    LEAST,
    VERSION,
    BriefingItem,
    Contents,
    RankedItem,
    make_item,
)
from clsm_cli.retrieval.briefing_rules import (
    MIN_RULE_P,
    Grounding,
    grounding_by_place,
    rule_chances,
    sentence_rule_chances,
)
from clsm_cli.retrieval.briefing_selection import LineContent, best_lines, line_content, with_doubts
from clsm_cli.retrieval.briefing_statements import (
    STATED,
    StatementsAndNodes,
    days_written,
    time_noted,
)
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episode_files, logs, record_files
from clsm_cli.store.index import source_locations
from clsm_cli.store.index.derived import records_of
from clsm_cli.store.index.graph_queries import recent_files
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.memo import Memo, Permit, refused, remembered
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import try_locked
from clsm_cli.text import dumps, factuality, sameness, todo
from clsm_cli.text.plain import plain_words, to_plain
from clsm_cli.text.time import ahead, expressions

ROLE_WORTH = {"log": 1.0, "living": 1.0, "list": 0.7, "instruction": 0.4, "reference": 0.1}
"""How much of what documents of a role say is about what goes on (own choice)."""
LEAST_ROLE = 0.5
"""Worth of a document below which its sentences are skipped."""
KEEP = 0.5
"""Exponent of the probability that a sentence is useful weeks later: news need not be."""
LEAST_DUE = 0.05
"""Worth of a line that names a day ahead, apart from later use, below which it is dropped: short
notes of appointments look like noise, and are few.
"""
LONGEST = 400
"""Characters of a line, at most; longer ones are left to recall."""
DONE = 0.5
"""Factor of the worth of a ticked item: of 28, 14 % were wanted on the next morning; of all 3,579
lines judged for that, 30 %, and of open tasks 46 %.
"""
KEPT = 1.5
"""Factor of the worth of a note's sentence that is kept as a statement: in two memories, 15 of the
39 wanted lines are, and 133 of all 622 lines.
"""
ASIDE = 0.5
"""Factor of the worth of what an assistant said in a conversation and no statement keeps (own
choice): the owner's words and the files tell what it was about.
"""
CONFIRMED = 3.0
"""How much more what a person said to an agent is worth whose answer repeats it: in five memories,
37 % of such sentences are wanted, and 7 % of the others.
"""
RULE = 2.5
"""Worth of a rule that a person told an agent, for its probability: it holds for every session
(chosen on five memories).
"""
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+")
_SLOT = re.compile(r"(?<!`)\{\{[^{}\n]{1,40}\}\}(?!`)")
"""A placeholder of a template (Mustache, Jinja, Obsidian's templates)."""
_FEWEST = 3
"""Words of a line, at least."""

DAYS = 28
"""Days before the newest episode within which sentences are considered."""


def collect(store: Store, until: datetime | None = None) -> Contents:
    """Read the contents from the index, which is updated first if the lock is free.

    Args:
        until: Leave out episodes that start later; None: leave out none.
    """
    permit: Permit = refused if until else partial(try_locked, store.root)
    with remembered(store.derived, "briefing", permit) as memo, open_index(store, None) as opened:
        index = opened.index
        forgotten = logs.load_tombstones(store)
        statements = _statements(store, index, forgotten)
        current = [statement for statement in statements.values() if _holds(statement)]
        doubted = _doubted(store, index)
        ended = ended_sentences(statements.values(), doubted)
        document_records = records_of(index.connection, "document", forgotten)
        documents = [document for document in document_records if isinstance(document, Document)]
        anyway = store.settings.context.loaded
        loaded = [each for each in documents if each.path.rpartition("/")[2] in anyway]
        paths = {document.path for document in loaded}
        read: list[LineContent] = []
        found: list[JudgedLine] = []
        warnings = index.problem_warnings("read")
        for source in sources(_episodes(store, index, until), documents):
            path = source.turns[0].path
            if path in paths:
                read += _read_in(source)
                continue
            try:
                found += true_lines(_remembered_lines(source, index, memo), ended)
            except ClsmError:
                raise
            except Exception as error:  # noqa: BLE001  # one text must not block all others
                warnings.append(f"{path}: clsm itself failed on this text ({fault_text(error)})")
        by_turn = grouped((each.turn, each.line.worth) for each in found)
        rest = StatementsAndNodes(
            reader=index,
            worth={turn: max(worths) for turn, worths in by_turn.items()},
            shown=frozenset(each.words for each in found),
            loaded=frozenset(document.id for document in loaded),
            by_id=statements,
            doubted=doubted,
            rules=rule_chances(current, index, memo),
            zone=store.zone,
            memo=memo,
        )
        nodes = rest.nodes(records_of(index.connection, "node", forgotten))
        lines = [each.line for each in found]
        lines += (
            line._replace(item=line.item.on_clock(store.zone))
            for line in chain(rest.statements(current), nodes)
        )
        folders = {document.path.rpartition("/")[0] for document in loaded}
        best = tuple(_opening(index, line) for line in with_doubts(best_lines(lines, read)))
        return Contents(best, tuple(sorted(folders)), tuple(warnings))


def _statements(store: Store, index: Index, forgotten: frozenset[str]) -> dict[str, Statement]:
    stored = records_of(index.connection, "statement", forgotten)
    records = {r.id: kept for r in stored if (kept := visible(r, forgotten)) is not None}
    return record_files.load_statements(store, records, now="")


def _remembered_lines(source: BriefingSource, index: Index, memo: Memo) -> list[JudgedLine]:
    """``judged_lines`` of a source, judged again only if something of it changed."""
    zone = index.store.zone
    days = {turn.key: days_written(index, turn.key, turn.time) for turn in source.turns}
    rows = memo.value(
        ("lines", VERSION, fingerprint(), index.store.zone_name, source, days),
        lambda: list(judged_lines(source, days, zone, sentence_rule_chances)),
    )
    return [
        JudgedLine(turn, words, RankedItem(BriefingItem(*item), *rest), kept)
        for turn, words, (item, *rest), kept in rows
    ]


def _opening(index: Index, line: RankedItem) -> RankedItem:
    """A line with the location to open, if it has none yet."""
    passages = [] if line.item.file else index.by_key(line.item.id[:12])
    file, first = source_locations.locate(index, passages[0]) if passages else ("", 0)
    if not file:
        return line
    at = first + line.item.line - passages[0].line_start
    return line._replace(item=line.item.with_location(file, at))


class EndedSentences(NamedTuple):
    """Sentences that hold no longer, or perhaps no longer, as ``plain_words`` has them.

    Attributes:
        texts: Sentences of closed statements that no current statement says.
        by_turn: Turn → sentences of the closed and of the current statements made of it.
        unsure: Sentence → day since which it is perhaps no longer true.
    """

    texts: frozenset[str]
    by_turn: Mapping[str, tuple[set[str], set[str]]]
    unsure: Mapping[str, str]

    def has(self, turn: str, words: str) -> bool:
        """Whether what a turn says in a sentence ended, wherever a statement tells it behind headings."""
        is_closed = any(self._with_end(turn, words, is_current=False))
        return words in self.texts or (is_closed and not self.is_kept(turn, words))

    def perhaps_until(self, turn: str, words: str) -> str | None:
        """The day since which it may be no longer so."""
        sentences = self._with_end(turn, words, is_current=True)
        return max((self.unsure[key] for key in sentences if key in self.unsure), default=None)

    def is_kept(self, turn: str, words: str) -> bool:
        """Whether a current statement says what a turn says in a sentence."""
        return any(self._with_end(turn, words, is_current=True))

    def _with_end(self, turn: str, words: str, *, is_current: bool) -> Iterator[str]:
        """Sentences of statements made of a turn that end with some words."""
        sentences = self.by_turn.get(turn, ((), ()))[is_current]
        return (sentence for sentence in sentences if f" {sentence}".endswith(f" {words}"))


def ended_sentences(statements: Iterable[Statement], unsure: Mapping[str, str]) -> EndedSentences:
    """The sentences that closed statements say, out of all known statements.

    Args:
        unsure: Id of a statement that is perhaps no longer true → the day since when.
    """
    texts: tuple[set[str], set[str]] = set(), set()
    by_turn: dict[str, tuple[set[str], set[str]]] = {}
    days: dict[str, str] = {}
    for statement in statements:
        key, holds = plain_words(statement.text), _holds(statement)
        texts[holds].add(key)
        if statement.id in unsure:
            days[key] = unsure[statement.id]
        for turn in statement.sources:
            by_turn.setdefault(turn, (set(), set()))[holds].add(key)
    return EndedSentences(frozenset(texts[False] - texts[True]), by_turn, days)


def _doubted(store: Store, index: Index) -> dict[str, str]:
    """Statements with an open review item, and the last day on which a turn contradicted each."""
    last_days: dict[str, str] = {}
    for item in logs.review_items(store).values():
        if item.state == "open" and item.reason == logs.CONTRADICTION:
            against = [passage.time for key in item.about[1:] for passage in index.by_key(key)]
            days = [time[:10] for time in against if time]
            if days:
                last_days[item.about[0]] = max(last_days.get(item.about[0], ""), *days)
    return last_days


def _holds(statement: Statement) -> bool:
    return statement.is_current and statement.state != "done" and statement.text != ""


def _episodes(store: Store, index: Index, until: datetime | None) -> Iterator[Episode]:
    stamp = None if until is None else episode_files.stamp(until)
    for path in recent_files(index.connection, DAYS, stamp):
        try:
            yield episode_files.read(store.root / path)
        except DamagedStoreError:
            continue  # the index names it among the problems


def _read_in(source: BriefingSource) -> Iterator[LineContent]:
    """The content of a document's sentences, each with its lead-in."""
    own_units = units(source.turns)
    for unit, lead in zip(own_units, lead_ins(source.turns, own_units), strict=True):
        turn = source.turns[unit.turn]
        text = f"{lead}: {turn.text[unit.start : unit.end]}"
        yield line_content(text, _about(turn, text))


class BriefingSource(NamedTuple):
    """A current document, or an episode of a conversation with its id as ``thread``."""

    turns: tuple[Turn, ...]
    thread: str | None = None


def sources(episodes: Iterable[Episode], documents: Iterable[Document]) -> Iterator[BriefingSource]:
    """Conversations, and documents with those of their current blocks that are in the episodes."""
    blocks: dict[str, Turn] = {}
    for episode in episodes:
        if episode.document is None:
            turns = _readable(episode.turns)
            named = (replace(turn, path=episode.session) for turn in turns if turn.path == "-")
            yield BriefingSource(tuple(named) or turns, episode.id)
        else:
            blocks.update((turn.key, turn) for turn in episode.turns)
    for document in documents:
        there = ((blocks[b.key], b) for b in document.blocks if b.key in blocks)
        turns = _readable(
            replace(turn, path=document.path, line_start=block.line_start, heading=block.heading)
            for turn, block in there
        )
        if turns:
            yield BriefingSource(turns)


def _readable(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Blocks and turns without untrusted ones, and without dumps."""
    return tuple(
        replace(turn, text=dumps.without_dumps(turn.text))
        for turn in turns
        if turn.trust not in UNTRUSTED
    )


class JudgedLine(NamedTuple):
    """A sentence that may be worth a line; whether it is depends on what statements say of it.

    Attributes:
        turn: Key of its turn.
        words: Its ``plain_words``.
        line: The line where no current statement says the same.
        worth_if_kept: What the line is worth where one does.
    """

    turn: str
    words: str
    line: RankedItem
    worth_if_kept: float


def judged_lines(
    source: BriefingSource,
    days: Mapping[str, tuple[date, date | None]],
    zone: tzinfo,
    rules_of: Callable[[Sequence[str]], Sequence[float]],
) -> Iterator[JudgedLine]:
    """The sentences of a document or conversation that may be worth a line.

    Args:
        days: Key of a turn → its ``days_written``.
        rules_of: See ``grounding_by_place``.
    """
    about = about_document(source.turns) if source.thread is None else None
    role = 1.0
    if about is not None:
        role = sum(worth * about[name] for name, worth in ROLE_WORTH.items())
        role *= 1 - about["template"]
    if role < LEAST_ROLE:
        return
    judged = judge_units(source.turns, about)
    leads = lead_ins(source.turns, [judged_unit.unit for judged_unit in judged])
    groundings = grounding_by_place(source.turns, judged, rules_of) if about is None else {}
    for place, (judged_unit, lead) in enumerate(zip(judged, leads, strict=True)):
        turn = source.turns[judged_unit.unit.turn]
        raw = turn.text[judged_unit.unit.start : judged_unit.unit.end]
        text = to_plain(raw, has_addresses=True)
        grounding = groundings.get(place, Grounding())
        sure = role * (1 + CONFIRMED * grounding.confirmed)
        if sure * _soundness(judged_unit) < LEAST_DUE or len(text) > LONGEST or _is_short(text):
            continue
        if any(map(_SLOT.search, (raw, *turn.heading))) or todo.is_dropped(raw):
            continue
        told = factuality.told_before(source.turns, judged_unit.unit.turn)
        if turn.role == "assistant" and about is None and sameness.echoes(text, told):
            continue
        line = _line(
            *(turn, raw, text, judged_unit, lead),
            *(sure * _worth(judged_unit), source.thread, days[turn.key]),
        )
        line = line._replace(item=line.item.on_clock(zone))
        apart, kept = (
            _with_worth(line, turn, grounding, is_said=about is None, is_kept=is_kept)
            for is_kept in (False, True)
        )
        if apart.worth > 0 or kept.worth > 0:
            yield JudgedLine(turn.key, plain_words(text), apart, kept.worth)


def true_lines(judged: Iterable[JudgedLine], ended: EndedSentences) -> Iterator[JudgedLine]:
    """The lines that are worth one and still true, with what statements say of them."""
    for each in judged:
        if ended.has(each.turn, each.words):
            continue
        is_kept = ended.is_kept(each.turn, each.words)
        line = each.line._replace(worth=each.worth_if_kept) if is_kept else each.line
        if line.worth > 0:
            if until := ended.perhaps_until(each.turn, each.words):
                item = line.item._replace(perhaps_until=until)
                line = line._replace(item=item.with_location(item.file, item.file_line))
            yield each._replace(line=line)


def _is_short(text: str) -> bool:
    return len(_WORD.findall(text)) < _FEWEST


def _with_worth(
    line: RankedItem, turn: Turn, grounding: Grounding, *, is_said: bool, is_kept: bool
) -> RankedItem:
    """A line with its section and final worth; 0 if it is worth no line."""
    if grounding.rule >= MIN_RULE_P and line.section == "lately" and not line.item.due:
        worth = round(max(line.worth, min(1.0, RULE * grounding.rule)), 4)
        return line._replace(section="rules", worth=worth, rule=grounding.rule)
    if line.worth >= LEAST:
        factor = _factor(line, turn, is_said=is_said, is_kept=is_kept)
        most = 1 + CONFIRMED * grounding.confirmed
        return line._replace(worth=min(most, round(line.worth * factor, 4)))
    if line.item.due:
        section = "tasks" if line.section == "tasks" else "due"
        return line._replace(section=section, worth=STATED if is_kept else LEAST)
    return line._replace(worth=0.0)


def _worth(judged_unit: UnitProbabilities) -> float:
    """Worth of a sentence; usefulness weeks later counts less than in consolidation."""
    return round(float(judged_unit.chances["keep"] ** KEEP) * _soundness(judged_unit), 4)


def _soundness(judged_unit: UnitProbabilities) -> float:
    """Worth of a sentence that need not be useful weeks later: what is due is over by then."""
    chances = judged_unit.chances
    return (1 - chances["noise"]) * max(chances["alone"], chances["with headings"])


def _factor(line: RankedItem, turn: Turn, *, is_said: bool, is_kept: bool) -> float:
    """Factor of the worth of a line, ticked or not, said in a conversation or of a note."""
    done = DONE if line.item.state == "done" else 1.0
    if is_said:
        return done * (ASIDE if turn.role == "assistant" and not is_kept else 1.0)
    return done * (KEPT if is_kept and line.item.kind != "task" else 1.0)


def _line(
    turn: Turn,
    raw: str,
    text: str,
    judged_unit: UnitProbabilities,
    lead: str,
    worth: float,
    thread: str | None,
    days: tuple[date, date | None],
) -> RankedItem:
    at = days[0] if turn.time else None
    task = next(iter(todo.todos(raw, at)), None)
    is_open = task is not None and task.state != "done"
    due = None
    if task is None or is_open:
        headings = "".join(f"{heading}: " for heading in turn.heading)  # one may name the year
        if task:
            due = todo.due_day(headings + task.text, at, len(headings))
        due = due or ahead.day_ahead(headings + text, *days, start=len(headings))
    section = "tasks" if is_open else "lately" if at else "who"
    above = turn.speaker or _about(turn, text)
    item = make_item(
        turn.key if judged_unit.unit.start == 0 else f"{turn.key}-{judged_unit.unit.number + 1}",
        "task" if is_open else "passage",
        text,
        stream="flow",
        trust=turn.trust,
        time=turn.time or time_noted(due, days),
        path=turn.path,
        line=turn.line_start
        + (0 if turn.speaker else turn.text.count("\n", 0, judged_unit.unit.start)),
        state=task.state if task is not None else None,
        due=due,
        about=" › ".join(filter(None, (above, lead))),
    )
    return RankedItem(item, section, worth, thread or "\n".join((turn.path, *turn.heading)))


def _about(turn: Turn, text: str) -> str:
    """The innermost heading with a name, unless the text has it, and all headings with a negation.

    >>> from clsm_cli.model.episodes import Turn
    >>> turn = Turn("k", "", "user", "", heading=("Monday", "Never", "Mail", "To do"))
    >>> _about(turn, "Send drafts."), _about(turn, "Send mail to Ada.")
    ('Never › Mail', 'Never')
    """
    named = [name for name in map(to_plain, turn.heading) if _is_name(name, turn.time)]
    inner = named[-1] if named else ""
    inner = "" if plain_words(inner) in plain_words(text) else inner
    return " › ".join(name for name in named if name == inner or sameness.is_negated(name))


def _is_name(title: str, day: str | None) -> bool:
    """Whether a heading is more than a third letters, no day, and not only "tasks"."""
    letters = len("".join(_WORD.findall(title)))
    is_read = letters > len(title) / 3 and not todo.is_list_title(title)
    return is_read and not expressions.is_day(title, day)
