"""A person's own labelled queries, ``eval/queries.yaml``: read with line numbers, edited in place.

A person writes this file, so an edit (a query added, changed or taken out) leaves the rest to the byte.
It is read here, below evaluation, because a forget has to read it too: a label may quote what is
forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import takewhile
from pathlib import Path
from typing import Any

from clsm_cli.errors import BadInputError
from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError, dump

NAME = "eval/queries.yaml"
"""The file, relative to the store."""
MAX_LABELS = 1 << 20
"""Bytes of it: some ten thousand queries, four seconds to read."""
_MAX_VALUES = 100_000
"""Keys and values; twice as many as elsewhere: it is the owner's own, and no recall reads it."""

_LISTS = ("evidence", "memories", "concepts")
_TAGS = ("category", "difficulty")
_KEYS = ("id", "query", *_LISTS, *_TAGS)
_TEXTS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp"}
_NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
_NULL = "tag:yaml.org,2002:null"


class Label(NamedTuple):
    """A query, and what a person says of it.

    It is labelled where any of the three lists is there: an empty one says that nothing answers,
    ``evidence:`` without a value says nothing.
    """

    id: str  # unique in the file; made from the text where the file names none
    text: str
    evidence: tuple[str, ...] = ()  # quotes that an answer must show
    memories: tuple[str, ...] = ()  # ids
    concepts: tuple[str, ...] = ()  # names of nodes
    category: str = ""
    difficulty: str = ""
    is_labelled: bool = True
    line: int = 0  # where it begins, from 1; 0: it is not from a file

    @property
    def has_gold(self) -> bool:
        """Whether anything answers it."""
        return bool(self.evidence or self.memories or self.concepts)


class Labels(NamedTuple):
    """A whole file: the store that it is of ("": not said), and its queries."""

    store: str
    rows: tuple[Label, ...]


def id_of(text: str) -> str:
    """The id of a query that names none.

    >>> id_of("what is  my blood type") == id_of("what is my blood type")
    True
    """
    return f"q-{digest('label', ' '.join(text.split()))}"


def path_of(root: Path) -> Path:
    """The file of a store."""
    return root / NAME


def decode(data: bytes, name: str) -> str:
    """The text of a file; line ends become newlines."""
    if len(data) > MAX_LABELS:
        raise BadInputError(name, f"is larger than {MAX_LABELS >> 20} MiB", "split it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInputError(name, "is not UTF-8", "save it as UTF-8", line=line) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def read(data: bytes, name: str) -> tuple[str, Labels]:
    """The text of a file, and its labels; see ``decode`` and ``parse``."""
    text = decode(data, name)
    return text, parse(text, name)


def load(root: Path) -> tuple[bytes | None, str, Labels]:
    """The file of a store: its bytes (None: there is none), its text, and its labels."""
    path = path_of(root)
    data = atomic.read(path, MAX_LABELS)
    return data, *read(data or b"", str(path))


def parse(text: str, name: str) -> Labels:
    """The labels of a text; ``name`` is that of the file, for what is wrong with it.

    Raises:
        BadInputError: It is no YAML, or not what such a file must be; the line counts from 1.
    """
    try:
        root = yaml_text.compose(text, MAX_LABELS, _MAX_VALUES)
    except LineError as error:
        reason, line = error.split_line()
        raise BadInputError(name, reason, "mend it", line=line) from None
    if root is None:
        return Labels("", ())
    file = _File(name)
    entries = dict(file.entries(root, ("queries", "store"), "the file"))
    if "queries" not in entries:
        raise file.fault(root, "has no 'queries'", "write a list of queries under 'queries:'")
    store = file.text(entries["store"], "store") if "store" in entries else ""
    return Labels(store, tuple(file.rows(entries["queries"])))


class _File:
    def __init__(self, name: str) -> None:
        self._name = name

    def fault(self, node: Any, reason: str, next_step: str) -> BadInputError:
        return BadInputError(self._name, reason, next_step, line=node.start_mark.line + 1)

    def entries(self, node: Any, known: Sequence[str], what: str) -> Iterator[tuple[str, Any]]:
        """Keys and values of a mapping; each key is one of the known, and stands there once."""
        if node.id != "mapping":
            raise self.fault(node, f"{what} is not a mapping", f"write {known[0]}: and so on")
        seen: set[str] = set()
        for key, value in node.value:
            name = key.value if key.id == "scalar" else ""
            if name not in known:
                raise self.fault(
                    key, f"unknown key {name[:40]!r} in {what}", f"use {', '.join(known)}"
                )
            if name in seen:
                raise self.fault(key, f"{what} has {name!r} twice", "keep one of them")
            seen.add(name)
            yield name, value

    def text(self, node: Any, what: str, tags: AbstractSet[str] = _TEXTS) -> str:
        """A text, with single blanks; that of nothing is empty."""
        if node.id == "scalar" and node.tag == _NULL:
            return ""
        if node.id != "scalar" or node.tag not in tags:
            raise self.fault(node, f"{what} is not text", "put it between quotes")
        return " ".join(node.value.split())

    def texts(self, node: Any, what: str) -> tuple[str, ...]:
        if node.id != "sequence":
            raise self.fault(node, f"{what} is not a list", f"write {what}: [...]")
        found = [self.text(each, f"an entry of {what}") for each in node.value]
        for each, text in zip(node.value, found, strict=True):
            if not text:
                raise self.fault(each, f"an entry of {what} is empty", "fill it in or take it out")
        return tuple(dict.fromkeys(found))

    def rows(self, node: Any) -> Iterator[Label]:
        if node.id == "scalar" and node.tag == _NULL:
            return
        if node.id != "sequence":
            raise self.fault(node, "'queries' is not a list", "begin each query with '- query:'")
        lines: dict[str, int] = {}
        for each in node.value:
            row = self._row(each)
            if row.id in lines:
                reason = f"the id {row.id[:60]!r} stands in line {lines[row.id]} already"
                raise self.fault(each, reason, "give each query an id of its own")
            lines[row.id] = row.line
            yield row

    def _row(self, node: Any) -> Label:
        values = dict(self.entries(node, _KEYS, "a query"))
        text = self.text(values["query"], "the query") if "query" in values else ""
        if not text:
            raise self.fault(node, "a query has no text", "write it behind 'query:'")
        named = self.text(values["id"], "the id", _TEXTS | _NUMBERS) if "id" in values else ""
        given = [n for n in _LISTS if n in values and values[n].tag != _NULL]
        lists = {name: self.texts(values[name], name) for name in given}
        tags = {name: self.text(values[name], name) for name in _TAGS if name in values}
        line, is_labelled = node.start_mark.line + 1, bool(lists)
        told = {**lists, **tags, "is_labelled": is_labelled, "line": line}
        return Label(named or id_of(text), text)._replace(**told)


HEADER = "# Queries of this memory and what answers them; see docs/evaluation.md.\n"


def edit(
    text: str, change: Mapping[str, Label | None] | None = None, fresh: Sequence[Label] = ()
) -> str:
    r"""A file with some queries, by id, written anew or taken out (None), or added at its end.

    Comments between queries stay; those inside a query that is written anew go. Where queries have no
    lines of their own the whole list is written anew, under the comments that the file begins with.

    >>> print(edit("queries:\n- query: a  # mine\n  evidence: []\n",
    ...     fresh=[Label("q2", "b", memories=("m1",))]), end="")
    queries:
    - query: a  # mine
      evidence: []
    - id: "q2"
      query: "b"
      memories: ["m1"]
    """
    found = parse(text, NAME)
    changed = change or {}
    rows = [changed.get(row.id, row) for row in found.rows]
    wanted = [*(row for row in rows if row is not None), *fresh]
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    starts = [*(row.line - 1 for row in found.rows), len(lines)]
    added = "".join(map(render, fresh))
    for row, start, stop in reversed([*zip(found.rows, starts, starts[1:], strict=False)]):
        own = (n for n in range(stop, start, -1) if lines[n - 1].partition("#")[0].strip())
        end = next(own, start)
        lines[end:end], added = [added], ""
        if row.id in changed:
            new = changed[row.id]
            lines[start:end] = [] if new is None else [render(new)]
    if _says(made := "".join(lines), wanted):
        return made
    head = "".join(
        f"{line}\n" for line in takewhile(lambda line: line.startswith("#"), text.split("\n"))
    )
    named = f"store: {dump(found.store)}\n" if found.store else ""
    return f"{head or HEADER}{named}queries:\n{''.join(map(render, wanted))}"


def _says(text: str, rows: Sequence[Label]) -> bool:
    """Whether a text has just these queries, however they are written."""
    try:
        found = parse(text, NAME).rows
    except BadInputError:
        return False
    bare = [[row._replace(line=0) for row in each] for each in (found, rows)]
    return bare[0] == bare[1]


def render(label: Label) -> str:
    """The lines of a query, each text as JSON, which any YAML reader reads."""
    parts = [f"id: {dump(label.id)}", f"query: {dump(label.text)}"]
    values = {name: getattr(label, name) for name in (*_LISTS, *_TAGS)}
    parts += [f"{name}: {dump(value)}" for name, value in values.items() if value]
    if label.is_labelled and not label.has_gold:
        parts.append("evidence: []")
    return "- " + "\n  ".join(parts) + "\n"
