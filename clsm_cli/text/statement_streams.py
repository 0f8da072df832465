"""The stream of a statement.

What the sentence is about decides: who somebody is (identity), how something is built, used or decided
(projects), what to do by when (tasks); anything else is an event (flow). Rows of ``statement_streams.tsv``
give points, and the largest sum wins.
"""

from functools import cache
from typing import cast

from clsm_cli.model.grouping import grouped
from clsm_cli.model.streams import Stream
from clsm_cli.text.language_data import compiled, table_rows


@cache
def _rows() -> dict[Stream, list[tuple[float, str]]]:
    """Points and patterns by stream; only patterns of names, which have capitals, are case-sensitive."""
    rows = table_rows("statement_streams")
    return grouped(
        (cast("Stream", stream), (float(points), text if "[A-Z]" in text else f"(?i){text}"))
        for stream, points, text in rows
    )


def stream_of(sentence: str) -> Stream:
    """The stream of a statement.

    >>> stream_of("Ann is allergic to nuts."), stream_of("The permit is due on 3 May.")
    ('identity', 'tasks')
    >>> stream_of("The backup runs on the new server."), stream_of("Ann visited Rome last week.")
    ('projects', 'flow')
    """
    points = {
        stream: sum(weight for weight, form in table if compiled(form).search(sentence))
        for stream, table in _rows().items()
    }
    best = max(points, key=points.__getitem__)
    return best if points[best] > 0 else "flow"
