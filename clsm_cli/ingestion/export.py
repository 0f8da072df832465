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
from clsm_cli.ingestion.detection import CHAT, TELEGRAM, ZIP, is_archive, is_export_name
from clsm_cli.ingestion.items import Problem
from clsm_cli.ingestion.rows import Tally, watched
from clsm_cli.store.jsonlines import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.items import TranscriptItem

LARGEST = 256 << 20
"""Bytes of a document: it is read whole, and takes several times as much memory."""
_NOTHING = "holds no conversation that clsm knows"


def read(
    stream: BinaryIO,
    *,
    path: str,
    zone: tzinfo,
    now: datetime,
    session: str,
    day_first: bool | None = None,
) -> Iterator[TranscriptItem]:
    """The turns, dropped messages and problems of an export, one conversation after the other.

    An archive may hold a chat instead, as WhatsApp and Telegram pack theirs.

    Args:
        stream: The file.
        path: As it was given, for problems.
        zone: The store's time zone.
        now: What lies after it is reported as in the future.
        session: Of a conversation without an id.
        day_first: As for ``chat_text.read``.
    """
    told: Any = {"path": path, "zone": zone, "now": now, "session": session}
    tally = Tally()
    for name, found in _documents(stream, path):
        if isinstance(found, Problem):
            yield found
        elif name.endswith(CHAT):
            from clsm_cli.ingestion import chat_text

            yield from chat_text.read(io.BytesIO(found), **told, day_first=day_first)
        elif name.endswith(TELEGRAM):
            from clsm_cli.ingestion import telegram

            yield from telegram.read(io.BytesIO(found), **told)
        else:
            items = _items(found, path, zone, session, tally)
            yield from watched(items, path=path, now=now, tally=tally)


def _items(
    data: bytes, path: str, zone: tzinfo, session: str, tally: Tally
) -> Iterator[TranscriptItem]:
    document = loaded(data)
    if not isinstance(document, list):
        yield Problem(path, None, document if isinstance(document, str) else _NOTHING)
        return
    for number, conversation in enumerate(document, 1):
        reader = _reader_of(conversation)
        if reader is None:
            yield Problem(path, None, f"conversation {number} is none that clsm knows")
        else:
            yield from reader(conversation, zone=zone, session=session, tally=tally)


def _reader_of(conversation: Any) -> Any:
    if isinstance(conversation, dict):
        if isinstance(conversation.get("mapping"), dict):
            return export_chatgpt.items
        if isinstance(conversation.get("chat_messages"), list):
            return export_claude.items
    return None


def _documents(stream: BinaryIO, path: str) -> Iterator[tuple[str, bytes | Problem]]:
    """The documents of a file with their names: itself, or those of an archive."""
    head = stream.read(len(ZIP))
    if not is_archive(head):
        yield "", _bounded(head + stream.read(LARGEST + 1 - len(head)), path)
        return
    if not stream.seekable():
        stream = io.BytesIO(head + stream.read(LARGEST + 1))
    try:
        with zipfile.ZipFile(stream) as archive:
            every = sorted(archive.namelist())
            names = [name for name in every if is_export_name(name)]
            names = names or [name for name in every if name.endswith((CHAT, TELEGRAM))]
            if not names:
                yield "", Problem(path, None, _NOTHING)
            for name in names:
                with archive.open(name) as member:
                    yield name, _bounded(member.read(LARGEST + 1), f"{path}#{name}")
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        reason = f"archive that cannot be read ({str(error).lower()})"
        yield "", Problem(path, None, reason)


def _bounded(data: bytes, path: str) -> bytes | Problem:
    if len(data) <= LARGEST:
        return data
    return Problem(path, None, f"larger than {LARGEST >> 20} MiB, split its list of conversations")


def loaded(data: bytes) -> Any:
    """A JSON document, or as a text why there is none."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    try:
        document = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            document = without_surrogates(document)
    except ValueError as error:
        return f"not JSON ({str(error).lower()})"
    except RecursionError:
        return "JSON that is nested too deeply"
    return _NOTHING if isinstance(document, str) else document
