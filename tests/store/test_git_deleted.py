"""What one machine empties while another one changes it: git cannot merge that with a deletion."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from forgetting.planting import lose
from ingesting import new_store
from laid_down import bury
from sleeping import sleep
from small_store import row, tell
from using_git import commit, git

from clsm_cli.store import cleanup, episode_files, inbox, logs, runs
from clsm_cli.store.layout import Store


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Store, Store]:
    """Two clones; on the first a conversation of two turns is open."""
    pi = new_store(tmp_path / "pi")
    git(pi.root, "init", "-q", "-b", "main")
    tell(pi, *(row(t, session="gate") for t in ("The gate number is 4711.", "Mara keeps bees.")))
    commit(pi.root)
    git(tmp_path, "clone", "-q", str(pi.root), str(tmp_path / "pc"))
    return pi, new_store(tmp_path / "pc", "pc")


def test_one_forgets_what_the_other_moves_to_an_episode(machines: tuple[Store, Store]) -> None:
    pi, pc = machines
    (path,) = inbox.files(pi.inbox)
    turns = inbox.read(path).turns
    key = next(item.turn.key for item in turns if "4711" in item.turn.text)
    lose(pc, ids=(key,))
    commit(pc.root)
    sleep(pi)  # the conversation is over
    assert path.read_bytes() == b"\n"
    commit(pi.root)
    done = git(pi.root, "pull", "-q", "--no-rebase", "--no-edit", str(pc.root), "main")
    assert done.returncode == 0, done.stdout
    assert logs.is_forgotten(key, logs.load_tombstones(pi))
    sleep(pi, "2026-03-02T12:00:00+01:00")
    told = [p.name for p in pi.root.rglob("*") if p.is_file() and b"4711" in p.read_bytes()]
    assert [name for name in told if name.endswith((".md", ".jsonl", ".yaml"))] == []


def test_one_forgets_all_that_the_other_goes_on_with(machines: tuple[Store, Store]) -> None:
    pi, pc = machines
    (path,) = inbox.files(pi.inbox)
    lose(pc, ids=tuple(item.turn.key for item in inbox.read(path).turns))
    commit(pc.root)
    tell(pi, row("The heron is back.", session="gate"))
    commit(pi.root)
    done = git(pi.root, "pull", "-q", "--no-rebase", "--no-edit", str(pc.root), "main")
    assert done.returncode == 0, done.stdout
    left = inbox.read(path, logs.load_tombstones(pi)).turns
    assert [item.turn.text for item in left] == ["The heron is back."]


def test_a_file_that_no_commit_has_goes(machines: tuple[Store, Store]) -> None:
    pi, _ = machines
    tell(pi, row("The heron is back.", session="heron"))
    assert len(inbox.files(pi.inbox)) == 2
    sleep(pi)
    assert [path.read_bytes() for path in inbox.files(pi.inbox)] == [b"\n"]  # that of the gate


def test_an_empty_file_goes_after_a_month(machines: tuple[Store, Store]) -> None:
    pi, _ = machines
    sleep(pi)
    (path,) = inbox.files(pi.inbox)
    box = inbox.read(path)
    written = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    month = timedelta(days=inbox.EMPTY_FILE_DAYS)
    minute = timedelta(minutes=1)
    assert inbox.plan_delete_empty(box, written + month - minute) == []
    assert inbox.plan_delete_empty(box, written + month + minute) == [runs.Remove(path)]
    assert inbox.plan_delete_empty(box, None) == []
    sleep(pi, (written + month + timedelta(days=1)).isoformat())
    assert inbox.files(pi.inbox) == []


def test_a_sweep_does_not_depend_on_what_waits_in_an_inbox(machines: tuple[Store, Store]) -> None:
    """Else machines that sweep at the same time would not agree about an episode that lost a turn."""
    pi, _ = machines
    (path,) = inbox.files(pi.inbox)
    waiting = path.read_bytes()
    key = next(item.turn.key for item in inbox.read(path).turns if "4711" in item.turn.text)
    sleep(pi)
    bury(pi, [key])
    path.write_bytes(waiting)  # a merge brought its lines back
    cleanup.sweep(pi, "2026-03-02T12:00:00Z")
    (left,) = episode_files.files(pi.flow)
    assert [turn.text for turn in episode_files.read(left).turns] == ["Mara keeps bees."]
    assert len(list((pi.root / "tombstones").glob("pi.jsonl"))) == 1  # the episode it was
