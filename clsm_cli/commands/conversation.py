"""Read the file of ``--context``: the current conversation, as a transcript or plain text.

The readers of ``ingest`` read it; nothing is stored.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.errors import BadInputError, DiskError
from clsm_cli.ingestion import sources
from clsm_cli.ingestion.detection import DOCUMENTS
from clsm_cli.ingestion.jsonl_rows import Problem, RawTurn, Reading
from clsm_cli.model.episodes import ROLE_TRUST
from clsm_cli.retrieval.dialogue_context import DialogueTurn
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.detection import Format
    from clsm_cli.ingestion.jsonl_rows import TranscriptItem
    from clsm_cli.ingestion.recalled_text import FenceKey

LARGEST = MAX_MESSAGE
"""Bytes."""
_FORMS = "give a transcript with one JSON message a line, or plain text"
_RECALLED = b"clsm-recall "
"""In every block that clsm recalled (``text.fence_lines``), however its brackets are escaped."""
# A conversation that goes on needs no times and ids; whoever ingests it is told of them.
_NO_MATTER = ("no timestamp", "timestamp")


class Conversation(NamedTuple):
    """What was read, the oldest message first, and what could not be, a sentence each."""

    turns: tuple[DialogueTurn, ...]
    warnings: tuple[str, ...]


def read(
    path: str, *, zone: tzinfo, now: datetime, fence_key: FenceKey = lambda: None
) -> Conversation:
    """The current conversation.

    Left out are the instructions of the system, and what clsm itself had recalled into it where the
    fence verifies.
    """
    name = "standard input" if path == sources.STDIN else path
    data, form = _load(path, name)
    if form in DOCUMENTS:
        _refuse_document(data, name)
        turns, problems = _of_text(data, path, zone, fence_key)
    else:
        source = sources.SourceFile(path, path, form, io.BytesIO(data))
        with sources.open_transcript(source, Reading(path, zone, now, path)) as found:
            items = found
            if _RECALLED in data:
                from clsm_cli.ingestion import recalled_text

                items = recalled_text.strip_items(items, fence_key, path=path)
            turns, problems = _of_transcript(list(items), path)
    if not turns:
        broken = f" that can be read ({_told(problems[0])})" if problems else ""
        raise BadInputError(name, f"holds no message{broken}", _FORMS)
    return Conversation(tuple(turns), tuple(f"{name}, {_told(each)}" for each in problems))


def _load(path: str, name: str) -> tuple[bytes, Format]:
    if path != sources.STDIN and os.path.isdir(path):
        raise BadInputError(name, "is a folder", "name the file of the conversation")
    stdin = None if sys.stdin is None else sys.stdin.buffer
    found = next(iter(sources.find([path], stdin=stdin)))
    if not isinstance(found, sources.SourceFile):
        raise BadInputError(name, found.reason, _FORMS)
    try:
        with found.open() as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise DiskError(name, error.strerror or str(error)) from error
    if len(data) > LARGEST:
        reason = f"is larger than {LARGEST >> 20} MiB"
        raise BadInputError(name, reason, "give the end of the conversation")
    return data, found.format


def _refuse_document(data: bytes, name: str) -> None:
    """A list of messages in one JSON document would be read as text, brackets and all."""
    if data.lstrip()[:1] not in {b"[", b"{"}:
        return
    try:
        json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return
    raise BadInputError(
        name, "is one JSON document, not one JSON object a line", "convert it with: jq -c '.[]'"
    )


def _of_transcript(
    items: Sequence[TranscriptItem], path: str
) -> tuple[list[DialogueTurn], list[Problem]]:
    turns = [
        DialogueTurn(
            item.speaker,
            item.text,
            item.trust or ROLE_TRUST[item.role],
            item.time,
            path,
            item.line_start,
            item.line_end,
            item.foreign_id,
        )
        for item in items
        if isinstance(item, RawTurn) and item.role != "system" and item.text.strip()
    ]
    problems = [item for item in items if isinstance(item, Problem)]
    return turns, [each for each in problems if not each.reason.startswith(_NO_MATTER)]


def _of_text(
    data: bytes, path: str, zone: tzinfo, fence_key: FenceKey
) -> tuple[list[DialogueTurn], list[Problem]]:
    from clsm_cli.ingestion import markdown

    found = markdown.read(data, path=path, zone=zone, fence_key=fence_key)
    if isinstance(found, Problem):
        raise BadInputError(path, found.reason, _FORMS)
    turns = [
        DialogueTurn(
            "", block.text, found.trust, block.time, path, block.line_start, block.line_end
        )
        for block in found.blocks
        if block.text.strip()
    ]
    return turns, list(found.problems)


def _told(problem: Problem) -> str:
    return problem.reason if problem.line is None else f"line {problem.line}: {problem.reason}"
