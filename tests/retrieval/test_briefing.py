"""What a session starts with: every section, the budget, and the file that it is read from."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import take
from sample_store import NOW as TODAY
from sample_store import query_engine
from small_store import row, talk, tell
from strategies import examples

from clsm_cli.commands.engine import embedder
from clsm_cli.retrieval import briefing, briefing_contents
from clsm_cli.retrieval.briefing import Briefing, Item, brief
from clsm_cli.retrieval.briefing_concepts import activated
from clsm_cli.retrieval.briefing_share import SECTIONS, share_out
from clsm_cli.store import atomic, layout
from clsm_cli.store.briefing import path_of
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

MORNING = datetime.fromisoformat("2026-02-25T08:00:00+01:00")


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    root = tmp_path / "memory"
    layout.create(root, "Europe/Amsterdam")
    return layout.open_store(root, {"CLSM_DEVICE": "pi"})


def items(found: Briefing, section: str) -> tuple[Item, ...]:
    return next(each.items for each in found.sections if each.name == section)


def texts(found: Briefing, section: str) -> list[str]:
    return [item.text for item in items(found, section)]


def test_after_a_night_every_section_is_there(slept: Store) -> None:
    found = brief(slept, MORNING, 8000)
    assert [section.name for section in found.sections] == list(SECTIONS)
    assert all(item.stream == "identity" for item in items(found, "identity"))
    assert any("Juno" in text for text in texts(found, "identity"))
    assert "Bad news first, then the tea." in texts(found, "rules")
    assert any("Magpie" in text or "IJssel" in text for text in texts(found, "now"))
    assert {"episode", "mood"} <= {item.kind for item in items(found, "now")}
    assert {item.kind for item in items(found, "day")} == {"episode"}
    assert not found.budget.dropped


def test_tasks_are_open_and_what_is_due_comes_first(slept: Store) -> None:
    tasks = items(brief(slept, MORNING, 8000), "tasks")
    assert {task.state for task in tasks} == {"open", "blocked"}
    due = [task.due for task in tasks if task.due]
    assert due == sorted(due)
    assert all(task.due for task in tasks[: len(due)])


def test_a_task_that_a_person_ticked_is_gone(slept: Store) -> None:
    page = slept.root / "tasks" / "tasks.md"
    task = next(t for t in texts(brief(slept, MORNING, 8000), "tasks") if "burial" in t)
    page.write_text(page.read_text().replace(f"- [ ] {task}", f"- [x] {task}"))
    assert task not in texts(brief(slept, MORNING, 8000), "tasks")


def test_before_any_night_the_identity_files_stand_in(sample: Store) -> None:
    found = brief(sample, MORNING, 8000)
    assert {item.kind for item in items(found, "identity")} == {"block"}
    names = [Path(item.path).name for item in items(found, "identity")]
    assert names == sorted(names, key=["SOUL.md", "USER.md"].index)
    assert items(found, "day")
    assert not items(found, "tasks") + items(found, "rules")


def test_now_is_the_conversation_that_is_still_open(empty: Store) -> None:
    tell(empty, *talk("old", "We talked about cheese.", "Yes."))
    take(
        empty,
        stdin="".join(
            [
                row("What a wonderful heron!", timestamp="2026-02-24T22:00:00+01:00"),
                row("It stood there.", speaker="Brian", timestamp="2026-02-24T22:01:00+01:00"),
                row("# Page\n" + "x" * 9000, timestamp="2026-02-24T22:02:00+01:00"),
            ]
        ).encode(),
        capture_only=True,
    )
    found = brief(empty, MORNING, 2000)
    shown = texts(found, "now")
    assert shown[0].startswith("Mood: pleasant")
    assert shown[1:3] == ["Mara: What a wonderful heron!", "Brian: It stood there."]
    assert len(shown[3]) < 600
    assert any("cheese" in text for text in texts(found, "day"))
    tight = brief(empty, MORNING, 8)
    assert "wonderful" not in " ".join(texts(tight, "now"))


def test_the_last_day_ends_now(sample: Store) -> None:
    later = brief(sample, MORNING + timedelta(days=20), 8000)
    assert not items(later, "day")
    assert items(later, "now")
    earlier = brief(sample, datetime.fromisoformat("2026-02-18T20:00:00+01:00"), 8000)
    days = {(item.time or "")[:10] for item in (*items(earlier, "day"), *items(earlier, "now"))}
    assert days <= {"2026-02-17", "2026-02-18"}
    assert "2026-02-18" in days
    before = brief(sample, datetime.fromisoformat("2020-01-01T00:00:00+01:00"), 8000)
    assert not items(before, "day") + items(before, "now")


def test_a_query_brings_concepts_with_their_summaries(slept: Store) -> None:
    query = "delegation defect"
    found = brief(
        slept,
        MORNING,
        2000,
        query=query,
        concepts=lambda: activated(
            slept, query, TODAY, query_engine(), embedder(), lambda *_: None
        ),
    )
    concepts = items(found, "concepts")
    assert concepts[0].id == "delegation-defect"
    assert any(": " in concept.text for concept in concepts)
    assert not (slept.flow / "activation.jsonl").exists()


@pytest.mark.parametrize("unit", ["tokens", "characters"])
@pytest.mark.parametrize("limit", [0, 1, 7, 60, 300, 1000, 100_000])
def test_the_budget_holds_and_what_is_cut_is_named(slept: Store, limit: int, unit: str) -> None:
    found = brief(slept, MORNING, limit, unit)
    shown = [item for section in found.sections for item in section.items]
    used = sum(item.tokens if unit == "tokens" else len(item.text) for item in shown)
    assert used == found.budget.used <= limit
    whole = brief(slept, MORNING, 1_000_000)
    everything = sum(len(section.items) for section in whole.sections)
    assert len(shown) + len(found.budget.dropped) == everything
    assert sum(section.share for section in found.sections) <= limit
    if limit == 100_000:
        assert not found.budget.dropped


@examples(200)
@given(
    st.fixed_dictionaries({name: st.lists(st.integers(1, 400), max_size=12) for name in SECTIONS}),
    st.integers(0, 2000),
)
def test_nothing_more_would_fit(sizes: dict[str, list[int]], limit: int) -> None:
    sections = {
        name: [Item(f"{name}-{i}", "fact", "", "flow", "user", size) for i, size in enumerate(many)]
        for name, many in sizes.items()
    }
    shares, kept, budget = share_out(sections, limit, "tokens")
    total = sum(map(sum, sizes.values()))
    assert sum(shares.values()) == min(limit, total)
    assert budget.used == sum(item.tokens for many in kept.values() for item in many) <= limit
    assert all(item.tokens > limit - budget.used for item in budget.dropped)


def test_what_the_flow_does_not_need_goes_to_others() -> None:
    def many(count: int) -> list[Item]:
        return [Item(str(i), "fact", "", "flow", "user", 10) for i in range(count)]

    quiet = share_out({"identity": many(100), "rules": many(100)}, 500, "tokens")[0]
    busy = share_out({"identity": many(100), "rules": many(100), "day": many(100)}, 500, "tokens")
    assert sum(quiet.values()) == sum(busy[0].values()) == 500
    assert busy[0]["day"] < busy[0]["rules"] < quiet["rules"]
    assert busy[0]["identity"] > busy[0]["rules"]


def test_the_file_is_read_as_long_as_nothing_changed(
    slept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = brief(slept, MORNING, 2000)
    kept = path_of(slept).read_bytes()
    assert path_of(slept).stat().st_mode & 0o777 == atomic.FILE_MODE

    def never(*_: object) -> None:
        raise AssertionError("the index was read")

    with monkeypatch.context() as patched:
        patched.setattr(briefing_contents, "open_index", never)
        assert brief(slept, MORNING, 2000) == first
        captured = row("A new day.", timestamp="2026-02-25T07:00:00+01:00")
        take(slept, stdin=captured.encode(), capture_only=True, model=False)
        assert "Mara: A new day." in texts(brief(slept, MORNING, 2000), "now")
    page = slept.root / "identity" / "people.md"
    page.write_text(page.read_text() + "- Mara keeps bees.\n")
    assert "Mara keeps bees." in texts(brief(slept, MORNING, 8000), "identity")
    assert path_of(slept).read_bytes() != kept


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"[" * 9999, b'{"signature": "x"}', b"\xff", None, {"rules": 3}]
)
def test_the_file_is_only_derived(slept: Store, damage: bytes | dict[str, int] | None) -> None:
    first = brief(slept, MORNING, 2000)
    path = path_of(slept)
    kept = path.read_bytes()
    if damage is None:
        path.unlink()
        path.symlink_to("/etc/hostname")
    elif isinstance(damage, dict):
        path.write_text(json.dumps({**json.loads(kept), "contents": damage}))
    else:
        path.write_bytes(damage)
    assert brief(slept, MORNING, 2000) == first
    assert path.read_bytes() == kept
    shutil.rmtree(slept.derived)
    assert brief(slept, MORNING, 2000) == first


def test_it_never_waits_for_a_lock_or_a_disk(slept: Store) -> None:
    first = brief(slept, MORNING, 2000)
    path_of(slept).unlink()
    with locked(slept.root, 1):
        assert brief(slept, MORNING, 2000) == first
    assert not path_of(slept).exists()


def test_a_damaged_shard_is_told_every_time(slept: Store) -> None:
    shard = max((slept.flow / "graph").glob("*.yaml"), key=lambda path: path.stat().st_size)
    lines = shard.read_text().split("\n")
    shard.write_text("\n".join([*lines[:-2], lines[-2][:30], ""]))
    for _ in range(2):
        found = brief(slept, MORNING, 2000)
        assert shard.name in found.warnings[0]
        assert not found.is_empty


def test_an_empty_store_has_nothing_to_tell(empty: Store) -> None:
    found = brief(empty, MORNING, 2000)
    assert found.is_empty
    assert not found.budget.dropped
    assert found.warnings == ()


def test_lines_of_an_inbox_that_are_torn_are_passed_over(empty: Store) -> None:
    tell(empty, row("The heron is back.", timestamp="2026-02-24T22:00:00+01:00"))
    (box,) = empty.inbox.glob("*.jsonl")
    with box.open("ab") as file:
        file.write(b'\n{"key": "0123456789ab", "sess\n[]\n{"text": 3}\n\xff\n')
    assert "Mara: The heron is back." in texts(brief(empty, MORNING, 2000), "now")


def test_two_runs_are_the_same_to_the_byte(slept: Store, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(slept.root, other, ignore=shutil.ignore_patterns(".clsm"))
    for path in sorted(other.rglob("*"), reverse=True):
        os.utime(path, ns=(1, 1))
    copy = layout.open_store(other, {"CLSM_DEVICE": "pi"})
    assert json.dumps(brief(copy, MORNING, 1000)) == json.dumps(brief(slept, MORNING, 1000))
    assert briefing.prepare(copy) == briefing.prepare(slept)
