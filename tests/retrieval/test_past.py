"""As of a day, what was told by then answers; what was told later is no answer, and is marked as such."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sample_store import SAMPLE, ask
from small_store import note, row, tell
from tables import table

from clsm_cli.evaluation import dataset
from clsm_cli.retrieval.answer import Answer
from clsm_cli.store import layout
from clsm_cli.store.layout import Store

WIFI = "what is the wifi name"
OLD, NEW = "# Home\n\nWifi name: Zonnebloem\n", "# Home\n\nWifi name: Waterlelie\n"
VERSIONS = {
    "2026-02-20": OLD,
    "2026-02-22": NEW,
    "2026-02-24": f"{NEW}\nThe router stands in the cellar.\n\nIn 2019 the wifi name was Klaproos.\n",
}


@pytest.fixture
def living(store: Store, tmp_path: Path) -> Store:
    """A living note without a date, in three versions."""
    for day, text in VERSIONS.items():
        note(store, tmp_path / "home.md", text, now=f"{day}T12:00:00+01:00")
    return store


def told(store: Store, question: str, **past: Any) -> str:
    return "\n".join(each.text for each in ask(store, question, **past).memories)


@pytest.mark.parametrize(("clock", "day", "name"), table(__file__, "versions"))
def test_a_document_reads_as_it_stood(living: Store, clock: str, day: str, name: str) -> None:
    found = told(living, WIFI, **{clock: day})
    assert [each for each in ("Zonnebloem", "Waterlelie") if each in found] == (
        [name] if name else []
    )
    assert "router" not in found


def test_a_new_page_of_a_known_folder_was_told_later(living: Store, tmp_path: Path) -> None:
    page = tmp_path / "wifi.md"
    note(living, page, "The wifi is Lelie.\n", now="2026-02-26T12:00:00+01:00")
    assert "Lelie" not in told(living, WIFI, as_of="2026-02-23")


def test_both_clocks(living: Store) -> None:
    """On the 23rd the 21st was known by a newer version, and on the 21st the 23rd by an older one."""
    assert "Zonnebloem" in told(living, WIFI, as_of="2026-02-21", known_at="2026-02-23")
    assert "Zonnebloem" in told(living, WIFI, as_of="2026-02-23", known_at="2026-02-21")


def test_what_speaks_of_the_past_may_be_told_later(living: Store) -> None:
    found = ask(living, "what was the wifi name in 2019", as_of="2020-01-01").memories
    assert [each.told_later for each in found if "Klaproos" in each.text] == ["2026-02-24"]


MEETINGS = (
    ("2026-02-03", "The book club meets at the library on Fridays."),
    ("2026-02-25", "The book club has moved again, we meet at Anna's place."),
    ("2026-02-26", "The dentist is on the Nieuwe Gracht."),
)


@pytest.fixture
def meeting(store: Store) -> Store:
    for day, text in MEETINGS:
        tell(store, row(text, session=day, timestamp=f"{day}T08:00:00+01:00"))
    return store


def test_a_later_turn_is_no_answer(meeting: Store) -> None:
    found = ask(meeting, "where does the book club meet", as_of="2026-02-21").memories
    assert [(each.text, each.told_later) for each in found] == [(MEETINGS[0][1], None)]


@pytest.mark.parametrize(("clock", "later"), [("as_of", ["2026-02-26"]), ("known_at", [])])
def test_where_nothing_else_answers_it_is_marked(
    meeting: Store, clock: str, later: list[str]
) -> None:
    past: dict[str, Any] = {clock: "2026-02-21"}
    found = ask(meeting, "where is the dentist", **past).memories
    assert [each.told_later for each in found[:1]] == later
    assert all(each.told_later for each in found)


ASKED = {row[0]: row[1] for row in table(__file__, "asked")}
AFTER = "2026-02-25"


def middle(value: dict[str, Any]) -> str:
    """The day in the middle of an interval, the last of which is open."""
    ends = value["valid_from"], value["valid_until"] or AFTER
    first, until = (date.fromisoformat(each).toordinal() for each in ends)
    return date.fromordinal((first + until - 1) // 2).isoformat()


def has(answer: Answer, quote: str, first: int) -> bool:
    texts = (dataset.single_blanks(each.text) for each in answer.memories[:first])
    return any(dataset.single_blanks(quote) in text for text in texts)


def test_the_diary_of_the_sample(slept_store: Path) -> None:
    """Every changed fact, asked for in the middle of each of its intervals (docs/statements.md)."""
    store = layout.open_store(slept_store, {"CLSM_DEVICE": "pi"})
    first = three = unmarked = values = 0
    for fact in dataset.load_yaml(SAMPLE / "labels" / "facts.yaml"):
        for value in fact["values"]:
            day, quote = middle(value), value["evidence"]["quote"]
            answer = ask(store, ASKED[fact["id"]], as_of=day)
            values += 1
            first += has(answer, quote, 1)
            three += has(answer, quote, 3)
            unmarked += sum(
                (each.sources[0].timestamp or "")[:10] > day and not each.told_later
                for each in answer.memories[:3]
            )
    assert (values, unmarked) == (33, 0)
    assert (first, three) == (20, 25)
