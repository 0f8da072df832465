"""The receipt of a forget: what was removed, what stayed and why, what is out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.graph_rows import OF_EPISODES

if TYPE_CHECKING:
    from clsm_cli.forgetting.external_copies import ExternalCopy
    from clsm_cli.forgetting.history_purge import RewrittenHistory
    from clsm_cli.forgetting.purge import Purged
    from clsm_cli.forgetting.references import Reference
    from clsm_cli.forgetting.selection import Chosen
    from clsm_cli.forgetting.store_contents import StoreContents
    from clsm_cli.model.codec import Record


class RemovedItem(NamedTuple):
    """One thing that goes.

    Attributes:
        kind: turn, block, statement, gist, concept, connection, episode or label.
    """

    id: str
    kind: str
    text: str
    time: str | None = None


class KeptItem(NamedTuple):
    """One thing that had to do with what goes, and stays."""

    id: str
    kind: str
    text: str
    why: str


class Run(NamedTuple):
    """A run that can no longer be undone."""

    id: str
    command: str
    at: str


class Receipt(NamedTuple):
    """What a forget did, or would do.

    Attributes:
        undoable: Runs of this machine that could be undone until then, oldest first.
        gone: The turns first, then what rested on them alone.
        stays: What also rests on something else.
        remade: Episodes that lost some of their turns: old id → new id.
        turns: Turns that go, of ``all_turns``.
        files: Files of the store that go or change.
    """

    gone: tuple[RemovedItem, ...]
    stays: tuple[KeptItem, ...]
    remade: dict[str, str]
    turns: int
    all_turns: int
    files: tuple[str, ...]
    beyond: tuple[ExternalCopy, ...]
    refers: tuple[Reference, ...] = ()
    undoable: tuple[Run, ...] = ()
    warnings: tuple[str, ...] = ()
    run: str | None = None
    history: RewrittenHistory | None = None

    @property
    def share(self) -> float:
        """Share of all turns that go, 0 … 1."""
        return self.turns / self.all_turns if self.all_turns else 0.0


def list_removed(
    before: StoreContents, after: dict[str, Record], chosen: Chosen, purged: Purged
) -> tuple[RemovedItem, ...]:
    """Everything that goes: turns, episodes, statements, then nodes and edges between them."""
    turns = [_turn(before, key) for key in sorted(chosen.turns, key=lambda k: _order(before, k))]
    found = sorted(turns, key=lambda each: each.kind, reverse=True)
    whole = sorted(purged.unsupported.episodes - purged.remade.keys())
    found += [RemovedItem(i, "episode", _title(before, i)) for i in whole]
    records = [before.records[i] for i in sorted(before.records.keys() - after.keys())]
    rows = [_statement(before, r) for r in records if isinstance(r, Statement)]
    by_hand = purged.unsupported.statements - before.records.keys()
    rows += [RemovedItem(i, "statement", before.statements[i].text) for i in sorted(by_hand)]
    found += sorted(rows, key=lambda each: each.kind, reverse=True)
    found += [RemovedItem(r.id, "concept", r.label or r.id) for r in records if isinstance(r, Node)]
    found += [
        RemovedItem(r.id, "connection", f"{r.source} – {r.target} ({r.type})")
        for r in records
        if isinstance(r, Edge) and r.type not in OF_EPISODES
    ]
    return tuple(found)


def list_kept(
    before: StoreContents, after: dict[str, Record], chosen: Chosen, purged: Purged
) -> tuple[KeptItem, ...]:
    """Items that had to do with what was removed but stay, each with the reason."""
    found: list[KeptItem] = []
    for row in before.statements.values():
        shared = chosen.turns.intersection(row.sources)
        if shared and row.id in after and row.kind != "gist":
            others = len(row.sources) - len(shared)
            found.append(KeptItem(row.id, "statement", row.text, f"rests on {_other(others)} too"))
        elif (
            row.supersedes in purged.unsupported.statements and row.id in after and not row.sources
        ):
            found.append(KeptItem(row.id, "statement", row.text, "a person wrote it"))
    for node, keys in sorted(before.mentions.items()):
        record = after.get(node)
        if keys & chosen.turns and isinstance(record, Node):
            others = len(keys - chosen.turns)
            why = f"{_other(others)} mention{'s' if others == 1 else ''} it"
            found.append(KeptItem(node, "concept", record.label or node, why))
    return tuple(found)


def _other(count: int) -> str:
    return f"{count} other turn{'' if count == 1 else 's'}"


def _order(memory: StoreContents, key: str) -> tuple[str, str]:
    told = memory.turns[key]
    return (told.turn.time or told.recorded_at, key)


def _turn(memory: StoreContents, key: str) -> RemovedItem:
    told = memory.turns[key]
    who = f"{told.turn.speaker}: " if told.turn.speaker else ""
    kind = "turn" if told.document is None else "block"
    return RemovedItem(key, kind, f"{who}{' '.join(told.turn.text.split())}", told.turn.time)


def _title(memory: StoreContents, episode: str) -> str:
    return str(getattr(memory.records.get(episode), "title", ""))


def _statement(memory: StoreContents, record: Statement) -> RemovedItem:
    known = memory.statements.get(record.id, record)
    kind = "gist" if record.kind == "gist" else "statement"
    return RemovedItem(record.id, kind, known.text, known.valid_from)
