"""Whether the nights go on: what counts as a good one, what as too long ago, and why."""

from datetime import UTC, datetime, timedelta

import pytest
from ingesting import take
from sleeping import sleep
from small_store import talk

from clsm_cli.inspection import overview
from clsm_cli.model.clocks import utc_text
from clsm_cli.store import atomic, logs, night_log
from clsm_cli.store.layout import Store

NIGHT = datetime(2026, 3, 1, 3, tzinfo=UTC)


def after(hours: float) -> datetime:
    return NIGHT + timedelta(hours=hours)


def look(store: Store, hours: float) -> overview.Automation:
    return overview.automation_state(store, after(hours))


def captured(store: Store, hours: float, text: str = "The gate code changes in May.") -> None:
    """A turn arrives, by the clock of the day."""
    rows = talk("main", text)
    moment = after(hours).isoformat()
    take(store, stdin="".join(rows).encode(), capture_only=True, now=moment)


def test_a_new_store_is_not_stale_before_something_waits_too_long(store: Store) -> None:
    found = look(store, 10_000)
    assert (found.is_stale, found.last, found.waiting) == (False, None, 0)
    assert found.sentence(UTC) == "never consolidated"
    captured(store, 0)
    assert not look(store, 36).is_stale
    found = look(store, 36.1)
    assert (found.is_stale, found.waiting, found.waiting_since) == (True, 1, "2026-03-01T03:00:00Z")
    assert found.sentence(UTC) == (
        "never consolidated; waiting: 1, the oldest since 2026-03-01 03:00 (at most 36 h)"
    )


def test_a_run_that_found_nothing_is_a_good_one(store: Store) -> None:
    night_log.note_success(store, utc_text(NIGHT))
    assert logs.rows(store.flow / "runs.jsonl")[0] == []
    assert not look(store, 36).is_stale
    assert look(store, 0.5).sentence(UTC) == "last consolidated 2026-03-01 03:00, 30 min ago"
    found = look(store, 36.1)  # also where nothing waits: the night itself is missing
    assert found.is_stale
    assert found.hours == pytest.approx(36.1)
    assert found.sentence(UTC) == (
        "last consolidated 2026-03-01 03:00, 36 h ago (at most 36 h); since then no run has ended"
    )


def test_without_the_mark_the_ledger_tells(store: Store) -> None:
    captured(store, -10)
    sleep(store, NIGHT.isoformat())  # the use case alone leaves no mark
    assert night_log.read(store) == night_log.NightLog()
    found = look(store, 1)
    assert (found.last, found.waiting, found.is_stale) == ("2026-03-01T03:00:00Z", 0, False)
    assert not look(store, 1000).is_stale  # nothing waits
    captured(store, 990, "The ferry leaves at nine.")
    assert not look(store, 1000).is_stale
    assert look(store, 1027).is_stale


def test_a_time_in_the_future_is_said_and_no_excuse(store: Store) -> None:
    night_log.note_success(store, "2068-01-01T03:00:00Z")
    found = look(store, 1)
    assert (found.is_stale, found.future, found.last) == (False, "2068-01-01T03:00:00Z", None)
    assert "in the future: a clock is or was wrong" in found.sentence(UTC)
    captured(store, 0)
    assert not look(store, 30).is_stale
    assert look(store, 40).is_stale
    night_log.note_success(store, utc_text(after(41)))
    assert look(store, 42).future is None


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b"7", b"\xff", b'{"good": 7}', b'{"failed": "x"}', b'{"failed": true}'),
        *(b"[" * 40_000, b'{"good": "' + b"x" * 70_000 + b'"}'),
    ],
)
def test_a_mark_that_cannot_be_read_is_none(store: Store, data: bytes) -> None:
    atomic.put(store.derived / "consolidated.json", data)
    assert night_log.read(store) == night_log.NightLog()
    assert not look(store, 1).is_stale
    night_log.note_failure(store, utc_text(NIGHT), "x" * 100_000)
    assert night_log.read(store).failed == 1
