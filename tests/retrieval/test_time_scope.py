"""Questions about when and where in the store, put to a store of eight conversations."""

import json
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import new_store, take
from sample_store import ask
from small_store import note, row, tell
from strategies import examples
from tables import column, mapping, table

from clsm_cli.config import with_changes
from clsm_cli.retrieval.question import ANY_TIME, Query, may_name_time
from clsm_cli.retrieval.recall import retrieve_passages
from clsm_cli.retrieval.time_scope import resolve
from clsm_cli.store import yaml_text
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store
from clsm_cli.text import ordinals
from clsm_cli.text.time import bounds

LABELLED: dict[str, list[dict[str, Any]]] = yaml_text.load(
    (Path(__file__).parents[2] / "fixtures" / "time" / "expressions.yaml").read_text("utf-8"),
    1 << 20,
    values=None,
)
"""Eight conversations, and sixty questions with answers that were written before the code."""
NOW = "2025-11-07T16:00:00+01:00"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    rows = []
    for told in LABELLED["store"]:
        for line in told["text"]:
            role, _, text = line.partition(": ")
            at = told["time"]
            rows.append({"session": told["id"], "role": role, "timestamp": at, "text": text})
        rows.append({"type": "session_end", "session": told["id"], "timestamp": told["time"]})
    store = new_store(tmp_path_factory.mktemp("moments") / "memory")
    take(store, stdin="\n".join(map(json.dumps, rows)).encode(), model=False, now=NOW)
    with open_index(store, None) as opened:
        yield opened.index


@pytest.mark.parametrize("row", LABELLED["expressions"], ids=lambda row: row["id"])
def test_labelled_questions(index: Index, row: dict[str, Any]) -> None:
    right = [row, *row.get("or", ())]
    if row.get("store"):
        found = resolve(index, row["query"], row["now"])
        sessions = list(found.sessions)
        if found.event:  # the nearest counts, which the labels have alone
            asked = Query(row["query"], row["now"], 10, 2000)
            question, _ = retrieve_passages(index, asked, None, index.store.settings.recall)
            rows = question.scope.rows[:1]
            sessions = [index.traits(rows)[rows[0]].session]
        assert sessions in [each["answer"] for each in right]
        return
    times = bounds.read_times(row["query"], datetime.fromisoformat(row["now"]))
    [(first, until)] = times.periods
    said = [day and day.isoformat() for day in (first, until)]
    assert said in [[each["first"], each["until"]] for each in right]
    assert times.hard == row["hard"]


@pytest.mark.parametrize(("question", "expected"), table(__file__, "places"))
def test_places(index: Index, question: str, expected: str) -> None:
    assert " ".join(resolve(index, question, NOW).sessions) == expected


def test_periods_are_the_days_of_the_sessions(index: Index) -> None:
    found = resolve(index, "the last two sessions", NOW)
    days = [date(2025, 10, 22).toordinal(), date(2025, 10, 31).toordinal()]
    assert found.periods == tuple((day, day + 1) for day in days)
    assert found.hard


@pytest.mark.parametrize(("hard", "question", "warning"), table(__file__, "not there"))
def test_what_is_not_there_is_said(index: Index, hard: str, question: str, warning: str) -> None:
    found = resolve(index, question, NOW)
    assert (found.sessions, found.hard, found.warning) == ((), hard == "yes", warning)


def test_the_conversation_that_goes_on_does_not_count(store: Store) -> None:
    past = row("Tea.", session="one", timestamp="2026-02-20T08:00:00+01:00")
    here = row("Coffee.", session="two", timestamp="2026-02-24T08:00:00+01:00")
    take(store, stdin=(past + here).encode(), model=False)
    with open_index(store, None) as opened:
        at, later = "2026-02-24T08:05:00+01:00", "2026-02-24T18:00:00+01:00"
        assert resolve(opened.index, "our last session", at).sessions == ("one",)
        assert resolve(opened.index, "our last session", later).sessions == ("two",)


def test_a_note_is_a_mention_and_no_conversation(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "2026-02-19.md"
    note(store, path, "Odette will come.\n", model=False)
    later = row("Odette came.", session="one", timestamp="2026-02-20T08:00:00+01:00")
    take(store, stdin=later.encode(), model=False)
    with open_index(store, None) as opened:
        for question, expected in (
            ("the first time Odette was mentioned", str(path)),
            ("our first chat about Odette", "one"),
        ):
            found = resolve(opened.index, question, "2026-02-24T08:00:00+01:00")
            assert found.sessions == (expected,)


def test_a_day_bounds_nothing_where_only_notes_tell_of_it(store: Store, tmp_path: Path) -> None:
    note(store, tmp_path / "2026-02-19.md", "Yesterday we discussed the roof.\n", model=False)
    with open_index(store, None) as opened:
        found = resolve(opened.index, "What did we discuss on 18 February 2026?", NOW)
        assert (len(found.periods), found.hard) == (1, False)


@pytest.mark.parametrize(("question", "first", "until", "hard"), table(__file__, "days"))
def test_days(index: Index, question: str, first: str, until: str, hard: str) -> None:
    found = resolve(index, question, NOW)
    [period] = found.periods
    assert tuple(date.fromordinal(day).isoformat() for day in period) == (first, until)
    assert (found.sessions, found.hard) == ((), hard == "yes")


@pytest.mark.parametrize(("question", "rest"), table(__file__, "rest"))
def test_the_rest_of_a_question(index: Index, question: str, rest: str) -> None:
    assert resolve(index, question, NOW).rest == rest


NO_TIME = (
    "why is the sky blue?; who knows Mara's cat; may I march on?; Have you seen it recently?;"
    " what is on the second shelf; ?!; "
)


@pytest.mark.parametrize("question", NO_TIME.split("; "))
def test_a_question_without_time(index: Index, question: str) -> None:
    assert resolve(index, question, NOW) == ANY_TIME


def test_no_time_is_overlooked() -> None:
    """The one look at the words lets through all that the rules can read."""
    for each in LABELLED["expressions"]:
        has_time, has_place = may_name_time(each["query"])
        now = datetime.fromisoformat(each["now"])
        assert has_time or not bounds.read_times(each["query"], now).bounds
        assert has_place or ordinals.read_reference(each["query"]) is None
    for question in QUESTIONS.split("; "):
        assert bounds.read_times(question, date(2026, 2, 24)).bounds, question
        assert may_name_time(question)[0], question


QUESTIONS = (
    "on the 12th; since Thanksgiving; at Pentecost; in the nineties; a week ago; on Boxing Day;"
    " in the second half of May; In March?; (yesterday); last fortnight; on Mother’s Day;"
    " on New Year's Eve; at Whit Monday; on Bonfire Night; this fall"
)
WORDS = [
    "the", "our", "first", "last", "second", "time", "conversation", "session", "about", "99th", "we",
    "talked", "before", "after", "between", "and", "the move", "right", "since", "the bike", "May",
    "2020", "yesterday", "Christmas", "in", "two", "ago", "came up", "?", ",", "Lisbon",
]  # fmt: skip


@given(question=st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join) | st.text(max_size=50))
@examples(150)
def test_any_question_is_resolved(index: Index, question: str) -> None:
    found = resolve(index, question, NOW)
    assert list(found.periods) == sorted(found.periods)
    assert all(first < until for first, until in found.periods)
    assert len(set(found.sessions)) == len(found.sessions)
    assert set(found.sessions) <= {f"s{number}" for number in range(1, 9)}


NOTES = mapping(__file__, "notes")
"""Days told in five ways, the one after 1 March first."""
TOLD = ("The bees came back.", "Tom repaired the boiler.", "Ilse wrote a letter about the canoe.",
        "The ferry is late again.", "Petra painted the shed.")  # fmt: skip


def test_a_day_asked_for_brings_its_notes_and_then_its_turns(store: Store, tmp_path: Path) -> None:
    for (name, text), told in zip(NOTES.items(), TOLD, strict=True):
        (tmp_path / name).write_text(text.format(told), encoding="utf-8")
    take(store, *(tmp_path / name for name in NOTES))
    tell(store, *(row(f"What happened with the boiler, day {n}?", timestamp=f"2026-03-0{n}T08:00:00Z") for n in (2, 6, 9)))  # fmt: skip
    for question in ("what happened on {}", "what did we do on {}?", "notes of {}", "anything on {}?", "{}"):  # fmt: skip
        for day, told in enumerate(TOLD, 2):
            first, *rest = ask(store, question.format(f"{day} March 2026")).memories
            assert first.text == told, question
            assert [each.text[-2:] for each in rest] == [f"{day}?"] * (day in (2, 6)), question
        assert not ask(store, question.format("12 March 2026")).memories, question

    for question in column(__file__, "foreign"):
        assert [each.text for each in ask(store, question).memories] == [TOLD[2]], question


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A month of short notes, and a conversation between them."""
    folder = tmp_path_factory.mktemp("diary")
    store = new_store(folder / "memory")
    for day, text in table(__file__, "diary"):
        (folder / f"2026-03-{day}.md").write_text(f"# Diary\n\n{text}\n", encoding="utf-8")
    take(store, *sorted(folder.glob("*.md")))
    said = ("The clutch of the Volvo is worn out.", "Rutger asks 890 euros for a new one.")
    at = "2026-03-10T18:0{}:00+01:00"
    tell(store, *(row(text, timestamp=at.format(n)) for n, text in enumerate(said)))
    return store


@pytest.mark.parametrize(("question", "words"), table(__file__, "what came next"))
def test_what_came_next_was_told_next(diary: Store, question: str, words: str) -> None:
    """Where other days may come too, they come behind."""
    asked: dict[str, Any] = {"text": question, "now": "2026-03-31T12:00:00+02:00"}
    first = [*filter(None, words.split(", "))]
    found = ask(diary, **asked).memories
    assert all(word in each.text for word, each in zip(first, found, strict=True))
    open_to_all = with_changes(diary.settings, {"recall.time_filter": 0})
    memories = ask(diary._replace(settings=open_to_all), **asked, min_score=0.0).memories
    assert len(memories) > len(first)
    assert all(word in each.text for word, each in zip(first, memories, strict=False))


def test_what_came_after_something_unknown_is_no_surer_than_that(diary: Store) -> None:
    found = ask(diary, "What came after the yacht race?", now="2026-03-31T12:00:00+02:00")
    assert found.confidence < 0.5
