"""Encode records as JSON mappings and decode them, with one table of fields per record type.

A mapping has ``id``, ``record`` (the type), ``rev`` and then the fields that differ from their
defaults, in the order of the dataclass. Unknown keys are kept in ``extra`` and written back at the end.
First the readers, one per kind of field, then ``decode`` and ``encode``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, get_args

from clsm_cli.model.episodes import Block, Document, EpisodeRecord, OpenQuestion, Stage
from clsm_cli.model.graph import Edge, Node, Statement, StatementKind, TaskState
from clsm_cli.model.ids import is_id
from clsm_cli.model.streams import Stream
from clsm_cli.model.trust import Trust

Record = EpisodeRecord | Document | Statement | Node | Edge
Value = Any
_MAX_WHOLE = 2**53  # beyond it, JSON and YAML readers of other programs round
_TEXT = frozenset([str])
Reader = Callable[[Value], Value]


class RecordError(ValueError):
    """A mapping is not a record; the text says which field is wrong, and what it should be."""


def _text(value: Value) -> str:
    if type(value) is not str:
        raise RecordError("must be text")
    return value


def _whole(value: Value) -> int:
    if type(value) is not int or not -_MAX_WHOLE <= value <= _MAX_WHOLE:
        raise RecordError("must be a whole number of at most 53 bits")
    return value


def _number(value: Value) -> float:
    if type(value) not in (int, float) or not -_MAX_WHOLE <= value <= _MAX_WHOLE:
        raise RecordError("must be a number")
    return float(value)


def _flag(value: Value) -> bool:
    if type(value) is not bool:
        raise RecordError("must be true or false")
    return value


def _texts(value: Value) -> tuple[str, ...]:
    if type(value) is not list or not _TEXT.issuperset(map(type, value)):
        raise RecordError("must be a list of texts")
    return tuple(value)


def _text_set(value: Value) -> tuple[str, ...]:
    return tuple(sorted(set(_texts(value))))


def _rev(value: Value) -> tuple[int, str]:
    if type(value) is not list or len(value) != 2 or type(value[1]) is not str:
        raise RecordError("must be [number, device]")
    return (_whole(value[0]), value[1])


def _mapping(read: Reader) -> Reader:
    def reader(value: Value) -> dict[str, Any]:
        if type(value) is not dict or not all(type(key) is str for key in value):
            raise RecordError("must be a mapping")
        return {key: read(value[key]) for key in sorted(value)}

    return reader


def _closure(value: Value) -> tuple[str, str]:
    pair = _texts(value)
    if len(pair) != 2:
        raise RecordError("must be [time, key of the successor or empty]")
    return (pair[0], pair[1])


def _mappings(value: Value) -> list[dict[str, Any]]:
    if type(value) is not list or not all(type(item) is dict for item in value):
        raise RecordError("must be a list of mappings")
    return value


def _block(item: dict[str, Any]) -> Block:
    lines = item.get("lines", [0, 0])
    if type(lines) is not list or len(lines) != 2:
        raise RecordError("must hold 'lines' as [first, last]")
    return Block(
        key=_text(item.get("key")),
        line_start=_whole(lines[0]),
        line_end=_whole(lines[1]),
        heading=_texts(item.get("heading", [])),
    )


def _question(item: dict[str, Any]) -> OpenQuestion:
    return OpenQuestion(_text(item.get("text")), _optional(_text)(item.get("answered_by")))


def _one_of(names: tuple[str, ...]) -> Reader:
    allowed = frozenset(names)

    def reader(value: Value) -> Value:
        if type(value) is not str or value not in allowed:
            raise RecordError(f"must be one of {', '.join(names)}")
        return value

    return reader


def _optional(read: Reader) -> Reader:
    return lambda value: None if value is None else read(value)


def _identifier(value: Value) -> str:
    if not is_id(value):
        raise RecordError("must match [a-z0-9][a-z0-9_-]{0,79}")
    return str(value)


RECORD_TYPES: dict[str, type[Record]] = {
    "episode": EpisodeRecord,
    "document": Document,
    "statement": Statement,
    "node": Node,
    "edge": Edge,
}
_BY_TYPE: dict[str, Reader] = {
    "str": _text,
    "str | None": _optional(_text),
    "int": _whole,
    "float": _number,
    "bool": _flag,
    "tuple[int, str]": _rev,
    "tuple[str, ...]": _text_set,
    "dict[str, tuple[str, ...]]": _mapping(_text_set),
    "dict[str, tuple[str, str]]": _mapping(_closure),
    "tuple[Block, ...]": lambda value: tuple(_block(item) for item in _mappings(value)),
    "tuple[OpenQuestion, ...]": lambda value: tuple(_question(item) for item in _mappings(value)),
    "Stage": _one_of(get_args(Stage)),
    "Stream": _one_of(get_args(Stream)),
    "StatementKind": _one_of(get_args(StatementKind)),
    "TaskState | None": _optional(_one_of(get_args(TaskState))),
    "Trust": _one_of(get_args(Trust)),
}
"""Reader of a field, by its annotation; texts are sets, except those in ``_IN_ORDER``."""
_IN_ORDER = {(EpisodeRecord, "decisions"), (Node, "sources")}


def _reader(cls: type[Record], field: Field[Any]) -> Reader:
    if field.name == "id":
        return _identifier
    return _texts if (cls, field.name) in _IN_ORDER else _BY_TYPE[str(field.type)]


READERS: dict[type[Record], dict[str, Reader]] = {
    cls: {field.name: _reader(cls, field) for field in fields(cls) if field.name != "extra"}
    for cls in RECORD_TYPES.values()
}
TYPE_NAMES: dict[type[Record], str] = {cls: name for name, cls in RECORD_TYPES.items()}


def decode(mapping: dict[str, Any]) -> Record:
    """Decode the mapping of a shard line.

    Raises:
        RecordError: ``record`` names no known type, or a field has the wrong form.
    """
    name = mapping.get("record")
    cls = RECORD_TYPES.get(name) if isinstance(name, str) else None
    if cls is None:
        raise RecordError(f"field 'record' must be one of {', '.join(RECORD_TYPES)}")
    readers = READERS[cls]
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in mapping.items():
        reader = readers.get(key)
        if reader is not None:
            try:
                values[key] = reader(value)
            except RecordError as error:
                raise RecordError(f"field {key!r} {error}") from None
        elif key != "record":
            extra[key] = value
    if "id" not in values or "rev" not in values:
        raise RecordError("fields 'id' and 'rev' are required")
    return cls(**values, extra=extra) if extra else cls(**values)


def _plain(value: Value) -> Value:
    """A field's value as JSON, parts without defaults: tuples as lists, floats with four decimals."""
    if isinstance(value, float):
        rounded = round(value, 4)
        return int(rounded) if rounded == int(rounded) else rounded
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Block):
        heading = {"heading": list(value.heading)} if value.heading else {}
        return {"key": value.key, "lines": [value.line_start, value.line_end]} | heading
    if isinstance(value, OpenQuestion):
        answer = {"answered_by": value.answered_by} if value.answered_by else {}
        return {"text": value.text} | answer
    return value


_DEFAULTS: dict[type[Record], list[tuple[str, Any]]] = {
    cls: [
        (f.name, f.default if f.default is not MISSING else {})
        for f in fields(cls)
        if f.name not in ("id", "rev", "extra")
    ]
    for cls in TYPE_NAMES
}
"""Fields after ``id`` and ``rev`` with their defaults."""


def encode(record: Record) -> dict[str, Any]:
    """Encode a record as a mapping, keys in their fixed order.

    >>> encode(Node(id="mara", rev=(1, "pi"), label="Mara", n=3))
    {'id': 'mara', 'record': 'node', 'rev': [1, 'pi'], 'label': 'Mara', 'n': 3}
    """
    cls = type(record)
    mapping: dict[str, Any] = {"id": record.id, "record": TYPE_NAMES[cls], "rev": list(record.rev)}
    for name, default in _DEFAULTS[cls]:
        value = getattr(record, name)
        # A float may round to the default.
        if value != default and (plain := _plain(value)) != default:
            mapping[name] = plain
    for key in sorted(record.extra):
        mapping[key] = record.extra[key]
    return mapping
