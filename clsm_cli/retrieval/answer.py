"""What a recall returns: data only, rendered elsewhere (schema ``clsm.recall/1``)."""

from __future__ import annotations

from dataclasses import dataclass, field

SCHEMA = "clsm.recall/1"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory comes from: the ingested file as it was given, with its own lines."""

    path: str
    line_start: int
    line_end: int
    turn_ids: tuple[str, ...]
    timestamp: str | None


@dataclass(frozen=True, slots=True)
class Why:
    """Share of each signal in a score, each 0 … 1 before its weight."""

    bm25: float = 0.0
    cosine: float = 0.0
    maxsim: float = 0.0
    episode: float = 0.0
    participant: float = 0.0
    date: float = 0.0
    graph: float = 0.0


@dataclass(frozen=True, slots=True)
class Memory:
    """One item of an answer.

    Attributes:
        score: Rank score, 0 … 1, relative to this query.
        confidence: How likely it is relevant at all, 0 … 1, comparable between queries.
        tokens: Estimated word pieces of ``text``.
    """

    id: str
    kind: str
    text: str
    stream: str
    score: float
    confidence: float
    tokens: int
    trust: str
    session: str
    sources: tuple[Source, ...]
    why: Why
    heading: str = ""
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Concept:
    """A node that the query activates.

    Attributes:
        seed: How the query named it (exact, alias), or None.
        path: Nodes that activation came through, itself last.
    """

    id: str
    label: str
    aliases: tuple[str, ...]
    kind: str
    stream: str
    activation: float
    seed: str | None
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """An item that would have been returned but for the budget."""

    id: str
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class Budget:
    """How much was allowed and used."""

    limit: int
    used: int
    unit: str = "tokens"
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one query, best first."""

    recall_id: str
    query: str
    now: str
    route: str
    confidence: float
    concepts: tuple[Concept, ...]
    memories: tuple[Memory, ...]
    budget: Budget
    embedder: str | None
    preset: str = "default"
    as_of: str | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def answered(self) -> bool:
        """Whether anything is relevant."""
        return bool(self.memories)
