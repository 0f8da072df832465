"""Many queries in a file: one JSON object a line, ``{"id": …, "query": …, "as_of": …}``."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.errors import BadInputError, DiskError
from clsm_cli.records import NamedTuple


class Row(NamedTuple):
    """One line.

    Attributes:
        id: As it was given, else the number of the line.
        query: The words.
        as_of: Day or time the question is asked from.
        problem: Why it cannot be answered; None if it can.
    """

    id: Any
    query: str = ""
    as_of: str | None = None
    problem: str | None = None


def read(path: str, longest: int) -> list[Row]:
    """The lines of a file; blank ones are left out.

    Args:
        path: Of the file; ``-`` is standard input.
        longest: Characters of a query.

    Raises:
        BadInputError: There is no such file.
        DiskError: It cannot be read.
    """
    name = "standard input" if path == "-" else path
    try:
        if path == "-":
            lines = sys.stdin.buffer.readlines()
        else:
            with open(os.path.expanduser(path), "rb") as file:
                lines = file.readlines()
    except (FileNotFoundError, IsADirectoryError):
        raise BadInputError(path, "no such file", "name a file of queries") from None
    except OSError as error:
        raise DiskError(path, error.strerror or str(error)) from error
    return [
        _row(line, number, name, longest) for number, line in enumerate(lines, 1) if line.strip()
    ]


def _row(line: bytes, number: int, name: str, longest: int) -> Row:
    def bad(row_id: Any, reason: str) -> Row:
        return Row(row_id, problem=f"{name}, line {number}: {reason}; the others were answered")

    if len(line) > MAX_MESSAGE:
        return bad(number, f"longer than {MAX_MESSAGE >> 20} MiB")
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return bad(number, "is no JSON")
    if not isinstance(value, dict) or not isinstance(value.get("id", number), str | int):
        return bad(number, "must be an object whose 'id' is a string or a number")
    row_id, query, as_of = value.get("id", number), value.get("query"), value.get("as_of")
    if not isinstance(query, str) or not 0 < len(query.strip()) <= longest:
        return bad(row_id, f"'query' must be text of 1 to {longest} characters")
    if as_of is not None and not _is_time(as_of):
        return bad(row_id, "'as_of' must be a day or time like 2026-02-24")
    return Row(row_id, query.strip().encode("utf-8", "replace").decode(), as_of)


def _is_time(value: Any) -> bool:
    from datetime import datetime

    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True
