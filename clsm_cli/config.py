"""Settings: every constant that someone may want to change, with its unit and source.

A store's ``clsm.yaml`` lists only the values that differ from these defaults, by dotted name
(``boundary.confidence: 0.8``). So each mechanism can be switched off for an ablation.

A store is copied by clone and backup, so its settings are untrusted data. A store may set ``Settings``
only: numbers, words of a fixed list, and exclusion patterns; none refers to anything outside the store.
Settings that do (an address, the name of a variable, a path) are ``MachineSettings``, which are never
read from a store. docs/format.md lists all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from clsm_cli.startup.records import NamedTuple

FORMAT_VERSION = 1
"""Version of the store format this program reads and writes (docs/format.md)."""

MAX_FILE = 8 << 20
"""Bytes of a note or a shard. Limits of untrusted text are part of the format, not settings."""
MAX_BLOCKS = 1 << 15
"""Blocks of a note; ingesting one needs 7 KB of memory for each."""
MAX_MESSAGE = 1 << 20
"""Bytes of one message, block or line."""
MAX_DEPTH = 64
"""Nesting of JSON or YAML."""
_MAX_NUMBER = 10**9
"""Absolute value of a setting; so many minutes are less than 2,000 years."""
_NOT_ZERO = ("consolidation.step", "passage.max_tokens", "recall.candidates", "recall.k")
"""Sizes of steps and parts; every other whole number may be 0."""


class BoundarySettings(NamedTuple):
    """When one episode ends and the next begins (Nemori §3.1.1; CMA §3.1)."""

    confidence: float = 0.7
    """Probability above which a boundary fires (Nemori: σ_b)."""
    max_turns: int = 25
    """Turns after which an episode ends anyway (Nemori: β_max)."""
    min_turns: int = 2
    """Turns; a shorter segment joins a neighbour (Nemori)."""
    gamma: float = 1.0
    """Standard deviations above the mean at which a turn is surprising (CMA §3.1: γ in 1 … 2)."""
    window: int = 16
    """Turns over which mean and deviation of the surprise are computed (τ)."""
    gap_ignored: float = 5.0
    """Minutes of silence up to which a gap is no evidence."""
    gap_half: float = 30.0
    """Minutes of silence that make a boundary as likely as not (Nemori's prompt)."""
    gap_certain: float = 240.0
    """Minutes of silence that end an episode; ``consolidate`` closes open ones after it."""
    refine: int = 3
    """Turns by which modularity may move a boundary (CMA §3.1.2)."""


class IngestSettings(NamedTuple):
    """Settings of ingestion."""

    exclude: tuple[str, ...] = ()
    """Patterns as in .gitignore: files to exclude from every ingested folder."""
    me: tuple[str, ...] = ()
    """Your names in chats of messengers, as these write them."""


class ContextSettings(NamedTuple):
    """What ``clsm context`` leaves out."""

    loaded: tuple[str, ...] = (
        "AGENTS.md",
        "SOUL.md",
        "IDENTITY.md",
        "USER.md",
        "TOOLS.md",
        "BOOTSTRAP.md",
        "MEMORY.md",
        "CLAUDE.md",
    )
    """Files that the agent reads anyway when a session starts (OpenClaw: Agent workspace; Claude Code:
    Memory), so ``clsm context`` leaves them out, and today's and yesterday's notes
    ``memory/YYYY-MM-DD*.md`` in a folder that has one. Empty: nothing is left out."""


class PassageSettings(NamedTuple):
    """How text is split into passages."""

    max_tokens: int = 200
    """Word pieces of one passage; MiniLM reads 256 (sentence-transformers' limit)."""


class RecallSettings(NamedTuple):
    """How passages and concepts are ranked and packed."""

    k: int = 10
    """Items returned unless a budget is given."""
    budget: int = 2000
    """Tokens of text returned at most."""
    bm25_k1: float = 0.9
    """Saturation of term frequency (short turns saturate early; Lucene's 1.2 is for pages)."""
    bm25_b: float = 0.3
    """Length normalisation."""
    floor: float = 0.15
    """Confidence that at least one item must reach, or the answer is empty (docs/experiments.md)."""
    faded: float = 0.25
    """Share of the sum of the best value of each signal below which an item only fills a budget; recall in
    1,000 tokens on LoCoMo is 88.5 % with it and 88.6 % without.
    """
    candidates: int = 200
    """Candidates from each search: by words, by meaning, by date (120 from four such lists contain 97 %
    of LoCoMo's evidence)."""
    least_idf: float = 2.0
    """Weight in late interaction of a word that is in every passage or has no search term; the rarest words have
    about 6.
    """
    weight_bm25: float = 0.15
    """Weight of BM25 (``retrieval.answer.Signals``); docs/experiments.md has the weights' figures."""
    weight_maxsim: float = 1.4
    """Late interaction with the passage and the previous one."""
    weight_context: float = 0.0
    """Late interaction with both neighbours; only in the first pass."""
    weight_episode: float = 0.7
    """Words and meaning of the surrounding turns or blocks."""
    weight_participant: float = 0.55
    """Said by the person asked about."""
    weight_date: float = 1.6
    """Fits the time asked about; several days count a third of a single one (``scoring.match``)."""
    weight_temporal: float = 0.25
    """Mentions a time, if the question asks for one."""
    weight_question: float = -0.1
    """Is a question itself."""
    weight_echo: float = -0.25
    """Repeats the previous turn."""
    weight_names: float = 0.4
    """Mentions names."""
    weight_session: float = 0.8
    """The best passage of its conversation."""
    weight_meaning: float = 0.5
    """Cosine to the question, if that asks for several things or names no speaker."""
    weight_outdated: float = -1.5
    """No longer true according to newer memories, if the question asks for the present state."""
    weight_graph: float = 1.2
    """Shares a concept with one of the best, and answers what that leaves open (``retrieval.activation``)."""
    weight_literal: float = 4.0
    """Contains a word that is not in the model's vocabulary (``retrieval.dense_search``)."""
    weight_reading: float = 2.5
    """Answers the question, read together with it (``retrieval.verdict``)."""
    breadth: float = 1.0
    """How far questions that ask for several things are ranked differently (``text.breadth``); 0: as any other."""
    alone: float = 1.0
    """If a question names no speaker: how far a passage is ranked by its own meaning instead of its surroundings;
    0: as if one were named.
    """
    time_filter: int = 1
    """1: if a question refers to certain days or conversations, only these are returned; 0: others may be too."""
    fold: float = 0.9
    """Share of common search terms from which two items of one speaker are merged; above 1: never."""
    rivals: float = 0.3
    """Share of a passage's confidence from which another one answers as well, so that untrusted, denied or
    superseded text, or text about another name, ranks below it (``retrieval.demotion``); 0: off.
    """
    untrusted_floor: float = 0.9
    """Text of tools and web pages is left out if its cosine to the question is below this share of the best
    trusted passage's, and it lacks a word of the question that that one has (``retrieval.verdict``); 0: never.
    """
    source_share: float = 0.25
    """Items of an answer from one such page, mail or session, at most, as a share of all, but at least one; 1: no
    limit.
    """
    window: int = 450
    """Characters to which a block of a note grows within its section; 0: it is returned by itself."""
    concepts: int = 10
    """Concepts returned (CLS-M: top_k)."""
    concept_passages: int = 30
    """Passages whose concepts are considered; 0: only concepts that the query names."""
    concept_beta: float = 1.5
    """How many times as much recall counts as precision where the list of concepts is cut; 1000: no cut."""
    refresh_passages: int = 64
    """Changed passages that a recall embeds itself; others are found by their words only."""


class GraphSettings(NamedTuple):
    """Which pairs of nodes get an edge, and how strong it is (``scoring/association``)."""

    reach: int = 2
    """Turns of one section within which two nodes occur together."""
    alpha: float = 0.75
    """Exponent that smooths the context's counts (Levy, Goldberg & Dagan 2015)."""
    shrink: float = 5.0
    """Contexts at which a weight is half of the association: n / (n + shrink)."""
    min_count: int = 2
    """Contexts below which there is no edge."""
    min_npmi: float = 0.10
    """Association below which there is no edge."""
    top: int = 12
    """Strongest edges of a node that are kept; an edge is kept if it is one of them for either node."""


class ConsolidationSettings(NamedTuple):
    """What becomes a statement, and how much a run may change at once."""

    worth: float = 0.6
    """Probability of being worth keeping (``heads/statement_head``) from which a sentence is kept; 0.55 of it is
    enough for what a person says in a conversation, 0.75 in a person's dated notes.
    """
    noise: float = 0.2
    """Probability of junk up to which a sentence or an open item is kept; twice that in a conversation."""
    predict: int = 1
    """1: a sentence that a statement already says reinforces it (Nemori: predict-calibrate); 0: every sentence is
    new.
    """
    gist_episodes: int = 2
    """Episodes from which a cluster gets a gist."""
    mass_loss: float = 0.2
    """Share of statements, nodes or edges that a run may withdraw without confirmation."""
    review_days: int = 30
    """Days after which an open review item expires."""
    step: int = 256
    """Episodes that are committed together."""


class LlmSettings(NamedTuple):
    """The language model to use; none, unless address and model are set."""

    base_url: str = ""
    """Address of the API, its version included: ``http://localhost:8080/v1``."""
    model: str = ""
    """Name of the model, as the server knows it."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key."""
    timeout: float = 60.0
    """Seconds that one request may take."""

    @property
    def enabled(self) -> bool:
        """Whether a model is configured."""
        return bool(self.base_url and self.model)


class StoreSettings(NamedTuple):
    """Settings of the lock and of shards."""

    lock_wait: float = 30.0
    """Seconds a writer waits for the store's lock."""
    capture_wait: float = 0.2
    """Seconds ``ingest --capture`` and ``note`` wait before they write a separate inbox file."""
    shard_records: int = 2000
    """Records after which a shard's name gets a second hex digit."""


class StatusSettings(NamedTuple):
    """When automation counts as stopped."""

    max_age: float = 36.0
    """Hours since the last successful consolidation beyond which ``clsm status --check`` fails: one night, and half
    a day for a machine that was off or a run that took long.
    """


class Settings(NamedTuple):
    """What a store may set; none of it refers to anything outside the store. See each group for units and sources."""

    ingest: IngestSettings = IngestSettings()
    boundary: BoundarySettings = BoundarySettings()
    context: ContextSettings = ContextSettings()
    passage: PassageSettings = PassageSettings()
    recall: RecallSettings = RecallSettings()
    graph: GraphSettings = GraphSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    status: StatusSettings = StatusSettings()
    store: StoreSettings = StoreSettings()


class MachineSettings(NamedTuple):
    """What only this machine may set, since it refers to things outside the store (``commands/machine_settings``)."""

    llm: LlmSettings = LlmSettings()


_Group = TypeVar("_Group", Settings, MachineSettings)


def defaults(settings: Settings | MachineSettings) -> dict[str, Any]:
    """Every setting by its dotted name.

    >>> defaults(MachineSettings())["llm.timeout"]
    60.0
    """
    return {
        f"{group}.{key}": value
        for group, values in settings._asdict().items()
        for key, value in values._asdict().items()
    }


def of_machine(names: Iterable[str]) -> tuple[str, ...]:
    """The names of settings that only a machine may set, in order.

    >>> of_machine(["recall.k", "llm.base_url"])
    ('llm.base_url',)
    """
    return tuple(n for n in names if str(n).partition(".")[0] in MachineSettings._fields)


def variable_of(name: str) -> str:
    """The environment variable of a machine setting.

    >>> variable_of("llm.base_url")
    'CLSM_LLM_BASE_URL'
    """
    return f"CLSM_{name.upper().replace('.', '_')}"


def with_changes(settings: _Group, changes: dict[str, Any]) -> _Group:
    """Replace some settings, given by dotted name.

    Raises:
        ValueError: An unknown name, or a value of the wrong type; the text says which.

    >>> with_changes(Settings(), {"recall.k": 5}).recall.k
    5
    """
    for name, value in changes.items():
        group_name, _, key = name.partition(".")
        group = getattr(settings, group_name) if group_name in settings._fields else None
        if group is None or key not in group._fields:
            raise ValueError(f"unknown setting {name!r}")
        typed = _typed(name, value, getattr(group, key))
        settings = settings._replace(**{group_name: group._replace(**{key: typed})})
    return settings


def _typed(name: str, value: Any, default: Any) -> Any:
    """Convert a value to the type of the setting's default."""
    wanted = type(default)
    if wanted is tuple:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ValueError(f"setting {name!r} must be a list of texts")
    elif wanted is str:
        if not isinstance(value, str):
            raise ValueError(f"setting {name!r} must be text")
    elif isinstance(value, bool) or not isinstance(value, (int, wanted)):
        raise ValueError(f"setting {name!r} must be a number like {default}")
    elif abs(value) > _MAX_NUMBER:
        raise ValueError(f"setting {name!r} is too large a number")
    elif wanted is int and value < (least := int(name in _NOT_ZERO)):
        raise ValueError(f"setting {name!r} must be at least {least}")
    return wanted(value)
