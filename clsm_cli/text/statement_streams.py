"""Which of the four streams a statement belongs to.

A stream is chosen by what the sentence does: who somebody is (identity), how something is built,
used or decided (projects), what is to be done by when (tasks); all else is what happened (flow).
Rows of ``statement_streams.tsv`` give points, and the largest sum wins.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, cast

from clsm_cli.text.language_data import table_rows

if TYPE_CHECKING:
    from clsm_cli.model.streams import Stream


@cache
def _rows() -> dict[Stream, list[tuple[float, str]]]:
    found: dict[Stream, list[tuple[float, str]]] = {}
    for stream, points, pattern in table_rows("statement_streams"):
        found.setdefault(cast("Stream", stream), []).append((float(points), pattern))
    return found


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern; a name has its capital, so only they are read with regard to case."""
    return re.compile(pattern, 0 if "[A-Z]" in pattern else re.IGNORECASE)


def stream_of(sentence: str, *, is_task: bool = False) -> Stream:
    """The stream of a plain statement.

    >>> stream_of("Ann is allergic to nuts."), stream_of("The permit is due on 3 May.")
    ('identity', 'tasks')
    >>> stream_of("The backup runs on the new server."), stream_of("Ann visited Rome last week.")
    ('projects', 'flow')
    """
    if is_task:
        return "tasks"
    best: Stream = "flow"
    most = 0.0
    for stream, table in _rows().items():
        points = sum(weight for weight, pattern in table if _compiled(pattern).search(sentence))
        if points > most:
            best, most = stream, points
    return best
