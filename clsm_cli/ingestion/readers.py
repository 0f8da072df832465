"""The reader of each format of transcripts."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.jsonl_rows import check_items, row_items
from clsm_cli.ingestion.sources import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from clsm_cli.ingestion.incremental import Tail
    from clsm_cli.ingestion.jsonl_rows import Reading, TranscriptItem

_ROWS = {
    "jsonl": "generic_jsonl",
    "openclaw": "openclaw_transcripts",
    "claude-code": "claude_transcripts",
    "signal": "messengers",
}
"""Formats of one JSON object a line, and the modules whose ``row_reader`` reads one."""
_WHOLE = {"smriti": "smriti", "export": "exports", "chat": "chat_text", "telegram": "messengers"}
"""Formats that are one document, and the modules whose ``items`` reads it."""


@contextlib.contextmanager
def open_transcript(
    source: SourceFile | Tail, about: Reading
) -> Iterator[Iterator[TranscriptItem]]:
    """The items of a transcript of any format but Markdown, in its order, while it is open."""
    if isinstance(source, SourceFile) and source.format in _WHOLE:
        opened: AbstractContextManager[Any] = source.open()
    else:
        opened = source.lines()
    with opened as content:
        yield items_of(source.format, content, about)


def items_of(format: str, content: Any, about: Reading) -> Iterator[TranscriptItem]:  # noqa: A002
    """The items of a stream, or of the lines of a transcript that has rows."""
    module = import_module(f"clsm_cli.ingestion.{_WHOLE.get(format) or _ROWS[format]}")
    if format in _WHOLE:
        items = module.items(content, about)
    else:
        items = row_items(content, module.row_reader(about), about)
    return check_items(items, about)
