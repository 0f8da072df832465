"""Lines of the store that could not be read, as values, so that a run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class LineProblem(NamedTuple):
    """A line that is no record; it is kept (moved to quarantine at the next write), not used."""

    path: Path
    line: int | None
    reason: str
    text: str = ""

    def error(self) -> DamagedStoreError:
        """The same as an exception."""
        return DamagedStoreError(self.path, self.line, self.reason)
