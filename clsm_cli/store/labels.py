"""A person's own labelled queries, ``eval/queries.yaml``: parsed with line numbers, edited in place.

A person writes this file, so adding, changing or removing a query leaves every other byte as it was.
The module is below evaluation because a forget edits the file too: a label may quote what is
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

NAME = "eval/queries.yaml"  # the file, relative to the store
MAX_LABELS = 1 << 20  # bytes of the file: about ten thousand queries, parsed in four seconds
_MAX_VALUES = 100_000
"""Keys and values: twice as many as in other files, as the owner writes it and no recall reads it."""

_LISTS = ("evidence", "memories", "concepts")
_TAGS = ("category", "difficulty")
_KEYS = ("id", "query", *_LISTS, *_TAGS)
_TEXTS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp"}
_NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
_NULL = "tag:yaml.org,2002:null"


class Label(NamedTuple):
    """A query and its labels.

    It is labelled if it has any of the three lists: an empty list means that nothing answers it,
    ``evidence:`` without a value means nothing.
    """

    id: str  # unique in the file; derived from the text if the file has none
    text: str
    evidence: tuple[str, ...] = ()  # quotes that an answer must contain
    memories: tuple[str, ...] = ()  # ids
    concepts: tuple[str, ...] = ()  # names of nodes
    category: str = ""
    difficulty: str = ""
    is_labelled: bool = True
    line: int = 0  # first line, from 1; 0 if not from a file

    @property
    def has_gold(self) -> bool:
        """Whether the labels name an answer."""
        return bool(self.evidence or self.memories or self.concepts)


class Labels(NamedTuple):
    """A whole file: the name of its store ("" if missing) and its queries."""

    store: str
    rows: tuple[Label, ...]


def id_of(text: str) -> str:
    """The id of a query without one.

    >>> id_of("what is  my blood type") == id_of("what is my blood type")
    True
    """
    return f"q-{digest('label', ' '.join(text.split()))}"


def path_of(root: Path) -> Path:
    """The path of the file in a store."""
    return root / NAME


def decode(data: bytes, name: str) -> str:
    """Decode a file; line ends become newlines."""
    if len(data) > MAX_LABELS:
        raise BadInputError(name, f"is larger than {MAX_LABELS >> 20} MiB", "split it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInputError(name, "is not UTF-8", "save it as UTF-8", line=line) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def read(data: bytes, name: str) -> tuple[str, Labels]:
    """Decode and parse a file: its text and labels."""
    text = decode(data, name)
    return text, parse(text, name)


def load(root: Path) -> tuple[bytes | None, str, Labels]:
    """Load the file of a store: its bytes (None if missing), text and labels."""
    path = path_of(root)
    data = atomic.read(path, MAX_LABELS)
    return data, *read(data or b"", str(path))


def parse(text: str, name: str) -> Labels:
    """Parse a text; ``name`` is the file's name for error messages.

    Raises:
        BadInputError: Not YAML, or not a valid file of labels; lines count from 1.
    """
    try:
        root = yaml_text.compose(text, MAX_LABELS, _MAX_VALUES)
    except LineError as error:
        reason, line = error.split_line()
        raise BadInputError(name, reason, "mend it", line=line) from None
    if root is None:
        return Labels("", ())
    decoder = _Decoder(name)
    entries = dict(decoder.entries(root, ("queries", "store"), "the file"))
    if "queries" not in entries:
        raise decoder.error(root, "has no 'queries'", "write a list of queries under 'queries:'")
    store = decoder.text(entries["store"], "store") if "store" in entries else ""
    return Labels(store, tuple(decoder.rows(entries["queries"])))


class _Decoder:
    """Decodes YAML nodes; errors name the file and the line."""

    def __init__(self, name: str) -> None:
        self._name = name

    def error(self, node: Any, reason: str, next_step: str) -> BadInputError:
        return BadInputError(self._name, reason, next_step, line=node.start_mark.line + 1)

    def entries(self, node: Any, known: Sequence[str], what: str) -> Iterator[tuple[str, Any]]:
        """The keys and values of a mapping; refuses unknown and duplicate keys."""
        if node.id != "mapping":
            raise self.error(node, f"{what} is not a mapping", f"write {known[0]}: and so on")
        seen: set[str] = set()
        for key, value in node.value:
            name = key.value if key.id == "scalar" else ""
            if name not in known:
                reason = f"unknown key {name[:40]!r} in {what}"
                raise self.error(key, reason, f"use {', '.join(known)}")
            if name in seen:
                raise self.error(key, f"{what} has {name!r} twice", "keep one of them")
            seen.add(name)
            yield name, value

    def text(self, node: Any, what: str, tags: AbstractSet[str] = _TEXTS) -> str:
        """The text of a scalar with whitespace normalised; "" for null."""
        if node.id == "scalar" and node.tag == _NULL:
            return ""
        if node.id != "scalar" or node.tag not in tags:
            raise self.error(node, f"{what} is not text", "put it between quotes")
        return " ".join(node.value.split())

    def texts(self, node: Any, what: str) -> tuple[str, ...]:
        if node.id != "sequence":
            raise self.error(node, f"{what} is not a list", f"write {what}: [...]")
        found = [self.text(each, f"an entry of {what}") for each in node.value]
        for each, text in zip(node.value, found, strict=True):
            if not text:
                raise self.error(each, f"an entry of {what} is empty", "fill it in or take it out")
        return tuple(dict.fromkeys(found))

    def rows(self, node: Any) -> Iterator[Label]:
        if node.id == "scalar" and node.tag == _NULL:
            return
        if node.id != "sequence":
            raise self.error(node, "'queries' is not a list", "begin each query with '- query:'")
        lines: dict[str, int] = {}
        for each in node.value:
            row = self._row(each)
            if row.id in lines:
                reason = f"the id {row.id[:60]!r} stands in line {lines[row.id]} already"
                raise self.error(each, reason, "give each query an id of its own")
            lines[row.id] = row.line
            yield row

    def _row(self, node: Any) -> Label:
        values = dict(self.entries(node, _KEYS, "a query"))
        text = self.text(values["query"], "the query") if "query" in values else ""
        if not text:
            raise self.error(node, "a query has no text", "write it behind 'query:'")
        named = self.text(values["id"], "the id", _TEXTS | _NUMBERS) if "id" in values else ""
        given = [n for n in _LISTS if n in values and values[n].tag != _NULL]
        lists = {name: self.texts(values[name], name) for name in given}
        tags = {name: self.text(values[name], name) for name in _TAGS if name in values}
        line, is_labelled = node.start_mark.line + 1, bool(lists)
        fields = {**lists, **tags, "is_labelled": is_labelled, "line": line}
        return Label(named or id_of(text), text)._replace(**fields)


_HEADER = "# Queries of this memory and what answers them; see docs/evaluation.md.\n"


def edit(
    text: str, change: Mapping[str, Label | None] | None = None, fresh: Sequence[Label] = ()
) -> str:
    r"""Replace or remove (None) queries by id, and append the ``fresh`` ones.

    Comments between queries stay; those inside a replaced query are lost. If queries are not on lines
    of their own, the whole list is written anew under the comments at the start of the file.

    >>> print(edit("queries:\n- query: a  # mine\n  evidence: []\n",
    ...     fresh=[Label("q2", "b", memories=("m1",))]), end="")
    queries:
    - query: a  # mine
      evidence: []
    - id: "q2"
      query: "b"
      memories: ["m1"]
    """
    before = parse(text, NAME)
    changed = change or {}
    rows = [changed.get(row.id, row) for row in before.rows]
    wanted = [*(row for row in rows if row is not None), *fresh]
    edited = _edit_lines(text, before.rows, changed, fresh)
    if _has_exactly(edited, wanted):
        return edited
    comments = takewhile(lambda line: line.startswith("#"), text.split("\n"))
    head = "".join(f"{line}\n" for line in comments)
    named = f"store: {dump(before.store)}\n" if before.store else ""
    return f"{head or _HEADER}{named}queries:\n{''.join(map(render, wanted))}"


def _edit_lines(
    text: str, rows: Sequence[Label], changed: Mapping[str, Label | None], fresh: Sequence[Label]
) -> str:
    """Edit line by line, from the last query up; correct if each begins on a line of its own."""
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    starts = [*(row.line - 1 for row in rows), len(lines)]
    added = "".join(map(render, fresh))
    for row, start, stop in reversed([*zip(rows, starts, starts[1:], strict=False)]):
        own = (n for n in range(stop, start, -1) if lines[n - 1].partition("#")[0].strip())
        end = next(own, start)
        lines[end:end], added = [added], ""
        if row.id in changed:
            new = changed[row.id]
            lines[start:end] = [] if new is None else [render(new)]
    return "".join(lines)


def _has_exactly(text: str, rows: Sequence[Label]) -> bool:
    """Whether a text has exactly these queries, in any notation."""
    try:
        found = parse(text, NAME).rows
    except BadInputError:
        return False
    bare = [[row._replace(line=0) for row in each] for each in (found, rows)]
    return bare[0] == bare[1]


def render(label: Label) -> str:
    """Render a query; texts are JSON strings, which are also YAML."""
    parts = [f"id: {dump(label.id)}", f"query: {dump(label.text)}"]
    values = {name: getattr(label, name) for name in (*_LISTS, *_TAGS)}
    parts += [f"{name}: {dump(value)}" for name, value in values.items() if value]
    if label.is_labelled and not label.has_gold:
        parts.append("evidence: []")
    return "- " + "\n  ".join(parts) + "\n"
