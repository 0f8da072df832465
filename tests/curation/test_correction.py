"""A correction closes what was, states what is, and outlives every later night."""

from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingesting import new_store, scratch, tree, unchanged
from sleeping import current, edges, heard, nodes, rows, sleep
from tables import table

from clsm_cli.curation.correction import Correction, correct
from clsm_cli.errors import BadInputError
from clsm_cli.model.graph import Node, Statement
from clsm_cli.model.ids import closed_copy_id, statement_id
from clsm_cli.store import record_files, runs
from clsm_cli.store.layout import Store

NOW = "2026-03-01T10:00:00+01:00"
LATER = "2026-03-08T10:00:00+01:00"
BELL = "The bell rings every 10 minutes."
QUARTER = "The bell rings every 15 minutes."
HOME = "Mara lives in Leeds with her sister."


def statement(text: str, **fields: Any) -> Statement:
    times = {"valid_from": "2026-02-20T08:00:00+01:00", "recorded_at": "2026-02-20T21:00:00Z"}
    values = {"topic": "facts", "sources": ("0a532821e780",), **times, **fields}
    return Statement(id=statement_id(text.lower()), rev=(1, "pi"), text=text, **values)


def bell(**fields: Any) -> Statement:
    return statement(BELL, **{"subject": "bell", **fields})


def home(**fields: Any) -> Statement:
    values = {"subject": "mara", "stream": "identity"}
    return statement(HOME, **{**values, "topic": "people", **fields})


def hold(store: Store, *records: Statement | Node) -> None:
    """Write records, as a consolidation does."""
    facts = [record for record in records if isinstance(record, Statement)]
    writes: list[runs.Write] = []
    for stream in ("identity", "projects", "tasks", "flow"):
        stored = [
            record_files.as_stored(record) if isinstance(record, Statement) else record
            for record in records
            if record.stream == stream
        ]
        writes += record_files.plan_records(store, stream, stored)
    writes += record_files.plan_topics(store, facts, lambda _: "")
    runs.apply(store, "test", "2026-02-20T21:00:00Z", writes)


def done(store: Store, wanted: str, said: str, now: str = NOW, **options: Any) -> Correction:
    warnings: list[str] = []
    result = correct(store, wanted, said, datetime.fromisoformat(now), warnings.append, **options)
    assert warnings == []
    return result


def markdown(store: Store) -> str:
    paths = sorted(store.root.glob("[ipt]*/*.md"))  # identity, projects and tasks
    return "".join(path.read_text(encoding="utf-8") for path in paths)


def test_a_correction_is_three_rows(store: Store) -> None:
    hold(store, bell())
    result = done(store, bell().id, QUARTER)
    after = rows(store)
    assert len(after) == 3
    old, closed = after[bell().id], after[closed_copy_id(bell().id, NOW)]
    new = after[statement_id(QUARTER.lower())]
    at = "2026-03-01T09:00:00Z"
    assert (old.superseded_at, old.valid_until, old.withdrawn) == (at, None, False)
    assert (closed.valid_from, closed.valid_until) == (bell().valid_from, NOW)
    assert (closed.recorded_at, closed.superseded_at) == (at, None)
    assert (new.text, new.subject) == (QUARTER, "bell")
    assert (new.valid_from, new.supersedes, new.pinned, new.trust) == (NOW, old.id, True, "user")
    assert new.sources == ()
    assert old.text == closed.text == BELL
    assert BELL not in markdown(store)
    assert f"- {QUARTER}  ^{new.id}\n" in markdown(store)
    assert (result.now.id, result.until, result.run is not None) == (new.id, NOW, True)


@pytest.mark.parametrize("never", [False, True])
def test_an_edge_ends_with_all_that_is_stated_of_it(slept: Store, *, never: bool) -> None:
    """At once, and the next night leaves it so; no summary rests on it from then on."""
    (told,) = [row for row in rows(slept).values() if "Yusuf: skipper of the barge" in row.text]
    assert semantic(slept, told) == [None]
    assert summarised(slept, told)
    done(
        slept, told.id, "Yusuf sold the barge Albertine and is no longer its skipper.", never=never
    )
    end = "2026-03-01T09:00:00Z" if never else NOW  # nobody knows when it began
    assert semantic(slept, told) == [end]
    sleep(slept, LATER)
    assert semantic(slept, told) == [end]
    assert not summarised(slept, told)


def summarised(store: Store, told: Statement) -> list[str]:
    """The summaries that rest on what a statement does."""
    return [each.summary for each in nodes(store).values() if {*told.sources} & {*each.sources}]


def semantic(store: Store, told: Statement) -> list[str | None]:
    """Until when the typed edges hold that rest on what a statement does."""
    typed = [each for each in edges(store).values() if each.type == "semantic"]
    return [each.valid_until for each in typed if each.sources == told.sources]


@pytest.mark.parametrize("options", [{"never": True}, {"since": "2026-01-01"}])
def test_what_was_never_true_is_withdrawn(store: Store, options: dict[str, Any]) -> None:
    """Nor was it before it was first said."""
    hold(store, bell())
    result = done(store, bell().id, QUARTER, **options)
    after = rows(store)
    assert len(after) == 2
    assert after[bell().id].withdrawn
    assert after[bell().id].superseded_at
    assert result.until is None
    assert after[result.now.id].valid_from == options.get("since", bell().valid_from)


@pytest.mark.parametrize(("text", "said", "expected"), table(__file__, "values"))
def test_a_value_takes_the_only_place_of_its_kind(
    store: Store, text: str, said: str, expected: str
) -> None:
    old = statement(text)
    hold(store, old)
    if expected == "-":
        with pytest.raises(BadInputError, match="write the whole sentence"):
            done(store, old.id, said)
        expected = said = "All of it is another sentence."
    assert done(store, old.id[:8], said).now.text == expected


def test_by_the_name_of_its_subject(store: Store) -> None:
    mara = Node(id="mara", rev=(1, "pi"), label="Mara", aliases=("Mara Lind",), stream="identity")
    age = statement("Mara is 41 years old.", subject="mara")
    hold(store, mara, home(), age, bell())
    assert done(store, "the bell", "15 minutes").was.id == bell().id
    assert done(store, "Mara Lind", "York").was.id == home().id
    assert "## Mara" in markdown(store)
    nas = statement("stamppot (TrueNAS, NAS): 192.168.20.40, web UI on port 8443", subject="nas")
    hold(store, nas)
    assert done(store, "NAS", "The NAS is at 192.168.20.41.").was.id == nas.id


def test_what_is_not_certain_is_asked(store: Store) -> None:
    job = statement("Mara works at Acme.", subject="mara")
    hold(store, home(), job)
    with unchanged(store.root, derived=True):
        with pytest.raises(BadInputError, match="not certain") as caught:
            done(store, "Mara", "York")
        assert home().id in str(caught.value)
        assert job.id in str(caught.value)
        with pytest.raises(BadInputError, match="holds nothing about anything with that name"):
            done(store, "Tomas", "York")
        with pytest.raises(BadInputError, match="not certain"):
            done(store, "Mara", "Mara is 41 years old.")
    hold(store, replace(job, withdrawn=True))
    with pytest.raises(BadInputError, match="not certain"):  # the only one, but nothing of it ends
        done(store, "Mara", "Ann Lee is my boss")


@pytest.mark.parametrize("said", ["", " \n", "...", "[x] The bell was rung by hand."])
def test_what_cannot_be_a_line_is_refused(store: Store, said: str) -> None:
    hold(store, bell())
    with unchanged(store.root, derived=True), pytest.raises(BadInputError):
        done(store, bell().id, said)


def test_a_dry_run_and_a_second_run_change_nothing(store: Store) -> None:
    hold(store, bell())
    with unchanged(store.root, derived=True):
        planned = done(store, bell().id, QUARTER, dry_run=True)
    result = done(store, bell().id, QUARTER)
    assert planned == result._replace(run=None)
    after = tree(store.root, derived=True)
    for wanted in (bell().id, result.now.id, "bell"):
        again = done(store, wanted, QUARTER, LATER)
        assert (again.is_new, again.run, again.now.id) == (False, None, result.now.id)
    assert tree(store.root, derived=True) == after
    with pytest.raises(BadInputError, match=f"{result.now.id} took its place"):
        done(store, bell().id, "The bell is silent.")


def test_what_says_the_same_in_other_words_goes_too(store: Store) -> None:
    twice = statement("Every 10 minutes the bell rings.", subject="bell")
    more = statement("Bell: every 10 minutes, by a hammer that Tomas carved.", subject="bell")
    hold(store, bell(), twice, more)
    result = done(store, bell().id, QUARTER)
    assert [row.id for row in result.also] == [twice.id]
    assert current(store, "bell") == sorted([QUARTER, more.text])
    assert rows(store)[closed_copy_id(twice.id, NOW)].valid_until == NOW


def test_what_says_so_already_is_the_new_row(store: Store) -> None:
    there = statement(QUARTER, subject="bell")
    hold(store, bell(), there)
    assert done(store, bell().id, QUARTER.upper()).now.id == there.id
    assert rows(store)[there.id].pinned
    assert rows(store)[there.id].sources == there.sources
    assert current(store, "bell") == [QUARTER]


def test_a_task_keeps_its_box_and_gets_its_new_day(store: Store) -> None:
    task = statement("Order the pump by 3 March 2026", kind="task", stream="tasks", topic="tasks")
    hold(store, replace(task, state="blocked", due="2026-03-03"))
    new = done(store, task.id, "Order the pump by 9 March 2026").now
    assert (new.state, new.due, new.kind) == ("blocked", "2026-03-09", "task")
    assert f"- [!] {new.text}  ^{new.id}" in markdown(store)


def test_hand_edits_are_settled_first(store: Store) -> None:
    hold(store, bell())
    path = store.root / "projects" / "facts.md"
    text = path.read_text(encoding="utf-8").replace("10 minutes", "12 minutes")
    path.write_text(text + "- The yard is locked at night.\n", encoding="utf-8")
    result = done(store, bell().id, QUARTER)
    assert result.was.text == "The bell rings every 12 minutes."
    assert current(store) == [QUARTER, "The yard is locked at night."]


def test_what_happened_is_kept_in_its_record(store: Store) -> None:
    walk = statement("Mara walked to Hull on 3 February 2026.", stream="flow", topic="events")
    hold(store, walk)
    new = done(store, walk.id, "Mara walked to Hull on 4 February 2026.").now
    assert rows(store)[new.id].text == "Mara walked to Hull on 4 February 2026."
    assert len(rows(store)) == 3
    assert markdown(store) == ""


def test_a_summary_is_not_corrected(store: Store) -> None:
    gist = statement("Bells, yards", kind="gist", stream="flow", topic="gists")
    hold(store, gist)
    with pytest.raises(BadInputError, match="summary"):
        done(store, gist.id, "Bells and gates were the topic.")


def test_a_secret_is_masked(store: Store) -> None:
    hold(store, bell())
    heard: list[str] = []
    said = "The bell opens with password: hunter2-Zebra99."
    result = correct(store, bell().id, said, datetime.fromisoformat(NOW), heard.append)
    assert "Zebra99" not in result.now.text
    assert "masked" in heard[0]
    assert "Zebra99" not in markdown(store)


def test_it_outlives_every_later_night(store: Store, tmp_path: Path) -> None:
    said = "My sister lives in Leeds with two dogs."
    heard(store, tmp_path, "one", "2026-02-02", said)
    sleep(store, "2026-02-03T03:00:00+01:00")
    (old,) = [row for row in rows(store).values() if row.is_current and "Leeds" in row.text]
    new = done(store, old.id, "My sister lives in York.", "2026-02-05T10:00:00+01:00").now
    heard(store, tmp_path, "two", "2026-02-09", said)
    sleep(store, "2026-02-10T03:00:00+01:00")
    sleep(store, "2026-02-11T03:00:00+01:00", rebuild=True, allow_loss=True)
    found = rows(store)
    assert replace(found[new.id], rev=new.rev, text_sha=new.text_sha) == new
    assert found[old.id].superseded_at


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(5, 60), st.booleans()), min_size=1, max_size=5))
def test_at_every_time_one_value_holds(changes: list[tuple[int, bool]]) -> None:
    """What the store believes of one thing are half-open intervals without gap or overlap."""
    with scratch() as folder:
        store = new_store(folder / "memory")
        hold(store, bell())
        for day, (minutes, never) in enumerate(changes, 1):
            now = f"2026-03-{day:02}T10:00:00+01:00"
            done(store, "bell", f"{minutes} minutes", now, never=never)
        believed = [row for row in rows(store).values() if not (row.superseded_at or row.withdrawn)]
        believed.sort(key=lambda row: row.valid_from or "")
        bounds = [(row.valid_from, row.valid_until) for row in believed]
        assert bounds[0][0] == bell().valid_from
        assert bounds[-1][1] is None
        assert all(one[1] == other[0] for one, other in pairwise(bounds))
        assert f"every {changes[-1][0]} minutes" in believed[-1].text
