"""``clsm history``: data, a table, time lines, and what cannot be used."""

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path

import pytest
from consolidation.test_correction import BELL, QUARTER, bell, done, hold, statement
from in_process import InProcess
from ingesting import new_store

from clsm_cli.commands.render_history import _Span, renderables, validity_bar
from clsm_cli.errors import BadInputError
from clsm_cli.inspection.fact_history import Version, View
from clsm_cli.inspection.fact_history import history as use_case
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
    listed = ok(store, "facts").splitlines()
    assert [line.split() for line in listed[2:]] == [
        ["bell", "3"],
        ["clock", "1"],
    ]


def test_what_cannot_be_used(store: Store) -> None:
    for words in ([], [""], ["bell", " "], ["bell", "--as-of", "soon"], ["bell", "--known-at", ""]):
        assert run(store, *words).exit_code == 2, words
    for wanted in ("nosuch", "f-000000000000", "../x", "\udcff", "x" * 5000):
        ended = run(store, wanted)
        assert isinstance(ended.exception, BadInputError), wanted


def at_a_terminal(store: Store, *wanted: str) -> str:
    from rich.console import Console

    screen = io.StringIO()
    console = Console(file=screen, width=80, highlight=False, markup=False)
    found = use_case(store, wanted, View(TODAY))
    for each in renderables(found, datetime.fromisoformat(TODAY)):
        console.print(each)
    return screen.getvalue()


def test_time_lines(store: Store) -> None:
    lines = at_a_terminal(store, "bell", "facts").splitlines()
    assert [line.rstrip() for line in lines[:2]] == ["bell", "2026-02-20    2026-03-05"]
    drawn = [line.split()[:4] for line in lines if line[:1] in "█░·" and line]
    assert drawn == [
        ["░" * 24, "superseded", "The", "bell"],
        ["█" * 17 + "·" * 7, "ended", "The", "bell"],
        ["·" * 17 + "█" * 7, "current", "The", "bell"],
    ]
    assert "  true from 2026-03-01 10:00 · believed from 2026-03-01 10:00" in map(str.rstrip, lines)
    assert any(line.startswith("  clock  (1 version)") for line in lines)


def version(begin: float | None, end: float | None, *, is_believed: bool = True) -> Version:
    return Version(
        id="f-1",
        kind="fact",
        value="",
        text="",
        valid_from=None,
        valid_until=None,
        recorded_at=None,
        superseded_at=None,
        state="ended" if is_believed else "superseded",
        supersedes=None,
        sources=(),
        source=None,
        file="",
        line=0,
        begin=begin,
        end=end,
    )


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (None, None, "████████████████████████"),
        (0, 240, "████████████████████████"),
        (120, None, "············████████████"),
        (None, 60, "██████··················"),
        (100, 101, "··········█·············"),
        (240, None, "·······················█"),
        (50, 50, "························"),
        (60, 50, "························"),
    ],
)
def test_bars(begin: float | None, end: float | None, expected: str) -> None:
    span = _Span(0, 240)
    assert validity_bar(version(begin, end), span) == expected
    assert validity_bar(version(begin, end, is_believed=False), span) == expected.replace("█", "░")
