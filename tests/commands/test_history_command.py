"""``clsm history``: data, a table, time lines, and what cannot be used."""

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path

import pytest
from consolidation.test_correction import BELL, NOW, QUARTER, bell, done, hold, statement
from hypothesis import given
from hypothesis import strategies as st
from in_process import InProcess
from ingesting import new_store, tree
from strategies import examples

from clsm_cli.commands.render_history import BAR, _Span, bar, renderables
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


def test_as_data(store: Store) -> None:
    found = data(store, "bell", "facts", "--as-of", "2026-03-01T09:00:00Z")
    assert list(found) == ["schema", "now", "as_of", "known_at", "found"]
    assert (found["schema"], found["now"]) == ("clsm.history/1", TODAY)
    assert (found["as_of"], found["known_at"]) == (NOW, None)  # in the zone of the store
    about, topic = found["found"]
    assert list(about) == ["wanted", "threads", "subjects"]
    (thread,) = about["threads"]
    assert list(thread) == ["kind", "subject", "label", "type", "versions"]
    (version,) = thread["versions"]
    assert list(version) == [name for name in Version._fields if name not in ("begin", "end")]
    assert (version["text"], version["state"]) == (QUARTER, "current")
    assert (version["supersedes"], version["valid_from"]) == (bell().id, NOW)
    assert (topic["threads"], [each["id"] for each in topic["subjects"]]) == ([], ["bell", "clock"])


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


def test_a_day_is_known_at_its_end(store: Store) -> None:
    for day, count in (("2026-02-19", 0), ("2026-02-20", 1), ("2026-03-01", 2)):
        found = data(store, "bell", "--known-at", day)
        assert found["known_at"].startswith(f"{day}T23:59:59.999999+01:00")
        shown = [each for t in found["found"][0]["threads"] for each in t["versions"]]
        assert len(shown) == count
    # Recorded at nine in the evening UTC, ten at home.
    late = data(store, "bell", "--known-at", "2026-02-20T21:59:59+01:00")
    assert late["found"][0]["threads"] == []
    ended = run(store, "bell", "--known-at", "2026-02-19")
    assert (ended.exit_code, ended.stdout) == (0, "")
    assert "bell: nothing is held of it for that time" in ended.stderr


def test_it_only_reads(store: Store) -> None:
    before = tree(store.root)
    ok(store, "bell", "facts")
    assert tree(store.root) == before


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


def test_nothing_steers_the_terminal(store: Store) -> None:
    hold(store, statement("The lamp \x1b[31mis red.", subject="lamp"))
    for shown in (at_a_terminal(store, "lamp"), ok(store, "lamp"), ok(store, "lamp", "--json")):
        assert "\x1b[31m" not in shown
        assert "is red" in shown


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
    assert bar(version(begin, end), span) == expected
    assert bar(version(begin, end, is_believed=False), span) == expected.replace("█", "░")


@examples(300)
@given(times=st.lists(st.floats(0, 2e9), min_size=3, max_size=3, unique=True).map(sorted))
def test_a_bar_is_one_piece_of_a_fixed_width(times: list[float]) -> None:
    first, middle, last = times
    span = _Span(first, last)
    before, after = bar(version(None, middle), span), bar(version(middle, None), span)
    for drawn in (before, after):
        assert len(drawn) == BAR
        assert "█" in drawn
        assert "█·█" not in drawn.replace("··", "·")
    assert before.startswith("█")
    assert after.endswith("█")
