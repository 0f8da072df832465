"""Hand edits of topic files are written down once, completely, and never at the price of a loss."""

from pathlib import Path

from clsm_cli.model.graph import Statement
from clsm_cli.store import runs, settle, shards
from clsm_cli.store.layout import Store

NOW = "2026-02-24T08:00:00Z"
LATER = "2026-02-25T08:00:00Z"


def write(store: Store, text: str) -> Path:
    path = store.root / "identity" / "tastes.md"
    path.write_text(text, encoding="utf-8")
    return path


def settled(store: Store, now: str = NOW) -> list[str]:
    writes, warnings = settle.plan(store, now)
    runs.apply(store, "test", now, writes)
    assert settle.plan(store, now)[0] == []  # a second run has nothing to do
    return warnings


def statements(store: Store) -> dict[str, Statement]:
    graph = shards.load_graph([store.graph("identity")])
    return {i: r for i, r in graph.records.items() if isinstance(r, Statement)}


def test_much_gone_at_once_is_not_believed(store: Store) -> None:
    items = "".join(f"- Fact number {n} stays true.\n" for n in range(20))
    path = write(store, items)
    settled(store)
    path.unlink()
    (warning,) = settled(store, LATER)
    assert "20 of 20 statements" in warning
    assert not any(s.withdrawn for s in statements(store).values())


def test_a_hundred_gone_at_once_is_not_believed_however_many_there_are(store: Store) -> None:
    lines = [f"- Fact {number}.\n" for number in range(600)]
    path = write(store, "".join(lines))
    settled(store)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[101:]), encoding="utf-8")  # a sixth
    (warning,) = settle.plan(store, LATER)[1]
    assert "101 of 600 statements are gone" in warning
    path.write_text("".join(lines[100:]), encoding="utf-8")
    assert settled(store, LATER) == []
    assert sum(row.withdrawn for row in statements(store).values()) == 100


def test_a_folder_that_is_not_mounted_is_said(store: Store) -> None:
    """Records and Markdown of a stream are gone, and the ledger tells that they were there."""
    write(store, "- Ilse likes rye.\n")
    settled(store)
    assert settle.plan(store, LATER)[1] == []
    (store.root / "identity").rename(store.root.parent / "away")
    (store.root / "identity").mkdir()
    (warning,) = settle.plan(store, LATER)[1]
    assert warning.startswith("identity: none of its files is there, and 2 were")
    (store.root / "identity").rmdir()
    (store.root.parent / "away").rename(store.root / "identity")
    assert settle.plan(store, LATER) == ([], [])
