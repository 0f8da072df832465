"""Labels of a memory, the contents of its store, and the figures of one against the other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import label_key
from clsm_cli.evaluation.loaders.parsing import malformed_error
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episodes, logs, record_files, shards, yaml_text
from clsm_cli.store.jsonlines import LineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.layout import Store


_ARTICLE = re.compile(r"\A(?:the|an?)\s+(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Concept:
    """A thing that the memory should know.

    Attributes:
        names: Label and aliases in the form of ``normal_name``.
        kind: What it is; None where the label leaves that open.
    """

    label: str
    names: frozenset[str]
    kind: str | None


@dataclass(frozen=True, slots=True)
class Wording:
    """A sentence that should stand in memory, or must not.

    Attributes:
        stream: Where it belongs; empty for what must not stand anywhere.
        groups: Of each group one word or phrase must occur.
        quote: The evidence, with single blanks.
    """

    text: str
    stream: str
    groups: tuple[tuple[str, ...], ...]
    quote: str


@dataclass(frozen=True, slots=True)
class Value:
    """What a fact was, from one day up to another; None: still."""

    text: str
    valid_from: str
    valid_until: str | None
    quote: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that changed; its values in order of time."""

    id: str
    subject: str
    slot: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Labels:
    """All labels of one memory."""

    concepts: tuple[Concept, ...]
    keep: tuple[Wording, ...]
    junk: tuple[Wording, ...]
    facts: tuple[Fact, ...]


def load(path: Path) -> Labels:
    """Read ``concepts.yaml``, ``statements.yaml`` and ``facts.yaml`` of a labelled memory.

    Raises:
        BadInputError: A file is missing or not what it must be.
    """
    folder = path / "labels"
    return Labels(
        concepts=_read(folder / "concepts.yaml", lambda rows: tuple(map(_concept, rows))),
        keep=_read(folder / "statements.yaml", lambda rows: tuple(map(_wording, rows["keep"]))),
        junk=_read(folder / "statements.yaml", lambda rows: tuple(map(_wording, rows["junk"]))),
        facts=_read(folder / "facts.yaml", lambda rows: tuple(map(_fact, rows))),
    )


def normal_name(name: str) -> str:
    """A name to compare: without case, marks, blanks, a leading article and a plural s.

    >>> normal_name("The Steward's Problems"), normal_name("a heron"), normal_name("compass")
    ('stewardsproblem', 'heron', 'compass')
    """
    found = label_key(_ARTICLE.sub("", name.strip(), count=1))
    return found[:-1] if len(found) > 3 and found.endswith("s") and found[-2] != "s" else found


def normal_names(names: Iterable[str]) -> frozenset[str]:
    """The normal forms of some names; a name of marks alone has none."""
    return frozenset(map(normal_name, names)) - {""}


def _concept(row: dict[str, Any]) -> Concept:
    names = (row["label"], *row.get("aliases", ()))
    return Concept(str(row["label"]), normal_names(map(str, names)), row.get("kind"))


def _wording(row: dict[str, Any]) -> Wording:
    groups = tuple(tuple(map(str, group)) for group in row["must_contain"])
    return Wording(row["text"], row.get("stream", ""), groups, _quote(row))


def _fact(row: dict[str, Any]) -> Fact:
    values = tuple(
        Value(str(each["value"]), each["valid_from"], each["valid_until"], _quote(each))
        for each in row["values"]
    )
    return Fact(str(row["id"]), row["subject"], row["slot"], values)


def _quote(row: dict[str, Any]) -> str:
    return " ".join(str(row["evidence"]["quote"]).split())


def _read(path: Path, made: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
    data = atomic.read(path, MAX_FILE)
    if data is None:
        raise BadInputError(str(path), "is missing", "see docs/evaluation.md for the layout")
    try:
        return made(yaml_text.load(data.decode("utf-8"), MAX_FILE, values=None))
    except (LineError, UnicodeDecodeError) as error:
        raise BadInputError(str(path), str(error), "mend it") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise malformed_error(path, repr(error)) from error


NO_TIME = "2000-01-01T00:00:00Z"
"""When hand edits would be taken to have been made; there are none."""


class Contents(NamedTuple):
    """A store as its files have it, each by id.

    Attributes:
        rows: All statements with their texts, gists too.
        turns: By key.
        review: Items for a person.
    """

    nodes: dict[str, Node]
    edges: dict[str, Edge]
    rows: dict[str, Statement]
    turns: dict[str, Turn]
    consolidated: int
    review: int

    @property
    def statements(self) -> list[Statement]:
        """Statements that the store takes to be true, now or of some time that is over."""
        return [
            row
            for row in self.rows.values()
            if row.superseded_at is None and not row.withdrawn and row.kind != "gist"
        ]

    def source_texts(self, row: Statement) -> list[str]:
        """The texts of the turns that a statement rests on, with single blanks."""
        found = (self.turns[key].text for key in row.sources if key in self.turns)
        return [" ".join(text.split()) for text in found]

    def resting_on(self, quote: str) -> list[Statement]:
        """The statements held that rest on a turn with that quote in it."""
        return [
            row for row in self.statements if any(quote in text for text in self.source_texts(row))
        ]


def read_contents(store: Store) -> Contents:
    """Read the contents of a store from its files."""
    records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
    turns = {
        turn.key: turn
        for flow in store.flows()
        for path in episodes.files(flow)
        for turn in episodes.read(path).turns
    }
    review = {
        row.get("id") for flow in store.flows() for _, row in logs.rows(flow / "review.jsonl")[0]
    }
    return Contents(
        nodes={i: r for i, r in records.items() if isinstance(r, Node)},
        edges={i: r for i, r in records.items() if isinstance(r, Edge)},
        rows=record_files.load_statements(store, records, NO_TIME),
        turns=turns,
        consolidated=sum(
            isinstance(r, EpisodeRecord) and r.stage == "consolidated" for r in records.values()
        ),
        review=len(review),
    )


@dataclass(frozen=True, slots=True)
class ConceptFigures:
    """Labelled concepts against nodes.

    Attributes:
        labels: Labelled concepts; ``found`` of them have a node of that name.
        unmatched: Nodes that bear the name of no label.
        kinded: Labels with a kind that were found; of ``kinds_right`` a node has it.
        missing: Labels without a node.
        split: Labels with several nodes, and those.
        merges: Nodes that bear the names of several labels, and those.
    """

    labels: int
    found: int
    nodes: int
    unmatched: int
    kinded: int
    kinds_right: int
    missing: tuple[str, ...]
    split: dict[str, tuple[str, ...]]
    merges: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Missed:
    """A labelled sentence that no statement holds.

    Attributes:
        instead: The statements that rest on the turn of its evidence.
    """

    text: str
    quote: str
    instead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatementFigures:
    """Labelled sentences against statements that are current or closed.

    Attributes:
        keep: Sentences worth keeping; ``present`` of them stand in a statement.
        stream_right: Of those present, how many stand in the labelled stream.
        missing: Those that do not stand anywhere.
        misplaced: Those that stand in other streams only: label, its stream, found streams.
        junk: Fragments that must not be kept.
        promoted: Those that were: label and the statement.
        counts: Kind → stream → number of statements, gists too.
    """

    keep: int
    present: int
    stream_right: int
    missing: tuple[Missed, ...]
    misplaced: tuple[tuple[str, str, str], ...]
    junk: int
    promoted: tuple[tuple[str, str], ...]
    counts: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class ValueFigures:
    """One value of a fact that changed.

    Attributes:
        is_stated: Whether any row says it of the subject.
        is_right: Whether a row that says it has both dates right.
        ends_right: Whether a row that says it ends when it should.
        why: What is wrong; empty when right.
        found: The rows that come nearest, with their dates.
    """

    value: str
    valid_from: str
    valid_until: str | None
    is_stated: bool
    is_right: bool
    ends_right: bool
    why: str
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactFigures:
    """A fact that changed.

    Attributes:
        is_current_right: A current row says the last value, and no current row of the same subject
            says an older one.
        stale: Current rows that do.
    """

    id: str
    is_current_right: bool
    stale: tuple[str, ...]
    values: tuple[ValueFigures, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What two stores hold differently, of one kind of record and in one way."""

    what: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """What becomes of a store that is consolidated again, and of one that was every night.

    Attributes:
        changed_files: Files that a second run over the same episodes changed.
        rebuilt: What a rebuild of the graph changed.
        nights: How many nights there were; ``refused`` of them only went on with permission.
        nightly: What nights give differently from one run at the end.
    """

    changed_files: tuple[str, ...]
    rebuilt: tuple[Difference, ...]
    nights: int
    refused: int
    nightly: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A statement for a judge, with the texts of the turns that it rests on."""

    id: str
    kind: str
    stream: str
    valid_from: str | None
    valid_until: str | None
    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The result of consolidating a labelled memory.

    Attributes:
        data: Sizes: turns, statements, nodes, edges by type, gists, review items.
        statements: None for a memory without markup, of which only concepts are looked at; so are
            ``facts`` and ``repeated``.
        sheet: Statements drawn for a judge.
        heads: Head → figure → value on memories left out of its fit.
    """

    data: dict[str, int]
    concepts: ConceptFigures
    statements: StatementFigures | None = None
    facts: tuple[FactFigures, ...] = ()
    repeated: Repeated | None = None
    sheet: tuple[SheetRow, ...] = ()
    heads: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
