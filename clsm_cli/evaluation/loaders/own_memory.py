"""What a person labelled: an agent's memory with its queries, or queries to a store that is there.

A labelled memory has queries, the concepts they mean, and the quotes that answer them. Its folder is laid out as ``fixtures/sample``: ``workspace/`` and ``sessions/`` to remember, and in
``labels/`` the files ``queries.yaml``, ``concepts.yaml`` and, if there are queries without an
answer, ``probes.yaml`` and ``off-topic.yaml``. People write these by hand, so an id that stands
twice and a concept that is not there are errors, not faults to mend.

Queries to an existing store are one YAML file, see docs/evaluation.md. One that was not labelled, or whose
memories are all gone, is left out; a concept that no node of the store has is a miss.
"""

from __future__ import annotations

import contextlib
import json
import os
from functools import cache
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError, StoreNotFoundError
from clsm_cli.evaluation import dataset, own_labels
from clsm_cli.evaluation.dataset import Case, Dataset, Existing, Faults, Folders, Query
from clsm_cli.evaluation.stores import files_in
from clsm_cli.store import atomic, labels, layout

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.dataset import Negative
    from clsm_cli.evaluation.own_labels import NameLookup
    from clsm_cli.store.labels import Label, Labels

FOLDERS = ("workspace", "sessions")  # what is ingested
CONCEPTS, QUERIES = "labels/concepts.yaml", "labels/queries.yaml"
NEGATIVES: dict[str, Negative] = {
    QUERIES: "",
    "labels/probes.yaml": "near topic",
    "labels/off-topic.yaml": "off topic",
}
"""Files of queries; but for the first, those of their rows count that have no evidence."""
_NOWHERE = "piece of evidence is not in the file that it names and is left out"
_NOT_LABELLED = (
    "query is left out, it is not labelled (write evidence: [] where nothing should be found)"
)
_UNKNOWN_CONCEPT = "concept is no node of the store and counts as missed"
_UNKNOWN_MEMORY = (
    "label is left out, the store has no memory or turn of that id (forgotten, or of another store)"
)
_NOTHING_LEFT = "query is left out, all memories that answered it are gone"


def load(path: Path) -> Dataset:
    """Read a labelled memory."""
    remembered = files_in(path, FOLDERS)
    if not remembered:
        reason = "has nothing to remember in workspace/ or sessions/"
        raise BadInputError(str(path), reason, "add some notes")
    labelled = (path / name for name in (CONCEPTS, *NEGATIVES))
    read = [*(each for each in labelled if each.is_file()), *remembered]
    faults = Faults()
    queries = _queries(path, faults)
    case = Case(path.resolve().name, Folders(path, FOLDERS), queries)
    headline = "f1" if any(query.concepts for query in queries) else "recall@10"
    notes = faults.sentences()
    return dataset.made_dataset("memory", path, read, [case], notes, "quote", headline)


def _queries(path: Path, faults: Faults) -> tuple[Query, ...]:
    concepts = {
        row["id"]: dataset.label_keys((row["id"], row["label"], *map(str, row["aliases"])))
        for row in _rows(path / CONCEPTS, "label", ("aliases",), ())
    }
    texts = cache(_texts)
    queries: dict[str, Query] = {}
    for name, negative in NEGATIVES.items():
        file = path / name
        if name != QUERIES and not file.is_file():
            continue
        for row in _rows(file, "query", ("concepts", "evidence"), queries):
            id_, pieces = row["id"], row["evidence"]
            query = Query(id_, row["query"], str(row.get("category") or ""))
            if negative and not pieces:
                queries[id_] = query._replace(negative=negative)
            if negative:
                continue
            named = list(map(str, row["concepts"]))
            if unknown := [concept for concept in named if concept not in concepts]:
                what = f"{id_} names the concept {unknown[0]!r}, which {CONCEPTS} does not have"
                raise dataset.malformed_error(file, what)
            with dataset.reading(file, id_):
                gold = dict.fromkeys(_quotes(path, id_, pieces, texts, faults))
            meant = tuple(concepts[concept] for concept in named)
            if gold or meant:
                queries[id_] = query._replace(gold=tuple(gold), concepts=meant)
            else:
                faults.add(dataset.NO_GOLD, id_)
    if all(query.negative for query in queries.values()):
        raise dataset.malformed_error(path / QUERIES, "it holds no query with an answer")
    return tuple(queries.values())


def _rows(
    path: Path, name: str, lists: Collection[str], known: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The rows of a file that a person wrote, each with an id of its own, a text and lists of some names.

    Of lists none is as good as an empty one.
    """
    seen = set(known)
    for number, row in enumerate(dataset.load_yaml(path), 1):
        with dataset.reading(path, f"row {number}"):
            id_ = str(row["id"] or "").strip()
            if not id_ or id_ in seen:
                raise ValueError(f"the id {id_} stands twice" if id_ else "it has no id")
            seen.add(id_)
            found = {**row, "id": id_, **{key: row.get(key) or [] for key in lists}}
            for key in lists:
                if not isinstance(found[key], list):
                    raise ValueError(f"{key} is no list")
            _text(found, name)
        yield found


def _text(part: Mapping[str, Any], name: str) -> str:
    if not isinstance(part[name], str):
        raise ValueError(f"{name} is no text")
    return str(part[name])


def _quotes(
    path: Path,
    id_: str,
    pieces: Sequence[Mapping[str, Any]],
    texts: Callable[[Path], tuple[str, ...]],
    faults: Faults,
) -> Iterator[str]:
    """The quotes that answer a query, each of which stands in the file that it names."""
    for number, piece in enumerate(pieces, 1):
        quote = dataset.single_blanks(_text(piece, "quote"))
        if quote and any(quote in text for text in texts(path / _text(piece, "file"))):
            yield quote
        else:
            faults.add(_NOWHERE, f"{id_}, piece {number}")


def _texts(path: Path) -> tuple[str, ...]:
    """The texts of a file, with single blanks: of a transcript each of its strings, else the whole."""
    if not path.is_file():
        return ()
    text = dataset.read_bytes(path).decode("utf-8", "replace")
    if path.suffix != ".jsonl":
        return (dataset.single_blanks(text),)
    found: list[Any] = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, RecursionError):  # a row that is no JSON says nothing
            found.append(json.loads(line))
    for value in found:  # which grows by what is inside
        if isinstance(value, (dict, list)):
            found += value.values() if isinstance(value, dict) else value
    return tuple(dataset.single_blanks(value) for value in found if isinstance(value, str))


def load_queries(path: Path, store: Path | None = None) -> Dataset:
    """Read a file of queries, and look up in the store what its labels name.

    ``store`` is asked; None: the one that the file names, else the one it lies in.

    Raises:
        BadInputError: It cannot be read, is not what it must be, or nothing can be measured by it.
        DamagedStoreError: The store cannot be read.
    """
    data = dataset.read_bytes(path)
    _, read = labels.read(data, str(path))
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
    queries = tuple(
        q for row in read.rows if (q := _labelled_query(row, known, faults)) is not None
    )
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


def _labelled_query(row: Label, known: NameLookup, faults: Faults) -> Query | None:
    """A query with its gold as it is measured; None: it is left out."""
    where = f"line {row.line}"
    if not row.is_labelled:
        faults.add(_NOT_LABELLED, where)
        return None
    pieces: list[str] = []
    for name in row.memories:
        if (piece := known.piece(name)) is None:
            faults.add(_UNKNOWN_MEMORY, f"{where}, {name}")
        else:
            pieces.append(piece)
    concepts: dict[frozenset[str], None] = {}
    for name in row.concepts:
        if (names := known.concept(name)) is None:
            faults.add(_UNKNOWN_CONCEPT, f"{where}, {name}")
        concepts[names or dataset.label_keys((name,))] = None
    concepts.pop(frozenset(), None)
    gold = (*row.evidence, *own_labels.distinct_pieces(pieces))
    if row.has_gold and not gold and not concepts:
        faults.add(_NOTHING_LEFT, where)
        return None
    negative: Negative = "" if row.has_gold else "near topic"
    return Query(row.id, row.text, row.category, gold, tuple(concepts), negative)
