"""What a crowd of writers asked for, what was acknowledged, and what the store must hold for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from faults.running.wording import turns_of

from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Statement
from clsm_cli.store import logs, record_files, shards
from clsm_cli.store.layout import Store


@dataclass(slots=True)
class Told:
    """A text that was to be remembered.

    Attributes:
        taken_back: How far it was forgotten or undone: "", "asked" or "acknowledged".
    """

    is_known: bool = False
    taken_back: str = ""
    id: str = ""


@dataclass(slots=True)
class Chain:
    """Values that one writer gave to one thing, one after the other.

    Attributes:
        known: Place of the last one that was acknowledged; -1: none.
    """

    asked: list[str] = field(default_factory=list)
    known: int = -1

    def ask(self, value: str) -> int:
        """Add a value, unless it is the last one, asked for again; its place."""
        if not self.asked or self.asked[-1] != value:
            self.asked.append(value)
        return len(self.asked) - 1

    def wrong(self, name: str, held: Sequence[str]) -> Iterator[str]:
        """It is the last one that was acknowledged, or one that was asked for later."""
        if not held and self.known < 0:
            return  # what makes it was never acknowledged
        if len(held) != 1:
            yield f"{name} has the values {held}"
        elif held[0] not in self.asked[max(self.known, 0) :]:
            yield f"{name} is {held[0]!r}, and {self.asked[self.known]!r} was acknowledged"


@dataclass(slots=True)
class History:
    """All that was asked of one store.

    Attributes:
        chains: By the name of what has a value: ``crate 3``, ``shelf 3``, ``stock 3``.
        recalls: Ids of acknowledged recalls, with how often each ran: one that is killed behind its
            line in the log, and asked for again, stands there twice.
        misread: What a writer missed in a file that it read.
    """

    told: dict[str, Told] = field(default_factory=dict)
    chains: dict[str, Chain] = field(default_factory=dict)
    recalls: dict[str, int] = field(default_factory=dict)
    judged: set[str] = field(default_factory=set)
    misread: list[str] = field(default_factory=list)

    def wrong(self, store: Store) -> list[str]:
        """What the store does not hold as it must; it is quiet, and what was begun is ended."""
        records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
        held = list(turns_of(store))
        found = list(self._texts(turn.text for turn in held))
        rows = record_files.load_statements(store, records, "").values()
        found += self._values(rows, records.values(), {turn.key: turn.text for turn in held})
        return [*found, *self._logged(store), *self.misread]

    def _texts(self, held: Iterable[str]) -> Iterator[str]:
        """Every acknowledged text once; none that was acknowledged as forgotten or undone."""
        counts = Counter(held)
        for text, told in self.told.items():
            count = counts[text]
            if count > 1:
                yield f"{text!r} is there {count} times"
            elif told.is_known and not told.taken_back and not count:
                yield f"{text!r} was acknowledged and is lost"
            elif told.taken_back == "acknowledged" and count:
                yield f"{text!r} is there, and was acknowledged as taken back"

    def _values(
        self, rows: Iterable[Statement], records: Iterable[Record], texts: dict[str, str]
    ) -> Iterator[str]:
        """Each thing has one value: the last that was acknowledged, or one asked for later."""
        held: dict[str, list[str]] = {name: [] for name in self.chains}
        for row in rows:
            if row.is_current:
                name, _, value = row.text.removeprefix("The ").partition(" holds ")
                held.setdefault(name, []).append(value or str(row.pinned))
        for record in records:
            if isinstance(record, Document):
                for block in record.blocks:
                    name, _, value = texts.get(block.key, "").partition(": edition ")
                    if value:
                        held.setdefault(name, []).append(value)
        for name, chain in self.chains.items():
            yield from chain.wrong(name, held[name])

    def _logged(self, store: Store) -> Iterator[str]:
        recalled = Counter(
            row.get("recall")
            for name in logs.ACTIVATIONS
            for _, row in logs.rows(store.flow / name)[0]
        )
        for recall, runs in sorted(self.recalls.items()):
            if not 1 <= recalled[recall] <= runs:
                yield f"recall {recall} ran {runs} times and is logged {recalled[recall]} times"
        judged = {row.get("recall") for _, row in logs.rows(store.flow / "feedback.jsonl")[0]}
        yield from (
            f"feedback of {each} was acknowledged and is lost"
            for each in sorted(self.judged - judged)
        )
