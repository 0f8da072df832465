"""Request and report of an ingest, the result for each source, and the steps of its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from clsm_cli.ingestion.jsonl_rows import FenceKey, Problem, no_key
from clsm_cli.ingestion.sources import Excluded, Missing, Skipped
from clsm_cli.text import secrets

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.errors import ModelDigestError
    from clsm_cli.ingestion.detection import Format
    from clsm_cli.ingestion.folders import Exclusion
    from clsm_cli.model.episodes import Turn


FORGOTTEN = "forgotten"  # drop reason of a turn or a block with a tombstone


MIN_DUMP_CHARS = 8192
"""Characters from which a turn may contain a dump (as in ``dumps``, which a capture does not load)."""


Progress = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and the total."""


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """The sources of an ingest, and its options; see ``clsm ingest --help``."""

    paths: tuple[str, ...]
    now: datetime
    openclaw: bool = False
    format: Format | None = None
    session: str | None = None
    capture_only: bool = False
    since: datetime | None = None
    dry_run: bool = False
    stdin: BinaryIO | None = None
    fence_key: FenceKey = no_key
    exclusion: Exclusion | None = None
    day_first: bool | None = None
    me: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """The result for one source.

    Attributes:
        by_words: Characters that are found by their words alone.
        moved_from: The path that a document had before.
    """

    path: str
    format: str
    added: int = 0
    known: int = 0
    changed: int = 0
    closed: int = 0
    moved_from: str = ""
    dropped: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    masked: Counter[str] = field(default_factory=Counter)
    by_words: int = 0
    encoding: str = ""

    def take(self, turn: Turn) -> None:
        """Count the dumps of a new turn, which are found by their words alone."""
        if len(turn.text) >= MIN_DUMP_CHARS:
            from clsm_cli.text import dumps

            self.by_words += sum(end - start for start, end in dumps.find_dumps(turn.text))


@dataclass(slots=True)
class IngestReport:
    """The result of an ingest (or, for a dry run, its preview)."""

    dry_run: bool
    sources: list[Tally] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    up_to_date: int = 0  # transcripts without new content, which a catch-up did not open
    episodes: int = 0
    open_turns: int = 0
    bad_model: ModelDigestError | None = None

    @property
    def fatal(self) -> Problem | None:
        """The problem that fails the run: a named path is missing, or nothing could be read."""
        missing = [problem for problem in self.problems if isinstance(problem, Missing)]
        if missing:
            return missing[0]
        has_read = self.sources or self.up_to_date
        return self.problems[0] if self.problems and not has_read else None

    @property
    def excluded(self) -> int:
        """Number of files and folders that the user excludes."""
        return sum(isinstance(each, Excluded) for each in self.skipped)

    @property
    def forgotten(self) -> int:
        """Number of turns and blocks that were dropped because they were forgotten."""
        return sum(source.dropped[FORGOTTEN] for source in self.sources)

    @property
    def masked(self) -> Counter[str]:
        """Number of masked secrets, by kind."""
        total: Counter[str] = Counter()
        for source in self.sources:
            total.update(source.masked)
        return total


Named = TypeVar("Named", "Problem", "Skipped", "Tally")


def display_path(about: Named) -> Named:
    """The same with any secret in its path masked, for display."""
    path = secrets.mask_name(about.path).text
    return about if path == about.path else replace(about, path=path)
