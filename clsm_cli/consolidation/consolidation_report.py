"""Request and report of a consolidation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clsm_cli.config import LlmSettings
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.errors import ModelDigestError


class Refused(NamedTuple):
    """A proposal that was not taken."""

    part: str
    proposal: str
    reason: str


class Answer(NamedTuple):
    """An answer as it was written: what is in it is not checked yet.

    Attributes:
        refused: Entries that name no part.
    """

    parts: dict[str, dict[str, Any]]
    refused: tuple[Refused, ...] = ()

    @property
    def episodes(self) -> frozenset[str]:
        """Ids of the episodes of which it speaks."""
        return frozenset(handle.partition(".")[0] for handle in self.parts)


@dataclass(frozen=True, slots=True)
class Request:
    """How to consolidate.

    Attributes:
        limit: Episodes to take, the most salient first; None for all.
        if_idle: Minutes of silence without which nothing happens.
        llm: The language model that this machine is set to ask, and ``llm_key`` its key; by default none.
        answer: Of an adviser that was asked before; its episodes are taken, whatever their stage.
    """

    now: datetime
    limit: int | None = None
    only: frozenset[str] | None = None
    since: datetime | None = None
    if_idle: float | None = None
    rebuild: bool = False
    allow_loss: bool = False
    llm: LlmSettings = field(default_factory=LlmSettings)
    llm_key: str | None = None
    answer: Answer | None = None
    dry_run: bool = False


class FileChange(NamedTuple):
    """What a run changes in one file."""

    path: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    is_new: bool


@dataclass
class Report:
    """What a consolidation did, or would do.

    Attributes:
        pending: Episodes that waited; ``consolidated`` of them were taken.
        statements: What became of claims: new, predicted, corrected …
        nodes: new, changed, removed, total; ``edges`` alike.
        review: Items for a person that this run added.
        is_busy: Nothing was done, as somebody spoke a moment ago.
        unread: Path of an episode on whose text clsm itself failed → how.
        lacks_model: Something waits for the embedding model, which is not installed.
        advised: Statements and relations of an adviser that were taken.
        dropped: Statements of clsm's own that the adviser dropped or worded better.
        known: What of an answer the memory held already, where that is all of it.
        is_answered: An answer was given.
        stale: Episodes of an answer that had been consolidated before it came.
    """

    dry_run: bool = False
    run: str | None = None
    pending: int = 0
    consolidated: int = 0
    statements: Counter[str] = field(default_factory=Counter)
    nodes: Counter[str] = field(default_factory=Counter)
    edges: Counter[str] = field(default_factory=Counter)
    gists: int = 0
    review: int = 0
    is_busy: bool = False
    unread: dict[str, str] = field(default_factory=dict)
    lacks_model: bool = False
    open_turns: int = 0
    files: list[FileChange] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    bad_model: ModelDigestError | None = None
    usage: dict[str, float] = field(default_factory=dict)
    advised: int = 0
    dropped: int = 0
    known: int = 0
    is_answered: bool = False
    refused: list[Refused] = field(default_factory=list)
    stale: int = 0
