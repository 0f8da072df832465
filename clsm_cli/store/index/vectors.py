"""Embed texts and look up their vectors, stored as quantised codes in two append-only files.

One has a row of 384 components for each embedded text (a passage or node), the other one of 64 for each
of its content tokens (``codes``). Rows are found by the digest of the text, so the files are also the
embedding cache: a text that returns is not embedded again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DiskError
from clsm_cli.store.index import codes
from clsm_cli.store.index.codes import SENTENCE_BYTES
from clsm_cli.store.index.database import json_list, select
from clsm_cli.store.index.graph_queries import node_text
from clsm_cli.store.index.indexed_files import Progress
from clsm_cli.store.index.passages import text_digest, with_heading
from clsm_cli.store.index.vector_files import VectorFiles, size_of
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from clsm_cli.embedding.encoder import Embedding

_UNKEPT = STOP_WORDS | frozenset(
    ["s", "t", "d", "m", "ll", "ve", "re", "don", "didn", "doesn", "isn", "aren", "wasn",
     "weren", "hasn", "haven", "hadn", "couldn", "wouldn", "shouldn"]
)  # fmt: skip
"""Words whose vectors are not kept: stop words, and parts of contractions split at the apostrophe."""


Embed = Callable[[Sequence[str]], "Sequence[Embedding]"]
STEP = 256  # texts per commit: little is lost if interrupted, and batches of one length are full


def missing(connection: Connection) -> list[tuple[int, str]]:
    """Digest and text of all passages and nodes without a vector, each text once, by digest.

    Closed blocks too: episodes are described from them, and questions may be about the past.
    """
    found = {
        int(digest): node_text(label, json_list(aliases), summary)
        for digest, label, aliases, summary in connection.execute(
            "SELECT w.digest, n.label, n.aliases, n.summary FROM waiting w"
            " JOIN nodes n ON n.embedded = w.digest"
        )
    }
    found |= {
        int(digest): with_heading(heading, text)
        for digest, heading, text in connection.execute(
            "SELECT w.digest, COALESCE(h.text, ''), p.text FROM waiting w JOIN passages p ON p.id ="
            " (SELECT MIN(id) FROM passages WHERE embedded = w.digest)"
            " LEFT JOIN headings h ON h.id = p.heading"
        )
    }
    return sorted(found.items())


def add(
    files: VectorFiles,
    items: Sequence[tuple[int, str]],
    embed: Embed,
    progress: Progress | None = None,
) -> None:
    """Embed texts and commit their rows, ``STEP`` at once; the caller holds the lock."""
    import numpy as np

    for start in range(0, len(items), STEP):
        batch = items[start : start + STEP]
        found = embed([text for _, text in batch])
        packed = {
            digest: (
                codes.pack_sentences(each.sentence[np.newaxis]),
                codes.pack_tokens(each.tokens[kept_tokens(each.pieces)]),
            )
            for (digest, _), each in zip(batch, found, strict=True)
        }
        files.append(packed)
        if progress:
            progress(start + len(batch), len(items))


def of_texts(files: VectorFiles, texts: Sequence[str], embed: Embed | None) -> dict[str, Any]:
    """Unit vectors by text, from the index; the caller holds the lock.

    ``embed`` embeds missing ones, which are then stored; without it, they are left out.
    """
    digests = {text: text_digest(text) for text in texts}
    wanted = sorted({*digests.values()})
    query = "SELECT digest, row FROM vectors WHERE digest IN ({})"
    known = dict(select(files.connection, query, wanted))
    new = [(digests[text], text) for text in sorted(digests) if digests[text] not in known]
    if new and embed is not None:
        add(files, new, embed)
        known = dict(select(files.connection, query, wanted))
    rows = {text: known[key] for text, key in digests.items() if key in known}
    return unit_vectors(files, rows)


def kept_tokens(pieces: Sequence[str]) -> list[int]:
    """Positions of the word pieces of content words, whose vectors are kept.

    >>> kept_tokens(("don", "'", "t", "the", "em", "##bed", ",", "2"))
    [4, 5, 7]
    """
    words: list[list[int]] = []
    for place, piece in enumerate(pieces):
        if piece.startswith("##") and words:
            words[-1].append(place)
        else:
            words.append([place])
    kept: list[int] = []
    for places in words:
        word = "".join(pieces[place].removeprefix("##") for place in places)
        if word not in _UNKEPT and any(map(str.isalnum, word)):
            kept += places
    return kept


def unit_vectors(files: VectorFiles, rows: Mapping[str, int]) -> dict[str, Any]:
    """Unit vectors float32 [384] of rows of sentence vectors; {} if the file is incomplete."""
    stored = files.sentence_rows()
    if stored is None:
        path, size = files.sentences_path, files.committed.sentences * SENTENCE_BYTES
        if size and size_of(path) >= size:
            raise DiskError(path, "cannot be read")
        return {}
    return {
        name: codes.unit(stored[row * SENTENCE_BYTES : (row + 1) * SENTENCE_BYTES])
        for name, row in rows.items()
    }
