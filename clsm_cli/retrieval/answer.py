"""The result of a recall: data only, rendered elsewhere (schema ``clsm.recall/1``)."""

from __future__ import annotations

from clsm_cli.startup.records import NamedTuple

SCHEMA = "clsm.recall/1"


class Source(NamedTuple):
    """The origin of a memory: the path of the ingested file as it was given, and its lines.

    Attributes:
        file: Absolute path of a file to open: the ingested one or, if that is gone or was no file,
            the store's file with the text; "" if there is none.
        line: Line to open in that file.
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
        bm25: BM25, as a share of the best of this query, times the square of the largest coverage
            of the question's idf by one group: if the store hardly has the question's words, words
            count little.
        maxsim: Late interaction with the passage and the one before it, min-max over candidates.
        context: The same with the next passage too.
        episode: Its group (eight turns of a conversation, eight blocks of a section): half BM25,
            half mean cosine.
        participant: Whether it is by, or in a note about, the one person that the question names.
        date: How well it fits the time that the question names, best for a single day
            (``match.period_match``).
        temporal: Whether it mentions a time, if the question asks for one.
        question: Whether it is a question itself; weighted negatively.
        echo: Late interaction with the previous turn alone, unless that is a question; weighted
            negatively, as that turn already says the same.
        names: How many names it mentions.
        session: First-pass score of the best passage of its conversation.
        meaning: The cosine to the question, as far as that asks for several things or names no
            speaker (``ranking``).
        outdated: Whether all statements learnt from it are closed, if the question asks for the
            present; weighted negatively.
        literal: Exact match of the question's words that are not in the model's vocabulary
            (``dense_search``, ``lexical_search``).
        graph: Activation by the best passages, over shared concepts (``activation``).
        reading: How much likelier it answers the question than the least likely of those that were
            read together with it (``verdict``); 0 if it was not read.
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
    reading: float = 0.0


class ActivationPath(NamedTuple):
    """How activation reached a memory: from which one, over which concept, and by which sentence there."""

    concept: str
    memory: str
    sentence: str


class Memory(NamedTuple):
    """One item of an answer.

    Attributes:
        text: A turn, a statement, or the window of a note around the retrieved block.
        score: Rank score, 0 … 1, relative to this query.
        confidence: Probability that it answers, 0 … 0.99, comparable between queries
            (``scoring.confidence``).
        why: Its signals.
        shares: Weight · signal of each; their sum is the score before normalisation to 0 … 1 and
            before demotion (``retrieval.demotion``).
        states: Ids of retrieved statements that it replaces, since it says the same.
        until: Day since which it is no longer true, according to ``replaced_by``;
            ``perhaps_until``: probably.
        told_later: Day on which it was told, if that is after the time asked about.
        way: The activation that led to it, if any (``retrieval.activation``).
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
        """Size of the text, in tokens or characters."""
        return self.tokens if unit == "tokens" else len(self.text)


class Concept(NamedTuple):
    """A node that is relevant to the query.

    Attributes:
        activation: Probability that it is relevant.
        seed: How the query names it (exact, alias, fuzzy; in a preset also bm25, cosine), or None.
        path: Nodes on the path of activation, itself last.
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


class KnownFact(NamedTuple):
    """A current statement about something that the query names (``retrieval.known_facts``).

    Attributes:
        about: Id of the concept.
        time: When it became true, as written; None if unknown.
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
        """Trust and day come before the text, which could imitate them."""
        return f"- (trust {self.trust}, {(self.time or 'undated')[:10]}) {self.text}"

    def size(self, unit: str) -> int:
        """Size of ``line``, in tokens or characters."""
        return self.tokens if unit == "tokens" else len(self.line)


class DroppedItem(NamedTuple):
    """An item left out because of the budget."""

    id: str
    tokens: int
    reason: str


class Budget(NamedTuple):
    """The budget, and how much was used; ``unit`` is tokens or characters."""

    limit: int
    used: int
    unit: str = "tokens"
    dropped: tuple[DroppedItem, ...] = ()


class Answer(NamedTuple):
    """The answer to one query, best first.

    Attributes:
        route: Which memory the query needs: none, ltm (the store), stm (the current conversation)
            or both; ``cues`` lists the reasons.
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
    facts: tuple[KnownFact, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether the answer contains anything relevant."""
        return bool(self.memories)
