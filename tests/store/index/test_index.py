"""The index follows the files: what changed is read again, nothing else decides."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from ingesting import embedder as real_embedder
from laid_down import lay_document

from clsm_cli.model.episodes import Turn
from clsm_cli.model.ids import turn_key
from clsm_cli.store.index import codes, database
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import Embedder, bring_up_to_date, open_index
from clsm_cli.store.index.passages import split_text
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import count_tokens

ORIGIN = "~/notes.md"


class Counting:
    """The real model, and which texts it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._embed = real_embedder().embed()

    def __call__(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return self._embed(texts)

    def embedder(self, engine: str = "test") -> Embedder:
        return Embedder(engine, lambda: self)


def block(text: str, line: int) -> Turn:
    return Turn(
        key=turn_key(ORIGIN, "", None, text),
        speaker="",
        role="user",
        text=text,
        path="notes.md",
        line_start=line,
        line_end=line + text.count("\n"),
    )


def add_document(store: Store, current: Sequence[Turn], rev: int) -> None:
    lay_document(store, ORIGIN, rev, [("", turn) for turn in current])


def words(index: Index, term: str) -> list[str]:
    return [index.passages([row])[row].text for row, _, _ in index.postings(term)]


def sentences(index: Index) -> bytes:
    """The rows of all sentence vectors."""
    return bytes(index.vectors.sentence_rows() or b"")


def test_only_what_a_document_lists_is_current_and_lines_follow_it(store: Store) -> None:
    first, second = block("Salt in the blue jar.", 1), block("Sugar in the white one.", 2)
    add_document(store, [first, second], 1)
    with open_index(store, None) as opened:
        assert words(opened.index, "salt") == ["Salt in the blue jar."]
    add_document(store, [second], 2)
    with open_index(store, None) as opened:
        assert words(opened.index, "salt") == []
        ((row, _, _),) = opened.index.postings("sugar")
        passage = opened.index.passages([row])[row]
        assert (passage.line_start, passage.line_end) == (1, 1)
        assert opened.index.size()[0] == 1
    add_document(store, [second, first], 3)  # moved back in: the same block
    with open_index(store, None) as opened:
        assert words(opened.index, "salt") == ["Salt in the blue jar."]


def test_an_unchanged_file_is_not_read_again(store: Store) -> None:
    add_document(store, [block("Salt.", 1)], 1)
    with open_index(store, None) as opened:
        before = opened.index.connection.execute("SELECT id FROM passages").fetchall()
    for path in store.flow.rglob("*.md"):
        os.utime(path)  # touched, same bytes
    with open_index(store, None) as opened:
        assert opened.index.connection.execute("SELECT id FROM passages").fetchall() == before


def test_a_text_is_embedded_once_wherever_it_stands(store: Store) -> None:
    counting = Counting()
    salt = block("Salt in the blue jar.", 1)
    add_document(store, [salt], 1)
    with open_index(store, counting.embedder()) as opened:
        assert opened.index.unembedded() == 0
    path = next(store.flow.rglob("*.md"))
    path.rename(path.with_name("20260101T000000Z-moved.md"))
    with open_index(store, counting.embedder()) as opened:
        assert len(sentences(opened.index)) == codes.SENTENCE_BYTES
    assert counting.texts == ["Salt in the blue jar."]


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 400])
def test_a_damaged_index_is_made_new(store: Store, damage: bytes) -> None:
    salt = block("Salt.", 1)
    add_document(store, [salt], 1)
    with open_index(store, None):
        pass
    for path in database.path_of(store.derived).parent.iterdir():
        path.unlink()
    database.path_of(store.derived).write_bytes(damage)
    with open_index(store, None) as opened:
        assert words(opened.index, "salt") == ["Salt."]


def test_a_pause_lets_another_writer_in_and_loses_nothing(store: Store) -> None:
    many = [block(f"Fact {n} about jar {n}.", n) for n in range(300)]
    add_document(store, many, 1)
    counting = Counting()
    pauses = []
    connection = database.open_to_write(store.derived)
    bring_up_to_date(store, connection, counting.embedder(), None, pause=lambda: pauses.append(1))
    assert Index(connection, store).unembedded() == 0
    assert len(pauses) == 2
    connection.close()


@pytest.mark.parametrize(
    "text",
    [
        "One sentence. " * 200,
        "\n".join(f"- item {n} with a few words" for n in range(100)),
        "word " * 1000,
        "x" * 5000,
        "",
    ],
)
def test_parts_are_small_and_leave_nothing_out(text: str) -> None:
    spans = split_text(text, 200)
    assert all(count_tokens(text[a:b]) <= 200 for a, b, _ in spans)
    assert "".join("".join(text[a:b].split()) for a, b, _ in spans) == "".join(text.split())
