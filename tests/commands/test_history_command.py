"""``clsm history``: data, a table, and what cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from consolidation.test_correction import BELL, QUARTER, bell, done, hold, statement
from in_process import InProcess
from ingesting import new_store

from clsm_cli.errors import BadInputError
from clsm_cli.store.layout import Store

TODAY = "2026-03-05T12:00:00+01:00"
_COMMAND = InProcess("history", TODAY)
run, ok, data = _COMMAND.run, _COMMAND.ok, _COMMAND.data


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = new_store(tmp_path / "memory")
    hold(made, bell(), statement("The clock strikes.", subject="clock"))
    done(made, bell().id, QUARTER)
    return made


def test_as_a_table(store: Store) -> None:
    title, head, *rows = ok(store, "bell").splitlines()
    assert title == "bell"
    assert head.split()[:5] == ["value", "true", "from", "true", "until"]
    shown = [" ".join(row.split()) for row in rows]
    assert [row.rpartition(" ")[2] for row in shown[::2]] == [
        bell().id,
        data(store, "bell")["found"][0]["threads"][0]["versions"][2]["id"],
    ]
    assert shown[0].startswith(
        f"{BELL} 2026-02-20 08:00 2026-02-20 22:00 2026-03-01 10:00 superseded"
    )
    assert shown[1].startswith(f"{BELL} 2026-02-20 08:00 2026-03-01 10:00 2026-03-01 10:00 ended")
    assert shown[2].startswith(f"{QUARTER} 2026-03-01 10:00 2026-03-01 10:00 current")


def test_what_cannot_be_used(store: Store) -> None:
    for words in ([], [""], ["bell", " "], ["bell", "--as-of", "soon"], ["bell", "--known-at", ""]):
        assert run(store, *words).exit_code == 2, words
    for wanted in ("nosuch", "f-000000000000", "../x", "\udcff", "x" * 5000):
        ended = run(store, wanted)
        assert isinstance(ended.exception, BadInputError), wanted
