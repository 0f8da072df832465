"""A store in which secrets lie in clear, rewritten file by file as if they had been masked at first.

Turns first, which get the keys that their source would give them now; then what is derived from
them: a secret that was found in a turn is recognised in its statements and records by itself, also
where the words that gave it away are gone. Ids follow: what was made of a clear text has a tombstone,
so that no old copy brings it back. Derived names that held a secret go; the next night weaves them
anew from the masked turns.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.forgetting.known_secrets import Known
from clsm_cli.forgetting.purge import files
from clsm_cli.forgetting.unmasked_records import Derived
from clsm_cli.ingestion.clear import masked_turn
from clsm_cli.ingestion.turns import Masker
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import digest, document_id, tombstone_hash
from clsm_cli.store import (
    atomic,
    episodes,
    inbox,
    logs,
    topics,
)
from clsm_cli.store.inbox import CallMark, Captured
from clsm_cli.store.layout import TOPIC_STREAMS

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.forgetting.memory import Memory
    from clsm_cli.model.episodes import EndMark, Episode, Turn
    from clsm_cli.store.inbox import Inbox
    from clsm_cli.store.layout import Store

_RAW = ("quarantine/", "eval/", "ontology.yaml")
"""Files that are no records: masked as the text that they are."""


class Rewriting:
    """Rewrites a copy of a store.

    Args:
        store: A copy, locked by nobody else.
        held: What it holds.
        now: UTC time of the run.

    Attributes:
        found: Path of a file → kinds of secrets and how many it held.
        turns: Keys of the turns that held any, ``statements`` the ids of the statements.
        renamed: Old id → new id; those in ``buried`` get a tombstone.
        gone: Ids of derived records that go.
        names: Names of files of conversations that are called otherwise now.
    """

    def __init__(self, store: Store, held: Memory, now: str) -> None:
        self.store = store
        self.held = held
        self._now = now
        self.found: dict[str, Counter[str]] = {}
        self.turns: set[str] = set()
        self.statements: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.gone: set[str] = set()
        self.names: set[str] = set()
        self._buried: set[str] = set()
        self.known = Known()
        self.again: set[str] = set()

    def rewrite(self) -> None:
        """Do it, turns first."""
        for path, episode in self.held.episodes:
            self._episode(path, episode)
        for box in self.held.boxes:
            self._box(box)
        self._name_statements()
        self._name_nodes()
        stones = [logs.Tombstone(tombstone_hash(each), self._now) for each in sorted(self._buried)]
        if stones:
            path = self.store.root / "tombstones" / f"{self.store.device}.jsonl"
            atomic.append(path, b"\n".join(map(logs.render, stones)))
        derived = Derived(self)
        for stream in TOPIC_STREAMS:
            for topic in topics.read_topics(self.store.root / stream):
                derived.topic(topic)
        for folder in (*self.store.graphs(), *self.store.archives()):
            derived.shards(folder)
        for name, path in list(files(self.store)):
            if name.startswith(_RAW):
                derived.raw(path)
        for flow in self.store.flows():
            derived.review(flow / "review.jsonl")

    @property
    def lines(self) -> frozenset[str]:
        """Lines that held a secret, as they were."""
        return frozenset(self.known.lines)

    def count(self, path: Path, mask: Masker) -> None:
        """Note which kinds of secrets a file held, and how many."""
        if mask.found:
            name = path.relative_to(self.store.root).as_posix()
            self.found.setdefault(name, Counter()).update(mask.found)

    def _turn(self, turn: Turn, session: str, mask: Masker) -> tuple[Turn, str]:
        made, name = masked_turn(turn, session, mask)
        if (made, name) != (turn, session):
            self.turns.add(turn.key)
            tool = "" if turn.tool is None else turn.tool.input or ""
            for text in (turn.text, tool, *turn.heading):
                self.known.note(turn.key, text)
        if made.key != turn.key:
            self.renamed[turn.key] = made.key
            self._buried.add(turn.key)
        return made, name

    def _episode(self, path: Path, episode: Episode) -> None:
        mask = Masker()
        told = [self._turn(turn, episode.session, mask)[0] for turn in episode.turns]
        session = mask.name(episode.session)
        made = replace(
            episode,
            session=session,
            turns=tuple({turn.key: turn for turn in told}.values()),
            participants=tuple(map(mask.name, episode.participants)),
        )
        if made == episode:
            return
        self.count(path, mask)
        made = replace(made, id=f"e-{digest('episode', made.turns[0].key, episode.id)}")
        if episode.document is not None and session != episode.session:
            made = replace(made, document=document_id(session))
            self.renamed[episode.document] = document_id(session)
        self.renamed[episode.id] = made.id
        self._buried.add(episode.id)
        self.again.add(made.id)
        atomic.remove(path)
        atomic.put(episodes.file_of(made, path.parents[3]), episodes.render(made))

    def _box(self, box: Inbox) -> None:
        mask = Masker()
        rows: list[Captured | EndMark] = []
        for item in box.items:
            if isinstance(item, Captured):
                turn, session = self._turn(item.turn, item.session, mask)
                rows.append(replace(item, turn=turn, session=session))
            else:
                after = self.renamed.get(item.after, item.after)
                rows.append(replace(item, after=after, session=mask.name(item.session)))
        calls = [CallMark(mask.name(each.session), mask.name(each.call)) for each in box.calls]
        if (tuple(rows), tuple(calls)) == (box.items, box.calls):
            return
        self.count(box.path, mask)
        session = rows[0].session if rows else calls[0].session
        path = inbox.path_of(box.path.parent, session)
        if path != box.path:
            self.names.add(box.path.name)
            atomic.remove(box.path)
        atomic.put(path, b"\n" + inbox.render([*calls, *rows]) + b"\n")

    def _name_statements(self) -> None:
        """New ids of statements whose text holds a secret."""
        forgotten = logs.forgotten(self.store)
        known = set(self.held.statements)
        for row in self.held.statements.values():
            text = self.known.masked(row.text, Masker(), self.known.of(row.sources))
            if text == row.text:
                continue
            self.statements.add(row.id)
            self.known.note(row.id, row.text)
            born = topics.birth_id(text, forgotten)
            self.renamed[row.id] = born if born not in known else f"f-{digest('masked', row.id)}"
            known.add(self.renamed[row.id])
            self._buried.add(row.id)

    def _name_nodes(self) -> None:
        """Nodes that are called by a secret go, with the edges that lead to them."""
        for record in self.held.records.values():
            if isinstance(record, Node):
                names = (record.label or record.id, *record.aliases)
                secrets = self.known.of(record.sources)
                if any(self.known.masked(each, Masker(), secrets) != each for each in names):
                    self.gone.add(record.id)
        for record in self.held.records.values():
            if isinstance(record, Edge) and self.gone & {record.source, record.target}:
                self.gone.add(record.id)
