"""The day ahead that a text names: with a verb or without, with the month or only its number."""

from datetime import date

import pytest
from tables import table

from clsm_cli.text.time.ahead import day_ahead
from clsm_cli.text.time.expressions import find_expressions

FRIDAY, MONDAY = date(2026, 10, 23), date(2026, 3, 9)
TOLD = [(at, *row) for at in (FRIDAY, MONDAY) for row in table(__file__, str(at))]


@pytest.mark.parametrize(("at", "text", "day"), TOLD)
def test_only_the_day_that_counts(at: date, text: str, day: str) -> None:
    assert (day_ahead(text, at) or "none") == day


@pytest.mark.parametrize(("text", "day"), table(__file__, str(MONDAY)))
def test_no_other_day_ahead_is_certain(text: str, day: str) -> None:
    certain = {each.day for each in find_expressions(text, MONDAY) if each.day}
    assert {each.isoformat() for each in certain if each > MONDAY} <= {day}
