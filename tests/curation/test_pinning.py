"""What is pinned outlives every night as it is; what is unpinned changes with the others."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from curation.test_correction import NOW, bell, done, hold, home, statement
from ingesting import state_of, unchanged
from sleeping import current, edges, heard, nodes, records_of, rows, sleep, talked
from small_store import row, tell

from clsm_cli.curation.record_edit import Pinning, draft, pin, save
from clsm_cli.errors import BadInputError
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import edge_id
from clsm_cli.store import logs, record_files, runs
from clsm_cli.store.episode_files import files, read
from clsm_cli.store.layout import Store

MARA = Node(id="mara", rev=(1, "pi"), label="Mara", aliases=("Mara Lind",), stream="identity")


def put(store: Store, *wanted: str, now: str = NOW, on: bool = True) -> Pinning:
    moment = datetime.fromisoformat(now)
    return pin(store, wanted, moment, lambda _: None, is_pinned=on, dry_run=False)


def episodes(store: Store) -> dict[str, EpisodeRecord]:
    return records_of(store, EpisodeRecord)


def walk(store: Store, tmp_path: Path) -> tuple[EpisodeRecord, str]:
    """An episode that nobody consolidated yet, and the key of one of its turns."""
    said = ["Mara: The `level_db` store keeps the readings of Arnhem."] * 3
    for day in ("2026-02-02", "2026-02-03"):
        talked(store, tmp_path, day, day, *said, "Mara: I live in Leeds with my sister.")
    sleep(store, since=datetime.fromisoformat(NOW))  # cut into episodes, and none of them taken
    assert {record.stage for record in episodes(store).values()} == {"pending"}
    path = next(path for flow in store.flows() for path in files(flow))
    episode = read(path)
    return episodes(store)[episode.id], episode.turns[1].key


def test_by_id_by_its_beginning_and_by_what_it_is_about(store: Store) -> None:
    hold(store, bell(), home())
    for wanted in (bell().id, bell().id[:6], "bell", "Bell"):
        done_ = put(store, wanted)
        assert [each.record.id for each in done_.found] == [bell().id]
        assert rows(store)[bell().id].pinned
        put(store, wanted, on=False)
        assert not rows(store)[bell().id].pinned
    assert not rows(store)[home().id].pinned


def test_all_that_is_named_in_one_run_or_nothing(store: Store) -> None:
    hold(store, bell(), home())
    with unchanged(store.root, derived=True), pytest.raises(BadInputError, match="no record has"):
        put(store, bell().id, "f-00ff00ff00ff")
    result = put(store, bell().id, "Mara", bell().id)
    assert [each.record.id for each in result.found] == [bell().id, home().id]
    ledger = [row for _, row in logs.rows(store.flow / "runs.jsonl")[0]]
    assert (ledger[-1]["id"], ledger[-1]["command"]) == (result.run, "pin")
    assert all(row.pinned for row in rows(store).values())


def test_a_name_that_several_statements_are_about_is_the_concept(store: Store) -> None:
    age = statement("Mara is 41 years old.", subject="mara")
    hold(store, home(), age)
    with pytest.raises(BadInputError, match=home().id):
        put(store, "Mara")
    hold(store, MARA, home(), age)
    assert put(store, "Mara Lind").found[0].record.id == "mara"
    assert nodes(store)["mara"].pinned
    put(store, "Mara Lind", on=False)
    put(store, age.id)
    assert put(store, "Mara", on=False).found[0].record.id == age.id  # the one that is pinned


def test_a_concept_and_an_edge_keep_their_values(store: Store, tmp_path: Path) -> None:
    walk(store, tmp_path)
    sleep(store)
    node = min(nodes(store))
    name = edge_id(node, "guards", node)
    edge = Edge(id=name, rev=(1, "pi"), source=node, target=node, type="guards")
    runs.apply(store, "test", NOW, record_files.plan_records(store, "projects", [edge]))
    put(store, node, edge.id)
    assert nodes(store)[node].pinned
    sleep(store, rebuild=True, allow_loss=True)
    assert nodes(store)[node].pinned
    assert replace(edges(store)[edge.id], rev=edge.rev) == replace(edge, pinned=True)
    put(store, node, edge.id[:7], on=False)
    sleep(store, rebuild=True, allow_loss=True)
    assert edge.id not in edges(store)  # nothing that was said tells of it


def test_an_episode_that_waits_is_consolidated_all_the_same(store: Store, tmp_path: Path) -> None:
    record, turn = walk(store, tmp_path)
    result = put(store, turn)
    assert (result.found[0].record.id, result.found[0].turn) == (record.id, turn)
    sleep(store)
    after = episodes(store)[record.id]
    assert (after.stage, after.pinned, after.title) == ("consolidated", True, record.title)
    assert after.mentions
    assert current(store, "Leeds")
    put(store, record.id[:8], on=False)
    assert not episodes(store)[record.id].pinned


def test_what_a_person_wrote_of_an_episode_that_waits_is_kept(store: Store, tmp_path: Path) -> None:
    record, _ = walk(store, tmp_path)
    shown = draft(store, record.id, datetime.fromisoformat(NOW), print)
    lines = ["title: Leeds" if "title:" in line else line for line in shown.text.splitlines()]
    text = "\n".join([*lines, "mood: fine", ""])  # a field that clsm does not know
    save(store, shown, text, datetime.fromisoformat(NOW), lambda _: None)
    sleep(store)
    after = episodes(store)[record.id]
    assert (after.title, after.extra, after.stage) == ("Leeds", {"mood": "fine"}, "consolidated")
    assert after.mentions


def test_turns_that_are_in_no_episode(store: Store) -> None:
    tell(store, row("I live in Leeds now."))
    (key,) = state_of(store).keys()
    with pytest.raises(BadInputError, match="not over"):
        put(store, key)
    with pytest.raises(BadInputError, match="no turn has that key"):
        put(store, "00ff00ff00ff")


def test_what_is_no_longer_held(store: Store) -> None:
    hold(store, bell())
    done(store, bell().id, "The bell rings every 15 minutes.")
    with pytest.raises(BadInputError, match="no longer held"):
        put(store, bell().id)


def test_a_statement_stays_until_it_is_unpinned(store: Store, tmp_path: Path) -> None:
    said = "Our reading club meets at Holm on Fridays."
    moved = "Our reading club no longer meets at Holm, it has moved to {}."
    heard(store, tmp_path, "one", "2026-02-02", said)
    sleep(store, "2026-02-03T03:00:00+01:00")
    (club,) = [i for i, row in rows(store).items() if row.is_current and "Holm" in row.text]
    put(store, club, now="2026-02-04T10:00:00+01:00")
    kept = rows(store)[club]
    heard(store, tmp_path, "two", "2026-02-09", moved.format("Besgate"))
    sleep(store, "2026-02-10T03:00:00+01:00")
    sleep(store, "2026-02-11T03:00:00+01:00", rebuild=True, allow_loss=True)
    assert rows(store)[club] == kept
    assert not current(store, "Besgate")
    put(store, club, now="2026-02-12T10:00:00+01:00", on=False)
    heard(store, tmp_path, "three", "2026-02-16", moved.format("Torvel"))
    sleep(store, "2026-02-17T03:00:00+01:00")
    assert rows(store)[club].superseded_at
    assert current(store, "Torvel")
