"""Days that notes and people tell without a year: none gets one that its words do not make certain."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tables import column, table

from clsm_cli.store import yaml_text
from clsm_cli.text.time import expressions
from clsm_cli.text.time.ahead import day_ahead
from clsm_cli.text.time.periods import iso_period
from clsm_cli.text.todo import due_day, todos

ROOT = Path(__file__).parents[2]
MANNERS: dict[str, list[dict[str, Any]]] = yaml_text.load(
    (ROOT / "fixtures/time/told.yaml").read_text("utf-8"), 1 << 20
)
SENTENCES = [(manner, each) for manner, rows in MANNERS.items() for each in rows]
TUNED, REPORTED = ([row for row in SENTENCES if row[1]["half"] == half] for half in "tr")
MONDAY = date(2026, 3, 9)


def certain(text: str, at: date) -> list[str]:
    return [
        iso_period((each.first, each.until))
        for each in expressions.find_expressions(text, at)
        if each.certain
    ]


def day(row: dict[str, Any]) -> date:
    return date.fromisoformat(str(row["at"]))


def test_there_are_enough_sentences_of_enough_manners() -> None:
    assert len(MANNERS) >= 10
    assert (len(TUNED), len(REPORTED)) == (93, 70)


@pytest.mark.parametrize("rows", [TUNED, REPORTED], ids=["tuned", "reported"])
def test_no_day_is_invented(rows: list[tuple[str, dict[str, Any]]]) -> None:
    invented = {
        row["text"]: wrong
        for _, row in rows
        if (wrong := {*certain(row["text"], day(row))} - {*row["may"]})
    }
    assert invented == {}


@pytest.mark.parametrize(
    ("rows", "share"), [(TUNED, 0.5), (REPORTED, 0.28)], ids=["tuned", "reported"]
)
def test_what_is_certain_is_found(rows: list[tuple[str, dict[str, Any]]], share: float) -> None:
    wanted = sum(len(row["may"]) for _, row in rows)
    found = sum(len({*certain(row["text"], day(row))} & {*row["may"]}) for _, row in rows)
    assert found >= share * wanted


def test_due_days_are_not_invented() -> None:
    for _, row in SENTENCES:
        at = day(row)
        told = {each for may in row["may"] for each in may.split(" to ")}
        assert {task.due for task in todos(row["text"], at)} <= {None, str(at), *told}, row["text"]


@pytest.mark.parametrize(("text", "kind", "days"), table(__file__, "kinds"))
def test_what_places_a_day(text: str, kind: str, days: str) -> None:
    [found] = expressions.find_expressions(text, MONDAY)
    assert found.kind == kind
    assert (iso_period((found.first, found.until)) if found.certain else "-") == days


@pytest.mark.parametrize(("text", "wrong"), table(__file__, "beside another year"))
def test_a_day_beside_another_year_is_not_of_this_one(text: str, wrong: str) -> None:
    assert wrong not in certain(text, MONDAY)
    assert wrong != day_ahead(text, MONDAY)


@pytest.mark.parametrize("text", column(__file__, "of something else"))
def test_a_day_of_something_else_is_none_of_these_days(text: str) -> None:
    assert (certain(text, MONDAY), day_ahead(text, MONDAY)) == ([], None)


def test_a_heading_may_name_the_year_of_a_day() -> None:
    for heading, item in (
        ("Trip 2027: ", "Ferry on 3 May"),
        ("Norway next year: ", "Pay by 1 May"),
    ):
        assert day_ahead(heading + item, MONDAY, start=len(heading)) is None
        assert due_day(heading + item, MONDAY, len(heading)) is None
    assert due_day("Back in 2026: Pay by 1 May", MONDAY, 14) == "2026-05-01"


@pytest.mark.parametrize(("text", "days"), table(__file__, "beside a year"))
def test_a_year_beside_it_may_tell_nothing_of_a_day(text: str, days: str) -> None:
    assert days in certain(text, MONDAY)


def test_what_serves_to_search_is_not_written() -> None:
    text = "Last Friday we talked of 12 April, in a few days, and of Thursday."
    assert expressions.absolutise(text, MONDAY) == text.replace("Friday", "Friday (2026-03-06)")
