"""Request and report of a consolidation."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clsm_cli.config import LlmSettings
from clsm_cli.errors import ModelDigestError
from clsm_cli.startup.records import NamedTuple


class Refused(NamedTuple):
    """A rejected proposal."""

    part: str
    proposal: str
    reason: str


class Answer(NamedTuple):
    """An adviser's answer, parsed but not checked.

    Attributes:
        parts: Handle of a part → its entry.
        refused: Entries without a usable handle.
    """

    parts: dict[str, dict[str, Any]]
    refused: tuple[Refused, ...] = ()

    @property
    def episodes(self) -> frozenset[str]:
        """Ids of the episodes that it covers."""
        return frozenset(handle.partition(".")[0] for handle in self.parts)


@dataclass(frozen=True, slots=True)
class Request:
    """How to consolidate.

    Attributes:
        limit: Maximum episodes, the most salient first; None for all.
        if_idle: Minutes of silence required, else nothing happens.
        llm: Settings of the language model to ask, and ``llm_key`` its key; off by default.
        answer: An adviser's answer; its episodes are consolidated whatever their stage.
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
    """The lines that a run adds to and removes from one file."""

    path: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    is_new: bool


@dataclass
class Report:
    """What a consolidation did, or would do.

    Attributes:
        pending: Pending episodes before the run; ``consolidated`` of them were taken.
        statements: Outcomes of claims: new, predicted, corrected …
        nodes: new, changed, removed, total; ``edges`` likewise, and current: those between nodes that hold.
        review: Review items added.
        is_busy: Nothing was done, because a turn was captured recently.
        held: The warning of a loss that waits for a decision.
        unread: Path of an episode on whose text clsm failed → the error.
        lacks_model: Something needs the embedding model, which is not installed.
        advised: Accepted statements and relations of the adviser.
        dropped: clsm's own drafts that the adviser dropped or reworded.
        known: Accepted proposals, if the store already had all of them.
        is_answered: Whether the request had an answer.
        stale: Episodes of the answer that were already consolidated.
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
    held: str | None = None
    bad_model: ModelDigestError | None = None
    usage: dict[str, float] = field(default_factory=dict)
    advised: int = 0
    dropped: int = 0
    known: int = 0
    is_answered: bool = False
    refused: list[Refused] = field(default_factory=list)
    stale: int = 0
