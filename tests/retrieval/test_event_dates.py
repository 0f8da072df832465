"""Questions that count days from an event, put to a store that tells of some."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from ingesting import new_store, take
from small_store import row

from clsm_cli.retrieval import time_scope
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.store.index.index_queries import Index

NOW = "2025-11-07T16:00:00+01:00"
EVENTS = [
    ("2025-09-01", "I bought a present for Odette's wedding."),
    ("2025-09-05", "My operation on the knee is on Tuesday."),
    ("2025-09-09", "They operated on my knee this morning, all went well."),
    ("2025-09-20", "Today was Odette's wedding, we danced until two."),
    ("2025-10-02", "I moved into the flat on Canal Street yesterday."),
    ("2025-10-10", "Is there a trip to Porto?"),
]


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    store = new_store(tmp_path_factory.mktemp("events") / "memory")
    turns = [
        row(text, session=f"e{number}", timestamp=f"{day}T20:00:00+02:00")
        for number, (day, text) in enumerate(EVENTS)
    ]
    take(store, stdin="".join(turns).encode(), model=False, now=NOW)
    with open_index(store, None) as opened:
        yield opened.index


@pytest.mark.parametrize(
    ("question", "days", "rest"),
    [
        ("What did I cook three days before Odette's wedding?", "2025-09-17 1", "What did I cook?"),
        ("Whom did I meet the day after the wedding of Odette?", "2025-09-21 1", "Whom did I meet?"),
        ("Who came on the day of Odette's wedding?", "2025-09-20 1", "Who came?"),
        ("A day after the knee operation, what did I eat?", "2025-09-10 1", ", what did I eat?"),
        ("What did I eat the night before they operated on my knee?", "2025-09-08 1", "What did I eat?"),
        ("Who helped the day I moved into the flat?", "2025-10-01 1", "Who helped?"),
        ("What rang the week after I moved into the flat?", "2025-10-02 7", "What rang?"),
        ("Who was ill a week after Odette's wedding?", "2025-09-24 7 2025-09-27 1", "Who was ill?"),
    ],
)  # fmt: skip
def test_days_are_counted_from_an_event(events: Index, question: str, days: str, rest: str) -> None:
    found = time_scope.resolve(events, question, NOW)
    assert found is not None
    read = [f"{date.fromordinal(first)} {until - first}" for first, until in found.periods]
    assert (" ".join(read), found.rest) == (days, rest)
    assert not found.hard


@pytest.mark.parametrize(
    "question",
    ["What was on the day before the regatta?", "What did I do the day after the trip to Porto?"],
)
def test_an_event_that_nothing_tells_of_is_no_day(events: Index, question: str) -> None:
    assert time_scope.resolve(events, question, NOW) is None


def test_an_event_that_is_told_later_is_not_there(events: Index) -> None:
    question = "What did I cook a day before Odette's wedding?"
    found = time_scope.resolve(events, question, "2025-09-10T12:00:00+02:00")
    assert found is not None
    assert found.periods == ((date(2025, 8, 31).toordinal(), date(2025, 9, 1).toordinal()),)
