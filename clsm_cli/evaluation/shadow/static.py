"""The files that an agent loads at every start, as they are now, in blocks."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.shadow.replay import Load
from clsm_cli.ingestion import markdown
from clsm_cli.ingestion.items import Problem
from clsm_cli.model.episodes import Document
from clsm_cli.records import NamedTuple
from clsm_cli.store.index.derived import records_of
from clsm_cli.store.index.opening import open_index
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from clsm_cli.store.layout import Store

NAMES = ("SOUL.md", "USER.md", "MEMORY.md")
"""What is loaded of a workspace besides its last daily notes."""
DAILY = 2
"""Daily notes that are loaded, the newest before the day of the sitting."""
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:-[^/]*)?\.md\Z", re.ASCII)


class Static(NamedTuple):
    """What was loaded.

    Attributes:
        tokens: Estimated word pieces of the whole files.
        blocks: Their paragraphs and list items; headings are loaded, and belong to none.
        is_changed: A file was written after the sitting began, so what it then said is not known.
        missing: A sentence for each file that cannot be read now.
    """

    tokens: int
    blocks: tuple[Load, ...]
    is_changed: bool
    missing: tuple[str, ...]


def check(named: Iterable[str]) -> tuple[str, ...]:
    """Files and workspaces as full paths, each once.

    Raises:
        BadInputError: One is missing, not text, too large, or a folder without any such file.
    """
    found: dict[str, None] = {}
    for name in named:
        path = Path(os.path.realpath(os.path.expanduser(name)))
        if path.is_dir():
            if not _of_workspace(path, None):
                reason = f"holds neither {', '.join(NAMES)} nor daily notes"
                raise BadInputError(name, reason, "name the files themselves")
        else:
            _text(path, name)
        found[str(path)] = None
    return tuple(found)


def known(store: Store) -> tuple[str, ...]:
    """The workspaces whose files the store took in and that are still there, sorted."""
    with open_index(store, None) as opened:
        origins = [
            Path(os.path.expanduser(record.origin))
            for record in records_of(opened.index.connection, "document", frozenset())
            if isinstance(record, Document) and record.origin
        ]
    folders = {origin.parent for origin in origins if origin.name in NAMES and origin.is_file()}
    return tuple(sorted(map(str, folders)))


def load(named: Sequence[str], start: datetime, store: Store) -> Static:
    """What is loaded at the start of a sitting.

    Args:
        named: Files and workspaces, see ``check``.
        start: Of the sitting; the daily notes are those of earlier days.
        store: Whose time zone counts.
    """
    day = start.astimezone(store.zone).date().isoformat()
    size, is_changed = 0, False
    blocks: list[Load] = []
    missing: list[str] = []
    for path in dict.fromkeys(_files(named, day)):
        try:
            text = _text(path, str(path))
            is_changed |= path.stat().st_mtime > start.timestamp()
        except (BadInputError, OSError) as error:
            missing.append(str(error))
            continue
        size += tokens.count_tokens(text)
        blocks += _blocks(text, path, store)
    return Static(size, tuple(blocks), is_changed, tuple(missing))


def _files(named: Sequence[str], day: str) -> Iterator[Path]:
    for path in map(Path, named):
        yield from _of_workspace(path, day) if path.is_dir() else [path]


def _of_workspace(folder: Path, before: str | None) -> list[Path]:
    """The files of a workspace that are there, and the newest daily notes before a day."""
    dated = sorted(
        (match[1], path)
        for path in (folder / "memory").glob("*.md")
        if (match := _DAY.match(path.name)) and (before is None or match[1] < before)
    )
    fixed = [folder / name for name in NAMES if (folder / name).is_file()]
    return fixed + [path for _, path in dated[-DAILY:]]


def _text(path: Path, name: str) -> str:
    """The text of a file.

    Raises:
        BadInputError: It is missing, not text, or too large.
    """
    advice = "name a note with --static"
    try:
        if not path.is_file():
            raise BadInputError(name, "is no file that can be read", advice)
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise BadInputError(name, error.strerror or "cannot be read", advice) from None
    if len(data) > MAX_FILE:
        raise BadInputError(name, f"is larger than {MAX_FILE >> 20} MiB", advice)
    if b"\0" in data:
        raise BadInputError(name, "is not text", advice)
    return data.decode("utf-8", "replace")


def _blocks(text: str, path: Path, store: Store) -> Iterator[Load]:
    document = markdown.read(text.encode(), path=path.name, zone=store.zone)
    if isinstance(document, Problem):
        return
    for number, block in enumerate(document.blocks):
        yield Load(f"{path}:{number}", block.text, tokens.count_tokens(block.text))
