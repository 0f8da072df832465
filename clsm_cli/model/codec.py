"""Records as JSON mappings and back: one table of fields per record type.

A mapping holds ``id``, ``record`` (which type), ``rev`` and then only what differs from the
default, in the order of the dataclass. Keys that this program does not know are kept in ``extra``
and written back at the end.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from clsm_cli.model.episodes import Block, Document, EpisodeRecord, Observation, OpenQuestion
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.readers import READERS, Record, RecordError, Value

__all__ = ["RECORD_TYPES", "TYPE_NAMES", "Record", "RecordError", "decode", "encode"]

RECORD_TYPES: dict[str, type[Record]] = {
    "episode": EpisodeRecord,
    "document": Document,
    "statement": Statement,
    "node": Node,
    "edge": Edge,
}
TYPE_NAMES: dict[type[Record], str] = {cls: name for name, cls in RECORD_TYPES.items()}


def decode(mapping: dict[str, Any]) -> Record:
    """The record that a mapping of a shard line describes.

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
    """A field's value as JSON: tuples become lists, floats get at most four decimals."""
    if isinstance(value, float):
        rounded = round(value, 4)
        return int(rounded) if rounded == int(rounded) else rounded
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, (Block, OpenQuestion, Observation)):
        return _plain_part(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def _plain_part(value: Block | OpenQuestion | Observation) -> dict[str, Any]:
    """A part of a record as JSON; what differs from the default only."""
    if isinstance(value, Block):
        plain = {"key": value.key, "lines": [value.line_start, value.line_end]}
        return plain | ({"heading": list(value.heading)} if value.heading else {})
    if isinstance(value, OpenQuestion):
        answer = {"answered_by": value.answered_by} if value.answered_by else {}
        return {"text": value.text} | answer
    plain = {"kind": value.kind, "text": value.text, "key": value.key}
    plain |= {"turns": list(value.turns)}
    return plain | ({"explicit": True} if value.is_explicit else {})


def _defaults(cls: type[Record]) -> list[tuple[str, Any]]:
    """Fields after ``id`` and ``rev`` with their defaults (``{}`` and ``()`` count as empty)."""
    return [
        (f.name, f.default if f.default is not MISSING else {})
        for f in fields(cls)
        if f.name not in ("id", "rev", "extra")
    ]


_DEFAULTS = {cls: _defaults(cls) for cls in TYPE_NAMES}


def encode(record: Record) -> dict[str, Any]:
    """The mapping that describes a record, keys in their fixed order.

    >>> encode(Node(id="mara", rev=(1, "pi"), label="Mara", n=3))
    {'id': 'mara', 'record': 'node', 'rev': [1, 'pi'], 'label': 'Mara', 'n': 3}
    """
    cls = type(record)
    mapping: dict[str, Any] = {
        "id": record.id,
        "record": TYPE_NAMES[cls],
        "rev": list(record.rev),
    }
    for name, default in _DEFAULTS[cls]:
        value = getattr(record, name)
        if value != default and (plain := _plain(value)) != default:  # a float may round to it
            mapping[name] = plain
    for key in sorted(record.extra):
        mapping[key] = record.extra[key]
    return mapping
