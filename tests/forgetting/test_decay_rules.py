"""Rules that no session shows any more are withdrawn, and come back when one does."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from aging import age, at, later, recall, show, state, tree, write
from ingesting import take
from sleeping import chat, current, rows, sleep

from clsm_cli.errors import RefusedError
from clsm_cli.store import archive, graph, shards, statements
from clsm_cli.store.layout import Store

RULE = "Mara prefers tea."


def taught(store: Store, *days: int, text: str = RULE, **fields: Any) -> str:
    """A rule that sessions of these days showed; returns the id of its statement."""
    keys = show(store, text, *map(later, days))
    told = {"kind": "preference", "stream": "identity", "topic": "preferences", **fields}
    return state(store, text, later(max(days)), sources=tuple(sorted(keys)), **told)


def test_a_rule_is_withdrawn_on_the_day_on_which_it_is_below_the_floor(store: Store) -> None:
    rule = taught(store, 0, 1)  # n = 2 · (1 + ½ · 1/30), .504: below .1 on the 41st day
    assert age(store, 41).withdraw == ()
    page = store.root / "identity" / "preferences.md"
    assert RULE in page.read_text(encoding="utf-8")
    (item,) = age(store, 42).withdraw
    assert (item.id, item.since, item.last) == (rule, str(later(42)), str(later(1)))
    row = rows(store)[rule]
    assert (row.superseded_at, row.text, row.withdrawn) == (f"{later(42)}T00:00:00Z", RULE, False)
    assert RULE not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("days", [range(1, 61), range(7, 61, 7), [60]])
def test_how_often_it_runs_makes_no_difference(store: Store, days: range) -> None:
    """Smriti's own code withdraws a rule after 13 daily runs that would last 90 days."""
    rule = taught(store, 0, 1)
    for day in [*days, 60]:
        age(store, day)
    assert rows(store)[rule].superseded_at == f"{later(42)}T00:00:00Z"


def test_it_still_stands_after_thirty_daily_runs(store: Store) -> None:
    taught(store, 0, 1)
    for day in range(1, 31):
        assert age(store, day).withdraw == ()
    assert current(store, "tea") == [RULE]


@pytest.mark.parametrize(
    ("fields", "is_explicit"),
    [
        ({"pinned": True}, False),
        ({"slot": "drink", "subject": "mara", "value": "tea"}, False),
        ({"kind": "fact"}, False),
        ({}, True),
    ],
)
def test_what_is_no_rule_of_sessions_stays(
    store: Store, fields: dict[str, Any], is_explicit: bool
) -> None:
    keys = show(store, RULE, later(0), later(1), is_explicit=is_explicit)
    told = {"kind": "preference", "stream": "identity", "sources": tuple(keys), **fields}
    state(store, RULE, **told)
    assert age(store, 900).withdraw == ()


def test_one_session_makes_no_rule(store: Store) -> None:
    taught(store, 0)
    assert age(store, 900).withdraw == ()


def test_a_contradiction_takes_fifteen_days(store: Store) -> None:
    rule = taught(store, 0, 1, contradicted_by=("a" * 12,))
    age(store, 100)
    assert rows(store)[rule].superseded_at == f"{later(42 - 15)}T00:00:00Z"


def test_a_rule_that_is_recalled_is_kept(store: Store) -> None:
    rule = taught(store, 0, 1)
    recall(store, later(30), rule)
    assert age(store, 60).withdraw == ()
    (item,) = age(store, 100).withdraw
    assert (item.since, item.last) == (str(later(71)), str(later(30)))


def test_many_at_once_want_consent(store: Store) -> None:
    names = [f"Mara prefers tea number {number}." for number in range(21)]
    for name in names:
        taught(store, 0, 1, text=name)
    assert age(store, 50, dry_run=True).needs_yes
    before = tree(store)
    with pytest.raises(RefusedError, match="21 of 21 rules"):
        age(store, 50)
    assert tree(store) == before
    report = age(store, 50, yes=True)
    assert len(report.withdraw) == 21
    assert current(store, "tea") == []


def test_twenty_may_always_go(store: Store) -> None:
    for number in range(20):
        taught(store, 0, 1, text=f"Mara prefers tea number {number}.")
    assert len(age(store, 50).withdraw) == 20


def test_a_rule_that_faded_long_ago_goes_to_the_archive_at_once(store: Store) -> None:
    rule = taught(store, 0, 1)
    report = age(store, 4000)
    assert [item.id for item in report.compact] == [rule]
    assert shards.load_graph(store.graphs()).records.get(rule) is None
    assert shards.load_graph(store.archives()).records[rule].id == rule
    before = tree(store)
    assert age(store, 4000).run is None
    assert tree(store) == before


def said(store: Store, folder: Path, day: date, text: str = "I prefer tabs over spaces.") -> None:
    """A session of a day, taken in and slept over at its end."""
    turns = [("user", f"{day}T10:00:00+00:00", text)]
    take(store, chat(folder, f"on-{day}", turns), now=at(day, 20))
    sleep(store, at(day, 22))


def test_it_comes_back_with_new_evidence_only(store: Store, tmp_path: Path) -> None:
    """With the real consolidation: taught, faded, not brought back by a night, shown again."""
    said(store, tmp_path, later(0))
    said(store, tmp_path, later(1))
    assert len(current(store, "tabs")) == 1
    (faded,) = age(store, 60).withdraw
    assert current(store, "tabs") == []
    sleep(store, at(later(60), 23))
    sleep(store, at(later(61), 23), rebuild=True)
    assert current(store, "tabs") == []
    assert age(store, 61).withdraw == ()

    said(store, tmp_path, later(70))
    (text,) = current(store, "tabs")
    (row,) = [each for each in rows(store).values() if each.is_current and each.text == text]
    assert (len(row.sources), row.supersedes, row.id != faded.id) == (3, faded.id, True)
    assert rows(store)[faded.id].superseded_at == f"{later(42)}T00:00:00Z"
    assert age(store, 75).withdraw == ()
    (again,) = age(store, 200).withdraw
    assert (again.id, again.last) == (row.id, str(later(70)))
    assert timedelta(40) < date.fromisoformat(again.since) - later(70) < timedelta(70)

    said(store, tmp_path, later(210))
    assert len(current(store, "tabs")) == 1
    assert len([each for each in rows(store).values() if each.text == text]) == 3


def test_it_comes_back_from_the_archive_too(store: Store, tmp_path: Path) -> None:
    said(store, tmp_path, later(0))
    said(store, tmp_path, later(1))
    (item,) = age(store, 4000).withdraw
    assert item.id in shards.load_graph(store.archives()).records
    sleep(store, at(later(4001)))
    assert current(store, "tabs") == []
    said(store, tmp_path, later(4002))
    assert len(current(store, "tabs")) == 1
    assert archive.read(store.flow).as_of == later(4000).replace(day=1)


def test_what_contradictions_closed_does_not_come_back_so(store: Store, tmp_path: Path) -> None:
    said(store, tmp_path, later(0))
    said(store, tmp_path, later(1))
    (row,) = [each for each in rows(store).values() if each.kind == "preference"]
    told = replace(row, contradicted_by=tuple(f"{n:012}" for n in range(4)), rev=(9, "pi"))
    write(store, graph.plan(store, row.stream, [statements.stored(told)]))
    sleep(store, at(later(2)))
    assert current(store, "tabs") == []
    said(store, tmp_path, later(10))
    assert current(store, "tabs") == []
