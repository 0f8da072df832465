"""What a store holds, as a rig reads it, and words of commands that name it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from string import Formatter

from clsm_cli.forgetting import selection
from clsm_cli.model.episodes import Turn
from clsm_cli.model.graph import Statement
from clsm_cli.store import episodes, inbox, layout, logs
from clsm_cli.store.layout import Store

DEVICE = "pi"
_NOW = "2026-03-01T11:00:00Z"


def opened(root: Path) -> Store:
    """A store as the commands see it."""
    return layout.open_store(root, {"CLSM_DEVICE": DEVICE})


def turns_of(store: Store) -> Iterator[Turn]:
    """All turns of all machines, in episodes and in what is still open."""
    for flow in store.flows():
        for path in episodes.files(flow):
            yield from episodes.read(path).turns
        for path in inbox.files(flow / "inbox"):
            yield from (item.turn for item in inbox.read(path).turns)


def worded(words: Sequence[str], store: Path, sources: Path, before: Path) -> list[str]:
    """Words with their names in braces replaced; ids are those of the store ``before``."""
    values: dict[str, str] = {
        "store": str(store),
        "place": str(store.parent),
        "sources": str(sources),
    }
    for word in words:
        for _, name, _, _ in Formatter().parse(word):
            if name is not None and name not in values:
                values[name] = _IDS[name](opened(before))
    return [word.format(**values) for word in words]


def _last_run(store: Store) -> str:
    return str(logs.rows(store.flow / "runs.jsonl")[0][-1][1]["id"])


def _last_night(store: Store) -> str:
    rows = [row for _, row in logs.rows(store.flow / "runs.jsonl")[0]]
    return str(next(row["id"] for row in reversed(rows) if row["command"] == "consolidate"))


def _turn(store: Store) -> str:
    turns = selection.read_store(store, _NOW).turns.items()
    return min(key for key, told in turns if "coffee" in told.turn.text)


def _current(store: Store, *, drinks: bool) -> list[Statement]:
    rows = selection.read_store(store, _NOW).statements.values()
    return [r for r in rows if r.is_current and ("coffee" in r.text) == drinks]


def _fact(store: Store) -> str:
    return min(r.id for r in _current(store, drinks=False) if r.stream == "identity")


def _drink(store: Store) -> str:
    return min(_current(store, drinks=True), key=lambda row: (row.stream, row.id)).id


_IDS: dict[str, Callable[[Store], str]] = {
    "run": _last_run,
    "night": _last_night,
    "turn": _turn,
    "fact": _fact,
    "drink": _drink,
}
"""What words of a command may name: the last run, the last consolidation, a turn …"""
