"""What loaders share: turns to remember, and how files of a set are read and refused."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders import files
from clsm_cli.store import yaml_text
from clsm_cli.store.jsonlines import LineError, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Value = TypeVar("Value")
_KINDS: dict[type, str] = {str: "text", list: "list", dict: "object"}


@dataclass(frozen=True, slots=True)
class Said:
    """One turn.

    Attributes:
        id: Its id in the set.
        role: ``user`` or ``assistant``; people who talk to each other are both ``user``.
        time: ISO 8601 with offset.
        unit: What gold labels name: the turn itself in LoCoMo, its day in GVD.
    """

    id: str
    speaker: str
    role: str
    text: str
    time: str
    session: str
    unit: str


def load_json(path: Path) -> Any:
    """The JSON value of a file; half of a surrogate pair, which no file can hold, becomes U+FFFD.

    Raises:
        BadInputError: It cannot be read, or is not JSON.
    """
    data = files.read(path)
    try:
        return without_surrogates(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise not_json(path, error) from error


def load_rows(path: Path) -> list[Any]:
    """The list that a YAML file holds.

    Raises:
        BadInputError: It cannot be read, is not YAML, or holds something else.
    """
    data = files.read(path)
    try:
        rows = yaml_text.load(data.decode("utf-8"), MAX_FILE, values=None)
    except (LineError, UnicodeDecodeError) as error:
        raise BadInputError(str(path), str(error), "mend it") from error
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise malformed(path, "it holds no list")
    return rows


def field(row: Any, name: str, kind: type[Value]) -> Value:
    """What an object calls by a name.

    Raises:
        ValueError: It is no object, has no such field, or one of another type.

    >>> field({"text": "Hi"}, "text", str)
    'Hi'
    """
    if not isinstance(row, dict):
        raise ValueError("it is no object")
    if name not in row:
        raise ValueError(f"it has no {name}")
    value = row[name]
    if not isinstance(value, kind):
        raise ValueError(f"{name} is no {_KINDS.get(kind, kind.__name__)}")
    return value


def id_of(row: Any) -> str:
    """The id of a row that a person wrote, where 3 is as good as "3".

    Raises:
        ValueError: It is no object, or has none.
    """
    if not isinstance(row, dict):
        raise ValueError("it is no object")
    identity = row.get("id")
    if not isinstance(identity, (str, int)) or not str(identity).strip():
        raise ValueError("it has no id")
    return str(identity)


def answer_of(row: dict[str, Any]) -> str:
    """The right answer as text: sets give years and counts as numbers; empty: none is given."""
    answer = row.get("answer")
    return str(answer) if isinstance(answer, (str, int, float)) else ""


@contextlib.contextmanager
def reading(path: Path, where: str) -> Iterator[None]:
    """What is wrong with a part of a file becomes an error that names both.

    Raises:
        BadInputError: For a ``ValueError`` inside.
    """
    try:
        yield
    except ValueError as error:
        raise malformed(path, f"{where}: {error}") from error


def malformed(path: Path, what: str) -> BadInputError:
    """The error for a file that is JSON or YAML but not of this set."""
    return BadInputError(
        str(path), f"is not laid out like the set: {what}", "see docs/evaluation.md for the layout"
    )


def not_json(path: Path, error: Exception) -> BadInputError:
    """The error for a file that no parser reads."""
    return BadInputError(str(path), f"is not JSON ({error})", "get the file again")
