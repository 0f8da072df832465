"""What an evaluation of consolidation says: data only, rendered elsewhere."""

from __future__ import annotations

from dataclasses import dataclass


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
        found: The rows that come nearest, with slot and dates.
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
            and slot says an older one.
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
    """

    data: dict[str, int]
    concepts: ConceptFigures
    statements: StatementFigures | None = None
    facts: tuple[FactFigures, ...] = ()
    repeated: Repeated | None = None
    sheet: tuple[SheetRow, ...] = ()
