from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import HOME

from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.model.clocks import instant

ONE_INSTANT: list[object] = [
    *(1771917300000, 1771917300, 1771917300.0, "1771917300", "1771917300000"),
    *("2026-02-24T07:15:00Z", "2026-02-24T07:15:00.000Z", "2026-02-24T08:15:00+01:00"),
    *("2026-02-24 08:15", "2026-02-24 08:15:00 +0100", "2026-02-24 07:15 UTC", "20260224T081500"),
    *("Tue, 24 Feb 2026 08:15:00 +0100", "Tue, 24 Feb 2026 07:15:00 GMT (winter)"),
    *("24 February 2026, 8:15 am", "Tuesday, 24 Feb. 2026 8:15 am", "8:15 am on 24 February, 2026"),
]
NO_TIME: list[object] = [
    *("", "soon", "2026-02-31", "2026-02-24T25:00", "13:00 pm on 1 May, 2023", "1 Foo 2023", "42"),
    *("9999-12-31T23:59:59.9999Z", "0001-01-01T00:00:00+14:00", "2026-02-24 " + "x" * 99),
    *("0001-01-01T00:00:00Z", "0001-06-01", "9999-12-31", "31 Dec 9999", "9998-12-31T23:30:00Z"),
    *(None, True, 0, -1, 2026, 1e300, float("nan"), float("inf"), [], {}, "1" * 60),
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((value, "2026-02-24T08:15:00+01:00") for value in ONE_INSTANT),
        *((value, None) for value in NO_TIME),
        ("2026-02-24", "2026-02-24"),
        ("20260224", "2026-02-24"),
        ("24 Feb 2026", "2026-02-24"),
        ("4:04 pm on 20 January, 2023", "2023-01-20T16:04:00+01:00"),
        ("12:00 am on 1 May, 2023", "2023-05-01T00:00:00+02:00"),
        (1771917300123, "2026-02-24T08:15:00.123+01:00"),
        ("2026-02-24T07:15:00.123456Z", "2026-02-24T08:15:00.123+01:00"),
        ("2026-02-24T07:15:00.9996Z", "2026-02-24T08:15:01+01:00"),
        # Summer time: 02:30 does not exist on the first day and is twice on the second.
        ("2026-03-29 02:30", "2026-03-29T03:30:00+02:00"),
        ("2026-10-25T01:30:00Z", "2026-10-25T02:30:00+01:00"),
        ("2026-10-25T00:30:00Z", "2026-10-25T02:30:00+02:00"),
    ],
)
def test_one_instant_is_one_string(value: object, expected: str | None) -> None:
    assert normalise(value, HOME) == expected


@given(
    st.datetimes(min_value=datetime(1974, 1, 1), max_value=datetime(2100, 1, 1)),  # noqa: DTZ001
    st.sampled_from(["UTC", "Europe/Amsterdam", "America/St_Johns", "Asia/Kathmandu"]),
)
def test_hook_and_file_agree(moment: datetime, zone: str) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
    there = ZoneInfo(zone)
    from_hook = normalise(round(moment.timestamp() * 1000), there)
    assert from_hook == normalise(moment.isoformat(), there)
    assert from_hook == normalise(moment.astimezone(HOME).isoformat(), there)
    assert from_hook is not None
    assert instant(from_hook) == moment
