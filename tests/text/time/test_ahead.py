"""The day ahead that a text names: with a verb or without, with the month or only its number."""

from datetime import date

import pytest
from tables import column, table

from clsm_cli.text.time.ahead import day_ahead
from clsm_cli.text.time.expressions import find_expressions

FRIDAY = date(2026, 10, 23)
MONDAY = date(2026, 3, 9)


@pytest.mark.parametrize(("text", "day"), table(__file__, "planned"))
def test_what_is_planned(text: str, day: str) -> None:
    assert day_ahead(text, FRIDAY) == day


@pytest.mark.parametrize("text", column(__file__, "not planned"))
def test_what_is_over_open_or_of_another_day(text: str) -> None:
    assert day_ahead(text, FRIDAY) is None


@pytest.mark.parametrize(("text", "day"), table(__file__, "said, invented or moved"))
def test_only_the_day_that_counts(text: str, day: str) -> None:
    wanted = None if day == "none" else day
    certain = {each.day for each in find_expressions(text, MONDAY) if each.day}
    assert day_ahead(text, MONDAY) == wanted
    assert {each.isoformat() for each in certain if each > MONDAY} <= {wanted}
