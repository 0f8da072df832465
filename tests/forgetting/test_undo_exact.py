"""An undo restores every byte, a redo brings every byte back, whatever command it was."""

from pathlib import Path

import pytest
from forgetting.undoing import COMMANDS, consolidated, content, copied, newest, noted, undo
from ingesting import state_of
from killing import Killed, killed_at

from clsm_cli.errors import RefusedError
from clsm_cli.store import inbox, ledger, runs
from clsm_cli.store.layout import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return copied(tmp_path / "memory")


def runs_of(store: Store) -> int:
    return len(ledger.entries(store.flow))


# It comes a year later, and deletes what undo needs.
@pytest.mark.parametrize("names", [[*COMMANDS][:-1], ["decay"]], ids=["many", "decay"])
def test_undo_and_redo_of_every_command_that_writes(store: Store, names: list[str]) -> None:
    states = {runs_of(store): content(store)}
    for name in names:
        COMMANDS[name](store)
        assert runs_of(store) not in states, name
        assert content(store) not in states.values(), name
        states[runs_of(store)] = content(store)
    first, *_, last = states
    for _ in range(2):
        for left in reversed(range(first, last)):
            done = undo(store)
            assert (done.is_exact, done.reason, done.changed) == (True, "", ())
            assert left not in states or content(store) == states[left]
        for there in range(first + 1, last + 1):
            assert undo(store, redo=True).is_exact
            assert there not in states or content(store) == states[there]


def test_a_turn_is_never_out_of_sight_while_it_moves_back_to_the_inbox(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    consolidated(store)
    keys = set(state_of(store).keys())
    seen: list[set[str]] = []
    remove = runs._remove

    def watched(where: Store, path: Path) -> None:
        remove(where, path)
        seen.append(keys - set(state_of(store).keys()))

    monkeypatch.setattr(runs, "_remove", watched)
    undo(store)
    assert seen
    assert not any(seen)


def test_every_run_of_a_store_is_undone_and_redone(store: Store) -> None:
    after, count = content(store), runs_of(store)
    for _ in range(count):
        assert undo(store).is_exact
    with pytest.raises(RefusedError, match=r"has nothing to undo \(pi\); list the runs with"):
        undo(store)
    left = {name for name, data in content(store).items() if data}
    assert left == {".gitattributes", ".gitignore", "clsm.yaml", "flow/pi/review.jsonl"}
    for _ in range(count):
        undo(store, redo=True)
    assert content(store) == after


def test_lines_are_cut_out_of_the_middle_of_a_log(store: Store) -> None:
    texts = [f"Note number {n}." for n in range(4)]
    for text in texts:
        noted(store, text)
    ids = [entry.id for entry in ledger.entries(store.flow)[-4:]]
    path = inbox.path_of(store.inbox, "notes")

    def held() -> list[str]:
        return [item.turn.text for item in inbox.read(path).turns]

    for place in (1, 0):
        assert undo(store, ids[place]).is_exact
    assert undo(store, ids[3]).is_exact
    assert held() == [texts[2]]
    noted(store, "One more.")
    assert undo(store, ids[2]).is_exact
    assert held() == ["One more."]
    assert undo(store, ids[0], redo=True).is_exact  # though the log has changed around its place
    assert held() == [texts[0], "One more."]


def test_an_undo_completed_by_another_command_is_not_done_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(store, "One.")
    noted(store, "Two.")
    run = newest(store).id
    with monkeypatch.context() as patch:
        killed_at(patch, 4)  # its preimage, its line and the redo are written
        with pytest.raises(Killed):
            undo(store)
    assert runs.interrupted_run(store) is not None
    done = undo(store, run)
    assert done.is_completed
    assert (done.of, done.run, done.is_exact) == (run, newest(store).id, True)
    texts = [item.turn.text for item in inbox.read(inbox.path_of(store.inbox, "notes")).turns]
    assert texts == ["One."]
