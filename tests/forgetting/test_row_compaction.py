"""Superseded rows move out of the way and stay in history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from aging import BORN, age, at, later, say, state, tree, write
from ingesting import new_store
from sleeping import current, sleep

from clsm_cli.inspection.fact_history import View, history
from clsm_cli.model.graph import Edge
from clsm_cli.store import logs, record_files, shards
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = new_store(tmp_path / "memory")
    say(made, "The heron came at eight.")
    return made


def live(store: Store) -> set[str]:
    return {*shards.load_graph(store.graphs()).records}


def put_away(store: Store) -> set[str]:
    return {*shards.load_graph(store.archives()).records}


def test_a_superseded_row_goes_after_99_times_the_stability_of_its_stream(store: Store) -> None:
    ended = at(BORN)
    rows = {
        stream: state(store, f"The {stream} pump hums.", stream=stream, superseded_at=ended)
        for stream in ("flow", "tasks", "projects", "identity")
    }
    stays = state(store, "The pump is new.")
    days = {"flow": 99, "tasks": 297, "projects": 990, "identity": 2970}
    for stream, limit in days.items():
        age(store, limit - 1)
        assert rows[stream] in live(store)
        report = age(store, limit)
        assert [item.id for item in report.compact] == [rows[stream]]
        assert rows[stream] not in live(store)
        assert rows[stream] in put_away(store)
    assert put_away(store) == {*rows.values()}
    assert stays in live(store)


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
    write(store, record_files.plan(store, "projects", [edge, pinned, held]))
    report = age(store, 1000)
    assert [(item.id, item.kind, item.text) for item in report.compact] == [
        ("g-1", "edge", "mara co_occurs pump")
    ]
    assert {"g-2", "g-3"} <= live(store)


def test_a_withdrawn_row_is_remembered_when_its_text_is_told_again(
    store: Store, tmp_path: Path
) -> None:
    text = "Mara: I live in Haarlem."
    row = state(store, text, withdrawn=True, superseded_at=at(BORN))
    age(store, 1000)
    assert row in put_away(store)
    fresh = new_store(tmp_path / "fresh")
    for each in (store, fresh):
        say(each, "I live in Haarlem.", day=later(1000), stage="pending", digest="")
        sleep(each, at(later(1001)))
    assert current(store, "Haarlem") == []
    assert current(fresh, "Haarlem") == [text]


def test_no_machine_touches_the_flow_of_another(store: Store) -> None:
    other = store._replace(device="laptop")
    theirs = state(other, "Their pump hums.", stream="flow", superseded_at=at(BORN))
    age(store, 1000)
    assert theirs in live(store)
    age(other, 1000)
    assert theirs in put_away(store)
    assert (store.root / "archive" / "flow" / "laptop").is_dir()


def test_rows_of_another_clone_join_what_is_in_the_archive(store: Store) -> None:
    row = state(store, "The pump hums.", superseded_at=at(BORN))
    record = shards.load_graph(store.graphs()).records[row]
    age(store, 1000)
    write(store, record_files.plan(store, "projects", [replace(record, rev=(3, "laptop"))]))
    assert [item.id for item in age(store, 1001).compact] == [row]
    (found,) = shards.load_graph(store.archives()).records.values()
    assert found.rev == (3, "laptop")
    before = tree(store)
    age(store, 1001)
    assert tree(store) == before


def test_an_archive_that_cannot_be_read_is_left_alone(store: Store) -> None:
    row = state(store, "The pump hums.", superseded_at=at(BORN))
    path = store.root / "archive" / "projects" / shards.shard_name(row, 1)
    path.parent.mkdir(parents=True)
    path.write_text('- {"id": "f-torn", "reco\n', encoding="utf-8")
    report = age(store, 1000)
    assert any(str(path) in line for line in report.warnings)
    assert row in live(store)
    assert path.read_text(encoding="utf-8") == '- {"id": "f-torn", "reco\n'


def test_a_forgotten_row_does_not_go_anywhere(store: Store) -> None:
    from clsm_cli.model.ids import tombstone_hash
    from clsm_cli.store import atomic

    row = state(store, "The pump hums.", superseded_at=at(BORN))
    stone = logs.Tombstone(tombstone_hash(row), at(BORN))
    atomic.append(store.root / "tombstones" / "pi.jsonl", logs.render(stone))
    assert age(store, 1000).compact == ()
    assert put_away(store) == set()
