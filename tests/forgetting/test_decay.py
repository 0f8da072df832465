"""Decay as a whole: what it archives, that it can be repeated, and clocks that are wrong."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aging import (
    BORN,
    age,
    archived,
    at,
    later,
    living,
    recall,
    say,
    show,
    state,
    tree,
    uses,
    write,
)
from ingesting import new_store, scratch

from clsm_cli.forgetting.decay import Request, decay
from clsm_cli.model.episodes import Turn
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.store import archive, atomic, graph, inbox, layout, logs, runs, shards
from clsm_cli.store.layout import Store

if TYPE_CHECKING:
    from clsm_cli.model.streams import Stream

FILLER = "The water stood high at the old lock, and nobody in the house had an explanation for it."


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """With so much recent text that the cap of no stream is near."""
    made = new_store(tmp_path / "memory")
    fill(made)
    return made


def fill(store: Store) -> None:
    say(store, *(f"{FILLER} {number}" for number in range(25)), day=later(3000), session="new")
    for stream in ("projects", "tasks"):
        for number in range(25):
            text = f"{FILLER} {stream} {number}"
            state(store, text, later(3000), stream=stream, state="open", pinned=True)


def test_a_turn_is_archived_when_nobody_used_it_and_revived_when_somebody_does(
    store: Store,
) -> None:
    used, unused = say(store, "The heron came at eight.", "The cat slept.")
    recall(store, later(50), used)
    assert age(store, 98).archive == ()
    (item,) = age(store, 100).archive
    assert (item.id, item.since, item.last) == (unused, str(later(99)), str(BORN))
    assert item.why == "not used for 100 days"
    assert archived(store) == {unused: str(later(99))}
    recall(store, later(110), unused)
    (back,) = age(store, 111).revive
    assert (back.id, back.why) == (unused, f"used on {later(110)}")
    assert archived(store) == {}
    assert age(store, 50 + 197).archive == ()
    assert [item.id for item in age(store, 50 + 198).archive] == [used]


def test_statements_by_their_stream(store: Store) -> None:
    task = state(store, "Oil the pump.", stream="tasks", kind="task", state="done")
    fact = state(store, "The pump is blue.")
    gist = state(store, "A month of pumps.", stream="flow", kind="gist")
    for day, name in ((99, gist), (297, task), (990, fact)):
        assert age(store, day - 1).archive == ()
        assert [item.id for item in age(store, day).archive] == [name]
    assert "The pump is blue." in (store.root / "projects" / "facts.md").read_text("utf-8")


def test_what_never_fades(store: Store) -> None:
    name = state(store, "Her name is Mara.", stream="identity", subject="mara", slot="name")
    kept = {
        name,
        state(store, "The pump is blue.", pinned=True),
        state(store, "Oil the pump.", stream="tasks", kind="task", state="open"),
        *say(store, "The pin holds.", session="pinned", pinned=True),
        *say(store, "It waits.", session="pending", stage="pending"),
        *say(store, "Somebody mended it.", session="mended", digest="0" * 12),
    }
    mine = say(store, "I am Mara.", document="d-note", dated=False, session="USER.md")
    living(store, mine)
    age(store, 2999)
    assert not archived(store).keys() & {*kept, *mine}
    assert name in set(shards.load_graph(store.graphs()).records)


def test_the_turns_of_an_inbox_never_fade(store: Store) -> None:
    turn = Turn("c" * 12, "Mara", "user", "It is open.")
    line = inbox.render([inbox.Captured("open", turn, at(BORN))])
    atomic.append(inbox.path_of(store.inbox, "open"), line)
    assert age(store, 2999).archive == ()


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


def test_a_second_run_changes_no_byte(store: Store) -> None:
    keys = say(store, "The heron came at eight.", "The cat slept.")
    state(store, "The pump hums.", superseded_at=at(BORN))
    rule = show(store, "Mara prefers tea.", BORN, later(1))
    state(store, "Mara prefers tea.", kind="preference", sources=tuple(sorted(rule)))
    recall(store, later(4), keys[0])
    report = age(store, 1500)
    assert all((report.archive, report.withdraw, report.compact, report.recalls, report.run))
    before = tree(store)
    again = age(store, 1500)
    assert tree(store) == before
    assert not any((again.archive, again.withdraw, again.compact, again.recalls, again.run))


def test_a_dry_run_writes_nothing_and_says_the_same(store: Store) -> None:
    say(store, "The heron came at eight.")
    recall(store, later(1), "a" * 12)
    before = tree(store)
    plan = age(store, 1500, dry_run=True)
    assert tree(store) == before
    done = age(store, 1500)
    assert (plan.archive, plan.streams, plan.recalls) == (done.archive, done.streams, done.recalls)
    assert plan.run is None


@pytest.mark.parametrize("step", [7, 30])
def test_a_year_by_day_by_week_and_by_month_is_one_year(step: int) -> None:
    """A fixed log of recalls; what was archived, folded, withdrawn and compacted is the same."""
    daily, other = year(1), year(step)
    for name in (*daily, *other):
        assert daily.get(name) == other.get(name), name
    assert any(name.endswith("archived.jsonl") for name in daily)
    assert any(name.startswith("archive/") for name in daily)


UNLIKE = (*logs.ACTIVATIONS, "runs.jsonl", "clsm.yaml")
"""Files that tell how often something ran, or in which folder the store was made."""


@cache
def year(step: int) -> dict[str, bytes]:
    """Files after 365 days of decay, without what tells how often it ran."""
    with scratch() as folder:
        store = new_store(folder / "memory")
        names: list[str] = []
        for number in range(12):
            day = later(number * 30)
            names += say(
                store, f"Water {number}.", f"Reed {number}.", day=day, session=f"s{number}"
            )
            stream: Stream = "tasks" if number % 2 else "projects"
            names.append(state(store, f"Fact {number}.", day, stream=stream))
            names.append(state(store, f"Old {number}.", day, stream="flow", superseded_at=at(day)))
        for number in range(4):
            shown = later(60 * number), later(60 * number + 10)
            rule = f"Mara prefers tea of kind {number}."
            keys = tuple(sorted(show(store, rule, *shown)))
            names.append(state(store, rule, shown[1], kind="preference", sources=keys))
        for number in range(0, 365, 2):
            used = names[number * 7 % len(names)], names[number * 5 % 11]
            recall(store, later(number), *used, name=f"r{number}")
        for day in [*range(0, 365, step), 365]:
            age(store, day)
        return {
            path: data
            for path, data in tree(store).items()
            if ".clsm" not in path and Path(path).name not in UNLIKE
        }


def test_an_empty_store_and_one_without_logs(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    before = tree(store)
    report = age(store, 0, believed=False)
    assert tree(store) == before
    assert (report.run, report.warnings, report.clock.is_believed) == (None, (), True)
    say(store, "The heron came at eight.")
    assert age(store, 10).run is not None
    assert archive.read(store.flow).as_of == BORN


@pytest.mark.parametrize("wrong", [date(2021, 1, 1), date(2068, 1, 1), date(1970, 1, 1)])
def test_a_clock_that_jumped_fades_nothing_and_folds(store: Store, wrong: date) -> None:
    keys = say(store, "The heron came at eight.", day=BORN)
    recall(store, BORN, keys[0])
    recall(store, later(2990), keys[0], name="r-2")
    age(store, later(3000))
    recall(store, wrong, keys[0], name="r-3")
    held = archived(store), (store.flow / "archived.jsonl").read_bytes()
    report = age(store, wrong, believed=False)
    assert not report.clock.is_believed
    assert f"clsm decay --now {wrong}" in " ".join(report.warnings)
    assert (archived(store), (store.flow / "archived.jsonl").read_bytes()) == held
    assert (keys[0], str(wrong), 1) in uses(store)
    assert (store.flow / "activation.jsonl").exists()
    right = age(store, later(3010), believed=False)
    assert right.clock.is_believed
    assert [*right.archive, *right.revive] == []


def test_a_pause_of_more_than_sixty_days_wants_a_word_once(store: Store) -> None:
    fill_day = later(3000)
    assert not age(store, fill_day + timedelta(61), believed=False).clock.is_believed
    assert age(store, fill_day + timedelta(61)).clock.is_believed
    assert age(store, fill_day + timedelta(70), believed=False).clock.is_believed


def test_what_lies_ahead_counts_as_today_and_is_reported(store: Store) -> None:
    early, ahead = say(store, "The heron came at eight.", "The cat slept.")
    recall(store, date(2068, 1, 1), ahead)
    report = age(store, 2999)
    assert [item.id for item in report.archive] == [early]
    assert any("up to 2068-01-01" in line for line in report.warnings)


def test_the_day_is_that_of_utc_when_the_clocks_change(tmp_path: Path) -> None:
    store = layout.open_store(new_store(tmp_path / "memory").root, {"CLSM_DEVICE": "pi"})
    assert store.zone_name == "Europe/Amsterdam"
    say(store, *(f"{FILLER} {n}" for n in range(9)), day=date(2026, 3, 29), session="new")
    (turn,) = say(store, "The heron.", day=date(2025, 12, 20))  # below the limit on 29 March
    spring = datetime(2026, 3, 29, 0, 30, tzinfo=store.zone)
    assert decay(store, Request(spring, explicit=True)).archive == ()  # still the 28th
    later_then = datetime(2026, 3, 29, 3, 30, tzinfo=store.zone)
    assert [item.id for item in decay(store, Request(later_then, explicit=True)).archive] == [turn]


def test_uses_of_other_machines_count(store: Store) -> None:
    (turn,) = say(store, "The heron came at eight.")
    laptop = store._replace(device="laptop")
    write(
        laptop, [runs.Put(laptop.flow / "uses.jsonl", logs.render(logs.Use(turn, "2026-03-01", 1)))]
    )
    assert age(store, 200).archive == ()
    assert [item.id for item in age(store, 59 + 198).archive] == [turn]
    age(laptop, 59 + 198)
    assert archived(laptop) == archived(store)


def test_nothing_is_said_of_what_was_forgotten(store: Store) -> None:
    turn, other = say(store, "The heron came at eight.", "The cat slept.")
    row = state(store, "The gist of it.", stream="flow", kind="gist", sources=(turn,))
    age(store, 150)
    assert archived(store).keys() == {turn, other, row}
    stone = logs.Tombstone(tombstone_hash(turn), at(BORN))
    atomic.append(store.root / "tombstones" / "pi.jsonl", logs.render(stone))
    report = age(store, 150)
    assert report.revive == ()
    assert archived(store).keys() == {other}


def test_preimages_go_after_thirty_days(store: Store) -> None:
    say(store, "The heron came at eight.")
    runs.apply(store, "test", at(later(5)), [runs.Put(store.root / "identity" / "a.md", b"- a\n")])
    folder = store.derived / "runs"
    (first,) = folder.iterdir()
    (folder / "run-torn" / "step").mkdir(parents=True)
    age(store, 35)
    assert first.exists()
    assert not (folder / "run-torn").exists()
    age(store, 36)
    assert not first.exists()
    assert graph.plan(store, "flow", []) == []


def test_what_a_clock_in_1970_wrote_down_is_as_old_as_what_came_before_it(store: Store) -> None:
    """A machine without a battery: a night on the wrong day, and the clock is right again."""
    say(store, "The cat slept.", day=later(100))
    runs.apply(store, "ingest", at(later(100)), [runs.Put(store.root / "tasks" / "a.md", b"")])
    wrong = date(1970, 1, 1)
    (turn,) = say(store, "The heron came at eight.", day=wrong)
    row = state(store, "Herons come at eight.", wrong, stream="projects")
    closed = state(store, "It is wet.", stream="flow", superseded_at=at(wrong))
    runs.apply(store, "note", at(wrong), [runs.Put(store.root / "tasks" / "b.md", b"")])
    kept = {path.name for path in (store.derived / "runs").iterdir()}
    report = age(store, 101)
    assert (report.archive, report.compact) == ((), ())
    assert {path.name for path in (store.derived / "runs").iterdir()} >= kept
    report = age(store, 100 + 3000)
    assert {turn, row} <= {item.id for item in report.archive}
    assert [item.id for item in report.compact] == [closed]
