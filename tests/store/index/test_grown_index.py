"""However files come, change and go: what is counted is exact, and the index is as if made anew."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conversations import GAPS, START, TOPICS
from ingesting import new_store, scratch, take
from small_store import row

from clsm_cli.model.episodes import Turn
from clsm_cli.model.ids import turn_key
from clsm_cli.store import atomic, inbox
from clsm_cli.store.index import database, maintenance
from clsm_cli.store.index.indexed_files import changes
from clsm_cli.store.index.opening import bring_up_to_date, open_index
from clsm_cli.store.index.refresh import refresh
from clsm_cli.store.layout import Store

# However files come, change and go: what is counted is exact, and the index is as if made anew.


# What grows in an inbox costs the index its own rows, and the index says what a fresh one says.


SESSION = "harbour"
TEXTS = ("The ferry leaves at nine.", "I moved to Leeds.", "Is it late? We met yesterday.")


@pytest.fixture
def box(store: Store) -> Path:
    return inbox.path_of(store.inbox, SESSION)


def capture(box: Path, *texts: str) -> None:
    turns = [
        Turn(turn_key(SESSION, "Mara", None, text), "Mara", "user", text, "2026-02-24T08:00:00Z")
        for text in texts
    ]
    items = [inbox.CapturedTurn(SESSION, turn, "2026-02-24T22:00:00Z") for turn in turns]
    atomic.append(box, inbox.render(items))


def rows_by_text(store: Store) -> dict[str, int]:
    """Rows of passages by text, in an index that says what one made anew says."""
    with contextlib.closing(database.open_to_write(store.derived)) as connection:
        bring_up_to_date(store, connection, None, None)
        assert maintenance.differences(store, connection) == []
        return dict(connection.execute("SELECT text, id FROM passages ORDER BY id"))


def test_what_was_captured_before_keeps_its_rows(store: Store, box: Path) -> None:
    capture(box, *TEXTS[:2])
    before = rows_by_text(store)
    capture(box, TEXTS[2], TEXTS[0])  # the second one is known
    after = rows_by_text(store)
    assert list(after) == list(TEXTS)
    assert {text: after[text] for text in before} == before


def test_a_torn_line_and_its_end(store: Store, box: Path) -> None:
    capture(box, *TEXTS[:2])
    whole = box.read_bytes()
    box.write_bytes(whole[:-20])
    assert list(rows_by_text(store)) == [TEXTS[0]]
    box.write_bytes(whole)
    assert list(rows_by_text(store)) == list(TEXTS[:2])


# Neighbours and groups are those of the conversation, however its messages and notes came in.


SESSIONS = ("main", "harbour", "yard")
HEADINGS = ("Garden", "Servers", "Books")


@pytest.fixture
def folder() -> Iterator[Path]:
    with scratch() as made:
        yield made


def messages(random: Random, count: int) -> list[str]:
    """Turns of three conversations in the order of their arrival."""
    minutes = 0
    found = []
    for number in range(count):
        minutes += random.choice(GAPS)
        text = f"{random.choice(random.choice(TOPICS))} ({number})"
        time = START.timestamp() + 60 * minutes
        fields = {"session": random.choice(SESSIONS), "timestamp": time}
        found.append(row(text, speaker=random.choice(["user", "assistant"]), **fields))
    return found


def versions(random: Random, count: int) -> list[str]:
    """A document that is rewritten again and again."""
    blocks = [[f"{text} ({n})" for n, text in enumerate(topic)] for topic in TOPICS[:3]]
    found = []
    for number in range(count):
        section = random.choice(blocks)
        section.insert(random.randrange(len(section) + 1), f"Block number {number}.")
        del section[random.randrange(len(section))]
        random.shuffle(random.choice(blocks))
        parts = zip(HEADINGS, blocks, strict=True)
        found.append("\n\n".join("\n\n".join([f"# {h}", *texts]) for h, texts in parts) + "\n")
    return found


def pieces(random: Random, rows: list[str]) -> list[list[str]]:
    """The same rows in order, in some calls."""
    cuts = sorted(random.sample(range(len(rows)), random.randrange(min(8, len(rows)))))
    return [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True) if a < b]


def sequence_of(connection: sqlite3.Connection) -> dict[tuple[str, int], Any]:
    """Neighbours, group and state of every passage, by key and part."""
    rows = connection.execute(
        "SELECT p.id, p.key, p.part, p.previous, p.next, p.grp, p.current FROM passages p"
    ).fetchall()
    name = {number: (key, part) for number, key, part, *_ in rows}
    assert len(set(name.values())) == len(name)
    return {
        name[number]: (*(name.get(each) for each in links), current)
        for number, _, _, *links, current in rows
    }


def kept(store: Store) -> dict[tuple[str, int], Any]:
    """As the index on disk has it, which grew with the store."""
    with open_index(store, None) as opened:
        return sequence_of(opened.index.connection)


def made_anew(store: Store) -> dict[tuple[str, int], Any]:
    connection = database.in_memory(None)
    refresh(connection, store, changes(connection, store))
    return sequence_of(connection)


@pytest.mark.parametrize("seed", range(6))
def test_conversations_in_pieces(folder: Path, seed: int) -> None:
    random = Random(seed)
    rows = messages(random, random.randrange(20, 70))
    whole = new_store(folder / "whole")
    take(whole, stdin="".join(rows).encode())
    expected = kept(whole)
    assert len(expected) == len(rows)
    for number in range(3):
        store = new_store(folder / str(number))
        for piece in pieces(random, rows):
            capture_only = random.random() < 0.3
            take(store, stdin="".join(piece).encode(), capture_only=capture_only)
            if random.random() < 0.3:
                assert kept(store) == made_anew(store)
        take(store, stdin=rows[0].encode())  # known: what was only captured is cut now
        assert kept(store) == made_anew(store) == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_document_that_is_rewritten(folder: Path, seed: int) -> None:
    random = Random(seed)
    store = new_store(folder / "memory")
    path = folder / "notes.md"
    for text in versions(random, 8):
        path.write_text(text)
        take(store, path)
        found = kept(store)
        assert found == made_anew(store)
        blocks = [line for line in text.splitlines() if line and not line.startswith("#")]
        assert sum(current for *_, current in found.values()) == len(blocks)
    once = new_store(folder / "once")
    take(once, path)
    current = {key: links for key, links in found.items() if links[-1]}
    assert current == kept(once)
