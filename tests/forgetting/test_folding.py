"""Recalls become uses: each id and day once, however often and in whatever pieces they are folded."""

from pathlib import Path

import pytest
from aging import BORN, age, later, recall, say, tree, uses
from hypothesis import given
from hypothesis import strategies as st
from ingesting import new_store, scratch
from strategies import examples

from clsm_cli.forgetting import folding
from clsm_cli.store import atomic, logs
from clsm_cli.store.layout import Store

OLD_LOG, LOG = logs.ACTIVATIONS
A, B = "aaaaaaaaaaaa", "f-bbbbbbbbbbbb"


@pytest.fixture
def store(store: Store) -> Store:
    say(store, "The heron came at eight.")
    return store


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
