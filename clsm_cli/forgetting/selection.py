"""Read a store, and select what to forget: by id, source, session, person or time."""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo
from pathlib import Path

from clsm_cli.errors import BadInputError
from clsm_cli.model.clocks import span
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Episode, EpisodeRecord, Turn
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import resolve_id, whole_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episode_files, inbox, logs, record_files, shards
from clsm_cli.store.inbox import Inbox
from clsm_cli.store.layout import Store
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.person_words import words_of


class StoredTurn(NamedTuple):
    """A turn or block, and where it is stored."""

    turn: Turn
    session: str  # its conversation; for a block, the path of its document
    episode: str | None  # None while it is in an inbox
    document: str | None
    recorded_at: str

    @property
    def kind(self) -> str:
        """``turn`` or ``block``, for a receipt."""
        return "turn" if self.document is None else "block"

    @property
    def place(self) -> str:
        """Its session; for a block, with its line."""
        return self.session if self.document is None else f"{self.session}:{self.turn.line_start}"

    @property
    def text(self) -> str:
        """Its headings and its text."""
        return "\n".join((*self.turn.heading, self.turn.text))

    @property
    def one_line(self) -> str:
        """Speaker and text in one line."""
        text = " ".join(self.turn.text.split())
        return f"{self.turn.speaker}: {text}" if self.turn.speaker else text


class StoreContents(NamedTuple):
    """All readable content of a store, from all machines, archived records included."""

    episodes: tuple[tuple[Path, Episode], ...]
    inboxes: tuple[Inbox, ...]
    turns: dict[str, StoredTurn]
    records: dict[str, Record]
    statements: dict[str, Statement]
    mentions: dict[str, frozenset[str]]  # node → keys of its turns, by the episode records

    def episodes_of(self, keys: frozenset[str]) -> set[str]:
        """The episodes of some turns."""
        found = {self.turns[key].episode for key in keys & self.turns.keys()}
        return {each for each in found if each is not None}


def read_store(store: Store, now: str) -> StoreContents:
    """Read a store from its files, without its index."""
    forgotten = logs.load_tombstones(store)
    found = tuple(
        each
        for each in episode_files.readable(store)
        if not logs.is_forgotten(each[1].id, forgotten)
    )
    boxes = tuple(inbox.read(p) for flow in store.flows() for p in inbox.files(flow / "inbox"))
    turns = {
        item.turn.key: StoredTurn(item.turn, item.session, None, None, item.recorded_at)
        for box in boxes
        for item in box.turns
    }
    for _, each in found:
        at = (each.session, each.id, each.document, each.recorded_at)
        turns.update((turn.key, StoredTurn(turn, *at)) for turn in each.turns)
    turns = {k: t for k, t in turns.items() if not logs.is_forgotten(k, forgotten)}
    records = shards.load_graph([*store.graphs(), *store.archives()], forgotten).records
    mentions: dict[str, set[str]] = {}
    for record in records.values():
        if isinstance(record, EpisodeRecord):
            for node, keys in record.mentions.items():
                mentions.setdefault(node, set()).update(keys)
    statements = record_files.load_statements(store, records, now)
    frozen = {node: frozenset(keys) for node, keys in mentions.items()}
    return StoreContents(found, boxes, turns, records, statements, frozen)


def node_names(memory: StoreContents, name: str) -> tuple[str, ...]:
    """Label and aliases of the node with a name or id; () if there is none."""
    wanted = node_id(name)
    for node in memory.records.values():
        if isinstance(node, Node):
            names = (node.label or node.id, *node.aliases)
            if wanted == node.id or wanted in map(node_id, names):
                return names
    return ()


class ForgetRequest(NamedTuple):
    """A request to forget; all conditions but ids must hold together."""

    ids: tuple[str, ...] = ()  # of turns, episodes, statements, documents or concepts
    source: str | None = None  # a path, or a folder above it; or the address that a tool fetched
    session: str | None = None
    person: str | None = None  # the speaker, or someone named in the text
    since: datetime | None = None
    until: datetime | None = None
    also: tuple[str, ...] = ()  # keys of further turns: references that the user confirmed


class Selection(NamedTuple):
    """Keys of selected turns, and ids of statements selected directly."""

    turns: frozenset[str]
    statements: frozenset[str]


def select_items(memory: StoreContents, wanted: ForgetRequest, zone: tzinfo) -> Selection:
    """Select turns and statements.

    Raises:
        BadInputError: Nothing matches, or an id is unknown or ambiguous.
    """
    turns: set[str] = set()
    stated: set[str] = set()
    for each in wanted.ids:
        found, named = _select_by_id(memory, whole_id(each))
        turns |= found
        stated |= named
    if wanted.ids:
        return Selection(frozenset(turns.union(wanted.also)), frozenset(stated))
    for option in ("source", "session", "person"):
        value = getattr(wanted, option)
        if value is not None and not any(map(str.isalnum, value)):  # an empty name is in every text
            reason = f"{value!r} names nothing"
            raise BadInputError(f"--{option}", reason, "write out what is meant")
    asked = wanted.person
    people = None if asked is None else _matcher(memory, asked, is_person=True)
    kept = frozenset(
        key
        for key in turns_within(memory, wanted, zone)
        if people is None or people.is_about(key, memory.turns[key])
    )
    if people is not None and wanted == ForgetRequest(person=wanted.person, also=wanted.also):
        rows = memory.statements.values()
        stated = {row.id for row in rows if row.kind != "gist" and people.is_named_in(row.text)}
    if not kept and not stated:
        what = wanted.source or wanted.session or wanted.person or "the time"
        raise BadInputError(what, "nothing in this store is told by or of it", _NEXT_STEP)
    return Selection(kept.union(wanted.also), frozenset(stated))


def turns_within(memory: StoreContents, wanted: ForgetRequest, zone: tzinfo) -> frozenset[str]:
    """Keys of the turns that match source, session and time, ignoring the person."""
    fetched: frozenset[str] = frozenset()
    if wanted.source is not None and "://" in wanted.source:
        fetched = tool_results_of(memory.turns.values(), wanted.source)
    return frozenset(
        key
        for key, stored in memory.turns.items()
        if (wanted.source is None or key in fetched or _is_from(stored, wanted.source))
        and (wanted.session is None or stored.session == wanted.session)
        and _is_within(stored, wanted.since, wanted.until, zone)
    )


_NEXT_STEP = "look for it with: clsm recall"


def _select_by_id(memory: StoreContents, wanted: str) -> tuple[set[str], set[str]]:
    """Keys of turns and ids of statements selected by one id."""
    known = {*memory.turns, *memory.records, *memory.statements}
    known |= {episode.id for _, episode in memory.episodes}
    found = wanted if wanted in memory.turns else resolve_id(wanted, known)
    if found is None and not node_names(memory, wanted):
        raise BadInputError(wanted, "nothing in this store has that id", _NEXT_STEP)
    found = found or wanted
    if found in memory.turns:
        return {found}, set()
    statement = memory.statements.get(found)
    if statement is not None:
        if statement.kind == "gist":
            reason = "is a summary that clsm works out anew"
            raise BadInputError(found, reason, "forget the episodes that it sums up")
        return {*statement.sources} & memory.turns.keys(), {found}
    if isinstance(memory.records.get(found), Edge):
        reason = "is a connection that clsm works out from what was told"
        raise BadInputError(found, reason, "forget the turns that tell of it")
    inside = {k for k, stored in memory.turns.items() if found in (stored.episode, stored.document)}
    if inside:
        return inside, set()
    node = memory.records.get(found)
    name = node.label or node.id if isinstance(node, Node) else found
    is_person = isinstance(node, Node) and node.kind == "person"
    people = _matcher(memory, name, is_person=is_person)
    return {k for k, stored in memory.turns.items() if people.mentions(k, stored)}, set()


class Subject:
    """Finds turns about something, or by someone.

    ``noted`` are keys of turns known to mention it. Names that are ``words`` too count only as ``_as_names``.
    """

    def __init__(
        self,
        names: Iterable[str],
        noted: frozenset[str] = frozenset(),
        words: frozenset[str] = frozenset(),
    ) -> None:
        self.names = {name.casefold() for name in names if name.strip()}
        self.words = words & self.names
        self._noted = noted
        self._pattern = _whole_words(self.names - words)
        self._word_pattern = _whole_words(self.words)

    def is_named_in(self, text: str) -> bool:
        """Whether a text names it."""
        is_named = self._pattern.search(text.casefold()) is not None  # "Strauß" is "strauss"
        return is_named or any(True for _ in self._as_names(text))

    def places(self, text: str) -> Iterator[re.Match[str]]:
        """Where a text names it."""
        yield from self._pattern.finditer(text)
        yield from self._as_names(text)

    def _as_names(self, text: str) -> Iterator[re.Match[str]]:
        """Where a name that is a word too has a capital, and not only because a sentence begins."""
        for match in self._word_pattern.finditer(text):
            words = words_of(text)
            is_first = any(word.start == match.start() and word.is_first for word in words)
            after = next((word for word in words if word.start >= match.end()), None)
            is_full = after and not after.is_first and after.text[1:] and after.is_name_like
            if match.group()[:2].istitle() and (is_full or not is_first):
                yield match

    def is_speaker(self, turn: Turn) -> bool:
        """Whether it is the speaker of the turn."""
        return turn.speaker.casefold() in self.names

    def mentions(self, key: str, stored: StoredTurn) -> bool:
        """Whether a turn or its heading names it."""
        return key in self._noted or self.is_named_in(stored.text)

    def is_about(self, key: str, stored: StoredTurn) -> bool:
        """Whether a turn names it or is by it."""
        return self.is_speaker(stored.turn) or self.mentions(key, stored)


def person_names(memory: StoreContents, wanted: ForgetRequest) -> tuple[str, ...]:
    """Names of the person to forget; () if the request selects no person."""
    if wanted.person is not None:
        return node_names(memory, wanted.person) or (wanted.person,)
    nodes = (memory.records.get(each) for each in wanted.ids)
    people = [node for node in nodes if isinstance(node, Node) and node.kind == "person"]
    return tuple(name for node in people for name in node_names(memory, node.id))


def _matcher(memory: StoreContents, name: str, *, is_person: bool) -> Subject:
    names = node_names(memory, name) or (name,)
    words = names_used_as_words(memory, names) if is_person else frozenset()
    noted = [memory.mentions.get(node_id(each), frozenset()) for each in names if not words]
    return Subject(names, frozenset().union(*noted), words)


def names_used_as_words(memory: StoreContents, names: Iterable[str]) -> frozenset[str]:
    """Those names, case-folded, that the turns have in lower case more than a tenth as often as else.

    Not what a person wrote in lower case and the turns have in no other way.
    """
    found = set()
    for name in names:
        pattern = _whole_words([name])
        forms = [form for each in memory.turns.values() for form in pattern.findall(each.text)]
        lower = sum(map(str.islower, forms))
        if lower > (len(forms) - lower) / 10 and (lower < len(forms) or not name.islower()):
            found.add(name.casefold())
    return frozenset(found)


def _whole_words(names: Iterable[str]) -> re.Pattern[str]:
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or "(?!)"
    return re.compile(rf"(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)


def _is_from(stored: StoredTurn, source: str) -> bool:
    expanded = os.path.expanduser(source)
    named = [stored.turn.path, stored.turn.origin, stored.session if stored.document else None]
    places = {place for each in named if each for place in (each, os.path.expanduser(each))}
    wanted = {source, expanded, expanded if "://" in source else os.path.abspath(expanded)}
    return any(
        place == each or place.startswith(each.rstrip("/") + "/")
        for place in places
        for each in wanted
    )


def _is_within(
    stored: StoredTurn, since: datetime | None, until: datetime | None, zone: tzinfo
) -> bool:
    """Whether a turn is in a half-open interval, by its time, else by when it was recorded."""
    if since is None and until is None:
        return True
    time = span(stored.turn.time or stored.recorded_at, zone)
    if time is None:
        return False
    return (since is None or since <= time[0]) and (until is None or time[0] < until)


def tool_results_of(stored: Iterable[StoredTurn], address: str) -> frozenset[str]:
    """Keys of the tool turns called with an address or one below it.

    A transcript has a call and its result as two turns, and a result rarely contains its address. In a
    conversation, results come in the order of the calls, as ``stored`` must.
    """
    address = address.rstrip("/")
    waiting: dict[tuple[str, str], deque[bool]] = {}
    found: set[str] = set()
    for each in sorted(stored, key=lambda one: one.episode is None):
        turn, tool = each.turn, each.turn.tool
        if tool is None:
            continue
        calls = waiting.setdefault((each.session, tool.name), deque())
        if tool.input is None:
            is_from = bool(calls) and calls.popleft()
        else:
            is_from = has_address(tool.input, address) or has_address(turn.text, address)
            if turn.text.startswith(tool.input.removesuffix("…")):  # its result follows
                calls.append(is_from)
        if is_from:
            found.add(turn.key)
    return frozenset(found)


def has_address(text: str, address: str) -> bool:
    """Whether a text contains an address or one below it.

    >>> has_address('{"url":"https://a.org/page#top"}', "https://a.org/page")
    True
    >>> has_address("see https://a.org/pages", "https://a.org/page")
    False
    """
    # "/", "?" and "#" lead to an address below it.
    return re.search(rf"{re.escape(address)}(?![^\s\"'`<>()\[\]{{}}\\|^,;/?#])", text) is not None
