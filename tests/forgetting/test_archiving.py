"""Decay as a whole: what it archives and moves out of the way, that it can be repeated, and wrong clocks."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from aging import BORN, age, archived, at, later, living, recall, say, state, tree, uses, write
from hypothesis import given
from hypothesis import strategies as st
from ingesting import made_once, new_store, scratch
from laid_down import bury
from strategies import examples

from clsm_cli.forgetting import folding
from clsm_cli.inspection.fact_history import View, history
from clsm_cli.model.graph import Edge
from clsm_cli.model.streams import Stream
from clsm_cli.store import atomic, logs, record_files, runs, shards
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

FILLER = "The water stood high at the old lock, and nobody in the house had an explanation for it."


@made_once
def full(folder: Path) -> Store:
    """With so much recent text that the cap of no stream is near."""
    made = new_store(folder / "memory")
    say(made, *(f"{FILLER} {number}" for number in range(25)), day=later(3000), session="new")
    for stream in ("projects", "tasks"):
        for number in range(25):
            text = f"{FILLER} {stream} {number}"
            state(made, text, later(3000), stream=stream, state="open", pinned=True)
    return made


@pytest.fixture
def filled(tmp_path: Path) -> Store:
    return full(tmp_path)


def test_a_turn_is_archived_when_nobody_used_it_and_revived_by_a_use(
    filled: Store,
) -> None:
    used, unused = say(filled, "The heron came at eight.", "The cat slept.")
    recall(filled, later(50), used)
    assert age(filled, 98).archive == ()
    (item,) = age(filled, 100).archive
    assert (item.id, item.since, item.last) == (unused, str(later(99)), str(BORN))
    assert item.why == "not used for 100 days"
    assert archived(filled) == {unused: str(later(99))}
    recall(filled, later(110), unused)
    (back,) = age(filled, 111).revive
    assert (back.id, back.why) == (unused, f"used on {later(110)}")
    assert archived(filled) == {}
    assert age(filled, 50 + 197).archive == ()
    assert [item.id for item in age(filled, 50 + 198).archive] == [used]


def test_statements_by_their_stream(filled: Store) -> None:
    task = state(filled, "Oil the pump.", stream="tasks", kind="task", state="done")
    fact = state(filled, "The pump is blue.")
    gist = state(filled, "A month of pumps.", stream="flow", kind="gist")
    for day, name in ((99, gist), (297, task), (990, fact)):
        assert age(filled, day - 1).archive == ()
        assert [item.id for item in age(filled, day).archive] == [name]
    assert "The pump is blue." in (filled.root / "projects" / "facts.md").read_text("utf-8")


def test_what_never_fades(filled: Store) -> None:
    name = state(filled, "Her name is Mara.", stream="identity", subject="mara")
    kept = {
        name,
        state(filled, "The pump is blue.", pinned=True),
        state(filled, "Oil the pump.", stream="tasks", kind="task", state="open"),
        *say(filled, "The pin holds.", session="pinned", pinned=True),
        *say(filled, "It waits.", session="pending", stage="pending"),
        *say(filled, "Somebody mended it.", session="mended", digest="0" * 12),
    }
    mine = say(filled, "I am Mara.", document="d-note", dated=False, session="USER.md")
    living(filled, mine)
    age(filled, 2999)
    assert not archived(filled).keys() & {*kept, *mine}
    assert name in set(shards.load_graph(filled.graphs()).records)


def test_the_first_learnt_name_stays_when_the_store_is_full_of_old_things(tmp_path: Path) -> None:
    """Smriti's compaction cut the oldest first: the user's name (systems.md 4.1)."""
    store = new_store(tmp_path / "memory")
    name = state(store, "Her name is Mara.", stream="identity", topic="people")
    turns = say(store, *(f"{FILLER} {number}" for number in range(20)))
    share = age(store, 5000).streams["flow"]
    assert name not in archived(store)
    assert len(archived(store)) == share.archived == 14  # of 20 equal turns
    assert share.kept == 6
    assert {*archived(store)} < {*turns}


def test_a_second_run_changes_no_byte(filled: Store) -> None:
    keys = say(filled, "The heron came at eight.", "The cat slept.")
    state(filled, "The pump hums.", superseded_at=at(BORN))
    recall(filled, later(4), keys[0])
    report = age(filled, 1500)
    assert all((report.archive, report.compact, report.recalls, report.run))
    before = tree(filled)
    again = age(filled, 1500)
    assert tree(filled) == before
    assert not any((again.archive, again.compact, again.recalls, again.run))


def test_a_year_by_day_by_week_and_by_month_is_one_year() -> None:
    """A fixed log of recalls; what was archived, folded and compacted is the same."""
    daily = year(1)
    assert year(7) == year(30) == daily
    assert any(name.endswith("archived.jsonl") for name in daily)
    assert any(name.startswith("archive/") for name in daily)


UNLIKE = (*logs.ACTIVATIONS, "runs.jsonl", "clsm.yaml")
"""Files that tell how often something ran, or in which folder the store was made."""


def year(step: int) -> dict[str, bytes]:
    """Files after 365 days of decay, without what tells how often it ran."""
    with scratch() as folder:
        filled = new_store(folder / "memory")
        names: list[str] = []
        for number in range(12):
            day = later(number * 30)
            names += say(filled, f"Water {number}.", f"Reed {number}.", day=day, session=str(day))
            stream: Stream = "tasks" if number % 2 else "projects"
            names.append(state(filled, f"Fact {number}.", day, stream=stream))
            names.append(state(filled, f"Old {number}.", day, stream="flow", superseded_at=at(day)))
        for number in range(0, 365, 2):
            used = names[number * 7 % len(names)], names[number * 5 % 11]
            recall(filled, later(number), *used, name=f"r{number}")
        for day in [*range(0, 365, step), 365]:
            age(filled, day)
        return {
            path: data
            for path, data in tree(filled).items()
            if ".clsm" not in path and Path(path).name not in UNLIKE
        }


def test_a_pause_of_more_than_sixty_days_wants_a_word_once(filled: Store) -> None:
    fill_day = later(3000)
    assert not age(filled, fill_day + timedelta(61), believed=False).clock.is_believed
    assert age(filled, fill_day + timedelta(61)).clock.is_believed
    assert age(filled, fill_day + timedelta(70), believed=False).clock.is_believed


def test_nothing_is_said_of_what_was_forgotten(filled: Store) -> None:
    turn, other = say(filled, "The heron came at eight.", "The cat slept.")
    row = state(filled, "The gist of it.", stream="flow", kind="gist", sources=(turn,))
    age(filled, 150)
    assert archived(filled).keys() == {turn, other, row}
    bury(filled, [turn])
    report = age(filled, 150)
    assert report.revive == ()
    assert archived(filled).keys() == {other}


def test_preimages_go_after_thirty_days(filled: Store) -> None:
    say(filled, "The heron came at eight.")
    page = runs.Put(filled.root / "identity" / "a.md", b"- a\n")
    runs.apply(filled, "test", at(later(5)), [page])
    folder = filled.derived / "runs"
    (first,) = folder.iterdir()
    (folder / "run-torn" / "step").mkdir(parents=True)
    age(filled, 35)
    assert first.exists()
    assert not (folder / "run-torn").exists()
    age(filled, 36)
    assert not first.exists()
    assert record_files.plan_records(filled, "flow", []) == []


@pytest.fixture
def store(store: Store) -> Store:
    say(store, "The heron came at eight.")
    return store


def live(store: Store) -> set[str]:
    return {*shards.load_graph(store.graphs()).records}


def test_what_it_said_is_in_its_record_and_history_shows_it(store: Store) -> None:
    node = "pump"
    old = state(store, "The pump hums.", subject=node, superseded_at=at(BORN))
    state(store, "The pump is still.", subject=node)
    for days, is_held in ((0, True), (1000, False)):
        age(store, days)
        with open_index(store, None) as opened:
            assert (opened.index.record(old) is not None) == is_held
    (found,) = history(store, [old], View(at(later(1001))))
    versions = [version for thread in found.threads for version in thread.versions]
    (version,) = [each for each in versions if each.id == old]
    assert (version.state, version.text) == ("superseded", "The pump hums.")
    folder = store.root / "archive" / "projects"
    assert [path.name for path in folder.iterdir()] == [shards.shard_name(old, 1)]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_edges_go_too_but_for_those_that_a_person_pinned(store: Store) -> None:
    edge = Edge(id="g-1", rev=(1, "pi"), source="mara", target="pump", superseded_at=at(BORN))
    pinned = replace(edge, id="g-2", pinned=True)
    held = replace(edge, id="g-3", superseded_at=None)
    write(store, record_files.plan_records(store, "projects", [edge, pinned, held]))
    report = age(store, 1000)
    (item,) = report.compact
    assert (item.id, item.kind, item.text) == ("g-1", "edge", "mara co_occurs pump")
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


# Recalls become uses: each id and day once, however often and in whatever pieces they are folded.

OLD_LOG, LOG = logs.ACTIVATIONS
A, B = "aaaaaaaaaaaa", "f-bbbbbbbbbbbb"


def test_one_line_for_each_id_and_day(store: Store) -> None:
    recall(store, BORN, A, B)
    recall(store, BORN, A, name="r-2")
    recall(store, later(1), A, f"{A}-2", name="r-3")
    report = age(store, 2)
    assert (report.recalls, report.days) == (3, 2)
    assert uses(store) == {(A, "2026-01-01", 2), (B, "2026-01-01", 1), (A, "2026-01-02", 1)}
    data = (store.flow / "uses.jsonl").read_bytes()
    assert data.splitlines() == sorted(data.splitlines())
    line = logs.Activation("r-4", "2026-01-02T10:00:00Z", (A,), (), ("mara",))
    atomic.append(store.flow / LOG, line.render())
    assert age(store, 2).recalls == 1
    assert {("mara", "2026-01-02", 1), (A, "2026-01-02", 2)} < uses(store)
    again = age(store, 2)
    assert (again.recalls, again.run) == (0, None)


def test_the_log_is_renamed_and_goes_when_it_is_folded_and_old(store: Store) -> None:
    recall(store, BORN, A)
    age(store, 20)
    assert not (store.flow / OLD_LOG).exists()
    age(store, 40)  # the first run of February: its first line is 40 days old
    assert not (store.flow / LOG).exists()
    recall(store, later(41), B)
    age(store, 42)
    assert (store.flow / OLD_LOG).exists(), "a month is one rotation"
    before = uses(store)
    age(store, 60)
    assert not (store.flow / OLD_LOG).exists()
    assert (store.flow / LOG).exists()
    assert uses(store) == before == {(A, "2026-01-01", 1), (B, "2026-02-11", 1)}


def test_folded_uses_that_cannot_be_read_are_not_replaced(store: Store, tmp_path: Path) -> None:
    recall(store, BORN, A)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"")
    (store.flow / "uses.jsonl").symlink_to(elsewhere)
    report = age(store, 1)
    assert any("symbolic link" in line for line in report.warnings)
    assert elsewhere.read_bytes() == b""


recalls = st.lists(
    st.tuples(st.integers(0, 400), st.lists(st.sampled_from([A, B, "mara"]), max_size=3)),
    max_size=12,
)


@examples(40)
@given(recalls, st.lists(st.integers(0, 500), max_size=6))
def test_folding_may_happen_at_any_time(said: list[tuple[int, list[str]]], runs: list[int]) -> None:
    """Recalls come in order of time, runs in between: at the end everything was counted once."""
    with scratch() as folder:
        store = new_store(folder / "memory")
        events = [(d, 0, ids) for d, ids in said] + [(d, 1, []) for d in runs] + [(500, 1, [])]
        for number, (day, is_run, ids) in enumerate(sorted(events)):
            if is_run:
                age(store, day)
            else:
                recall(store, later(day), *ids, name=f"r-{number}")
        wanted: dict[tuple[str, str], int] = {}
        for day, ids in said:
            for name in dict.fromkeys(ids):
                wanted[name, str(later(day))] = wanted.get((name, str(later(day))), 0) + 1
        found, _, _ = folding.read_folded(store.flow, frozenset())
        assert {(name, str(day)): n for (name, day), n in found.items()} == wanted
        before = tree(store)
        age(store, 500)
        assert tree(store) == before
