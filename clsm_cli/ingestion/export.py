"""What ChatGPT and Claude give their users: ``conversations.json``, or the archive that holds it.

One JSON document, a list of conversations. One of ChatGPT is a tree of messages (``mapping``) whose
current branch ends at ``current_node``; one of Claude is a list of messages (``chat_messages``). As a
conversation may be given another title, its id is the session; the number of a message in it stands
for a line.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO

from clsm_cli.ingestion import export_chatgpt, export_claude
from clsm_cli.ingestion.detection import ZIP, is_archive, is_export_name
from clsm_cli.ingestion.items import Problem
from clsm_cli.ingestion.rows import Tally, watched
from clsm_cli.store.jsonlines import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.items import TranscriptItem

LARGEST = 256 << 20
"""Bytes of a document: it is read whole, and takes several times as much memory."""
_NOTHING = "holds no conversations of ChatGPT or Claude"


def read(
    stream: BinaryIO, *, path: str, zone: tzinfo, now: datetime, session: str
) -> Iterator[TranscriptItem]:
    """The turns, dropped messages and problems of an export, one conversation after the other.

    Args:
        stream: The file.
        path: As it was given, for problems.
        zone: The store's time zone.
        now: What lies after it is reported as in the future.
        session: Of a conversation without an id.
    """
    tally = Tally()
    items = _items(stream, path, zone, session, tally)
    yield from watched(items, path=path, now=now, tally=tally)


def _items(
    stream: BinaryIO, path: str, zone: tzinfo, session: str, tally: Tally
) -> Iterator[TranscriptItem]:
    for found in _documents(stream, path):
        if isinstance(found, Problem):
            yield found
            continue
        document = _loaded(found)
        if not isinstance(document, list):
            yield Problem(path, None, document)
            continue
        for number, conversation in enumerate(document, 1):
            reader = _reader_of(conversation)
            if reader is None:
                yield Problem(path, None, f"conversation {number} is none that clsm knows")
            else:
                yield from reader.items(conversation, zone=zone, session=session, tally=tally)


def _reader_of(conversation: Any) -> Any:
    if isinstance(conversation, dict):
        if isinstance(conversation.get("mapping"), dict):
            return export_chatgpt
        if isinstance(conversation.get("chat_messages"), list):
            return export_claude
    return None


def _documents(stream: BinaryIO, path: str) -> Iterator[bytes | Problem]:
    """The documents of a file: itself, or those of an archive."""
    head = stream.read(len(ZIP))
    if not is_archive(head):
        yield _bounded(head + stream.read(LARGEST + 1 - len(head)), path)
        return
    if not stream.seekable():
        stream = io.BytesIO(head + stream.read(LARGEST + 1))
    try:
        with zipfile.ZipFile(stream) as archive:
            names = sorted(name for name in archive.namelist() if is_export_name(name))
            if not names:
                yield Problem(path, None, _NOTHING)
            for name in names:
                with archive.open(name) as member:
                    yield _bounded(member.read(LARGEST + 1), f"{path}#{name}")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        yield Problem(path, None, f"archive that cannot be read ({str(error).lower()})")


def _bounded(data: bytes, path: str) -> bytes | Problem:
    if len(data) <= LARGEST:
        return data
    return Problem(path, None, f"larger than {LARGEST >> 20} MiB, split its list of conversations")


def _loaded(data: bytes) -> Any:
    """The list of conversations, or why there is none."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    try:
        document = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            document = without_surrogates(document)
    except ValueError as error:
        return f"not JSON ({str(error).lower()})"
    except RecursionError:
        return "JSON that is nested too deeply"
    return document if isinstance(document, list) else _NOTHING
