"""Which answers are right on their day, by table."""

from __future__ import annotations

import pytest

from clsm_cli.evaluation.studies import intervals
from clsm_cli.evaluation.studies.intervals import NO_ITEM, OTHER_FACT, OTHER_MEMORY
from clsm_cli.evaluation.studies.labelled import Value
from clsm_cli.retrieval.answer import Answer, Budget, Known, Memory, Why

OLD = Value("5 minutes", "2026-02-10", "2026-02-12", "The bell rings every 5 minutes")
COFFEE = Value("coffee", "2026-02-10", "2026-02-18", "her morning was two espressos")
TEA = Value("tea", "2026-02-18", None, "from today it is tea")


def answer(
    text: str = "", *values: str, slot: str = "interval", verdict: str | None = None
) -> Answer:
    """An answer with one memory, and facts of some values."""
    known = tuple(Known(f"f-{value}", "bell", slot, value, None, None) for value in values)
    why = Why()
    memory = Memory("a", "passage", text, "flow", 1.0, 1.0, 9, "user", "s", (), why, why)
    return Answer(
        "r-1", "?", "2026-02-25", "ltm", 1.0, (), (memory,) if text else (), Budget(9, 9), None,
        facts=known, verdict=verdict,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (answer("", "15 minutes"), ""),
        (answer("", "fifteen mins"), ""),
        (answer("The heron sleeps.", "15 minutes"), ""),
        (answer("It rings every 15 minutes, day and night."), ""),
        (answer(), NO_ITEM),
        (answer("The heron sleeps."), NO_ITEM),
        (answer("", "30 minutes"), NO_ITEM),
        (answer("", "5 minutes"), OTHER_FACT),
        (answer("It rings every 15 minutes.", "15 minutes", "5 minutes"), OTHER_FACT),
        (answer("It rings every 5 minutes."), OTHER_MEMORY),
        (answer("It rings every 5 minutes.", "15 minutes"), OTHER_MEMORY),
        # With both values a text decides nothing, unless it is the evidence itself.
        (answer("Not every 5 minutes, every 15 minutes."), NO_ITEM),
        (answer("Not every 5 minutes, every 15 minutes.", "15 minutes"), ""),
        (answer("Not 5 minutes: it came  every 15."), ""),
    ],
)
def test_an_answer_on_its_day(given: Answer, fault: str) -> None:
    assert intervals.fault(given, "15 minutes", ("it came every 15",), (OLD,)) == fault


def test_a_described_value_is_stated_by_the_words_of_its_quote() -> None:
    espressos, tea = (answer("", v, slot="habit/morning") for v in ("two espressos", "tea"))
    assert intervals.fault(espressos, "coffee", (COFFEE.quote,), (TEA,)) == ""
    assert intervals.fault(tea, "coffee", (COFFEE.quote,), (TEA,)) == OTHER_FACT
    assert intervals.fault(tea, "tea", (TEA.quote,), (COFFEE,)) == ""
    assert intervals.fault(espressos, "tea", (TEA.quote,), (COFFEE,)) == OTHER_FACT


def test_a_date_may_be_written_out() -> None:
    due = answer("", "2026-03-02", slot="due")
    assert intervals.fault(due, "2 March 2026", ("due on Monday",)) == ""
    assert intervals.fault(answer("Due on 2 March."), "2026-03-02", ("x",)) == ""


@pytest.mark.parametrize(
    ("given", "is_right"),
    [
        (answer(), True),
        (answer("The heron sleeps.", verdict="not known"), True),
        (answer("The heron sleeps."), False),
        (answer("The heron sleeps.", verdict="no"), False),
    ],
)
def test_what_the_memory_does_not_know(given: Answer, *, is_right: bool) -> None:
    assert (intervals.fault_of_silence(given) == "") is is_right
