"""The reader of each format of transcripts."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion import claude_transcripts, generic_jsonl, openclaw_transcripts, signal_cli
from clsm_cli.ingestion.sources import SourceFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.incremental import Tail
    from clsm_cli.ingestion.jsonl_rows import TranscriptItem

_WHOLE = {"smriti": "smriti", "export": "exports", "chat": "chat_text", "telegram": "telegram"}
"""Formats that are read whole, and their modules."""


def _none(_session: str) -> Iterable[str]:
    return ()


@contextlib.contextmanager
def open_transcript(
    source: SourceFile | Tail,
    *,
    zone: tzinfo,
    now: datetime,
    session: str,
    known_clsm_calls: Callable[[str], Iterable[str]] = _none,
    day_first: bool | None = None,
) -> Iterator[Iterator[TranscriptItem]]:
    """The items of a transcript, in its order, while it is open.

    Args:
        source: Of any format but Markdown.
        zone: The store's time zone.
        now: What lies after it is reported as in the future.
        session: Of what names none.
        known_clsm_calls: As for ``openclaw_transcripts.read``.
        day_first: As for ``chat_text.read``.

    Raises:
        OSError: It cannot be read.
    """
    told: Any = {"path": source.path, "zone": zone, "now": now, "session": session}
    if isinstance(source, SourceFile) and source.format in _WHOLE:
        # One document, and not a line after the other.
        if source.format in {"export", "chat"}:
            told["day_first"] = day_first
        with source.open() as stream:
            yield import_module(f"clsm_cli.ingestion.{_WHOLE[source.format]}").read(stream, **told)
        return
    with source.lines() as lines:
        if source.format == "jsonl":
            yield generic_jsonl.read(lines, **told)
            return
        if source.format == "signal":
            yield signal_cli.read(lines, **told)
            return
        read = openclaw_transcripts.read if source.format == "openclaw" else claude_transcripts.read
        yield read(lines, **told, known_clsm_calls=known_clsm_calls)
