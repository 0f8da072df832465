"""Where days without a year lie; the sentences are in no fit."""

import hashlib
import json
from datetime import date
from pathlib import Path

import pytest
from tables import table

from clsm_cli.text.time import placement
from clsm_cli.text.time.expressions import find_expressions

ROOT = Path(__file__).parents[3]
MONDAY = date(2026, 3, 9)


@pytest.mark.parametrize(("text", "place"), table(__file__, "places"))
def test_where_a_day_lies(text: str, place: str) -> None:
    [found] = find_expressions(text, MONDAY)
    assert found.chances is not None
    assert placement.Chances._fields[found.chances.index(max(found.chances))] == place
    assert not found.certain or place in {"ahead", "behind"}


@pytest.mark.parametrize(("text", "day"), table(__file__, "weekdays"))
def test_a_weekday_dates_no_day_that_lies_elsewhere(text: str, day: str) -> None:
    [found] = find_expressions(text, MONDAY)
    assert str(found.day) == day


def test_weights_are_read_for_a_day_without_a_year_alone() -> None:
    placement.stored_weights.cache_clear()
    find_expressions("We met yesterday, and on 3 May 2026 we meet again.", MONDAY)
    assert placement.stored_weights.cache_info().currsize == 0
    find_expressions("We met on 3 May.", MONDAY)
    assert placement.stored_weights.cache_info().currsize == 1


def test_the_weights_are_those_of_the_labels() -> None:
    weights = Path(placement.WEIGHTS)
    labels = (ROOT / "fixtures/labels/told_days.tsv").read_bytes()
    about = json.loads(weights.with_suffix(".json").read_text("utf-8"))
    assert about["labels"] == hashlib.sha256(labels).hexdigest()[:16]
    assert weights.stat().st_size == 4 * placement.SLOTS <= 1 << 16
