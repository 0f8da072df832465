"""The units that presets rank: nodes, episodes, statements, gists and turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Node
from clsm_cli.records import NamedTuple
from clsm_cli.store.index import graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.model.codec import Record
    from clsm_cli.retrieval.preset_settings import Episodes
    from clsm_cli.retrieval.published_library import Library
    from clsm_cli.store.index.graph import NodeRow
    from clsm_cli.store.index.passages import Passage


class Unit(NamedTuple):
    """Something that a preset can find.

    Attributes:
        kind: node, episode, statement, gist or turn.
        text: What is returned, and what is compared where no vector is stored.
        rows: The passages it is made of, in order.
        keys: The turns that it is made of or rests on.
        days: On which those were told, as proleptic ordinals.
        time: When the last of them was told.
        vector: Row of its sentence vector; −1: its text is encoded.
    """

    id: str
    kind: str
    text: str
    rows: tuple[int, ...]
    keys: tuple[str, ...]
    days: frozenset[int]
    time: str | None
    trust: str
    stream: str
    session: str
    vector: int


class Pool:
    """Units that are ranked in one list, with the words of each.

    Attributes:
        units: By kind, then id.
        of_row: Passage → place of the unit that is made of it.
        lengths: Terms of each unit.
        nodes: What each mentions: id of the node → how many of its passages do.
    """

    def __init__(self, library: Library, units: Sequence[Unit]) -> None:
        self.units = sorted(units, key=lambda unit: (unit.kind, unit.id))
        self.of_row = {row: at for at, unit in enumerate(self.units) for row in unit.rows}
        traits = library.traits
        self.lengths = [sum(traits[row].length for row in unit.rows) for unit in self.units]
        self.nodes = [library.mentioned(unit) for unit in self.units]


def of_kind(library: Library, kind: str, how: Episodes) -> list[Unit]:
    """All units of a kind."""
    if kind == "node":
        return [_node(library, row) for row in library.nodes.values()]
    if kind == "episode":
        return _episodes(library, how)
    wanted = "passage" if kind == "turn" else kind
    found = [(row, p) for row, p in library.passages.items() if p.kind == wanted]
    return [_of_passage(library, kind, row, passage) for row, passage in found]


def _of_passage(library: Library, kind: str, row: int, passage: Passage) -> Unit:
    keys = passage.sources or (passage.key,)
    rows = [each for key in keys for each in library.rows_of.get(key, ())] or [row]
    days, time = _told(library, rows)
    return Unit(
        id=passage.id,
        kind=kind,
        text=passage.text,
        rows=(row,),
        keys=keys,
        days=days,
        time=time or passage.time,
        trust=passage.trust,
        stream=passage.stream,
        session=passage.path if passage.document else passage.session,
        vector=library.traits[row].vector,
    )


def _episodes(library: Library, how: Episodes) -> list[Unit]:
    """Episodes by the passages that name them; what is no longer current is left out."""
    members: dict[str, list[int]] = {}
    for row, passage in sorted(library.passages.items()):
        if passage.episode is not None and passage.kind == "passage":
            members.setdefault(passage.episode, []).append(row)
    units = []
    for episode, rows in members.items():
        record = library.records.get(episode)
        first = library.passages[rows[0]]
        days, time = _told(library, rows)
        units.append(
            Unit(
                id=episode,
                kind="episode",
                text=_narrative(record) if how.read == "narrative" else library.raw(rows),
                rows=tuple(rows),
                keys=tuple(dict.fromkeys(library.passages[row].key for row in rows)),
                days=days,
                time=time,
                trust=first.trust,
                stream=first.stream,
                session=first.path if first.document else first.session,
                vector=-1,
            )
        )
    return [unit._replace(text=unit.text or library.raw(unit.rows)) for unit in units]


def _narrative(record: Record | None) -> str:
    if not isinstance(record, EpisodeRecord):
        return ""
    return "\n".join(filter(None, (record.title, record.narrative)))


def _node(library: Library, row: NodeRow) -> Unit:
    record = library.records.get(row.id)
    keys = record.sources if isinstance(record, Node) else ()
    rows = [each for key in keys for each in library.rows_of.get(key, ())]
    days, time = _told(library, rows)
    return Unit(
        id=row.id,
        kind="node",
        text=graph.node_text(row.label, row.aliases, row.summary),
        rows=(),
        keys=keys,
        days=days,
        time=time,
        trust="agent",
        stream=row.stream,
        session="",
        vector=row.vector,
    )


def _told(library: Library, rows: Sequence[int]) -> tuple[frozenset[int], str | None]:
    days = frozenset(day for row in rows if (day := library.traits[row].day) is not None)
    return days, max((time for row in rows if (time := library.passages[row].time)), default=None)
