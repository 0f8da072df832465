"""``clsm correct``: what it prints, and what it does with odd arguments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from consolidation.test_correction import BELL, NOW, QUARTER, bell, hold
from in_process import InProcess
from ingesting import new_store, tree

from clsm_cli.errors import BadInputError
from clsm_cli.store.layout import Store

AT = "2026-03-01 10:00"
_COMMAND = InProcess("correct", NOW)
run, ok = _COMMAND.run, _COMMAND.ok


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = new_store(tmp_path / "memory")
    hold(made, bell())
    return made


def test_what_was_and_what_is(store: Store) -> None:
    planned = ok(store, "bell", "15", "minutes", "--dry-run").splitlines()
    lines = ok(store, "bell", "15", "minutes").splitlines()
    assert planned == [*lines, "nothing was written"]
    was, now = lines
    assert was.split() == [
        "was", bell().id, *BELL.split(), "(from", "2026-02-20", "08:00", "until", *f"{AT})".split(),
    ]  # fmt: skip
    assert now.startswith("is     f-")
    assert now.endswith(f"  {QUARTER}  (from {AT})")
    assert ok(store, "bell", "15 minutes").split()[0] == "known"


def test_as_data(store: Store) -> None:
    data = json.loads(ok(store, bell().id, QUARTER, "--since", "2026-02-25", "--json"))
    assert list(data) == ["schema", "dry_run", "run", "is_new", "was", "also", "is"]
    assert (data["schema"], data["is_new"], data["also"]) == ("clsm.correct/1", True, [])
    assert (data["was"]["id"], data["was"]["valid_until"]) == (bell().id, "2026-02-25")
    assert (data["is"]["text"], data["is"]["valid_from"]) == (QUARTER, "2026-02-25")


@pytest.mark.parametrize(
    ("since", "canonical"),
    [
        ("2026-02-25", "2026-02-25"),
        ("2026-02-25T08:00", "2026-02-25T08:00:00+01:00"),
        ("2026-02-25T07:00:00Z", "2026-02-25T08:00:00+01:00"),
        ("2026-W09-3", "2026-02-25T00:00:00+01:00"),
    ],
)
def test_since_is_written_as_the_store_writes_times(
    store: Store, since: str, canonical: str
) -> None:
    data = json.loads(ok(store, "bell", "15 minutes", "--since", since, "--json"))
    assert data["is"]["valid_from"] == canonical


def test_what_cannot_be_used(store: Store) -> None:
    before = tree(store.root, derived=True)
    assert run(store, "bell", QUARTER, "--since", "soon").exit_code == 2
    assert run(store, "bell").exit_code == 2
    assert run(store, "bell", QUARTER, "--since", "2026-02-25", "--never").exit_code == 2
    for words in (["f-abcdefabcdef", "15 minutes"], [bell().id, "often"], [bell().id, "\udcff"]):
        done = run(store, *words)
        assert isinstance(done.exception, BadInputError), (words, done.exception)
    assert tree(store.root, derived=True) == before
