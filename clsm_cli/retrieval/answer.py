"""What a recall returns: data only, rendered elsewhere (schema ``clsm.recall/1``)."""

from __future__ import annotations

from clsm_cli.startup.records import NamedTuple

SCHEMA = "clsm.recall/1"


class Source(NamedTuple):
    """Where a memory comes from: the ingested file as it was given, with its own lines.

    Attributes:
        file: Absolute path of what can be opened: that file, or where it is no longer there (or never
            was one) the file of the store that holds the text; "" where there is none.
    """

    path: str
    line_start: int
    line_end: int
    turn_ids: tuple[str, ...]
    timestamp: str | None
    file: str = ""
    line: int = 0


class Signals(NamedTuple):
    """The signals of a passage, each 0 … 1; their weighted sum is its score.

    Attributes:
        bm25: Its words, as a share of the best of this query, times the square of the largest
            share of the question's idf that stands in one group: where the store hardly has the
            question's words, words decide little.
        maxsim: Late interaction with the passage and the one before it, min-max over candidates.
        context: The same with the one after it too.
        episode: Its group (eight turns of a conversation, eight blocks of a section): half BM25,
            half mean cosine.
        participant: Whether it is by, or in a note about, the one person the question names.
        date: Whether it was told at, or speaks of, the time that the question names; most for a
            single day (``match.period_match``).
        temporal: Whether it speaks of a time, where the question asks for one.
        question: Whether it is a question itself; that speaks against it.
        echo: Late interaction with the turn before alone, where that asks nothing; it speaks
            against: what is found stands there already.
        session: The best passage of its conversation at first sight.
        meaning: The cosine to the question, as far as that asks for several things or names no
            speaker (``ranking``).
        outdated: Whether all that was learnt from it holds no longer, where the question asks
            for what does; that speaks against it.
        literal: What it holds, as it is written, of the question's words that the model does not
            know (``dense_search``, ``lexical_search``).
        graph: How strongly the best passages lead to it, by what both mention (``activation``).
    """

    bm25: float = 0.0
    maxsim: float = 0.0
    context: float = 0.0
    episode: float = 0.0
    participant: float = 0.0
    date: float = 0.0
    temporal: float = 0.0
    question: float = 0.0
    echo: float = 0.0
    names: float = 0.0
    session: float = 0.0
    meaning: float = 0.0
    outdated: float = 0.0
    graph: float = 0.0
    literal: float = 0.0


class ActivationPath(NamedTuple):
    """How activation came to a memory: from which one, and through which concept."""

    concept: str
    memory: str


class Memory(NamedTuple):
    """One item of an answer.

    Attributes:
        text: A turn, a statement, or the window of a note round the block that was found.
        score: Rank score, 0 … 1, relative to this query.
        confidence: How likely it answers, 0 … 0.99, comparable between queries (``scoring.confidence``).
        shares: Weight · signal of each, which add up to the score before it is brought to 0 … 1, and
            before it yields to rivals (``retrieval.demotion``).
        states: Ids of the statements that it says and that were found too.
        until: Day from which it holds no longer, says ``replaced_by``; ``perhaps_until``: likely.
        told_later: Day on which it was told, where that is after the time asked about.
        way: What led to it, where something did (``retrieval.activation``).
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
    why: Signals
    shares: Signals
    heading: str = ""
    speaker: str = ""
    states: tuple[str, ...] = ()
    until: str | None = None
    perhaps_until: str | None = None
    replaced_by: str | None = None
    told_later: str | None = None
    way: ActivationPath | None = None

    def size(self, unit: str) -> int:
        """Of its text, in tokens or characters."""
        return self.tokens if unit == "tokens" else len(self.text)


class Concept(NamedTuple):
    """A node that the query activates.

    Attributes:
        activation: Probability that it belongs to the query.
        seed: How the query named it (exact, alias, fuzzy; in a preset also bm25, cosine), or None.
        path: Nodes that activation came through, itself last.
        steps: Type and weight of each edge between them.
    """

    id: str
    label: str
    aliases: tuple[str, ...]
    kind: str
    stream: str
    activation: float
    seed: str | None
    path: tuple[str, ...]
    steps: tuple[tuple[str, float], ...] = ()


class Fact(NamedTuple):
    """A current statement about something that the query names (``retrieval.known_facts``).

    Attributes:
        time: When it became true, as it is written; None where nobody said.
        tokens: Estimated word pieces of ``line``.
    """

    id: str
    about: str
    text: str
    trust: str
    time: str | None
    tokens: int

    @property
    def line(self) -> str:
        """Trust and day, then the text, which could pose as what comes before it."""
        return f"- (trust {self.trust}, {(self.time or 'undated')[:10]}) {self.text}"

    def size(self, unit: str) -> int:
        """Of that line, in tokens or characters."""
        return self.tokens if unit == "tokens" else len(self.line)


class Dropped(NamedTuple):
    """An item left out because of the budget."""

    id: str
    tokens: int
    reason: str


class Budget(NamedTuple):
    """The budget and what was used of it; ``unit`` is tokens or characters."""

    limit: int
    used: int
    unit: str = "tokens"
    dropped: tuple[Dropped, ...] = ()


class Answer(NamedTuple):
    """The answer to one query, best first.

    Attributes:
        route: The memory that is needed: none, ltm (the store), stm (the current conversation) or
            both; ``cues`` names what decided.
    """

    recall_id: str
    query: str
    now: str
    route: str
    confidence: float
    concepts: tuple[Concept, ...]
    memories: tuple[Memory, ...]
    budget: Budget
    embedder: str | None
    as_of: str | None = None
    known_at: str | None = None
    cues: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether the answer contains anything relevant."""
        return bool(self.memories)
