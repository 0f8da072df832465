"""A person's own queries on an existing store: one YAML file, see docs/evaluation.md.

A query that was not labelled, or whose memories are all gone, is left out; a concept that no node of
the store has is a miss.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError, StoreNotFoundError
from clsm_cli.evaluation import own_labels
from clsm_cli.evaluation.dataset import (
    Case,
    Dataset,
    Existing,
    Faults,
    Query,
    label_keys,
    read_bytes,
)
from clsm_cli.store import atomic, labels, layout

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.own_labels import NameLookup
    from clsm_cli.store.labels import Label, Labels

_NOT_LABELLED = (
    "query is left out, it is not labelled (write evidence: [] where nothing should be found)"
)
_UNKNOWN_CONCEPT = "concept is no node of the store and counts as missed"
_UNKNOWN_MEMORY = (
    "label is left out, the store has no memory or turn of that id (forgotten, or of another store)"
)
_NOTHING_LEFT = "query is left out, all memories that answered it are gone"


def load(path: Path, store: Path | None = None) -> Dataset:
    """Read a file of queries, and look up in the store what its labels name.

    Args:
        path: The file.
        store: The store that is asked; None: the one that the file names, else the one it lies in.

    Raises:
        BadInputError: It cannot be read, is not what it must be, or nothing can be measured by it.
        DamagedStoreError: The store cannot be read.
    """
    data = read_bytes(path)
    read = labels.parse(labels.decode(data, str(path)), str(path))
    if not read.rows:
        raise BadInputError(str(path), "holds no query", "make some with: clsm eval label")
    root = store or named_store(path, read)
    if root is None:
        raise BadInputError(
            str(path), "names no store and lies in none", "write store: DIR above its queries"
        )
    try:
        known = own_labels.NameLookup(layout.open_store(root, {}))
    except StoreNotFoundError as error:
        raise BadInputError(str(path), f"there is no store at {root}", "mend store: DIR") from error
    faults = Faults()
    queries = tuple(q for row in read.rows if (q := _query(row, known, faults)) is not None)
    answerable = [query for query in queries if not query.negative]
    notes = faults.sentences()
    if not answerable:
        reason = "nothing in the store answers any of its queries, so there is nothing to measure"
        advice = "label some with: clsm eval label"
        raise BadInputError("; ".join((str(path), *notes[-1:])), reason, advice)
    # By concepts where most queries are labelled with some.
    is_of_concepts = 2 * sum(bool(query.concepts) for query in answerable) > len(answerable)
    return Dataset(
        kind="queries",
        name=path.name,
        digest=atomic.sha256(data),
        unit="memory",
        headline="f1" if is_of_concepts else "recall@10",
        cases=(Case(path.stem, Existing(root), queries),),
        notes=notes,
    )


def named_store(path: Path, read: Labels) -> Path | None:
    """The store that a file names, else the one that it lies in; None: neither."""
    if read.store:
        return path.parent / os.path.expanduser(read.store)
    root = path.absolute().parent.parent
    return root if (root / layout.CONFIG_NAME).is_file() else None


def _query(row: Label, known: NameLookup, faults: Faults) -> Query | None:
    """A query with its gold as it is measured; None: it is left out."""
    where = f"line {row.line}"
    if not row.is_labelled:
        faults.add(_NOT_LABELLED, where)
        return None
    pieces: list[str] = []
    for name in row.memories:
        piece = known.piece(name)
        if piece is None:
            faults.add(_UNKNOWN_MEMORY, f"{where}, {name}")
        else:
            pieces.append(piece)
    concepts: list[frozenset[str]] = []
    for name in row.concepts:
        names = known.concept(name)
        if names is None:
            faults.add(_UNKNOWN_CONCEPT, f"{where}, {name}")
        concepts.append(names or label_keys((name,)))
    found = (*row.evidence, *own_labels.distinct_pieces(pieces))
    if row.has_gold and not found and not any(concepts):
        faults.add(_NOTHING_LEFT, where)
        return None
    return Query(
        id=row.id,
        text=row.text,
        category=row.category,
        gold=found,
        concepts=tuple(each for each in dict.fromkeys(concepts) if each),
        negative="" if row.has_gold else "near topic",
    )
