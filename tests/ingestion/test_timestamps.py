from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import HOME
from tables import table

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
        (1771917300123, "2026-02-24T08:15:00.123+01:00"),
        *table(__file__, "instants"),
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
