"""Find sources: named paths become files with a format, or a reason why they are skipped; open them.

The walk of a folder is sorted, so two runs have the same order. It never follows a symbolic link, so it
cannot loop or leave the folder, and reports everything it skips.
"""

import contextlib
import errno
import io
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import BinaryIO, cast

from clsm_cli.ingestion import detection, encodings, folders, recalled_text, transcripts
from clsm_cli.ingestion.detection import Format
from clsm_cli.ingestion.folders import Exclusion, Place
from clsm_cli.ingestion.jsonl_rows import (
    Line,
    Problem,
    Reading,
    TranscriptItem,
    bounded_lines,
    check_items,
    row_items,
)

STDIN = "-"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read."""

    path: str  # as given; inside a named folder, that name and the relative path
    origin: str  # its real path, with ``~`` for the home folder: the same for every spelling
    format: Format
    # Standard input, which is already open and cannot be opened twice.
    stream: BinaryIO | None = field(default=None, compare=False, repr=False)
    encoding: str = encodings.UTF_8  # as detected from its start
    is_agents: bool = False  # whether dated notes in its folder are an agent's
    inside: str = field(default="", init=False)

    def open(self) -> BinaryIO:
        """The text of the file as UTF-8; the caller closes it."""
        stream = self.stream or open_file(os.path.expanduser(self.origin))
        return encodings.utf_8_stream(stream, self.encoding)

    @contextlib.contextmanager
    def items(self, reading: Reading) -> Iterator[Iterator[TranscriptItem]]:
        """The items of a transcript of any format except Markdown, in order, while it is open.

        Without text that clsm itself recalled.
        """
        with self.open() as stream:
            if self.format in _ROWS:
                yield line_items(bounded_lines(stream), self.format, reading)
                return
            name, function = _WHOLE[self.format]
            reader = getattr(import_module(f"clsm_cli.ingestion.{name}"), function)
            yield _items(reader(stream, reading), reading)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that is not memory, by its name or kind."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Excluded(Skipped):
    """A file or folder that the user excludes."""


@dataclass(frozen=True, slots=True)
class Missing(Problem):
    """A named path that does not exist."""


Found = SourceFile | Skipped | Problem


def find(
    paths: Sequence[str],
    wanted: Format | None = None,
    stdin: BinaryIO | None = None,
    exclusion: Exclusion | None = None,
) -> Iterator[Found]:
    """Yield the files of the named paths, in order, each once."""
    seen: set[str] = set()
    exclusion = exclusion or Exclusion()
    for path in paths:
        for found in _find_path(path, wanted, stdin, exclusion):
            if isinstance(found, SourceFile) and found.origin in seen:
                yield Skipped(found.path, "named twice")
                continue
            if isinstance(found, SourceFile):
                seen.add(found.origin)
            yield found
    yield from exclusion.problems


def _find_path(
    path: str, wanted: Format | None, stdin: BinaryIO | None, exclusion: Exclusion
) -> Iterator[Found]:
    if path == STDIN:
        yield _standard_input(wanted, stdin)
        return
    if not path.strip():
        yield Missing('""', None, "no such file or folder")
        return
    try:
        # A link that the user names is followed; links inside a folder are not.
        real = os.path.realpath(path, strict=True)
        mode = os.stat(real).st_mode
    except FileNotFoundError:
        yield Missing(path, None, "no such file or folder")
        return
    except (OSError, ValueError) as error:
        yield read_problem(path, error)
        return
    is_folder = stat.S_ISDIR(mode)
    folder = real if is_folder else os.path.dirname(real)
    # Also by the name of a link to it.
    reasons = (
        exclusion.reason_of_named(each, is_folder=is_folder)
        for each in dict.fromkeys((real, os.path.abspath(path)))
    )
    if reason := next(filter(None, reasons), None):
        yield Excluded(path, reason)
    elif is_folder:
        yield from _walk(path, real, wanted, exclusion)
    elif reason := detection.openclaw_state_reason(os.path.basename(path)):
        yield Skipped(path, reason)
    else:
        yield _file(path, real, wanted, folders.locate_folder(folder))


def _walk(given: str, real: str, wanted: Format | None, exclusion: Exclusion) -> Iterator[Found]:
    """Yield the files of a folder, depth first, by name; an explicit stack avoids recursion."""
    stack = [(given, real, folders.locate_folder(real))]
    templates: set[str] = set()
    while stack:
        folder, real_folder, place = stack.pop()
        try:
            with os.scandir(real_folder) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            yield read_problem(folder, error)
            continue
        names = {entry.name for entry in entries}
        if "clsm.yaml" in names:
            yield Skipped(folder, "a clsm store")
            continue
        place = folders.locate_files(names, place)
        if place == "vault" and folders.VAULT in names:
            templates.update(folders.templates(real_folder))
        below: list[tuple[str, str, Place]] = []
        for entry in entries:
            path, inside = os.path.join(folder, entry.name), os.path.join(real_folder, entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            reason = _skip_reason(entry, is_folder=is_folder, siblings=names)
            if inside in templates:
                reason = "templates of the vault"
            if reason:
                is_wanted = not exclusion.reason(inside, real, is_folder=is_folder)
                refused = detection.refusal_reason(entry.name) if is_wanted else None
                yield Problem(path, None, refused) if refused else Skipped(path, reason)
            elif reason := exclusion.reason(inside, real, is_folder=is_folder):
                yield Excluded(path, reason)
            elif is_folder:
                below.append((path, inside, place))
            else:
                yield _checked_result_json(_file(path, inside, wanted, place))
        stack += reversed(below)


def _checked_result_json(found: Found) -> Found:
    """A file of a folder; other programs write ``result.json``, too, so it must be Telegram's."""
    if os.path.basename(found.path) != detection.TELEGRAM_NAME:
        return found
    is_export = isinstance(found, SourceFile) and found.format == "telegram"
    return found if is_export else Skipped(found.path, "no export of Telegram")


def _skip_reason(entry: os.DirEntry[str], *, is_folder: bool, siblings: set[str]) -> str | None:
    """Why an entry of a walked folder is not memory; None if it may be."""
    name = entry.name
    if entry.is_symlink():
        return "symbolic link"
    if name.startswith("."):
        return "hidden"
    if is_folder:
        if name == "node_modules":
            return "installed packages"
        if name in {"skills", "hooks"} and not siblings.isdisjoint(folders.WORKSPACE):
            return "instructions of the workspace"
        return None
    return detection.exclusion_reason(name)


def _file(path: str, real: str, wanted: Format | None, place: Place) -> Found:
    try:
        path.encode()
        with open_file(real) as stream:
            head = stream.read(detection.HEAD_BYTES)
    except UnicodeEncodeError:
        return Problem(os.fsencode(path).decode(errors="replace"), None, "file name is not UTF-8")
    except OSError as error:
        return read_problem(path, error)
    is_agents = folders.is_agents(os.path.dirname(real), place)
    return _detected(path, with_tilde(real), head, wanted, place, is_agents=is_agents)


def _detected(
    path: str,
    origin: str,
    head: bytes,
    wanted: Format | None,
    place: Place = "",
    *,
    stream: BinaryIO | None = None,
    is_agents: bool = False,
) -> SourceFile | Problem:
    is_whole = path != STDIN and len(head) < detection.HEAD_BYTES
    encoding = encodings.detect_encoding(head, is_whole=is_whole)
    if encoding == encodings.UNKNOWN:
        return Problem(path, None, encodings.UNKNOWN_REASON)
    text = encodings.to_utf_8(head, encoding)
    found = detection.file_format(path, text, wanted, in_vault=place == "vault")
    if isinstance(found, Problem):
        return found
    return SourceFile(path, origin, found, stream, encoding, is_agents)


def _standard_input(wanted: Format | None, stdin: BinaryIO | None) -> Found:
    if stdin is None:
        return Missing(STDIN, None, "standard input is closed")
    if not isinstance(stdin, io.BufferedReader):
        stdin = io.BufferedReader(cast("io.RawIOBase", stdin))
    # peek returns the bytes of one read and consumes none; a first row is enough.
    head = stdin.peek(detection.HEAD_BYTES)[: detection.HEAD_BYTES]
    return _detected(STDIN, STDIN, head, wanted, stream=stdin)


def open_file(path: str) -> BinaryIO:
    """A regular file, opened without following a link and without waiting for a writer."""
    _require_file(os.lstat(path).st_mode)  # opening some devices has side effects
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        _require_file(os.fstat(handle).st_mode)
    except OSError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def _require_file(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file")


def read_problem(path: str, error: OSError | ValueError) -> Problem:
    """The problem of a file or folder that cannot be read."""
    reason = (error.strerror or "cannot be read") if isinstance(error, OSError) else str(error)
    return Problem(path, None, reason[:1].lower() + reason[1:] if reason[1:2].islower() else reason)


def with_tilde(real: str) -> str:
    """An absolute path with ``~`` for the home folder, as in ``SourceFile.origin``."""
    home = os.path.realpath(os.path.expanduser("~")).rstrip("/")
    return "~" + real[len(home) :] if home and real.startswith(home + "/") else real


_ROWS = {
    "jsonl": transcripts.generic_reader,
    "openclaw": transcripts.openclaw_reader,
    "claude-code": transcripts.claude_code_reader,
}
"""For each JSON Lines format its reader of rows."""
_WHOLE = {
    "openclaw-note": ("transcripts", "session_note_items"),
    "smriti": ("exports", "smriti_items"),
    "export": ("exports", "export_items"),
    "chat": ("messengers", "chat_items"),
    "telegram": ("messengers", "telegram_items"),
}
"""For each other format the module and function that reads it."""


def line_items(lines: Iterable[Line], form: Format, reading: Reading) -> Iterator[TranscriptItem]:
    """The items of a JSON Lines transcript, without text that clsm itself recalled."""
    return _items(row_items(lines, _ROWS[form](reading), reading), reading)


def _items(found: Iterator[TranscriptItem], reading: Reading) -> Iterator[TranscriptItem]:
    return check_items(recalled_text.strip_items(found, reading), reading)
