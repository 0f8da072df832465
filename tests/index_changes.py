"""A store whose files change at random, and everything that its index says, to compare two."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from clsm_cli.model.episodes import Block, Document, Episode, Turn
from clsm_cli.model.ids import document_id, episode_id, turn_key
from clsm_cli.store import episodes, inbox, shards
from clsm_cli.store.index import database, maintenance
from clsm_cli.store.index.opening import bring_up_to_date
from clsm_cli.store.layout import Store

SESSIONS = ("harbour", "workshop")
DOCUMENTS = ("~/notes.md", "~/diary.md")
DEVICES = ("pi", "attic")
SPEAKERS = ("Mara", "Ilse", "assistant")
TEXTS = (
    "The ferry leaves at nine. Did you see it yesterday?",
    "Salt is in the blue jar.",
    "We met Brian last week in Texel.",
    "Who has the key? [shares a photo]",
    "Yes.",
    "A long one. " + "The stove in the workshop burns beech only. " * 40,
)


class Files:
    """Files of a store that change at random; every change is one that a person or clsm can make."""

    def __init__(self, store: Store, random: Random) -> None:
        self.store = store
        self.random = random
        self.number = 0
        self.last: dict[str, str | None] = dict.fromkeys(SESSIONS)
        self.blocks: dict[str, list[Turn]] = {origin: [] for origin in DOCUMENTS}

    def change(self) -> None:
        """One change."""
        often: list[Callable[[], None]] = [self.add_episode, self.capture, self.rewrite_document]
        self.random.choice([*often, *often, self.edit_topic, self.copy_episode, self.remove])()

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
            target = (
                self._flow()
                / path.relative_to(self.store.root / "flow").as_posix().split("/", 1)[1]
            )
            write(target, path.read_bytes())

    def remove(self) -> None:
        found = [*self._files("flow/*/episodes/*/*/*.md"), *self._files("flow/*/inbox/*.jsonl")]
        found += self._files("projects/*.md")
        if found:
            self.random.choice(found).unlink()

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
        times = [turn.time for turn in turns if turn.time]
        episode = Episode(
            id=episode_id(turns[0].key),
            session=session,
            turns=tuple(turns),
            recorded_at="2026-02-24T08:00:00Z",
            start=min(times, default=None),
            previous=previous,
            document=document,
        )
        if document is None:
            self.last[session] = episode.id
        write(episodes.file_of(episode, self._flow()), episodes.render(episode))


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def rows(connection: sqlite3.Connection, query: str) -> list[Any]:
    return connection.execute(query).fetchall()


def contents(connection: sqlite3.Connection) -> dict[str, Any]:
    """Everything an index says, without row numbers; no two passages have one name."""
    found = maintenance.contents(connection)
    assert len(found["passages"]) == rows(connection, "SELECT COUNT(*) FROM passages")[0][0]
    (packed,) = rows(connection, "SELECT rows FROM asleep")[0]
    names = dict(rows(connection, "SELECT id, key FROM passages"))
    return found | {
        "archive": sorted(names[row] for row in array("I", packed)),
        "waiting": sorted(rows(connection, "SELECT * FROM waiting")),
        "files": sorted(
            rows(connection, "SELECT path, kind, size, sha256, problems FROM files"), key=repr
        ),
    }


def brought_up(store: Store) -> sqlite3.Connection:
    """The index of a store as its files are now, without vectors."""
    connection = database.open_to_write(store.derived)
    bring_up_to_date(store, connection, None, None)
    return connection
