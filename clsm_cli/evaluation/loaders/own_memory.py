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
    from collections.abc import Callable, Iterator, Mapping
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
    "labels/probes.yaml": "near topic",
    "labels/off-topic.yaml": "off topic",
}
"""Files of queries without an answer: those of their rows that have no evidence."""

_NOWHERE = "piece of evidence is not in the file that it names and is left out"


def load(path: Path) -> Dataset:
    """Read a labelled memory.

    Raises:
        BadInputError: A file is missing or not what it must be, an id stands twice, or a query
            names an unknown concept.
    """
    remembered = files_in(path, FOLDERS)
    if not remembered:
        raise BadInputError(
            str(path), "has nothing to remember in workspace/ or sessions/", "add some notes"
        )
    labels = (path / name for name in (CONCEPTS, QUERIES, *NEGATIVES))
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
    for number, row in enumerate(load_yaml(path / QUERIES), 1):
        with naming_place(path / QUERIES, f"query {number}"):
            query = _query(path, row, known, texts, found)
        _add(path / QUERIES, query, queries)
    unknown = [each.id for each in queries.values() if not (each.gold or each.concepts)]
    for identity in unknown:
        found.add(NO_GOLD, identity)
    if len(unknown) == len(queries):
        raise malformed_error(path / QUERIES, "it holds no query with an answer")
    for name, negative in NEGATIVES.items():
        if (path / name).is_file():
            for query in _negatives(path / name, negative):
                _add(path / name, query, queries)
    return tuple(each for each in queries.values() if each.id not in unknown)


def _concepts(path: Path) -> dict[str, frozenset[str]]:
    """Of each concept, by its id, the keys of its names."""
    found: dict[str, frozenset[str]] = {}
    for number, row in enumerate(load_yaml(path), 1):
        with naming_place(path, f"concept {number}"):
            identity = id_of(row)
            aliases = map(str, _listed(row, "aliases"))
            names = label_keys((identity, required_field(row, "label", str), *aliases))
        if identity in found:
            raise _twice(path, identity)
        found[identity] = names
    return found


def _query(
    path: Path,
    row: Any,
    known: Mapping[str, frozenset[str]],
    texts: Callable[[Path], tuple[str, ...]],
    found: Faults,
) -> Query:
    """A query with its labels."""
    identity = id_of(row)
    text = required_field(row, "query", str)
    named = [str(name) for name in _listed(row, "concepts")]
    for name in named:
        if name not in known:
            raise BadInputError(
                str(path / QUERIES),
                f"query {identity} names the concept {name!r}, which {CONCEPTS} does not have",
                "add it there or correct its name",
            )
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
        text=text,
        category=str(row.get("category") or ""),
        gold=tuple(gold),
        concepts=tuple(known[name] for name in named),
    )


def _negatives(path: Path, negative: Negative) -> Iterator[Query]:
    for number, row in enumerate(load_yaml(path), 1):
        with naming_place(path, f"query {number}"):
            query = Query(
                id=id_of(row),
                text=required_field(row, "query", str),
                category=str(row.get("category") or ""),
                negative=negative,
            )
            has_answer = bool(_listed(row, "evidence"))
        if not has_answer:
            yield query


def _listed(row: dict[str, Any], name: str) -> list[Any]:
    return required_field(row, name, list) if row.get(name) is not None else []


def _add(path: Path, query: Query, queries: dict[str, Query]) -> None:
    if query.id in queries:
        raise _twice(path, query.id)
    queries[query.id] = query


def _twice(path: Path, identity: str) -> BadInputError:
    return BadInputError(str(path), f"the id {identity} stands twice", "give each its own")
