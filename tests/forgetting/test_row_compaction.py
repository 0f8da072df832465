"""Superseded rows move out of the way and stay in history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from aging import BORN, age, at, later, say, state, tree, write
from ingesting import new_store

from clsm_cli.inspection.fact_history import View, history
from clsm_cli.model.graph import Edge
from clsm_cli.store import record_files, shards
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = new_store(tmp_path / "memory")
    say(made, "The heron came at eight.")
    return made


def live(store: Store) -> set[str]:
    return {*shards.load_graph(store.graphs()).records}


def test_what_it_said_is_in_its_record_and_history_shows_it(store: Store) -> None:
    node = "pump"
    old = state(store, "The pump hums.", subject=node, superseded_at=at(BORN))
    state(store, "The pump is still.", subject=node)
    with open_index(store, None) as opened:
        assert opened.index.record(old) is not None
    age(store, 1000)
    with open_index(store, None) as opened:
        assert opened.index.record(old) is None
    (found,) = history(store, [old], View(at(later(1001))))
    versions = [version for thread in found.threads for version in thread.versions]
    assert [v.state for v in versions if v.id == old] == ["superseded"]
    assert [v.text for v in versions if v.id == old] == ["The pump hums."]
    folder = store.root / "archive" / "projects"
    assert [path.name for path in folder.iterdir()] == [shards.shard_name(old, 1)]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_edges_go_too_but_for_those_that_a_person_pinned(store: Store) -> None:
    edge = Edge(id="g-1", rev=(1, "pi"), source="mara", target="pump", superseded_at=at(BORN))
    pinned = replace(edge, id="g-2", pinned=True)
    held = replace(edge, id="g-3", superseded_at=None)
    write(store, record_files.plan_records(store, "projects", [edge, pinned, held]))
    report = age(store, 1000)
    assert [(item.id, item.kind, item.text) for item in report.compact] == [
        ("g-1", "edge", "mara co_occurs pump")
    ]
    assert {"g-2", "g-3"} <= live(store)


def test_rows_of_another_clone_join_what_is_in_the_archive(store: Store) -> None:
    row = state(store, "The pump hums.", superseded_at=at(BORN))
    record = shards.load_graph(store.graphs()).records[row]
    age(store, 1000)
    write(store, record_files.plan_records(store, "projects", [replace(record, rev=(3, "laptop"))]))
    assert [item.id for item in age(store, 1001).compact] == [row]
    (found,) = shards.load_graph(store.archives()).records.values()
    assert found.rev == (3, "laptop")
    before = tree(store)
    age(store, 1001)
    assert tree(store) == before


def test_what_cannot_be_read_of_an_archive_is_kept(store: Store) -> None:
    row = state(store, "The pump hums.", superseded_at=at(BORN))
    path = store.root / "archive" / "projects" / shards.shard_name(row, 1)
    path.parent.mkdir(parents=True)
    path.write_text('- {"id": "f-torn", "reco\n', encoding="utf-8")
    age(store, 1000)
    assert row not in live(store)
    (kept,) = store.quarantine.iterdir()
    assert '- {"id": "f-torn", "reco\n' in kept.read_text(encoding="utf-8")
