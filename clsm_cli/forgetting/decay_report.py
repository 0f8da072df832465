"""Request and report of a decay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.forgetting.clock import Clock
    from clsm_cli.model.streams import Stream


class Request(NamedTuple):
    """How to let memories fade.

    Attributes:
        explicit: Whether the user named it: then it is believed, whatever the store says.
    """

    now: datetime
    explicit: bool
    dry_run: bool = False


class Item(NamedTuple):
    """One thing that changes.

    Attributes:
        kind: ``turn``, ``block``, the kind of a statement, or ``edge``.
        since: Day since which it is so (ISO).
        last: Day on which it was last recorded or used; of a row that is compacted, the day
            on which it was superseded.
        left: Its retention, 0 … 1; None for what is compacted.
    """

    id: str
    kind: str
    stream: Stream
    since: str
    last: str
    left: float | None
    tokens: int
    why: str
    text: str


class StreamState(NamedTuple):
    """How much of a stream is archived after the run.

    Attributes:
        items: Turns and statements ever recorded; ``archived`` of them are.
        tokens: Of ``items``; ``archived_tokens`` of the archived ones.
        most: Share of the tokens that may be archived, 0 … 1.
        kept: What has faded too and stays, since more of the stream must not go.
    """

    items: int
    archived: int
    tokens: int
    archived_tokens: int
    most: float
    kept: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a decay did, or would do.

    Attributes:
        recalls: Lines of the log that were folded, of ``days`` days.
        archive: What is archived from now on; ``revive`` what no more.
    """

    dry_run: bool
    run: str | None
    clock: Clock
    recalls: int
    days: int
    streams: dict[Stream, StreamState]
    archive: tuple[Item, ...]
    revive: tuple[Item, ...]
    compact: tuple[Item, ...]
    preimages: int
    warnings: tuple[str, ...]
