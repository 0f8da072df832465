"""A fact that changes fifty times: the latest value holds, and each of the old ones has its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from consolidation.drifting import (
    CASES,
    INTERVAL,
    PHONE,
    RESIDENCE,
    WEEKS,
    Case,
    day,
    night,
)
from ingesting import new_store, scratch, take
from sleeping import bytes_of, chat, rows, sleep
from using_git import git

from clsm_cli.inspection.fact_history import View, history
from clsm_cli.store.layout import open_store
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from clsm_cli.model.graph import Statement
    from clsm_cli.store.layout import Store

Span = tuple[str, str, str]  # value, first day, first day after
LAST = WEEKS - 1


def tell(store: Store, folder: Path, case: Case, weeks: Sequence[int]) -> None:
    """Ingest what is said in some weeks."""
    paths = [
        chat(folder, f"{node_id(case.subject)}-{week}-{number}", turns)
        for week in weeks
        for number, turns in enumerate(case.told(week))
    ]
    take(store, *paths, now=night(weeks[-1]))


def held(store: Store, case: Case) -> list[Statement]:
    """The rows of a case that the store believes, in the order of their time."""
    found = [
        row
        for row in rows(store).values()
        if (row.subject, row.slot) == (node_id(case.subject), case.slot)
        and row.superseded_at is None
        and not row.withdrawn
    ]
    return sorted(found, key=lambda row: (row.valid_from or "", row.valid_until or "9"))


def latest(store: Store, case: Case) -> list[str | None]:
    """The values that are current."""
    return [row.value for row in held(store, case) if row.is_current]


def spans(store: Store, case: Case) -> list[Span]:
    """What held when, by days."""
    return [
        (row.value or "", (row.valid_from or "")[:10], (row.valid_until or "")[:10])
        for row in held(store, case)
    ]


def expected(case: Case, last: int = LAST) -> list[Span]:
    """What was told: each value from its day until that of the next."""
    days = [day(case.since(week)).isoformat() for week in range(last + 1)]
    return [
        (case.value(week), start, end)
        for week, (start, end) in enumerate(zip(days, [*days[1:], ""], strict=True))
    ]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case.subject}-{case.slot}")
def told(request: pytest.FixtureRequest) -> Iterator[tuple[Store, Case]]:
    """A year of which nothing was consolidated before its end."""
    with scratch() as folder:
        store = new_store(folder / "memory")
        tell(store, folder, request.param, range(WEEKS))
        sleep(store, night(LAST))
        yield store, request.param


def test_all_at_once(told: tuple[Store, Case]) -> None:
    store, case = told
    assert latest(store, case) == [case.value(LAST)]
    assert spans(store, case) == expected(case)


def test_history_holds_all_of_them(told: tuple[Store, Case]) -> None:
    store, case = told
    (found,) = history(store, [case.subject], View(now=night(LAST)))
    (thread,) = [each for each in found.threads if each.slot == case.slot]
    shown = {
        (each.value, (each.valid_from or "")[:10], (each.valid_until or "")[:10])
        for each in thread.versions
        if each.state in ("current", "ended")
    }
    assert shown == {*expected(case)}


@pytest.mark.parametrize("case", [RESIDENCE, PHONE], ids=lambda case: case.slot)
def test_night_by_night(case: Case) -> None:
    with scratch() as folder:
        store = new_store(folder / "memory")
        for week in range(WEEKS):
            tell(store, folder, case, [week])
            sleep(store, night(week))
            if week % 5 == 4:
                assert latest(store, case) == [case.value(week)], week
                assert spans(store, case) == expected(case, week)


def clones(folder: Path) -> list[Store]:
    """Two machines with a clone each of one store."""
    new_store(folder / "a", "a")
    assert git(folder, "init", "-q", "--bare", "-b", "main", str(folder / "o")).returncode == 0
    git(folder / "a", "init", "-q", "-b", "main")
    git(folder / "a", "remote", "add", "origin", str(folder / "o"))
    git(folder / "a", "add", "-A")
    git(folder / "a", "commit", "-qm", "0")
    assert git(folder / "a", "push", "-q", "origin", "main").returncode == 0
    assert git(folder, "clone", "-q", str(folder / "o"), str(folder / "b")).returncode == 0
    return [open_store(folder / name, {"CLSM_DEVICE": name}) for name in "ab"]


def exchange(machines: list[Store]) -> None:
    """Each commits, merges and pushes; the first one once more, to hear of the second."""
    for store in (*machines, machines[0]):
        git(store.root, "add", "-A")
        git(store.root, "commit", "-qm", "night")
        assert (
            git(store.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main").returncode
            == 0
        )
        assert git(store.root, "push", "-q", "origin", "HEAD:main").returncode == 0


def files(store: Store) -> dict[str, bytes]:
    return {name: data for name, data in bytes_of(store).items() if not name.startswith(".git/")}


@pytest.mark.parametrize(
    ("case", "every"),
    [(INTERVAL, 9), (INTERVAL, WEEKS), (RESIDENCE, WEEKS)],
    ids=["interval-9", "interval-once", "residence-once"],
)
def test_two_machines_that_hear_it_in_turn(case: Case, every: int) -> None:
    """After a merge the next night of each puts in order what both learnt apart."""
    with scratch() as folder:
        machines = clones(folder)
        for week in range(WEEKS):
            tell(machines[week % 2], folder, case, [week])
            sleep(machines[week % 2], night(week))
            if week % every != every - 1 and week != LAST:
                continue
            exchange(machines)
            for store in machines:
                sleep(store, night(week))
                assert latest(store, case) == [case.value(week)], week
                assert spans(store, case) == expected(case, week)
            exchange(machines)
        assert files(machines[0]) == files(machines[1])
        before = [spans(store, case) for store in machines]
        for store in machines:
            assert sleep(store, night(LAST)).run is None
        assert [spans(store, case) for store in machines] == before
