"""The day ahead that a text names: with a verb or without, with the month or only its number."""

from datetime import date

import pytest
from tables import column, table

from clsm_cli.text.time.ahead import day_ahead

FRIDAY = date(2026, 10, 23)


@pytest.mark.parametrize(("text", "day"), table(__file__, "planned"))
def test_what_is_planned(text: str, day: str) -> None:
    assert day_ahead(text, FRIDAY) == day


@pytest.mark.parametrize("text", column(__file__, "not planned"))
def test_what_is_over_open_or_of_another_day(text: str) -> None:
    assert day_ahead(text, FRIDAY) is None
