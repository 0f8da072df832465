"""Labels of a memory, and the contents of its store as its files have them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation.dataset import label_key, single_blanks
from clsm_cli.evaluation.loaders.parsing import load_yaml, malformed_error
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episodes, logs, record_files, shards

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.layout import Store


class Concept(NamedTuple):
    """A thing that the memory should know; its names as ``normal_name`` has them."""

    label: str
    names: frozenset[str]
    kind: str | None


class Wording(NamedTuple):
    """A sentence that should stand in memory, or must not.

    Attributes:
        stream: Where it belongs; empty for what must not stand anywhere.
        groups: Of each group one word or phrase must occur.
    """

    text: str
    stream: str
    groups: tuple[tuple[str, ...], ...]


class Value(NamedTuple):
    """What a fact was, from one day up to another (None: still), and the quote that says it."""

    text: str
    valid_from: str
    valid_until: str | None
    quote: str


class Fact(NamedTuple):
    """A fact that changed; its values in order of time."""

    id: str
    subject: str
    values: tuple[Value, ...]


class Labels(NamedTuple):
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
    concepts, statements, facts = (
        load_yaml(folder / f"{name}.yaml") for name in ("concepts", "statements", "facts")
    )
    try:
        return Labels(
            concepts=tuple(map(_concept, concepts)),
            keep=tuple(map(_wording, statements["keep"])),
            junk=tuple(map(_wording, statements["junk"])),
            facts=tuple(map(_fact, facts)),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise malformed_error(folder, repr(error)) from error


def _concept(row: dict[str, Any]) -> Concept:
    names = (row["label"], *row.get("aliases", ()))
    return Concept(str(row["label"]), normal_names(map(str, names)), row.get("kind"))


def _wording(row: dict[str, Any]) -> Wording:
    groups = tuple(tuple(map(str, group)) for group in row["must_contain"])
    return Wording(row["text"], row.get("stream", ""), groups)


def _fact(row: dict[str, Any]) -> Fact:
    values = (
        Value(str(each["value"]), each["valid_from"], each["valid_until"], _quote(each))
        for each in row["values"]
    )
    return Fact(str(row["id"]), row["subject"], tuple(values))


def _quote(row: dict[str, Any]) -> str:
    return single_blanks(str(row["evidence"]["quote"]))


_ARTICLE = re.compile(r"\A(?:the|an?)\s+(?=\S)", re.IGNORECASE)


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
        return [single_blanks(self.turns[key].text) for key in row.sources if key in self.turns]


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
