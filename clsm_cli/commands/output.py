"""The only module that prints: data to stdout as text or JSON, everything else to stderr.

It also turns errors into a sentence and an exit code.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Self

from clsm_cli.errors import ClsmError, DiskError
from clsm_cli.model.clocks import local_time
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe, safe_json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from rich.console import RenderableType
    from rich.progress import Progress

_ASCII = str.maketrans(
    {"·": "|", "█": "#", "░": ".", "›": ">", "…": "...", "—": "-", "–": "-", "−": "-"}
)
"""ASCII substitutes for terminals that cannot show these characters."""
BELOW = "Files are below {}."
"""Line of a prompt block that names the folder of relative paths (``common_folder``)."""


class Printer(NamedTuple):
    """Prints the result of one command."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether stdout is a terminal."""
        return is_terminal(sys.stdout)

    def json(self, value: Any) -> None:
        """Print one JSON object on one line, in UTF-8 whatever the locale."""
        _write(safe_json(json.dumps(plain(value), ensure_ascii=False)), "utf-8")

    def lines(self, lines: Iterable[str]) -> None:
        """Print text for people, without control sequences; on a terminal, a ``LinkedLine`` is a link."""
        has_links = self.is_terminal and os.environ.get("TERM") != "dumb"
        text = "\n".join(_link(line) if has_links else safe(line) for line in lines)
        if text:
            self._text(text)

    def _text(self, text: str) -> None:
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = text.translate(_ASCII)
        _write(text, encoding)

    def tell(self, lines: Iterable[str]) -> None:
        """Print text to stderr for a person who is asked something."""
        end_progress()
        for line in lines:
            print(safe(line), file=sys.stderr)

    def rich(self, renderables: Iterable[RenderableType]) -> None:
        """Print formatted text on a terminal; the caller made it safe. NO_COLOR is honoured."""
        from rich.console import Console

        console = Console(highlight=False, markup=False, emoji=False)
        with console.capture() as captured:
            for each in renderables:
                console.print(each)
        self._text(captured.get().rstrip("\n"))

    def show(self, mapping: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Print a result, as JSON with ``as_json``, else as text."""
        if self.as_json:
            self.json(mapping)
        else:
            self.lines(lines)

    def utf8(self, lines: Iterable[str]) -> None:
        """Print text that must be byte-exact, in UTF-8 whatever the locale; it is already safe."""
        if text := "\n".join(lines):
            _write(text, "utf-8")

    def warn(self, text: str) -> None:
        """Print a warning to stderr, with secrets masked, as it may quote an argument or path."""
        end_progress()
        if not self.quiet and sys.stderr is not None:
            from clsm_cli.text import secrets

            print(f"clsm: {safe(secrets.mask_name(text).text)}", file=sys.stderr)

    def warn_all(self, texts: Iterable[str]) -> None:
        """Print several warnings, one per line."""
        for text in texts:
            self.warn(text)

    def progress(self, what: str, done: int, total: int) -> None:
        """Show progress, if stderr is a terminal and there are at least two steps.

        The next output replaces it.
        """
        if self.quiet or not is_terminal(sys.stderr) or total < 2:
            return
        if not _progress:
            from rich.console import Console
            from rich.progress import Progress

            _progress.append(Progress(console=Console(stderr=True), transient=True))
            _progress[0].start()
        tasks = {task.description: task.id for task in _progress[0].tasks}
        task = tasks[what] if what in tasks else _progress[0].add_task(what, total=total)
        _progress[0].update(task, completed=done, total=total)


_progress: list[Progress] = []  # the progress display on stderr: at most one


def end_progress() -> None:
    """Clear the progress display before other output."""
    while _progress:
        _progress.pop().stop()


def plain(value: Any) -> Any:
    """Dataclasses, named tuples, sequences and paths as JSON values."""
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        from dataclasses import asdict

        return {key: plain(item) for key, item in asdict(value).items()}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


def fields(record: Any, names: str) -> dict[str, Any]:
    """Some fields of a record as JSON values, by their names.

    >>> from clsm_cli.commands.command_line import Common
    >>> fields(Common("memory"), "store quiet")
    {'store': 'memory', 'quiet': False}
    """
    return {name: plain(getattr(record, name)) for name in names.split()}


def count_noun(count: int, word: str) -> str:
    """A number and its noun.

    >>> count_noun(1, "turn"), count_noun(2, "turn")
    ('1 turn', '2 turns')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def span_text(start: str | None, end: str | None, zone: tzinfo) -> str:
    """A time span as text, with the ends that are known."""
    ends = (("from", start), ("until", end))
    return " ".join(f"{word} {local_time(time, zone)}" for word, time in ends if time)


def dotted(*parts: str | None) -> str:
    """Join the non-empty parts of a line with dots."""
    return " · ".join(part for part in parts if part)


def first(lines: Sequence[str], most: int, *, whole: bool) -> Iterator[str]:
    """At most ``most`` lines, then how many more there are; with ``whole``, all lines."""
    shown = lines if whole else lines[:most]
    yield from shown
    if len(lines) > len(shown):
        yield f"  and {len(lines) - len(shown)} more (--verbose lists them)"


def flat(text: str) -> str:
    """Collapse whitespace to single blanks."""
    return " ".join(text.split())


def shorten(text: str, most: int) -> str:
    r"""A text on one line, of at most ``most`` characters.

    >>> shorten("one\n two", 20), shorten("one two three", 8)
    ('one two', 'one two…')
    """
    line = flat(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def location_text(file: str, line: int) -> str:
    r"""``FILE:LINE``, relative if below the current folder, else absolute; a name never breaks the line.

    >>> location_text("two\nlines.md", 3)
    'two\\u{a}lines.md:3'
    """
    if not file:
        return ""
    with contextlib.suppress(OSError):  # the current folder was deleted
        file = file.removeprefix(f"{os.getcwd()}{os.sep}")
    file = file.replace("\n", r"\u{a}")
    return f"{file}:{line}" if line else file


class LinkedLine(str):
    """A line of text that links to a line of a file; ``file`` is an absolute path, or ""."""

    __slots__ = ("file", "number")

    file: str
    number: int

    def __new__(cls, text: str, file: str, number: int) -> Self:
        """A text with its link target."""
        made = super().__new__(cls, text)
        made.file, made.number = file, number
        return made

    @classmethod
    def of(
        cls, turn: Any, time: str | None, zone: tzinfo, *more: str | None, indent: int = 0
    ) -> Self:
        """A line with the time and place of a turn, which has ``file`` and ``line``, and more parts."""
        place = location_text(turn.file, turn.line)
        text = dotted(local_time(time, zone), place, *more)
        return cls(f"{' ' * indent}{text}", turn.file, turn.line)


def _link(line: str) -> str:
    r"""A line with its link (OSC 8).

    >>> _link(LinkedLine("a.md:3", "/notes/a.md", 3))
    '\x1b]8;;file:///notes/a.md#3\x1b\\a.md:3\x1b]8;;\x1b\\'
    """
    url = _url(line.file, line.number) if isinstance(line, LinkedLine) else ""
    return f"\x1b]8;;{url}\x1b\\{safe(line)}\x1b]8;;\x1b\\" if url else safe(line)


def linked(file: str, line: int) -> str:
    """A bold style of Rich that also links to a line of a file (OSC 8)."""
    url = _url(file, line)
    return f"bold link {url}" if url else "bold"


def _url(file: str, line: int) -> str:
    """The URL of a line of a file; "" without a file, or with NO_COLOR."""
    if not file or os.environ.get("NO_COLOR"):
        return ""
    from urllib.parse import quote

    return f"file://{quote(os.fsencode(file))}#{line}"


def common_folder(files: Collection[str]) -> tuple[str, dict[str, str]]:
    """The folder that shortens some absolute paths most, and each path relative to it.

    "" if naming a folder saves nothing.

    >>> common_folder(["/home/mara/notes/a.md", "/home/mara/notes/days/b.md", "/tmp/c.md"])[1].values()
    dict_values(['a.md', 'days/b.md', '/tmp/c.md'])
    >>> common_folder(["/home/mara/notes/a.md"])
    ('', {'/home/mara/notes/a.md': '/home/mara/notes/a.md'})
    """
    folders = {str(folder) for file in files for folder in PurePosixPath(file).parents[:-1]}
    relative = {"": {file: file for file in files}}
    for folder in folders:
        relative[folder] = {file: file.removeprefix(f"{folder}/") for file in files}
    sizes = {
        it: len(f"{it}/" if it else "") + sum(map(len, relative[it].values())) for it in relative
    }
    best = min(relative, key=lambda it: (sizes[it], it))
    return best, relative[best]


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; a closed stream (``>&-``) is None."""
    return stream is not None and bool(stream.isatty())


def has_person() -> bool:
    """Whether a person can be asked: stdin and stderr are terminals."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def abandon_stdout() -> None:
    """Redirect buffered output to the null device, as its reader is gone or its disk full.

    Otherwise Python flushes again at exit, and adds its own message and exit code.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _write(text: str, encoding: str) -> None:
    """Print; characters that an encoding lacks (as in a C locale) are escaped."""
    end_progress()
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(f"{text}\n".encode(encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon_stdout()
        raise DiskError("standard output", error.strerror or "cannot be written") from error


class Table(NamedTuple):
    """A title, headings and rows of text; the first column is left-aligned, the others right."""

    title: str
    headings: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()


def table_lines(found: Iterable[Table]) -> list[str]:
    """Tables as aligned text, separated by blank lines."""
    text: list[str] = []
    for table in found:
        grid = [table.headings, *table.rows] if table.headings else []
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        text += ["", table.title] if text else [table.title]
        for head, *others in grid:
            cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
            text.append("  ".join([head.ljust(widths[0]), *cells]).rstrip())
    return text


INTERRUPTED = 130
_DISK = frozenset(
    {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ESTALE, errno.EACCES, errno.EPERM}
)
"""Error numbers about a disk or folder, even on a read."""


def guard(action: Callable[[], object]) -> int:
    """Run a command; its exit code.

    An expected error, or a failing disk, gives one sentence on stderr and the exit code of its
    class. A closed output pipe (``clsm recall x | head -1``) is no error. Anything else is a bug
    and passes through.
    """
    try:
        try:
            action()
        finally:
            end_progress()
    except ClsmError as error:
        Printer().warn(str(error))
        return error.exit_code
    except BrokenPipeError:
        abandon_stdout()
    except OSError as error:
        failure = disk_failure(error)
        if failure is None:
            raise
        Printer().warn(str(failure))
        return failure.exit_code
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    return 0


def disk_failure(error: OSError) -> DiskError | None:
    """The DiskError of an OSError about a disk or folder; else None."""
    if error.errno not in _DISK:
        return None
    named = error.filename if isinstance(error.filename, str) else "the disk"
    return DiskError(named, os.strerror(error.errno))
