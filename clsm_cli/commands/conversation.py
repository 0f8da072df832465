"""Read the file of ``--context``: the current conversation, as a transcript or plain text.

It uses the readers of ``ingest`` and stores nothing.
"""

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable
from datetime import datetime, tzinfo

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.errors import BadInputError, DiskError
from clsm_cli.ingestion import sources
from clsm_cli.ingestion.detection import DOCUMENTS, Format
from clsm_cli.ingestion.jsonl_rows import FenceKey, Problem, RawTurn, Reading, TranscriptItem
from clsm_cli.startup.records import NamedTuple

_FORMS = "give a transcript with one JSON message a line, or plain text"


class Conversation(NamedTuple):
    """Texts of messages, oldest first, and warnings about unreadable ones, a sentence each."""

    messages: tuple[str, ...]
    warnings: tuple[str, ...]


def read(
    path: str, *, zone: tzinfo, now: datetime, fence_key: FenceKey = lambda: None
) -> Conversation:
    """The current conversation.

    System instructions, and recalled blocks whose fence verifies, are left out.
    """
    name = "standard input" if path == sources.STDIN else path
    data, form = _load(path, name)
    if form in DOCUMENTS:
        messages, problems = _paragraphs(data, path, name, zone, fence_key)
    else:
        source = sources.SourceFile(path, path, form, io.BytesIO(data))
        about = Reading(path, zone, now, path, fence_key=fence_key)
        with source.items(about) as items:
            messages, problems = _texts(items)
    if not messages:
        broken = f" that can be read ({_problem_text(problems[0])})" if problems else ""
        raise BadInputError(name, f"holds no message{broken}", _FORMS)
    return Conversation(
        tuple(messages), tuple(f"{name}, {_problem_text(each)}" for each in problems)
    )


def _load(path: str, name: str) -> tuple[bytes, Format]:
    if path != sources.STDIN and os.path.isdir(path):
        raise BadInputError(name, "is a folder", "name the file of the conversation")
    stdin = None if sys.stdin is None else sys.stdin.buffer
    found = next(iter(sources.find([path], stdin=stdin)))
    if not isinstance(found, sources.SourceFile):
        raise BadInputError(name, found.reason, _FORMS)
    try:
        with found.open() as stream:
            data = stream.read(MAX_MESSAGE + 1)
    except OSError as error:
        raise DiskError(name, error.strerror or str(error)) from error
    if len(data) > MAX_MESSAGE:
        reason = f"is larger than {MAX_MESSAGE >> 20} MiB"
        raise BadInputError(name, reason, "give the end of the conversation")
    return data, found.format


def _texts(items: Iterable[TranscriptItem]) -> tuple[list[str], list[Problem]]:
    texts, problems = [], []
    for item in items:
        if isinstance(item, Problem):
            # An open conversation needs no times; ingest reports missing ones.
            problems += [] if item.reason.startswith("no timestamp") else [item]
        elif isinstance(item, RawTurn) and item.role != "system" and item.text.strip():
            texts.append(item.text)
    return texts, problems


def _paragraphs(
    data: bytes, path: str, name: str, zone: tzinfo, fence_key: FenceKey
) -> tuple[list[str], list[Problem]]:
    from clsm_cli.ingestion import markdown

    if data.lstrip()[:1] in {b"[", b"{"}:
        with contextlib.suppress(ValueError, RecursionError):
            json.loads(data.decode("utf-8", "replace"))
            reason = "is one JSON document, not one JSON object a line"
            raise BadInputError(name, reason, "convert it with: jq -c '.[]'")
    found = markdown.read(data, path=path, zone=zone, fence_key=fence_key)
    if isinstance(found, Problem):
        raise BadInputError(path, found.reason, _FORMS)
    return [block.text for block in found.blocks if block.text.strip()], list(found.problems)


def _problem_text(problem: Problem) -> str:
    return problem.reason if problem.line is None else f"line {problem.line}: {problem.reason}"
