"""What a session starts with: every section, the budget, and the file that it is read from."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from curation.test_correction import hold, statement
from hypothesis import given
from hypothesis import strategies as st
from ingesting import opened, place, take
from sample_store import NOW as TODAY
from sample_store import query_engine
from sleeping import heard, nodes, rows, sleep
from small_store import note, row, state, talk, tell
from strategies import examples
from tables import column, mapping, table

from clsm_cli.commands.engine import embedder
from clsm_cli.curation.correction import correct
from clsm_cli.forgetting import archiving
from clsm_cli.heads import cross_encoder
from clsm_cli.model.episodes import Role, Turn
from clsm_cli.retrieval import briefing_contents
from clsm_cli.retrieval.briefing import SECTIONS, SHARE, Briefing, brief, pack_lines
from clsm_cli.retrieval.briefing_concepts import activated_concepts
from clsm_cli.retrieval.briefing_contents import (
    ASIDE,
    BriefingSource,
    JudgedLine,
    collect,
    ended_sentences,
    judged_lines,
    true_lines,
)
from clsm_cli.retrieval.briefing_items import LEAST, BriefingItem, RankedItem
from clsm_cli.retrieval.briefing_rules import MIN_RULE_P, sentence_rule_chances
from clsm_cli.retrieval.briefing_statements import RULES
from clsm_cli.store import atomic, layout, logs
from clsm_cli.store.index import memo
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.prepared_briefing import path_of
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

MORNING = datetime.fromisoformat("2026-02-25T08:00:00+01:00")


@pytest.fixture(scope="module")
def night(slept_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The sample memory after a night, told of once; nothing else is written to it."""
    store = opened(shutil.copytree(slept_store, tmp_path_factory.mktemp("night") / "memory"))
    brief(store, MORNING, 20_000)
    return store


def items(found: Briefing, section: str) -> tuple[BriefingItem, ...]:
    return next(each.items for each in found.sections if each.name == section)


def texts(found: Briefing, section: str) -> list[str]:
    return [item.text for item in items(found, section)]


def told(store: Store, now: datetime = MORNING, **options: Any) -> dict[str, BriefingItem]:
    """All that a session starts with, by its text."""
    found = brief(store, now, options.pop("budget", 20_000), **options)
    return {item.text: item for section in found.sections for item in section.items}


def test_after_a_night_every_section_is_there(night: Store) -> None:
    found = brief(night, MORNING, 20_000)
    assert [section.name for section in found.sections] == list(SECTIONS)
    assert {item.kind for item in items(found, "rules")} <= {"fact", "passage", *RULES}
    assert any("Juno" in text for text in texts(found, "lately"))
    assert {item.kind for item in items(found, "who")} == {"fact"}  # MEMORY.md says who they are
    assert all(item.path and item.line for item in items(found, "lately"))
    assert not any("**" in text or text.startswith("- ") for text in texts(found, "lately"))


def test_a_person_is_told_of_with_the_day_and_the_names_of_what_is_told(night: Store) -> None:
    persons = [e for e in items(brief(night, MORNING, 20_000), "who") if e.kind == "person"]
    with open_index(night, None) as opened:
        for each in persons:
            keys = nodes(night)[each.id].sources
            days = {told.time for key in keys for told in opened.index.by_key(key)}
            assert each.time in days
            assert not any(name in each.text for name in filter(None, each.about.split(", ")))


def test_tasks_are_open_and_what_is_due_comes_first(night: Store) -> None:
    found = brief(night, MORNING, 20_000)
    assert {task.state for task in items(found, "tasks")} == {"open"}
    due = [item.due for item in items(found, "due")]
    assert due == sorted(due, key=str)
    assert "2026-02-11" <= (due[0] or "") < (due[-1] or "") <= "2026-03-27"
    assert any("18 March" in text for text in texts(found, "due"))


NOTES = mapping(__file__, "notes")


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Store:
    place(tmp_path / "desk", **{name: text.encode() for name, text in NOTES.items()})
    take(store, tmp_path / "desk")
    return store


@pytest.mark.parametrize("keeps", [True, False])
def test_what_the_agent_reads_anyway_is_not_told(desk: Store, *, keeps: bool) -> None:
    context = desk.settings.context if keeps else desk.settings.context._replace(loaded=())
    store = desk._replace(settings=desk.settings._replace(context=context))
    found = " ".join(told(store))
    for words in ("boat to Piet", "of the weir"):
        assert words in found
    for words in ("bees", "bicycle", "train to Bonn"):
        assert (words in found) != keeps
    assert texts(brief(store, MORNING, 20_000), "due") == [
        "The licence of the weir runs until 10 March 2026."
    ]
    later = brief(store, MORNING + timedelta(days=2), 20_000)
    assert "Brian bought a second bicycle for 200 euros." in texts(later, "lately")
    (bicycle,) = [item for item in items(later, "lately") if "bicycle" in item.text]
    assert (bicycle.start, bicycle.day, bicycle.name) == ("5: ", "", "memory/2026-02-24.md")
    assert bicycle.file.endswith("/desk/memory/2026-02-24.md")
    assert not any("train" in text for text in told(store, MORNING - timedelta(days=1)))


def test_a_line_has_its_day_unless_the_file_shown_is_named_after_it() -> None:
    path = "2026-02-24/result.json"
    line = BriefingItem("a", "passage", "", "flow", "agent", 1, "2026-02-24", path)
    days = [line._replace(file=file).day for file in ("", "/flow/20260224T0000Z-e-1.md")]
    assert days == ["", "2026-02-24"]


@pytest.mark.parametrize(("read", "news"), table(__file__, "news"))
def test_what_says_something_else_in_nearly_the_same_words_is_news(
    store: Store, tmp_path: Path, read: str, news: str
) -> None:
    notes = {
        "MEMORY.md": f"# Memory\n\n- {read}\n",
        "memory/2026-02-19.md": f"# Thursday\n\n- {read}\n",
        "memory/2026-02-22.md": f"# Sunday\n\n- {news}\n",
    }
    place(tmp_path / "desk", **{name: text.encode() for name, text in notes.items()})
    take(store, tmp_path / "desk")
    assert news.removeprefix("[ ] ") in told(store)
    assert read not in told(store)  # the agent has it


@pytest.mark.parametrize("text", column(__file__, "prices"))
def test_of_a_label_or_in_the_same_words_the_newest_is_told(
    store: Store, tmp_path: Path, text: str
) -> None:
    for day, price in (("2026-02-10", 120), ("2026-02-12", 140)):
        page = f"# {day}\n\n## Weir\n\n- {text.format(price)}\n"
        note(store, tmp_path / f"{day}.md", page)
    assert texts(brief(store, MORNING, 20_000), "lately") == [text.format(140)]


@pytest.mark.parametrize("pinned", ["Open", "Kettle GmbH › Open"])
def test_a_task_under_a_longer_heading_is_told_once(store: Store, pinned: str) -> None:
    fields = {"kind": "task", "stream": "tasks", "topic": "tasks", "state": "open"}
    for each in ("Open", "Kettle GmbH › Open"):
        hold(store, statement(f"{each}: Ring Ada", **fields, pinned=each == pinned))
    assert texts(brief(store, MORNING, 2000), "tasks") == [f"{pinned}: Ring Ada"]


def test_open_tasks_that_memory_keeps_are_told_and_what_is_overdue_is_due(
    store: Store, tmp_path: Path
) -> None:
    boxes = ("order new glasses", "cancel the gym", "stamps", "ask the bank by 20 January")
    page = "# 10 January 2026\n\nNeed to:\n\n" + "".join(f"- [ ] {each}\n" for each in boxes)
    note(store, tmp_path / "2026-01-10.md", page)
    sleep(store, "2026-01-11T03:00:00+01:00")
    note(store, tmp_path / "2026-02-20.md", "# 20 February 2026\n\n- [x] cancel the gym\n")
    sleep(store, "2026-02-21T03:00:00+01:00")
    found = brief(store, MORNING, 2000)
    assert texts(found, "tasks") == ["order new glasses", "stamps"]
    assert texts(found, "due") == ["ask the bank by 20 January"]


def test_what_was_corrected_is_not_told(store: Store, tmp_path: Path) -> None:
    text = "# Weir\n\n## Gate\n\n- The gate of the weir opens at 7:30 on weekdays.\n"
    note(store, tmp_path / "weir.md", text)
    assert texts(brief(store, MORNING, 2000), "who")
    note(store, tmp_path / "weir.md", text.replace("7:30", "9:15"))
    who = texts(brief(store, MORNING, 2000), "who")
    assert who == ["The gate of the weir opens at 9:15 on weekdays."]


def test_a_correction_takes_the_place_of_what_was_due(store: Store, tmp_path: Path) -> None:
    heard(store, tmp_path, "a", "2026-02-20", "My dentist appointment is on 2 March at nine.")
    sleep(store, "2026-02-21T03:00:00+01:00")
    (old,) = [row for row in rows(store).values() if "dentist" in row.text]
    assert old.text.startswith("Mara: ")  # the turn itself says so without the name
    assert texts(brief(store, MORNING, 2000), "due")
    new = "My dentist appointment is on 5 March at ten."
    correct(store, old.id, new, MORNING - timedelta(days=1), print)
    assert texts(brief(store, MORNING, 2000), "due") == [new]


def test_a_day_that_was_moved_is_marked(store: Store, tmp_path: Path) -> None:
    said = {
        20: ("Solveig has her heart operation on 3 March in Bergen.", "Dentist on 4 March, 8:50."),
        22: ("Solveig's operation is now on 17 March instead of 3 March.", "Concert on 20 March."),
    }
    for day, lines in said.items():
        page = "# Days\n\n" + "".join(f"- {each}\n" for each in lines)
        note(store, tmp_path / f"2026-02-{day}.md", page)
    due = {item.text: item.perhaps_until for item in items(brief(store, MORNING, 2000), "due")}
    assert (due[said[20][0]], due[said[20][1]]) == ("2026-02-22", None)


def test_a_day_that_a_living_note_moved_is_not_told_as_it_was(store: Store, tmp_path: Path) -> None:
    line = "Cardiology, Mr Leighton, Wansbeck: Wed {} March 10:20 (Martin drives)"
    said = "# Day\n\n- Cardiology with Mr Leighton is on Wed 4 March at 10:20, in Wansbeck.\n"
    note(store, tmp_path / "2026-02-20.md", said)
    for day, at in ((4, 20), (11, 22)):
        text = f"# Appointments\n\n- {line.format(day)}\n"
        note(store, tmp_path / "appointments.md", text, now=f"2026-02-{at}T20:00:00+01:00")
    found = items(brief(store, MORNING, 2000), "due")
    assert [item.due for item in found if not item.perhaps_until] == ["2026-03-11"]


@pytest.mark.parametrize(("day", "page", "now", "due"), table(__file__, "due"))
def test_what_is_due(store: Store, tmp_path: Path, day: str, page: str, now: str, due: str) -> None:
    """What was said of tomorrow, until then; in a list or a paragraph; nothing over or cancelled."""
    note(store, tmp_path / f"{day}.md", page)
    found = items(brief(store, datetime.fromisoformat(now), 2000), "due")
    assert " ".join(str(item.due) for item in found) == due


def test_now_is_the_conversation_that_is_still_open(store: Store) -> None:
    tell(store, *talk("old", "We talked about cheese.", "Yes."))
    said = (
        row("What a wonderful heron!", timestamp="2026-02-24T22:00:00+01:00"),
        row("It stood there.", speaker="Brian", timestamp="2026-02-24T22:01:00+01:00"),
        row("# Page\n" + "x" * 9000, timestamp="2026-02-24T22:02:00+01:00"),
    )
    take(store, stdin="".join(said).encode(), capture_only=True)
    shown = items(brief(store, MORNING, 2000), "now")
    assert [(item.about, item.text) for item in shown[:4]] == [
        ("Mara", "We talked about cheese."),
        ("Mara", "Yes."),
        ("Mara", "What a wonderful heron!"),
        ("Brian", "It stood there."),
    ]
    assert len(shown[4].text) < 600
    later = items(brief(store, MORNING + timedelta(days=3), 2000), "now")
    assert [item.text for item in later] == [item.text for item in shown[2:]]
    assert "wonderful" not in " ".join(texts(brief(store, MORNING, 8), "now"))


def test_a_query_brings_concepts_with_their_summaries(night: Store) -> None:
    query = "delegation defect"
    asked = (night, query, TODAY, query_engine(), embedder(), lambda *_: None)
    found = brief(night, MORNING, 2000, query=query, concepts=lambda: activated_concepts(*asked))
    concepts = items(found, "concepts")
    assert concepts[0].id == "delegation-defect"
    assert any(": " in concept.text for concept in concepts)
    assert not (night.flow / "activation.jsonl").exists()


def test_the_budget_holds_and_what_is_cut_is_named(night: Store) -> None:
    whole = brief(night, MORNING, 1_000_000)
    everything = sum(len(section.items) for section in whole.sections)
    for limit, unit in product((0, 1, 7, 60, 300, 1000, 100_000), ("tokens", "characters")):
        found = brief(night, MORNING, limit, unit)
        shown = [item for section in found.sections for item in section.items]
        size = sum(item.tokens if unit == "tokens" else len(item.text) for item in shown)
        assert size <= found.budget.used <= limit, unit
        assert len(shown) + len(found.budget.dropped) == everything, (limit, unit)
        assert limit < 100_000 or not found.budget.dropped, unit


def candidate(
    name: str, size: int, value: float = 1.0, path: str = "", thread: str = ""
) -> RankedItem:
    found = BriefingItem(name, "passage", "", "flow", "user", size, path=path)
    return RankedItem(found, "lately", value, thread or name)


@examples(200)
@given(st.lists(st.tuples(st.integers(1, 400), st.floats(0, 1)), max_size=40), st.integers(0, 2000))
def test_nothing_more_would_fit(sizes: list[tuple[int, float]], limit: int) -> None:
    found = [candidate(str(i), size, value) for i, (size, value) in enumerate(sizes)]
    kept, budget = pack_lines(found, limit, "tokens")
    chosen = kept.get("lately", [])
    assert budget.used == sum(item.tokens for item in chosen) <= limit
    assert all(item.tokens > limit - budget.used for item in budget.dropped)
    assert len(chosen) + len(budget.dropped) == len(found)


@pytest.mark.parametrize("section", ["due", "tasks"])
def test_what_is_to_be_done_has_its_share_whatever_the_news(section: str) -> None:
    news = [candidate(f"news-{i}", 30, 1.0) for i in range(60)]
    todo = [candidate(f"todo-{i}", 30, 0.01)._replace(section=section) for i in range(60)]
    kept, _ = pack_lines([*news, *todo], 1500, "tokens")
    assert len(kept[section]) == int(SHARE * 1500) // 30
    assert len(kept["lately"]) == 50 - len(kept[section])


def test_a_task_far_from_its_day_is_among_the_open_ones() -> None:
    near = [candidate(f"near-{i}", 30, 1.0)._replace(section="due") for i in range(60)]
    far = candidate("far", 30, 0.01)._replace(section="due")
    far = far._replace(item=far.item._replace(kind="task"))
    kept, _ = pack_lines([*near, far], 1500, "tokens")
    assert far.item in kept["due"]


def test_a_note_without_a_day_is_read_as_of_the_captures_between_which_it_was_written(
    store: Store, tmp_path: Path
) -> None:
    lines = (
        "- Dentist on 4 March, 8:50.\n- [ ] Pay the plumber by 5 March\n",
        "- Podiatrist: Mon 9 March 14:00, at home\n- Boiler service 3 March, Hadrian\n",
    )
    for said, day in (("".join(lines[1:]), 20), ("".join(lines), 24)):
        note(store, tmp_path / "appointments.md", said, now=f"2026-02-{day}T20:00:00+01:00")
    due = [item.due for item in items(brief(store, MORNING, 2000), "due")]
    assert due == ["2026-03-04", "2026-03-05", "2026-03-09"]  # the boiler's year is anybody's guess


def test_a_statement_that_names_a_day_ahead_is_due_however_long_ago_it_was_told(
    store: Store, tmp_path: Path
) -> None:
    note(store, tmp_path / "2026-01-02.md", "# 2026-01-02\n\n- The boat was painted by Piet.\n")
    (line,) = collect(store).lines
    text = "The licence of the boat runs until 10 March 2026."
    state(store, "projects", "facts", text, (line.item.id[:12],))
    assert texts(brief(store, MORNING, 2000), "due") == [text]
    assert text not in told(store, MORNING + timedelta(30))


def test_a_birthday_is_due_each_year_and_has_no_year_else(store: Store, tmp_path: Path) -> None:
    note(store, tmp_path / "2026-01-02.md", "# 2026-01-02\n\n- Grandpa was born on 20 June.\n")
    note(store, tmp_path / "family.md", "# Family\n\n- Ella's birthday is on 20 June.\n")
    for month, due in (("2026-03", None), ("2026-06", "2026-06-20"), ("2028-06", "2028-06-20")):
        found = brief(store, datetime.fromisoformat(f"{month}-02T08:00:00+01:00"), 2000)
        shown = [each.due for name in SECTIONS for each in items(found, name)]
        assert shown == [due] * 2, month


def judged(turns: Sequence[Turn], rule_of: Callable[[str], float]) -> list[JudgedLine]:
    """The lines of a conversation, with the probability that a sentence is a rule."""
    days = {turn.key: (MORNING.date(), None) for turn in turns}
    source = BriefingSource(tuple(turns), "e-1")
    return [*judged_lines(source, days, UTC, lambda texts: [*map(rule_of, texts)])]


def test_what_an_assistant_says_in_passing_is_worth_half() -> None:
    words = "The flush of the {} service retries only the failed rows, since version 1.8."
    time = "2026-02-20T08:00:00+01:00"
    turns = [
        Turn(role, role, role, words.format(role), time=time) for role in ("assistant", "user")
    ]
    kept = statement(words.format("assistant"), sources=("assistant",))
    worth, known = (
        {
            each.line.item.about: each.line.worth
            for each in true_lines(judged(turns, lambda _: 0.0), ended_sentences(told, {}))
        }
        for told in ([], [kept])
    )
    assert worth["assistant"] == pytest.approx(known["assistant"] * ASIDE, abs=1e-3)
    assert worth["user"] == known["user"]


def test_what_the_agent_confirmed_and_a_rule_told_to_it_come_before_other_words() -> None:
    said = "The mill gets its flour on {} from now on, and Judit signs for it."
    words = (said.format("Monday"), "Which mill?", said.format("Friday"), "Mill: flour on Friday.")
    roles: tuple[Role, ...] = ("user", "assistant") * 2
    turns = [
        Turn(str(place), role, role, text, time=f"2026-02-20T08:0{place}:00+01:00")
        for place, (role, text) in enumerate(zip(roles, words, strict=True))
    ]
    found = {
        each.line.item.text: each.line
        for each in judged(turns, lambda text: 0.9 * ("Monday" in text))
    }
    rule, known = found[said.format("Monday")], found[said.format("Friday")]
    assert (rule.section, rule.rule, known.section) == ("rules", 0.9, "lately")
    assert known.worth > rule.worth == 1
    assert words[3] not in found  # an echo


def state_of_old(store: Store, folder: Path, *facts: str) -> None:
    """Statements that rest on a note of long ago."""
    note(store, folder / "2025-11-04.md", "# 2025-11-04\n\n- The deploy took an hour.\n")
    with open_index(store, embedder()) as opened:
        (block,) = opened.index.connection.execute("SELECT key FROM passages").fetchone()
    for text in facts:
        state(store, "projects", "facts", text, (block,))


def test_what_memory_keeps_fills_what_is_left(store: Store, tmp_path: Path) -> None:
    state_of_old(store, tmp_path, "The deploy took an hour.")
    note(store, tmp_path / "2026-02-12.md", "# 2026-02-12\n\n- The weir has a new gate of oak.\n")
    (line,) = [each for each in collect(store).lines if "deploy" in each.item.text]
    assert (line.section, line.worth < LEAST) == ("lately", True)


def test_what_was_told_in_the_folder_of_the_session_comes_first(
    store: Store, tmp_path: Path
) -> None:
    rents = {name: f"The rent of the {name} is 480 euros." for name in ("mill", "quay")}
    files = {f"{name}/2026-02-24.md": f"- {text}\n".encode() for name, text in rents.items()}
    place(tmp_path, **files)
    take(store, tmp_path)
    for name, text in rents.items():
        assert [*told(store, budget=40, here=[str(tmp_path / name)])] == [text]


def test_a_line_of_a_file_that_is_shown_costs_less() -> None:
    alone = candidate("alone", 10, 0.8, "a/very-long-name-of-a-file-of-its-own.md")
    first, second = (candidate(name, 10, 0.75, "b.md") for name in ("first", "second"))
    kept, _ = pack_lines([alone, first, second], 35, "tokens")
    assert [item.id for item in kept["lately"]] == ["first", "second"]


def test_many_threads_come_before_all_of_one() -> None:
    one = [candidate(f"one-{i}", 10, 0.9 - i / 100, "a.md", "one") for i in range(5)]
    others = [candidate(f"other-{i}", 10, 0.5, f"{i}.md") for i in range(3)]
    kept, _ = pack_lines([*one, *others], 60, "tokens")
    names = [item.id for item in kept["lately"]]
    assert names[0] == "one-0"
    assert {"other-0", "other-1", "other-2"} & set(names)
    assert len([name for name in names if name.startswith("one")]) < len(one)


def test_a_text_on_which_clsm_fails_is_named_and_stops_no_other(
    desk: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = briefing_contents.collect(desk)
    lost = next(line.item.path for line in whole.lines if line.section == "lately")

    def fail_once(source: BriefingSource, *others: Any) -> Iterator[JudgedLine]:
        if source.turns[0].path == lost:
            raise ValueError("broken")
        return judged_lines(source, *others)

    memo.path_of(desk.derived).unlink()
    monkeypatch.setattr(briefing_contents, "judged_lines", fail_once)
    (warning,) = briefing_contents.collect(desk).warnings
    assert lost in warning
    assert "clsm itself failed" in warning


def test_only_the_texts_that_changed_are_judged_again(
    desk: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    briefing_contents.collect(desk)
    judged: list[str] = []

    def judge(source: BriefingSource, *others: Any) -> Iterator[JudgedLine]:
        judged.append(source.turns[0].path)
        return judged_lines(source, *others)

    monkeypatch.setattr(briefing_contents, "judged_lines", judge)
    note(desk, tmp_path / "2026-02-25.md", "# 2026-02-25\n\n- The sluice opens on Fridays.\n")
    found = briefing_contents.collect(desk)
    assert judged == [str(tmp_path / "2026-02-25.md")]
    memo.path_of(desk.derived).unlink()
    assert briefing_contents.collect(desk) == found
    assert len(judged) > 2


def test_the_file_is_read_as_long_as_nothing_changed(
    desk: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = brief(desk, MORNING, 2000)
    kept = path_of(desk).read_bytes()
    assert path_of(desk).stat().st_mode & 0o777 == atomic.FILE_MODE

    def never(*_: object) -> None:
        raise AssertionError("the index was read")

    with monkeypatch.context() as patched:
        patched.setattr(briefing_contents, "open_index", never)
        assert brief(desk, MORNING, 2000) == first
        captured = row("A new day.", timestamp="2026-02-25T07:00:00+01:00")
        take(desk, stdin=captured.encode(), capture_only=True, model=False)
        assert "A new day." in texts(brief(desk, MORNING, 2000), "now")
        assert archiving.decay(desk, MORNING, explicit=True, dry_run=False).run
        assert "A new day." in texts(brief(desk, MORNING, 2000), "now")
    (desk.root / "identity" / "people.md").write_text("- Ilse sings in a choir.\n")
    assert "Ilse sings in a choir." in texts(brief(desk, MORNING, 20_000), "who")
    assert path_of(desk).read_bytes() != kept


@pytest.mark.parametrize(("zone", "now"), table(__file__, "zones"))
def test_what_was_written_by_hand_is_told_at_any_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str, now: str
) -> None:
    layout.create(tmp_path / "memory", zone)
    store, at = layout.open_store(tmp_path / "memory", {}), datetime.fromisoformat(now)
    place(store.root, **{"identity/people.md": b"- Mara keeps bees.\n"})
    sleep(store, now)
    (line,) = items(brief(store, at, 2000), "who")
    assert (line.text, line.time, line.day) == ("Mara keeps bees.", now, now[:10])
    monkeypatch.setattr(briefing_contents, "open_index", None)  # the prepared file says it all
    assert items(brief(store, at, 2000), "who") == (line,)


def test_the_file_is_only_derived(desk: Store) -> None:
    first = brief(desk, MORNING, 2000)
    path = path_of(desk)
    kept = path.read_bytes()
    other = json.dumps({**json.loads(kept), "contents": {"rules": 3}}).encode()
    changed = kept.replace(b"boat", b"goat")
    assert changed != kept
    for damage in (b"", b"[" * 9999, b'{"signature": "x"}', other, changed, None):
        if damage is None:
            path.unlink()
            path.symlink_to("/etc/hostname")
        else:
            path.write_bytes(damage)
        assert brief(desk, MORNING, 2000) == first
        assert path.read_bytes() == kept
    shutil.rmtree(desk.derived)
    assert brief(desk, MORNING, 2000) == first


def test_it_never_waits_for_a_lock_or_a_disk(desk: Store) -> None:
    first = brief(desk, MORNING, 2000)
    path_of(desk).unlink()
    with locked(desk.root, 1):
        assert brief(desk, MORNING, 2000) == first
    assert not path_of(desk).exists()


def test_a_template_is_not_told(store: Store, tmp_path: Path) -> None:
    text = (
        "# {day}\n\n## Weir\n\n- Mara measured the level of the weir: 40 cm at the gate.\n"
        "- The skipper of {boat} paid 900 euros for the passage on Monday.\n"
    )
    note(store, tmp_path / "daily.md", text.format(day="{{date}}", boat="Anna"))
    note(store, tmp_path / "weekly.md", text.format(day="Week", boat="{{boat}}"))
    note(store, tmp_path / "week-8.md", text.format(day="Week", boat="Heron"))
    (line,) = [each for each in told(store) if "skipper" in each]
    assert line == "The skipper of Heron paid 900 euros for the passage on Monday."


def test_what_review_asks_about_is_marked(store: Store, tmp_path: Path) -> None:
    heard(store, tmp_path, "a", "2026-02-10", "The weekly call of the weir team is on Tuesday.")
    heard(store, tmp_path, "b", "2026-02-20", "The call of the weir team is on Thursday.")
    sleep(store, "2026-02-21T03:00:00+01:00")
    kept = [row for row in rows(store).values() if row.kind != "gist"]
    (old,) = [row for row in kept if "Tuesday" in row.text]
    (new,) = [row for row in kept if "Thursday" in row.text]
    item = logs.ReviewItem(
        "v-1", MORNING.isoformat(), (old.id, new.sources[0]), logs.CONTRADICTION, old.text, new.text
    )
    (store.flow / "review.jsonl").write_bytes(logs.render(item))
    shown = told(store, budget=2000)
    assert shown["The weekly call of the weir team is on Tuesday."].perhaps_until == "2026-02-20"
    assert shown["The call of the weir team is on Thursday."].perhaps_until is None


def test_what_memory_keeps_comes_before_what_it_does_not(store: Store, tmp_path: Path) -> None:
    rule = "From now on: never send a mail to a client before Judit has read it."
    other = "From now on: the mill sends a bill to a client once Judit has paid it."
    note(store, tmp_path / "2026-02-14.md", f"# 2026-02-14\n\n- {other}\n- {rule}\n")
    before = {line.item.text: line for line in collect(store).lines}
    state(store, "projects", "facts", rule, (before[rule].item.id[:12],))
    after = {line.item.text: line for line in collect(store).lines}
    assert after[other].worth == before[other].worth
    assert after[rule].worth > before[rule].worth


@pytest.mark.usefixtures("model_folder")
def test_a_sentence_is_a_rule_if_it_also_stands_alone() -> None:
    said = ["Always write ticket texts in English, even if I talk Dutch.", "I have not decided."]
    rule, other = sentence_rule_chances(said)
    assert rule > MIN_RULE_P > other


def test_where_the_head_can_not_be_made_no_sentence_is_a_rule(
    model_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Path(cross_encoder.WEIGHTS, "statement.onnx").read_bytes()
    (model_copy / cross_encoder.folded_name("statement", graph)).mkdir()
    monkeypatch.setenv("CLSM_MODEL_DIR", str(model_copy))
    monkeypatch.setattr(cross_encoder, "load", cross_encoder.load.__wrapped__)
    assert sentence_rule_chances(["Always write ticket texts in English."]) == [0.0]


def test_a_rule_kept_as_a_fact_is_told_among_the_rules_however_old(
    store: Store, tmp_path: Path
) -> None:
    rule = "Never deploy to production without asking me first."
    agents = "Never restart the server without a backup."
    state_of_old(store, tmp_path, rule, "The deploy took an hour.")
    heard(store, tmp_path, "one", "2025-11-04", agents, "assistant")
    with open_index(store, embedder()) as opened:
        rows = opened.index.connection.execute("SELECT key FROM passages ORDER BY id DESC")
        state(store, "projects", "facts", agents, rows.fetchone())
    with open_index(store, embedder()):
        pass
    assert texts(brief(store, MORNING, 2000), "rules") == [rule]
    (line,) = [line for line in collect(store).lines if line.section == "rules"]
    assert line.worth_on("2026-02-25") > line.worth / 2
