"""What a store holds, read from its files: shards, topic files and episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.records import NamedTuple
from clsm_cli.store import episodes, logs, shards, statements

if TYPE_CHECKING:
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.layout import Store

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
    def held(self) -> list[Statement]:
        """Statements that the store takes to be true, now or of some time that is over."""
        return [
            row
            for row in self.rows.values()
            if row.superseded_at is None and not row.withdrawn and row.kind != "gist"
        ]

    def told(self, row: Statement) -> list[str]:
        """The texts of the turns that a statement rests on, with single blanks."""
        found = (self.turns[key].text for key in row.sources if key in self.turns)
        return [" ".join(text.split()) for text in found]

    def resting_on(self, quote: str) -> list[Statement]:
        """The statements held that rest on a turn with that quote in it."""
        return [row for row in self.held if any(quote in text for text in self.told(row))]


def read(store: Store) -> Contents:
    """Everything that a store holds."""
    records = shards.load_graph(store.graphs(), logs.forgotten(store)).records
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
        rows=statements.load(store, records, NO_TIME),
        turns=turns,
        consolidated=sum(
            isinstance(r, EpisodeRecord) and r.stage == "consolidated" for r in records.values()
        ),
        review=len(review),
    )
