"""What two machines learnt apart, after git put it together: the next night of each puts it in order."""

from __future__ import annotations

from pathlib import Path

from consolidation.test_supersession_check import monday, night
from ingesting import new_store, take
from sleeping import bytes_of, chat, current, rows, sleep
from using_git import commit, git

from clsm_cli.store.layout import Store, open_store


def clones(folder: Path) -> list[Store]:
    """Two machines with a clone each of one store."""
    new_store(folder / "a", "a")
    assert git(folder, "init", "-q", "--bare", "-b", "main", str(folder / "o")).returncode == 0
    git(folder / "a", "init", "-q", "-b", "main")
    git(folder / "a", "remote", "add", "origin", str(folder / "o"))
    commit(folder / "a")
    assert git(folder / "a", "push", "-q", "origin", "main").returncode == 0
    assert git(folder, "clone", "-q", str(folder / "o"), str(folder / "b")).returncode == 0
    return [open_store(folder / name, {"CLSM_DEVICE": name}) for name in "ab"]


def exchange(machines: list[Store]) -> None:
    """Each commits, merges and pushes; the first one once more, to hear of the second."""
    for store in (*machines, machines[0]):
        commit(store.root)
        pull = git(store.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        assert pull.returncode == 0
        assert git(store.root, "push", "-q", "origin", "HEAD:main").returncode == 0


def files(store: Store) -> dict[str, bytes]:
    return {name: data for name, data in bytes_of(store).items() if not name.startswith(".git/")}


def test_a_value_that_each_machine_heard_of(tmp_path: Path) -> None:
    machines = clones(tmp_path)
    said = (
        "Our reading club meets at Holm on Fridays.",
        "Our reading club no longer meets at Holm, it has moved to Besgate.",
    )
    for week, (store, text) in enumerate(zip(machines, said, strict=True)):
        take(store, chat(tmp_path, f"week-{week}", [("user", monday(week).isoformat(), text)]))
        sleep(store, night(week))
    exchange(machines)
    for store in machines:
        sleep(store, night(2))
        (held,) = current(store, "club")
        assert "Besgate" in held
        (closed,) = [row for row in rows(store).values() if row.valid_until]
        assert (closed.valid_until or "")[:10] == monday(1).isoformat()[:10]
    exchange(machines)
    assert files(machines[0]) == files(machines[1])
    for store in machines:
        assert sleep(store, night(3)).run is None
