"""A result as JSON and back: the file ``report.json`` (schema ``clsm.eval/1``).

The classes of ``result`` are the schema: what is read must be exactly what they say, field by field,
since a file may come from anywhere.
"""

from __future__ import annotations

import json
import os
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, NoReturn, Union, get_args, get_origin, get_type_hints

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.result import SCHEMA, Result
from clsm_cli.store import jsonlines
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from pathlib import Path

MAX_REPORT = 256 << 20
"""Bytes of a report; one of ten conversations with every system has about 20 MB."""
_NEXT = "give the report.json of a run: clsm eval run --out FOLDER"


class NotAResultError(ValueError):
    """A value is not what its place in a result must hold; the text says where and why."""


def dump(result: Result) -> dict[str, Any]:
    """A result as JSON values.

    Raises:
        NotAResultError: A number in it is not finite.
    """
    found: dict[str, Any] = _dumped(result, "")
    return found


def parse(value: Any) -> Result:
    """A result from JSON values.

    Raises:
        NotAResultError: It is none, or one of another schema.
    """
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema != SCHEMA:
        _refuse("schema", f"is {_shown(schema)}, not {SCHEMA!r}")
    found: Result = _parsed(Result, value, "")
    return found


def load(path: Path) -> Result:
    """Read a report.

    Raises:
        BadInputError: It is missing, cannot be read, is no JSON, or no result of this schema.
    """
    data = _read(path)
    try:
        return parse(jsonlines.load(data.decode("utf-8"), MAX_REPORT))
    except UnicodeDecodeError:
        raise BadInputError(str(path), "is not UTF-8", _NEXT) from None
    except (jsonlines.LineError, NotAResultError) as error:
        raise BadInputError(str(path), str(error), _NEXT) from None


def _read(path: Path) -> bytes:
    if not os.path.isfile(path):  # unlike the method of paths, false where it may not look
        reason = "is no file" if os.path.lexists(path) else "is missing"
        raise BadInputError(str(path), reason, _NEXT)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_REPORT + 1)
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise BadInputError(str(path), reason, "check its permissions") from error
    if len(data) > MAX_REPORT:
        raise BadInputError(str(path), f"is larger than {MAX_REPORT >> 20} MiB", _NEXT)
    return data


def _dumped(value: Any, where: str) -> Any:
    if is_dataclass(value):
        return {
            each.name: _dumped(getattr(value, each.name), _below(where, each.name))
            for each in fields(value)
        }
    if isinstance(value, dict):
        return {key: _dumped(each, _below(where, key)) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_dumped(each, f"{where}[{place}]") for place, each in enumerate(value)]
    if isinstance(value, float) and not isfinite(value):
        _refuse(where, "is no finite number")
    return value


def _parsed(wanted: Any, value: Any, where: str) -> Any:
    """A value of a type of ``result``: a class, a dict, a tuple, a union, or a plain value."""
    if is_dataclass(wanted):
        return _of_class(wanted, value, where)
    origin, inside = get_origin(wanted), get_args(wanted)
    if origin is dict:
        if not isinstance(value, dict):
            _refuse(where, "must be an object")
        return {
            _parsed(str, key, where): _parsed(inside[1], each, _below(where, key))
            for key, each in value.items()
        }
    if origin is tuple:
        return _of_tuple(inside, value, where)
    if origin in (Union, UnionType):
        return _of_union(inside, value, where)
    return _plain(wanted, value, where)


def _of_class(wanted: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        _refuse(where, "must be an object")
    known = _fields_of(wanted)
    if unknown := sorted(value.keys() - known.keys()):
        _refuse(where, f"has a field {_shown(unknown[0])} that is none of {SCHEMA}")
    if missing := sorted(known.keys() - value.keys()):
        _refuse(where, f"has no field {missing[0]!r}")
    return wanted(
        **{
            name: _parsed(inside, value[name], _below(where, name))
            for name, inside in known.items()
        }
    )


@cache
def _fields_of(wanted: Any) -> dict[str, Any]:
    """Field → type, of a class of ``result``."""
    hints = get_type_hints(wanted)
    return {each.name: hints[each.name] for each in fields(wanted)}


def _of_tuple(inside: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    """``tuple[X, ...]``, or one of a fixed length."""
    if not isinstance(value, list):
        _refuse(where, "must be a list")
    kinds = [inside[0]] * len(value) if inside[1:] == (...,) else list(inside)
    if len(kinds) != len(value):
        _refuse(where, f"must have {len(kinds)} values, not {len(value)}")
    return tuple(
        _parsed(kind, each, f"{where}[{place}]")
        for place, (kind, each) in enumerate(zip(kinds, value, strict=True))
    )


def _of_union(inside: tuple[Any, ...], value: Any, where: str) -> Any:
    """The first kind that the value is; None is one of its own."""
    if value is None and NoneType in inside:
        return None
    kinds = [kind for kind in inside if kind is not NoneType]
    for kind in kinds[:-1]:
        try:
            return _parsed(kind, value, where)
        except NotAResultError:
            continue
    return _parsed(kinds[-1], value, where)


def _plain(wanted: Any, value: Any, where: str) -> Any:
    if wanted is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            _refuse(where, "is too large a number")
    if type(value) is not wanted:
        names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
        _refuse(where, f"must be {names[wanted]}")
    return value


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _shown(value: Any) -> str:
    return json.dumps(value)[:80]


def _refuse(where: str, reason: str) -> NoReturn:
    raise NotAResultError(safe(f"{where[:200] or 'the report'} {reason}"))
