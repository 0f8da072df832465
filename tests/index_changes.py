"""A store whose files change at random, and everything that its index says, to compare two."""

import sqlite3
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
from laid_down import lay_archived, lay_episode

from clsm_cli.model.episodes import Block, Document, EpisodeRecord, Turn
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import document_id, turn_key
from clsm_cli.store import episode_files, inbox, logs, shards
from clsm_cli.store.index import database, maintenance
from clsm_cli.store.index.opening import Embedder, bring_up_to_date
from clsm_cli.store.index.vector_files import VectorFiles
from clsm_cli.store.layout import Store

SESSIONS = ("harbour", "workshop")
DOCUMENTS = ("~/notes.md", "~/diary.md")
DEVICES = ("pi", "attic")
NODES = ("mara", "brian", "texel", "ferry")
SPEAKERS = ("Mara", "Ilse", "assistant")
TEXTS = (
    "The ferry leaves at nine. Did you see it yesterday?", "Salt is in the blue jar.",
    "We met Brian last week in Texel.", "Who has the key? [shares a photo]", "Yes.",
    "A long one. " + "The stove in the workshop burns beech only. " * 40,
)  # fmt: skip


class Files:
    """Files of a store that change at random; every change is one that a person or clsm can make."""

    def __init__(self, store: Store, random: Random) -> None:
        self.store = store
        self.random = random
        self.number = 0
        self.last: dict[str, str | None] = dict.fromkeys(SESSIONS)
        self.blocks: dict[str, list[Turn]] = {origin: [] for origin in DOCUMENTS}

    def change(self) -> None:
        often: list[Callable[[], None]] = [self.add_episode, self.capture, self.rewrite_document]
        seldom = [self.edit_topic, self.copy_episode, self.remove, self.archive, self.use]
        self.random.choice([*often, *often, *seldom])()

    def add_episode(self) -> None:
        session = self.random.choice(SESSIONS)
        self._put(session, self._turns(session), self.last[session], None)

    def capture(self) -> None:
        session = self.random.choice(SESSIONS)
        path = inbox.path_of(self._flow() / "inbox", session)
        known = list(inbox.read(path).items)
        kept = self.random.sample(known, self.random.randrange(len(known) + 1))
        items = [item for item in known if item in kept]
        at = "2026-02-24T22:00:00Z"
        items += [inbox.CapturedTurn(session, turn, at) for turn in self._turns(session)]
        write(path, inbox.render(items))

    def rewrite_document(self) -> None:
        """Some blocks go, some come, some move, under other headings."""
        origin = self.random.choice(DOCUMENTS)
        kept = [b for b in self.blocks[origin] if self.random.random() < 0.7]
        new = [replace(turn, speaker="", time=None) for turn in self._turns(origin)]
        if new and self.random.random() < 0.8:
            self._put(origin, new, None, document_id(origin))
        everything = [*kept, *new]
        self.random.shuffle(everything)
        self.blocks[origin] = everything
        headings = sorted(self.random.choice(["Rules", "Places"]) for _ in everything)
        record = Document(
            id=document_id(origin),
            rev=(self._next(), "pi"),
            origin=origin,
            path=origin,
            blocks=tuple(
                Block(key=t.key, line_start=3 * n, line_end=3 * n + 1, heading=("Notes", h))
                for n, (t, h) in enumerate(zip(everything, headings, strict=True))
            ),
        )
        folder = self.store.graph("flow")
        for path, (data, _) in shards.plan_update(folder, [record]).items():
            write(path, data)

    def edit_topic(self) -> None:
        path = self.store.root / "projects" / f"{self.random.choice('ab')}.md"
        lines = [f"- {self._text()} ^f-{self._next()}" for _ in range(self.random.randrange(4))]
        write(path, ("# Facts\n\n" + "\n".join(lines) + "\n").encode())

    def copy_episode(self) -> None:
        """Another machine closed the same turns."""
        found = self._files("flow/*/episodes/*/*/*.md")
        if found:
            path = self.random.choice(found)
            write(self._flow().joinpath(*path.parts[-4:]), path.read_bytes())

    def remove(self) -> None:
        found = [*self._files("flow/*/episodes/*/*/*.md"), *self._files("flow/*/inbox/*.jsonl")]
        found += self._files("projects/*.md")
        if found:
            self.random.choice(found).unlink()

    def archive(self) -> None:
        """A machine finds some turns archived."""
        keys = self.keys()
        since = {key: self._day() for key in self.random.sample(keys, len(keys) // 2)}
        lay_archived(self._flow(), since)

    def use(self) -> None:
        keys = self.keys()
        if keys:
            use = logs.Use(self.random.choice(keys), self._day(), 1)
            write(self._flow() / "uses.jsonl", logs.render(use) + b"\n")

    def describe(self) -> None:
        """A shard of one machine: what episodes mention, nodes, an edge, a statement."""
        keys = (self.keys() or ["00000000000a"])[:6]  # few, so that episodes share turns
        ids = [episode_files.read(path).id for path in self._files("flow/*/episodes/*/*/*.md")]
        rev = (self.random.randrange(1, 5), self.random.choice(DEVICES))
        some = {node: self._some(keys, 3) for node in self.random.sample(NODES, 2)}
        found: list[Any] = [
            EpisodeRecord(id=each, rev=rev, mentions=some, stage="consolidated")
            for each in self._some({*ids}, 2)
        ]
        for node in self.random.sample(NODES, 2):
            values: dict[str, Any] = {
                "label": self.random.choice(NODES).title(),
                "aliases": (f"{node} X",),
                "n": self.random.randrange(5),
                "pinned": self.random.random() < 0.3,
                "sources": some.get(node, ()),
            }
            found.append(Node(id=node, rev=rev, summary="Said so.", **values))
        turns = self._some(keys, 2)
        source, target = self.random.sample((*NODES, "missing"), 2)
        edge = Edge(id=f"x-{self.random.randrange(4)}", rev=rev, source=source, target=target)
        kind = self.random.choice(["co_occurs", "owns", "next"])
        ended = self.random.choice([None, None, "2026-02-24T00:00:00Z"])
        weight = self.random.choice([0.1, 0.5])
        edge = replace(edge, type=kind, weight=weight, superseded_at=ended, sources=turns)
        found.append(replace(edge, pinned=self.random.random() < 0.7))
        made = Statement(id=f"f-{self._next()}", rev=rev, text=self._text(), stream="flow")
        found.append(replace(made, sources=turns, subject="m"))
        path = self._flow() / "graph" / f"{self.random.randrange(3)}.yaml"
        write(path, shards.render(sorted({each.id: each for each in found}.values(), key=str)))

    def _some(self, names: Iterable[str], most: int) -> tuple[str, ...]:
        known = sorted(names)
        return tuple(sorted(self.random.sample(known, min(len(known), most))))

    def keys(self) -> list[str]:
        """Of all turns that lie in files."""
        paths = self._files("flow/*/episodes/*/*/*.md")
        found = {turn.key for path in paths for turn in episode_files.read(path).turns}
        boxes = (inbox.read(path) for path in self._files("flow/*/inbox/*.jsonl"))
        return sorted(found | {each.turn.key for box in boxes for each in box.turns})

    def _day(self) -> str:
        return f"2026-05-{self.random.randrange(20, 25)}"

    def _files(self, pattern: str) -> list[Path]:
        return sorted(self.store.root.glob(pattern))

    def _flow(self) -> Path:
        return self.store.root / "flow" / self.random.choice(DEVICES)

    def _next(self) -> int:
        self.number += 1
        return self.number

    def _text(self) -> str:
        return self.random.choice(TEXTS) + self.random.choice(["", f" Number {self._next()}."])

    def _turns(self, session: str) -> list[Turn]:
        return [self._turn(session) for _ in range(self.random.randrange(1, 12))]

    def _turn(self, session: str) -> Turn:
        number = self._next()
        minute = self.random.randrange(60)  # turns need not arrive in the order of their times
        time = f"2026-02-24T08:{minute:02}:00+01:00" if self.random.random() < 0.8 else None
        speaker, text = self.random.choice(SPEAKERS), self._text()
        key = turn_key(session, speaker, None, text, number)
        return Turn(key, speaker, "user", text, time, "log", number, number)

    def _put(
        self, session: str, turns: list[Turn], previous: str | None, document: str | None
    ) -> None:
        start = min((turn.time for turn in turns if turn.time), default=None)
        fields = {"start": start, "previous": previous, "document": document}
        made = lay_episode(self._flow(), session, turns, **fields)
        if document is None:
            self.last[session] = made


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def rows(connection: sqlite3.Connection, query: str) -> list[Any]:
    return connection.execute(query).fetchall()


def contents(connection: sqlite3.Connection) -> dict[str, Any]:
    """Everything an index says, without row numbers; no two passages have one name."""
    found = maintenance.contents(connection)
    assert len(found["passages"]) == rows(connection, "SELECT COUNT(*) FROM passages")[0][0]
    (packed,) = rows(connection, "SELECT rows FROM archived_rows")[0]
    names = dict(rows(connection, "SELECT id, key FROM passages"))
    return found | {
        "archive": sorted(names[row] for row in array("I", packed)),
        "waiting": sorted(rows(connection, "SELECT * FROM waiting")),
        "files": sorted(
            rows(connection, "SELECT path, kind, size, sha256, problems FROM files"), key=repr
        ),
    }


def check_counts(connection: sqlite3.Connection) -> None:
    """What triggers and refreshes count is what is there."""
    assert rows(connection, "SELECT passages, length FROM totals") == rows(
        connection, "SELECT COUNT(*), COALESCE(SUM(length), 0) FROM passages WHERE current"
    )
    speakers = (
        "SELECT speaker, COUNT(*) FROM passages WHERE speaker <> '' GROUP BY speaker ORDER BY 1"
    )
    assert rows(connection, "SELECT name, n FROM speakers ORDER BY 1") == rows(connection, speakers)
    unembedded = (
        "SELECT embedded FROM (SELECT embedded FROM passages UNION SELECT embedded FROM nodes)"
        " WHERE embedded IS NOT NULL AND embedded NOT IN (SELECT digest FROM vectors) ORDER BY 1"
    )
    waiting = rows(connection, "SELECT digest FROM waiting ORDER BY digest")
    assert waiting == rows(connection, unembedded)
    counted = rows(connection, "SELECT COUNT(*), COALESCE(SUM(tokens), 0) FROM vectors")
    assert [VectorFiles(connection, Path()).committed[:2]] == counted
    listed = rows(connection, "SELECT id, since FROM archived")
    used = rows(connection, "SELECT id, day FROM uses")
    asleep = [
        row
        for row, key in rows(connection, "SELECT id, key FROM passages WHERE current ORDER BY id")
        if any(
            name == key
            and not any(each.partition("-")[0] == key and day > since for each, day in used)
            for name, since in listed
        )
    ]
    assert [*array("I", rows(connection, "SELECT rows FROM archived_rows")[0][0])] == asleep


def fake(texts: Sequence[str]) -> Any:
    """Any vectors of the right shape."""
    ones = np.ones((1, 64), np.float32) / 8
    sentence = np.ones(384, np.float32) / np.float32(384**0.5)
    return [SimpleNamespace(sentence=sentence, tokens=ones, pieces=("salt",)) for _ in texts]


def brought_up(store: Store, engine: str | None = None) -> sqlite3.Connection:
    """The index of a store as its files are now, without vectors or with those of a false engine."""
    connection = database.open_to_write(store.derived)
    embedder = Embedder(engine, lambda: fake) if engine else None
    bring_up_to_date(store, connection, embedder, None)
    return connection
