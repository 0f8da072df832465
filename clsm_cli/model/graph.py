"""The slow store: statements, nodes and edges (docs/format.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import exp, log, log1p
from typing import Any, Literal

from clsm_cli.model.streams import Stream
from clsm_cli.model.trust import Trust

StatementKind = Literal[
    "fact", "preference", "decision", "correction", "convention", "workflow", "task", "gist"
]
TaskState = Literal["open", "done", "blocked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence worth keeping: a fact, a rule or a task.

    The text of a current row is a line in a Markdown topic file. Its shard has the text as last written,
    with its ``text_sha``, to detect an edit by hand and to know the text before it. It became true at
    ``valid_from`` and stopped at ``valid_until`` (half-open). Only a task has a ``state``; ``due`` is a
    bare date, ``done_at`` the time when it was reported done.
    """

    id: str
    rev: tuple[int, str]
    text: str = ""
    text_sha: str = ""
    kind: StatementKind = "fact"
    stream: Stream = "projects"
    topic: str = ""  # stem of its Markdown file
    state: TaskState | None = None
    due: str | None = None
    done_at: str | None = None
    subject: str | None = None  # id of the node that it is about
    value: str | None = None  # for a gist, its month
    sources: tuple[str, ...] = ()  # keys of the turns it is derived from
    valid_from: str | None = None
    valid_until: str | None = None
    recorded_at: str | None = None  # when the store recorded it (``superseded_at``: superseded it)
    superseded_at: str | None = None
    supersedes: str | None = None  # id of the row that this one replaced
    trust: Trust = "user"
    pinned: bool = False
    withdrawn: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def is_current(self) -> bool:
        """Whether it is true now, as far as the store knows, and so in the Markdown file."""
        return self.superseded_at is None and not self.withdrawn and self.valid_until is None


DRAWN = {
    "bias": -0.33,
    "log odds": 0.52,
    "two days": 0.49,
    "capitals": -0.36,
    "file name": -0.68,
}
"""Log odds, per unit of each of ``Node.signs``, that a reader would draw a node (``scripts/fit_prominence.py``)."""
_FILE = re.compile(r"[/\\]|\.\w{1,5}\Z")
_CERTAIN = 0.95
"""Confidence counts up to this, and down to its complement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A thing that memories are about.

    ``confidence``: probability that its name denotes one particular thing, in tenths; 1 if a person
    says so.
    """

    id: str
    rev: tuple[int, str]
    label: str = ""
    kind: str = "concept"  # open list: person, project, concept, book, place, tool …
    aliases: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()  # names among label and aliases that match case-sensitively only
    summary: str = ""  # at most two sentences, taken from the sources
    stream: Stream = "projects"
    confidence: float = 1.0
    n: int = 0  # turns that mention it, at the last consolidation
    first: str | None = None  # time of its first mention (``last``: of its last)
    last: str | None = None
    sources: tuple[str, ...] = ()  # keys of the turns that its summary is taken from
    pinned: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def signs(self) -> dict[str, float]:
        """What tells whether somebody who draws this memory by hand would draw the node.

        >>> Node(id="may", rev=(1, "pi"), label="MAY.md", confidence=0.5).signs
        {'bias': 1.0, 'log odds': 0.0, 'two days': 0.0, 'capitals': 0.0, 'file name': 1.0}
        """
        chance = min(_CERTAIN, max(1 - _CERTAIN, self.confidence))
        return {
            "bias": 1.0,
            "log odds": log(chance / (1 - chance)),
            "two days": float((self.first or "")[:10] != (self.last or "")[:10]),
            "capitals": float(self.label.isupper()),
            "file name": float(_FILE.search(self.label) is not None),
        }

    @property
    def drawn(self) -> float:
        """The probability that a reader of the memory would draw it, by its ``signs``."""
        return 1 / (1 + exp(-sum(DRAWN[sign] * value for sign, value in self.signs.items())))

    @property
    def prominence(self) -> float:
        """How much it stands out: ``ln(1 + n) drawn²``.

        The most frequent names often denote nothing in particular ("READY", "the plan"), so the
        probability is squared: see "The strongest nodes" in docs/experiments.md.
        """
        return log1p(max(0, self.n)) * self.drawn**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A relation between two nodes (or two episodes: ``next``, ``before``, ``after``)."""

    id: str
    rev: tuple[int, str]
    source: str = ""
    target: str = ""
    type: str = "co_occurs"  # open list; the reserved names are in docs/format.md
    directed: bool = False
    n: int = 0  # turns and episodes that support it
    weight: float = 0.0  # association at the last consolidation, 0 … 1; does not decay with time
    valid_from: str | None = None
    valid_until: str | None = None
    recorded_at: str | None = None
    superseded_at: str | None = None
    sources: tuple[str, ...] = ()
    pinned: bool = False
    extra: dict[str, Any] = field(default_factory=dict)
