"""An agent's memory with labels: queries, the concepts they mean, and the quotes that answer them.

The folder is laid out as ``fixtures/sample``: ``workspace/`` and ``sessions/`` to remember, and in
``labels/`` the files ``queries.yaml``, ``concepts.yaml`` and, if there are queries without an
answer, ``probes.yaml`` and ``off-topic.yaml``. People write these by hand, so an id that stands
twice and a concept that is not there are errors, not faults to mend.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import (
    NO_GOLD,
    Case,
    Dataset,
    Faults,
    Folders,
    Query,
    digest_contents,
    id_of,
    label_keys,
    load_yaml,
    malformed_error,
    naming_place,
    required_field,
    single_blanks,
    texts_in,
)
from clsm_cli.evaluation.stores import files_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from clsm_cli.evaluation.dataset import Negative

KIND = "memory"
HEADLINE = "f1"
WITHOUT_CONCEPTS = "recall@10"
"""Headline where no query is labelled with concepts."""
FOLDERS = ("workspace", "sessions")
"""What is ingested."""
CONCEPTS, QUERIES = "labels/concepts.yaml", "labels/queries.yaml"
NEGATIVES: dict[str, Negative] = {
    QUERIES: "",
    "labels/probes.yaml": "near topic",
    "labels/off-topic.yaml": "off topic",
}
"""Files of queries; but for the first, those of their rows count that have no evidence."""

_NOWHERE = "piece of evidence is not in the file that it names and is left out"


def load(path: Path) -> Dataset:
    """Read a labelled memory."""
    remembered = files_in(path, FOLDERS)
    if not remembered:
        raise BadInputError(
            str(path), "has nothing to remember in workspace/ or sessions/", "add some notes"
        )
    labels = (path / name for name in (CONCEPTS, *NEGATIVES))
    digest = digest_contents(path, [*(each for each in labels if each.is_file()), *remembered])
    found = Faults()
    queries = _queries(path, found)
    name = path.resolve().name
    return Dataset(
        kind=KIND,
        name=name,
        digest=digest,
        unit="quote",
        headline=HEADLINE if any(query.concepts for query in queries) else WITHOUT_CONCEPTS,
        cases=(Case(name, Folders(path, FOLDERS), queries),),
        notes=found.sentences(),
    )


def _queries(path: Path, found: Faults) -> tuple[Query, ...]:
    known, texts = _concepts(path / CONCEPTS), cache(texts_in)
    queries: dict[str, Query] = {}
    for name, negative in NEGATIVES.items():
        rows = load_yaml(path / name) if name == QUERIES or (path / name).is_file() else []
        for number, row in enumerate(rows, 1):
            with naming_place(path / name, f"query {number}"):
                identity = id_of(row)
                if identity in queries:
                    raise ValueError(f"the id {identity} stands twice")
                if negative and _listed(row, "evidence"):
                    continue
                query = _query(path, row, known, texts, found)
            if negative or query.gold or query.concepts:
                queries[identity] = query._replace(negative=negative)
            else:
                found.add(NO_GOLD, identity)
    if all(query.negative for query in queries.values()):
        raise malformed_error(path / QUERIES, "it holds no query with an answer")
    return tuple(queries.values())


def _concepts(path: Path) -> dict[str, frozenset[str]]:
    """Of each concept, by its id, the keys of its names."""
    found: dict[str, frozenset[str]] = {}
    for number, row in enumerate(load_yaml(path), 1):
        with naming_place(path, f"concept {number}"):
            identity = id_of(row)
            aliases = map(str, _listed(row, "aliases"))
            if identity in found:
                raise ValueError(f"the id {identity} stands twice")
            found[identity] = label_keys((identity, required_field(row, "label", str), *aliases))
    return found


def _query(
    path: Path,
    row: dict[str, Any],
    known: Mapping[str, frozenset[str]],
    texts: Callable[[Path], tuple[str, ...]],
    found: Faults,
) -> Query:
    """A query with its labels."""
    identity = id_of(row)
    named = [str(name) for name in _listed(row, "concepts")]
    if unknown := [name for name in named if name not in known]:
        raise ValueError(f"it names the concept {unknown[0]!r}, which {CONCEPTS} does not have")
    gold: dict[str, None] = {}
    for number, piece in enumerate(_listed(row, "evidence"), 1):
        quote = single_blanks(required_field(piece, "quote", str))
        told = texts(path / required_field(piece, "file", str))
        if quote and any(quote in text for text in told):
            gold[quote] = None
        else:
            found.add(_NOWHERE, f"{identity}, piece {number}")
    return Query(
        id=identity,
        text=required_field(row, "query", str),
        category=str(row.get("category") or ""),
        gold=tuple(gold),
        concepts=tuple(known[name] for name in named),
    )


def _listed(row: dict[str, Any], name: str) -> list[Any]:
    return required_field(row, name, list) if row.get(name) is not None else []
