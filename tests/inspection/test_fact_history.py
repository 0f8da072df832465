"""Every version of a fact or an edge, by any of its names, on both clocks."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from curation.test_correction import BELL, NOW, QUARTER, bell, done, hold, statement
from in_process import InProcess
from small_store import note

from clsm_cli.curation import record_edit
from clsm_cli.inspection.fact_history import History, Thread, View, history
from clsm_cli.model import clocks
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import closed_copy_id, edge_id
from clsm_cli.store import record_files, runs, settle, shards
from clsm_cli.store.layout import Store

TODAY = "2026-03-05T12:00:00+01:00"
COPY = closed_copy_id(bell().id, NOW)


def ask(store: Store, *wanted: str, **view: Any) -> History:
    (found,) = history(store, wanted, View(**{"now": TODAY, **view}))
    return found


def told(found: History) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Label and type → value and state of each version."""
    return {
        (thread.label, thread.type): [(each.value, each.state) for each in thread.versions]
        for thread in found.threads
    }


def only(found: History) -> Thread:
    (thread,) = found.threads
    return thread


def edge(source: str, kind: str, target: str, **fields: Any) -> Edge:
    record = edge_id(source, kind, target, fields.get("valid_from"))
    return Edge(id=record, rev=(1, "pi"), source=source, target=target, type=kind, **fields)


def test_the_three_rows_of_a_correction_by_any_of_their_ids(store: Store) -> None:
    hold(store, bell())
    new = done(store, bell().id, QUARTER).now
    found = ask(store, bell().id)
    thread = only(found)
    assert (thread.kind, thread.subject, thread.type) == ("statement", "bell", "")
    rows = {each.id: (each.value, each.state) for each in thread.versions}
    assert rows == {
        bell().id: (BELL, "superseded"),
        COPY: (BELL, "ended"),
        new.id: (QUARTER, "current"),
    }
    assert [each.id for each in thread.versions] == [bell().id, COPY, new.id]
    last = thread.versions[-1]
    assert (last.supersedes, last.valid_from, last.superseded_at) == (bell().id, NOW, None)
    assert thread.versions[0].superseded_at == thread.versions[1].recorded_at
    for other in (COPY, new.id, bell().id[:8], "bell", "Bell"):
        assert only(ask(store, other)) == thread


@pytest.mark.parametrize("is_settled", [True, False])
@pytest.mark.parametrize("in_editor", [True, False])
def test_what_a_text_was_before_an_edit(store: Store, in_editor: bool, is_settled: bool) -> None:
    hold(store, bell())
    now = datetime.fromisoformat(NOW)
    if in_editor:
        shown = record_edit.draft(store, bell().id, now, print)
        record_edit.save(store, shown, shown.text.replace(BELL, QUARTER), now, print)
    else:
        page = store.root / "projects" / "facts.md"
        page.write_text(page.read_text("utf-8").replace(BELL, QUARTER), "utf-8")
    if is_settled:
        runs.apply(store, "test", NOW, settle.plan(store, NOW)[0])
        assert settle.plan(store, NOW)[0] == []
    thread = only(ask(store, bell().id))
    assert [(each.value, each.state, each.by_hand) for each in thread.versions] == [
        (BELL, "superseded", False),
        (QUARTER, "current", True),
    ]
    before, after = thread.versions
    assert (after.id, after.supersedes) == (bell().id, before.id)
    assert (after.source or "").startswith("projects/facts.md:")
    assert before.superseded_at == after.recorded_at


def test_what_was_true_and_what_was_believed(store: Store) -> None:
    hold(store, bell())
    done(store, bell().id, QUARTER)
    records = shards.load_graph(store.graphs()).records
    graph_rows = record_files.load_statements(store, records, TODAY)
    times = [None, "2026-02-19", "2026-02-25", "2026-03-01", "2026-03-01T10:00:00+01:00", TODAY]
    for as_of in times:
        for known_at in (None, *times[1:]):
            found = ask(store, "bell", as_of=as_of, known_at=known_at)
            shown = {each.id for thread in found.threads for each in thread.versions}
            assert shown == {
                row.id
                for row in graph_rows.values()
                if (as_of is None or clocks.is_true(row, as_of))
                and ((as_of or known_at) is None or clocks.is_believed(row, known_at))
            }
    assert told(ask(store, "bell", as_of="2026-02-25")) == {("bell", ""): [(BELL, "ended")]}
    assert told(ask(store, "bell", as_of="2026-02-19")) == {}
    before = ask(store, "bell", known_at="2026-02-25T00:00:00+01:00")
    assert told(before) == {("bell", ""): [(BELL, "superseded")]}


def test_a_sentence_has_the_rows_that_took_its_place(store: Store) -> None:
    first = statement("The lamp is green.", subject="lamp")
    hold(store, first, statement("The lamp stands by the door.", subject="lamp"))
    second = done(store, first.id, "The lamp is blue.").now
    third = done(store, second.id, "The lamp is red.", now="2026-03-02T10:00:00+01:00").now
    values = [each.value for each in only(ask(store, third.id)).versions]
    assert [value.split()[-1] for value in values] == ["green.", "green.", "blue.", "blue.", "red."]
    assert {each.id for each in only(ask(store, first.id)).versions} == {
        each.id for each in only(ask(store, third.id)).versions
    }
    assert len(only(ask(store, "lamp")).versions) == 6
    assert {each.id for each in only(ask(store, "green")).versions} >= {first.id, third.id}


def test_a_node_by_label_and_alias_with_its_facts_and_edges(store: Store) -> None:
    lives = {"subject": "mara", "stream": "identity", "topic": "people"}
    hold(
        store,
        Node(id="mara-hart", rev=(1, "pi"), label="Mara Hart", aliases=("Mara",)),
        Node(id="bell", rev=(1, "pi"), label="the bell"),
        statement("Mara lives in Leeds.", **lives),
        statement("Mara sings.", subject="mara-hart"),
        bell(),
    )
    edges = [
        edge("mara-hart", "owns", "bell", valid_from="2026-02-10", valid_until="2026-02-20"),
        edge("mara-hart", "owns", "yawl", valid_from="2026-02-20"),
        edge("mara-hart", "co_occurs", "bell", recorded_at="2026-02-20T21:00:00Z"),
        edge("bell", "located_at", "mara-hart", sources=("0a532821e780",)),
    ]
    runs.apply(store, "test", NOW, record_files.plan_records(store, "projects", edges))
    expected = {
        ("Mara Hart", ""): [("Mara lives in Leeds.", "current"), ("Mara sings.", "current")],
        ("the bell", "located_at"): [("Mara Hart", "current")],
        ("Mara Hart", "owns"): [("the bell", "ended"), ("yawl", "current")],
    }
    for name in ("Mara Hart", "mara", "mara-hart", "MARA"):
        found = told(ask(store, name))
        assert (found, list(found)) == (expected, list(expected))
    by_id = ask(store, edge_id("mara-hart", "owns", "yawl", "2026-02-20"))
    assert told(by_id) == {("Mara Hart", "owns"): expected["Mara Hart", "owns"]}
    counted = ask(store, edge_id("mara-hart", "co_occurs", "bell"))
    assert told(counted) == {("Mara Hart", "co_occurs"): [("the bell", "current")]}
    then = told(ask(store, "mara", as_of="2026-02-15"))
    assert then["Mara Hart", "owns"] == [("the bell", "ended")]


def test_the_source_is_where_it_was_said_first(store: Store, tmp_path: Path) -> None:
    bridge = tmp_path / "bridge.md"
    text = "# Bridge\n\nThe bell rings every 10 minutes.\n\nIt is loud.\n"
    note(store, bridge, text, model=False)
    (episode,) = (path.read_text() for path in store.flow.rglob("episodes/**/*.md"))
    keys = [line.rpartition("^")[2] for line in episode.splitlines() if line.startswith("### ")]
    hold(store, bell(sources=tuple(sorted(keys))), statement("The bell is loud.", topic="sounds"))
    path = store.root / "projects" / "facts.md"
    path.write_text(f"{path.read_text()}- The clock is ours.\n")
    (version,) = only(ask(store, bell().id)).versions
    assert version.source == f"{bridge}:3"
    (lost,) = only(ask(store, statement("The bell is loud.").id)).versions
    sounds = (store.root / "projects" / "sounds.md").read_text()
    (line,) = [n for n, text in enumerate(sounds.splitlines(), 1) if "is loud" in text]
    assert lost.source == f"projects/sounds.md:{line}"  # its turn is not in the store
    found = record_files.load_statements(store, {}, TODAY).values()
    (own,) = [row for row in found if "clock" in row.text]
    (by_hand,) = only(ask(store, own.id)).versions
    assert by_hand.source == f"projects/facts.md:{len(path.read_text().splitlines())}"


def test_a_sentence_is_shown_to_its_end(store: Store) -> None:
    text = "The bell of the ground floor, which the guests of the boathouse ring, rings every 9 minutes."
    hold(store, statement(text, subject="bell"))
    assert f"- {text}\n" in InProcess("history", TODAY).ok(store, "bell")
