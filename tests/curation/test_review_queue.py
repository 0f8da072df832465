"""Decisions of a person do what was said they would, once, and outlive later nights."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from curation.test_correction import BELL, NOW, QUARTER, bell, done, hold, markdown, statement
from ingesting import tree, unchanged
from sleeping import current, edges, heard, nodes, rows, sleep, talked

from clsm_cli.consolidation.store_state import NEAR_NAMES
from clsm_cli.curation import review_queue
from clsm_cli.curation.review_queue import Outcome, State
from clsm_cli.errors import BadInputError
from clsm_cli.model.codec import encode
from clsm_cli.store import atomic, layout, logs, shards
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import Store

AT = "2026-02-28T02:00:00Z"


def ask(store: Store, name: str, reason: str, about: str, kept: str = "", other: str = "") -> str:
    item = logs.ReviewItem(f"v-{name}", AT, tuple(about.split()), reason, kept, other)
    atomic.append(store.flow / "review.jsonl", logs.render(item))
    return item.id


def decide(
    store: Store, state: State, *wanted: str, now: str = NOW, dry_run: bool = False
) -> Outcome:
    warnings: list[str] = []
    pairs = [(name, state) for name in wanted]
    when = datetime.fromisoformat(now)
    outcome = review_queue.decide(store, pairs, when, warnings.append, dry_run=dry_run)
    assert warnings == []
    return outcome


def effect(store: Store, state: State, wanted: str) -> str:
    """What a new decision did."""
    (decision,) = decide(store, state, wanted).decisions
    assert decision.is_new
    return decision.effect


def accept(store: Store, wanted: str) -> str:
    return effect(store, "accepted", wanted)


def listed(store: Store, now: str = NOW, *, everything: bool = False) -> dict[str, str]:
    items = review_queue.list_items(store, datetime.fromisoformat(now), everything=everything)
    return {item.id: item.state for item in items}


def test_the_list_begins_with_what_matters(store: Store) -> None:
    hold(store, bell())
    for name, reason in zip("abcdef", reversed(review_queue.REASONS), strict=True):
        ask(store, name, reason, bell().id, BELL, BELL)
    ask(store, "new", "a reason of a later version", "x")
    assert list(listed(store)) == ["v-f", "v-e", "v-d", "v-c", "v-b", "v-a", "v-new"]


def test_questions_of_a_night_keep_their_order(store: Store) -> None:
    hold(store, bell())
    asked = [ask(store, n, review_queue.CONTRADICTION, bell().id, BELL, n) for n in "bac"]
    assert list(listed(store)) == asked


def test_an_old_item_expires_and_can_still_be_decided(store: Store) -> None:
    item = ask(store, "a", NEAR_NAMES, "kiln loom", "kiln", "loom")
    assert listed(store, "2026-03-30T02:59:59+02:00") == {item: "open"}
    late = "2026-03-30T04:00:00+02:00"
    assert listed(store, late) == {}
    assert listed(store, late, everything=True) == {item: "expired"}
    accept(store, item)
    assert listed(store, late, everything=True) == {item: "accepted"}


def test_a_question_expires_with_its_statement(store: Store) -> None:
    hold(store, bell())
    item = ask(store, "a", review_queue.CONTRADICTION, bell().id, BELL, QUARTER)
    assert listed(store) == {item: "open"}
    done(store, bell().id, QUARTER)
    assert listed(store) == {}


def test_a_decision_is_made_once(store: Store) -> None:
    hold(store, bell())
    item = ask(store, "a1b2c3", review_queue.CONTRADICTION, bell().id, BELL, QUARTER)
    with unchanged(store.root, derived=True):
        planned = decide(store, "accepted", item, dry_run=True)
    outcome = decide(store, "accepted", "v-a1")
    assert (planned.decisions, planned.run) == (outcome.decisions, None)
    assert outcome.run is not None
    after = tree(store.root, derived=True)
    for state in ("accepted", "rejected"):
        (again,) = decide(store, state, item).decisions
        assert (again.state, again.is_new) == ("accepted", False)
    assert tree(store.root, derived=True) == after


def test_ids_that_are_none(store: Store) -> None:
    ask(store, "aabb01", NEAR_NAMES, "kiln loom", "kiln", "loom")
    ask(store, "aabb02", NEAR_NAMES, "loom barge", "loom", "barge")
    with unchanged(store.root, derived=True):
        for wanted, reason in [
            ("v-aabb", "several ids begin so .v-aabb01, v-aabb02"),
            (
                "v-aacb01",
                "no statement and no item of the review list has that id .near it: v-aabb01",
            ),
            ("nothing", "no statement and no item of the review list has that id;"),
        ]:
            with pytest.raises(BadInputError, match=reason):
                decide(store, "accepted", "v-aabb01", wanted)
        pairs: list[tuple[str, State]] = [("v-aabb01", "accepted"), ("v-aabb01", "rejected")]
        with pytest.raises(BadInputError, match="accepted and rejected"):
            review_queue.decide(store, pairs, datetime.fromisoformat(NOW), print)


def test_a_contradiction_accepted_is_a_correction(store: Store) -> None:
    hold(store, bell())
    item = ask(store, "a", review_queue.CONTRADICTION, bell().id, BELL, QUARTER)
    assert bell().id in accept(store, item)
    (new,) = [row for row in rows(store).values() if row.is_current]
    assert (new.text, new.valid_from, new.supersedes, new.pinned) == (QUARTER, NOW, bell().id, True)
    assert len(rows(store)) == 3


def test_a_contradiction_with_another_statement(store: Store) -> None:
    other = statement(QUARTER, subject="bell")
    hold(store, bell(), replace(other, valid_from="2026-02-25"))
    ask(store, "a", review_queue.CONTRADICTION, bell().id, BELL, QUARTER)
    accept(store, "v-a")
    assert current(store) == [QUARTER]
    closed = [row for row in rows(store).values() if row.valid_until]
    assert [(row.text, row.valid_until) for row in closed] == [(BELL, "2026-02-25")]


def test_a_contradiction_rejected_leaves_both(store: Store) -> None:
    hold(store, bell(), statement(QUARTER, subject="bell"))
    item = ask(store, "a", review_queue.CONTRADICTION, bell().id, BELL, QUARTER)
    assert effect(store, "rejected", item) == "both stay"
    assert sorted(current(store)) == sorted([BELL, QUARTER])


@pytest.mark.parametrize("accepted", [True, False])
def test_two_texts_under_one_id(store: Store, accepted: bool) -> None:
    hold(store, bell())
    path = store.root / "projects" / "facts.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}- {QUARTER}  ^{bell().id}\n", encoding="utf-8")
    decide(store, "accepted")  # settles
    (item,) = review_queue.list_items(store, datetime.fromisoformat(NOW))
    assert (item.reason, item.kept, item.other) == (review_queue.TWO_TEXTS, BELL, QUARTER)
    decide(store, "accepted" if accepted else "rejected", item.id)
    said = QUARTER if accepted else BELL
    assert current(store) == [said]
    lines = [line for line in markdown(store).splitlines() if "^" in line]
    assert lines == [f"- {said}  ^{bell().id}"]
    kept = rows(store)[bell().id]
    assert (kept.text, kept.pinned) == (said, accepted)
    decide(store, "accepted")
    assert listed(store) == {}
    assert current(store) == [said]


@pytest.mark.parametrize("accepted", [True, False])
def test_a_value_that_lost(store: Store, accepted: bool) -> None:
    lost = replace(bell(), rev=(2, "pc"), value="ten", kind="decision", pinned=True, text="")
    newer = replace(bell(), rev=(3, "pi"), value="10 min", sources=("0c",))
    hold(store, newer)
    item = ask(store, "a", review_queue.LOST, bell().id, "", dump(encode(lost)))
    decide(store, "accepted" if accepted else "rejected", item)
    row = rows(store)[bell().id]
    assert (row.text, row.rev) == (BELL, (4, "pi") if accepted else (3, "pi"))
    expected = ("ten", "decision", True) if accepted else ("10 min", "fact", False)
    assert (row.value, row.kind, row.pinned) == expected
    assert "0c" in row.sources
    assert shards.load_graph(store.graphs()).lost == ()


def test_a_pin_that_lost_to_a_withdrawal_is_asked_about(store: Store) -> None:
    lost = replace(bell(), rev=(2, "pc"), pinned=True)
    hold(
        store, replace(bell(), rev=(2, "pi"), superseded_at="2026-02-27T02:00:00Z", withdrawn=True)
    )
    item = ask(store, "a", review_queue.LOST, bell().id, "", dump(encode(lost)))
    assert listed(store) == {item: "open"}
    decide(store, "accepted", item)
    assert current(store) == [BELL]
    again = ask(store, "b", review_queue.LOST, bell().id, "", dump(encode(lost)))
    decide(store, "rejected", bell().id)
    assert again not in listed(store)


def test_the_newest_line_of_any_machine_counts(store: Store) -> None:
    item = ask(store, "a", NEAR_NAMES, "kiln loom", "kiln", "loom")
    other = layout.open_store(store.root, {"CLSM_DEVICE": "pc"})
    decide(other, "rejected", item)
    assert listed(store) == {}
    assert (other.flow / "review.jsonl").is_file()
    (again,) = decide(store, "accepted", item).decisions
    assert (again.state, again.is_new) == ("rejected", False)


@pytest.mark.parametrize("state", ["accepted", "rejected"])
def test_names_that_may_be_one_thing(store: Store, tmp_path: Path, state: State) -> None:
    names = ("Ysabella Korstanje", "Ysabela Korstanje") * 2
    lines = [f"Mara: {name} says that {name}'s boat is in Arnhem." for name in names]
    for day in ("2026-02-02", "2026-02-03"):
        talked(store, tmp_path, "one", day, *lines)
    sleep(store)
    items = review_queue.list_items(store, datetime.fromisoformat(NOW))
    (item,) = [each for each in items if each.reason == NEAR_NAMES]
    assert set(item.about) <= set(nodes(store))
    decide(store, state, item.id)
    sleep(store, "2026-03-03T03:00:00+01:00")
    left = [i for i in item.about if i in nodes(store)]
    assert len(left) == (1 if state == "accepted" else 2)
    joined = [edge for edge in edges(store).values() if edge.type == "same_as"]
    assert len(joined) == (state == "accepted")
    later = review_queue.list_items(store, datetime.fromisoformat("2026-03-03T04:00:00+01:00"))
    assert NEAR_NAMES not in {each.reason for each in later}


def test_what_was_withdrawn_is_not_said_again(store: Store, tmp_path: Path) -> None:
    said = "I live in Leeds with my sister."
    heard(store, tmp_path, "one", "2026-02-02", said)
    sleep(store)
    (kept,) = [row for row in rows(store).values() if "Leeds" in row.text and row.kind != "gist"]
    effect(store, "rejected", kept.id)
    heard(store, tmp_path, "two", "2026-02-09", said)
    sleep(store, "2026-03-03T03:00:00+01:00")
    assert kept.text not in current(store)
