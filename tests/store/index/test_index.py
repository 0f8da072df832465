"""The index follows the files: what changed is read again, nothing else decides."""

import os
from collections.abc import Sequence
from typing import Any

import pytest
from index_changes import fake
from ingesting import passages
from laid_down import lay_document

from clsm_cli.model.episodes import Turn
from clsm_cli.model.ids import turn_key
from clsm_cli.store.index import codes, database
from clsm_cli.store.index.opening import Embedder, open_index
from clsm_cli.store.index.passages import split_text
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import count_tokens

ORIGIN = "~/notes.md"


def add_document(store: Store, *texts: str) -> None:
    blocks = [
        Turn(turn_key(ORIGIN, "", None, text), "", "user", text, None, "notes.md", line, line)
        for line, text in enumerate(texts, 1)
    ]
    lay_document(store, ORIGIN, 1, [("", block) for block in blocks])


def test_an_unchanged_file_is_not_read_again(store: Store) -> None:
    add_document(store, "Salt.")
    with open_index(store, None) as opened:
        before = opened.index.connection.execute("SELECT id FROM passages").fetchall()
    for path in store.flow.rglob("*.md"):
        os.utime(path)  # touched, same bytes
    with open_index(store, None) as opened:
        assert opened.index.connection.execute("SELECT id FROM passages").fetchall() == before


def test_a_text_is_embedded_once_wherever_it_stands(store: Store) -> None:
    asked: list[str] = []

    def counted(texts: Sequence[str]) -> Any:
        asked.extend(texts)
        return fake(texts)

    counting = Embedder("test", lambda: counted)
    add_document(store, "Salt in the blue jar.")
    with open_index(store, counting) as opened:
        assert opened.index.vectors.waiting == 0
    path = next(store.flow.rglob("*.md"))
    path.rename(path.with_name("20260101T000000Z-moved.md"))
    with open_index(store, counting) as opened:
        assert len(opened.index.vectors.sentence_rows() or b"") == codes.SENTENCE_BYTES
    assert asked == ["Salt in the blue jar."]


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 400])
def test_a_damaged_index_is_made_new(store: Store, damage: bytes) -> None:
    add_document(store, "Salt.")
    with open_index(store, None):
        pass
    for path in database.path_of(store.derived).parent.iterdir():
        path.unlink()
    database.path_of(store.derived).write_bytes(damage)
    assert [passage.text for passage in passages(store, "salt")] == ["Salt."]


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
