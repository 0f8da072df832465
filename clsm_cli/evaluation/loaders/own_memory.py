"""What a person labelled: an agent's memory with its queries.

The folder of a memory is laid out as ``fixtures/sample`` (docs/evaluation.md). People write its labels
by hand, so an id that stands twice and a concept that is not there are errors, not faults to mend.
"""

import contextlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import dataset
from clsm_cli.evaluation.dataset import Case, Dataset, Faults, Folders, LabelledQuery, Negative
from clsm_cli.evaluation.stores import files_in

FOLDERS = ("workspace", "sessions")  # what is ingested
CONCEPTS, QUERIES = "labels/concepts.yaml", "labels/queries.yaml"
# Files of queries without an answer; those of their rows count that have no evidence.
NEGATIVES: dict[str, Negative]
NEGATIVES = {"labels/probes.yaml": "near topic", "labels/off-topic.yaml": "off topic"}


def load(path: Path) -> Dataset:
    """Read a labelled memory."""
    remembered = files_in(path, FOLDERS)
    if not remembered:
        reason = "has nothing to remember in workspace/ or sessions/"
        raise BadInputError(str(path), reason, "add some notes")
    labelled = (path / name for name in (CONCEPTS, QUERIES, *NEGATIVES))
    read = [*(each for each in labelled if each.is_file()), *remembered]
    faults = Faults()
    queries = _queries(path, faults)
    case = Case(path.resolve().name, Folders(path, FOLDERS), queries)
    headline = "f1" if any(query.concepts for query in queries) else "recall@10"
    notes = faults.sentences()
    return dataset.made_dataset("memory", path, read, [case], notes, "quote", headline)


def _queries(path: Path, faults: Faults) -> tuple[LabelledQuery, ...]:
    concepts = {
        row["id"]: dataset.label_keys((row["id"], row["label"], *map(str, row["aliases"])))
        for row in _rows(path / CONCEPTS, "label", ("aliases",), ())
    }
    texts = cache(_texts)
    queries: dict[str, LabelledQuery] = {}
    for row in _rows(path / QUERIES, "query", ("concepts", "evidence"), ()):
        id_, named = row["id"], list(map(str, row["concepts"]))
        if unknown := [concept for concept in named if concept not in concepts]:
            what = f"{id_} names the concept {unknown[0]!r}, which {CONCEPTS} does not have"
            raise dataset.malformed_error(path / QUERIES, what)
        with dataset.reading(path / QUERIES, id_):
            gold = tuple(dict.fromkeys(_quotes(path, row, texts, faults)))
        meant = tuple(concepts[concept] for concept in named)
        if gold or meant:
            queries[id_] = LabelledQuery(id_, row["query"], row["category"], gold, meant)
        else:
            faults.add(dataset.NO_GOLD, id_)
    if not queries:
        raise dataset.malformed_error(path / QUERIES, "it holds no query with an answer")
    for name, negative in NEGATIVES.items():
        if (path / name).is_file():
            for row in _rows(path / name, "query", ("concepts", "evidence"), set(queries)):
                if not row["evidence"]:
                    query = LabelledQuery(row["id"], row["query"], row["category"])
                    queries[query.id] = query._replace(negative=negative)
    return tuple(queries.values())


def _rows(
    path: Path, name: str, lists: Collection[str], known: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The rows of a file that a person wrote, each with an id of its own, a text, and some lists."""
    seen = set(known)
    for number, row in enumerate(dataset.load_yaml(path), 1):
        with dataset.reading(path, f"row {number}"):
            id_ = str(row["id"] or "").strip()
            if not id_ or id_ in seen:
                raise ValueError(f"the id {id_} stands twice" if id_ else "it has no id")
            seen.add(id_)
            found = {**row, "id": id_, "category": str(row.get("category") or "")}
            found |= {key: row.get(key) or [] for key in lists}
            if wrong := [key for key in lists if not isinstance(found[key], list)]:
                raise ValueError(f"{wrong[0]} is no list")
            _text(found, name)
        yield found


def _text(part: Mapping[str, Any], name: str) -> str:
    if not isinstance(part[name], str):
        raise ValueError(f"{name} is no text")
    return str(part[name])


def _quotes(
    path: Path, row: dict[str, Any], texts: Callable[[Path], tuple[str, ...]], faults: Faults
) -> Iterator[str]:
    """The quotes that answer a query, each of which stands in the file that it names."""
    for number, piece in enumerate(row["evidence"], 1):
        quote = dataset.single_blanks(_text(piece, "quote"))
        if quote and any(quote in text for text in texts(path / _text(piece, "file"))):
            yield quote
        else:
            fault = "piece of evidence is not in the file that it names and is left out"
            faults.add(fault, f"{row['id']}, piece {number}")


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
