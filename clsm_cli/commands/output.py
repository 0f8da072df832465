"""The one place that prints: data to stdout as text or JSON, everything else to stderr.

It is also where errors become a sentence and an exit code.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import ClsmError, DiskError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe, safe_json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo
    from typing import Self

    from rich.console import RenderableType
    from rich.progress import Progress

_ASCII = str.maketrans(
    {"·": "|", "█": "#", "░": ".", "›": ">", "…": "...", "—": "-", "–": "-", "−": "-"}
)
"""Our own typography for a terminal that has none."""
BELOW = "Files are below {}."
"""What a block for a model says of the folder that its places count from (``common_folder``)."""


class Printer(NamedTuple):
    """Prints the result of one command."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether a person reads stdout."""
        return is_terminal(sys.stdout)

    def json(self, value: Any) -> None:
        """One JSON object, one line; it is the same data in every locale."""
        _write(safe_json(json.dumps(plain(value), ensure_ascii=False)), "utf-8")

    def lines(self, lines: Iterable[str]) -> None:
        """Text for people; nothing in it can steer a terminal. A ``LinkedLine`` is a link on one."""
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
        """Text for a person who is asked something, beside the data."""
        end_progress()
        for line in lines:
            print(safe(line), file=sys.stderr)

    def rich(self, renderables: Iterable[RenderableType]) -> None:
        """Formatted text for a terminal; the caller made its words safe. NO_COLOR is honoured."""
        from rich.console import Console

        console = Console(highlight=False, markup=False, emoji=False)
        with console.capture() as captured:
            for each in renderables:
                console.print(each)
        self._text(captured.get().rstrip("\n"))

    def show(self, mapping: Mapping[str, Any], lines: Iterable[str]) -> None:
        """A result: as JSON where that is wanted, else as text."""
        if self.as_json:
            self.json(mapping)
        else:
            self.lines(lines)

    def utf8(self, lines: Iterable[str]) -> None:
        """Text whose very bytes matter, in UTF-8 whatever the locale; it is safe already."""
        if text := "\n".join(lines):
            _write(text, "utf-8")

    def warn(self, text: str) -> None:
        """A remark beside the data; it may quote an argument or a path, with secrets masked."""
        end_progress()
        if not self.quiet and sys.stderr is not None:
            from clsm_cli.text import secrets

            print(f"clsm: {safe(secrets.mask_name(text).text)}", file=sys.stderr)

    def warn_all(self, texts: Iterable[str]) -> None:
        """Warn of several things, one a line."""
        for text in texts:
            self.warn(text)

    def progress(self, what: str, done: int, total: int) -> None:
        """Show progress, only where stderr is a terminal and there is something to wait for.

        Whatever is printed next takes its place.
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


_progress: list[Progress] = []
"""What is shown on stderr now: at most one."""


def end_progress() -> None:
    """Clear the progress display, as anything else is printed."""
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


def local_time(time: str | None, zone: tzinfo) -> str:
    """A time by the store's clock, to the minute; a bare date as it is.

    >>> from datetime import UTC
    >>> local_time("2026-02-20T08:15:00Z", UTC), local_time("2026-02-20", UTC), local_time(None, UTC)
    ('2026-02-20 08:15', '2026-02-20', '')
    """
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(time or "")
    except ValueError:
        return time or ""
    if len(time or "") == len("2026-02-20"):
        return str(time)
    moment = moment.astimezone(zone) if moment.tzinfo else moment
    return f"{moment:%Y-%m-%d %H:%M}"


def span_text(start: str | None, end: str | None, zone: tzinfo) -> str:
    """From when until when, as far as that is known."""
    ends = (("from", start), ("until", end))
    return " ".join(f"{word} {local_time(time, zone)}" for word, time in ends if time)


def dotted(*parts: str | None) -> str:
    """Those parts of a line that there are, a dot between two."""
    return " · ".join(part for part in parts if part)


def first(lines: Sequence[str], most: int, *, whole: bool) -> Iterator[str]:
    """So many lines, and how many more there are; with ``whole`` all of them."""
    shown = lines if whole else lines[:most]
    yield from shown
    if len(lines) > len(shown):
        yield f"  and {len(lines) - len(shown)} more (--verbose lists them)"


def flat(text: str) -> str:
    """A text that stays on its line."""
    return " ".join(text.split())


def shorten(text: str, most: int) -> str:
    r"""A text on one line, in at most so many characters.

    >>> shorten("one\n two", 20), shorten("one two three", 8)
    ('one two', 'one two…')
    """
    line = flat(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def location_text(file: str, line: int) -> str:
    """A line of a file as it can be opened: relative below the current folder, else absolute."""
    if not file:
        return ""
    with contextlib.suppress(OSError):  # the current folder was deleted under us
        file = file.removeprefix(f"{os.getcwd()}{os.sep}")
    return f"{file}:{line}" if line else file


class LinkedLine(str):
    """A line of text that leads to a line of a file, by its absolute path; "" for none."""

    __slots__ = ("file", "number")

    file: str
    number: int

    def __new__(cls, text: str, file: str, number: int) -> Self:
        """Text with where it leads."""
        made = super().__new__(cls, text)
        made.file, made.number = file, number
        return made

    @classmethod
    def of(
        cls, turn: Any, time: str | None, zone: tzinfo, *more: str | None, indent: int = 0
    ) -> Self:
        """When and where something was said, with its ``file`` and ``line``, and what else is told."""
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


def linked(style: str, file: str, line: int) -> str:
    """A style of Rich that also links to a line of a file (OSC 8)."""
    url = _url(file, line)
    return f"{style} link {url}".strip() if url else style


def _url(file: str, line: int) -> str:
    """The address of a line of a file; "" for none, and where NO_COLOR asks for none."""
    if not file or os.environ.get("NO_COLOR"):
        return ""
    from urllib.parse import quote

    return f"file://{quote(os.fsencode(file))}#{line}"


def common_folder(files: Collection[str]) -> tuple[str, dict[str, str]]:
    """The folder that makes some absolute paths shortest, and each path relative to it.

    "" where naming a folder spares nothing.

    >>> common_folder(["/home/mara/notes/a.md", "/home/mara/notes/days/b.md", "/tmp/c.md"])[1].values()
    dict_values(['a.md', 'days/b.md', '/tmp/c.md'])
    """
    folders = {str(folder) for file in files for folder in PurePosixPath(file).parents[:-1]}
    told = {"": {file: file for file in files}}
    for folder in folders:
        told[folder] = {file: file.removeprefix(f"{folder}/") for file in files}
    best = min(told, key=lambda each: (len(each) + sum(map(len, told[each].values())), each))
    return best, told[best]


def is_terminal(stream: Any) -> bool:
    """Whether a person is at the other end; a stream that was closed (``>&-``) is None."""
    return stream is not None and bool(stream.isatty())


def has_person() -> bool:
    """Whether somebody can be asked, beside the data."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def abandon_stdout() -> None:
    """Send what is still buffered nowhere: its reader is gone or its disk is full.

    Else Python tries once more at its end and adds a message and an exit code of its own.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _write(text: str, encoding: str) -> None:
    """Print; what an encoding cannot hold (as in a C locale) is escaped."""
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
    """A title, and rows of text below headings; the first column is to the left, the others right."""

    title: str
    headings: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()


def table_lines(found: Iterable[Table]) -> list[str]:
    """Tables as aligned text, a blank line between two."""
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
"""What the operating system says of a disk or folder, wherever it was only looked at."""


def guard(action: Callable[[], object]) -> int:
    """Run a command; its exit code.

    An expected error is one sentence on stderr and the code its class owns; so is a disk that
    fails. A reader of our output that went away (``clsm recall x | head -1``) is no error. Anything
    else is a bug and passes through.
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
    """What the operating system said, if it is about a disk or a folder."""
    if error.errno not in _DISK:
        return None
    named = error.filename if isinstance(error.filename, str) else "the disk"
    return DiskError(named, os.strerror(error.errno))
