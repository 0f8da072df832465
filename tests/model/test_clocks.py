"""The two clocks agree with arithmetic on real times, whatever the offsets and forms."""

import json
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import table

from clsm_cli.model.clocks import (
    day_of,
    end_of_day,
    holds,
    instant,
    is_after,
    is_believed,
    is_true,
    on_clock,
    seconds,
)

DAY = timedelta(days=1)
ZONES = [UTC, *(timezone(timedelta(hours=hours)) for hours in (-11, -3.5, 1, 2, 5.75, 14))]


class Row(NamedTuple):
    valid_from: str | None = None
    valid_until: str | None = None
    recorded_at: str | None = None
    superseded_at: str | None = None
    withdrawn: bool = False


def _written(moment: datetime, form: str) -> str:
    if form == "date":
        return moment.date().isoformat()
    text = moment.isoformat(timespec=form)
    return text.replace("+00:00", "Z") if moment.tzinfo is UTC and moment.second % 2 else text


# Few days and few clock times, so that bounds meet.
moments = st.builds(
    lambda day, seconds, micro, zone: (
        datetime(2026, 2, day, tzinfo=zone) + timedelta(seconds=seconds, microseconds=micro)
    ),
    st.integers(19, 22),
    st.sampled_from([0, 0, 1, 1800, 3600, 7200, 43200, 82800, 86399]),
    st.sampled_from([0, 0, 0, 1000, 999_000]),
    st.sampled_from(ZONES),
)
forms = st.sampled_from(["date", "seconds", "seconds", "milliseconds", "minutes", "microseconds"])
times = st.builds(_written, moments, forms)
bounds = st.one_of(st.none(), times)


def _clock(*texts: str) -> tzinfo:
    """The clock of the first instant among some times."""
    found = (datetime.fromisoformat(text).tzinfo for text in texts if len(text) > 10)
    return next((zone for zone in found if zone), UTC)


def _begin(text: str, clock: tzinfo) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=clock)


def _last(text: str, clock: tzinfo) -> datetime:
    length = DAY - timedelta(microseconds=1) if len(text) == 10 else timedelta(0)
    return _begin(text, clock) + length


def within(start: str | None, at: str, end: str | None) -> bool:
    """Some instant of ``at`` is not before the start and before the end."""
    if start and _last(at, _clock(at, start)) < _begin(start, _clock(at, start)):
        return False
    if end and _begin(at, _clock(at, end)) >= _begin(end, _clock(at, end)):
        return False
    if len(at) > 10 or not (start and end):
        return True
    return _begin(start, _clock(start, end)) < _begin(end, _clock(start, end))


@examples(2000)
@given(start=bounds, at=times, end=bounds)
def test_an_interval_is_half_open(start: str | None, at: str, end: str | None) -> None:
    expected = within(start, at, end)
    assert is_true(Row(valid_from=start, valid_until=end), at) is expected
    assert is_believed(Row(recorded_at=start, superseded_at=end), at) is expected


@examples(500)
@given(valid=st.tuples(bounds, bounds), held=st.tuples(bounds, bounds), at=times, known=times)
def test_both_clocks_must_agree(
    valid: tuple[str | None, str | None], held: tuple[str | None, str | None], at: str, known: str
) -> None:
    row, is_valid = Row(*valid, *held), within(valid[0], at, valid[1])
    assert holds(row, at, known) is (is_valid and within(held[0], known, held[1]))
    assert holds(row, at) is (is_valid and held[1] is None)


@pytest.mark.parametrize(("superseded_at", "known_at", "believed"), table(__file__, "withdrawn"))
def test_what_is_withdrawn(superseded_at: str, known_at: str, believed: str) -> None:
    row, known = Row(superseded_at=json.loads(superseded_at), withdrawn=True), json.loads(known_at)
    assert is_believed(row, known) is json.loads(believed)
    assert holds(row, "2026-02-20", known) is json.loads(believed)


@examples(1000)
@given(one=times, other=times, zone=st.sampled_from(ZONES))
def test_two_times_are_compared_as_instants(one: str, other: str, zone: tzinfo) -> None:
    begins = _begin(one, zone), _begin(other, zone)
    assert is_after(one, other, zone) is (begins[0] > _last(other, zone))
    first, second = seconds(one, zone), seconds(other, zone)
    assert (first < second, first == second) == (begins[0] < begins[1], begins[0] == begins[1])
    shown = on_clock(one, zone)
    assert (instant(shown), len(shown) > 10) == (instant(one), len(one) > 10)
    assert shown[:10] == str(day_of(one, zone)) == begins[0].astimezone(zone).date().isoformat()
    assert str(day_of(one)) == one[:10]


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_a_day_at_an_end_of_the_calendar_is_none_to_reckon_from(day: str) -> None:
    assert day_of(day) is day_of(f"{day}T12:00:00Z", UTC) is None


NO_TIMES = ["soon", "", None, "last week.", "20 February 2026", "2026-99-99T00:00Z"]


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time_bounds_nothing_and_comes_first(text: str | None) -> None:
    assert is_true(Row(valid_from=text, valid_until=text), "2026-02-20T08:00:00+01:00")
    first = "0001-01-01"
    assert not is_after(text, first, UTC)
    assert not is_after(first, text, UTC)
    assert seconds(text, UTC) < seconds(first, UTC)
    assert (instant(text), day_of(text), day_of(text, UTC)) == (None, None, None)
    assert on_clock(text or "", UTC) == (text or "")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("time", ["0001-01-01T00:00:00", "9999-12-31T23:59:59.999"])
def test_the_ends_of_the_calendar_can_be_asked_for(time: str, zone: tzinfo) -> None:
    for text in (f"{time}+00:00", f"{time}+14:00", f"{time}-11:00", time[:10]):
        for other in ("0001-01-01", "9999-12-31", time):
            assert not (is_after(text, other, zone) and is_after(other, text, zone))
            assert isinstance(seconds(text, zone) - seconds(other, zone), float)
        assert on_clock(text, zone)[:4].isdigit()


def test_a_day_ends_by_the_clock_of_its_zone() -> None:
    home = ZoneInfo("Europe/Amsterdam")
    late = Row(recorded_at="2026-02-20T23:30:00Z")  # half past midnight on the 21st, at home
    assert not is_believed(late, end_of_day("2026-02-20", home))
    assert is_believed(late, end_of_day("2026-02-21", home))
    assert end_of_day("2026-07-01", home) == "2026-07-01T23:59:59.999999+02:00"
    with pytest.raises(ValueError, match="isoformat"):
        end_of_day("soon", home)
