"""Neighbours and groups are those of the conversation, however its messages and notes came in."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from conversations import GAPS, START, TOPICS
from ingesting import new_store, scratch, take
from small_store import row

from clsm_cli.store.index import database
from clsm_cli.store.index.files import changes
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.refresh import refresh

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from clsm_cli.store.layout import Store

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
