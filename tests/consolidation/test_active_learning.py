"""What the owner decides about sentences changes what the next nights keep of others like them."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from ingesting import made_once, new_store, take
from sleeping import current, rows, sleep, talked
from tables import column

from clsm_cli.consolidation.active_learning import (
    MAX_OFFERED,
    STILL_WORTH,
    WORTH,
    load_offer,
    owner_of,
)
from clsm_cli.consolidation.statement_selection import KEPT_VERDICTS
from clsm_cli.consolidation.store_state import opened_state
from clsm_cli.curation import record_edit
from clsm_cli.curation.review_queue import State, decide, list_items
from clsm_cli.curation.selection_reasons import explain
from clsm_cli.errors import BadInputError
from clsm_cli.store import cleanup, logs
from clsm_cli.store.layout import Store

FIRST, SECOND = column(__file__, "notes")
NIGHTS = ("2026-03-10T03:00:00+00:00", "2026-03-11T03:00:00+00:00")
DAY = datetime.fromisoformat("2026-03-10T09:00:00+00:00")


def write(store: Store, name: str, text: str) -> None:
    path = store.root.parent / "notes" / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    take(store, path)


@made_once
def after_a_night(folder: Path) -> Store:
    made = new_store(folder / "memory")
    write(made, "2026-03-09.md", FIRST)
    sleep(made, NIGHTS[0])
    return made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return after_a_night(tmp_path)


def test_the_list_tells_what_is_kept_already_and_leaves_tasks_out(store: Store) -> None:
    task = "\n## Todo\n\n- [ ] Order a birthday cake for Ella, no hazelnuts (party on the 22nd)\n"
    write(store, "2026-03-10.md", SECOND + task)
    sleep(store, NIGHTS[1])
    asked, held = list_items(store, DAY), rows(store).values()
    assert {item.reason for item in asked} == {WORTH, STILL_WORTH}
    for item in asked:
        kinds = [row.kind for row in held if row.is_current and row.text == item.kept]
        assert (item.reason == STILL_WORTH) == bool(kinds)
        assert "cake" not in item.kept


def answer(store: Store, **answers: State) -> None:
    """Answer what is offered by its first word."""
    items = {item.kept.split()[0]: item.id for item in list_items(store, DAY)}
    decide(store, [(items[word], answers[word]) for word in answers], DAY, lambda _: None)


def second_night(store: Store) -> list[str]:
    write(store, "2026-03-10.md", SECOND)
    sleep(store, NIGHTS[1])
    return current(store)


def test_what_is_rejected_takes_others_like_it_along(store: Store, tmp_path: Path) -> None:
    control = after_a_night(tmp_path / "control")
    answer(store, Breakfast="rejected", Lunch="rejected", Dinner="rejected")
    assert current(store, "Lunch") == []
    taught, untaught = {*second_night(store)}, {*second_night(control)}
    meals = {text for text in untaught if text.startswith(("Breakfast", "Lunch"))}
    assert len(meals) == 4
    assert taught == untaught - meals
    assert "Jens prefers mails in the morning and calls in the evening." in taught


BUDGETS = (
    "Ada's monthly budget for the studio is 200 euros.",
    "The monthly budget for the office is 350 euros.",
)


def test_a_line_deleted_by_hand_teaches_and_keeps_its_text(store: Store, tmp_path: Path) -> None:
    """Also where an index that was refreshed in between does not know the line any more."""
    control = after_a_night(tmp_path / "control")
    for each in (control, store):
        write(each, "2026-03-08.md", "\n- ".join(["# 8 March 2026\n", *BUDGETS]))
        sleep(each, NIGHTS[0])
        assert {*current(each, "budget")} == {*BUDGETS}
        if each is store:
            page = each.root / "projects" / "facts.md"
            lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
            page.write_text("".join(line for line in lines if "budget" not in line), "utf-8")
        with opened_state(each, DAY):
            pass
        write(
            each,
            "2026-03-10.md",
            "# 10 March 2026\n\n- The monthly travel budget was set at 200 euros.\n",
        )
        sleep(each, NIGHTS[1])
    assert len(current(control, "budget")) == 3
    assert current(store, "budget") == []
    assert {row.text for row in rows(store).values() if row.withdrawn} == {*BUDGETS}
    with opened_state(store, DAY) as state:
        assert {each.text for each in owner_of(state).decisions} == {*BUDGETS}


def rejected(store: Store, name: str) -> None:
    decide(store, [(name[:8], "rejected")], DAY, lambda _: None)


def withdrawn_in_an_editor(store: Store, name: str) -> None:
    draft = record_edit.draft(store, name, DAY, lambda _: None)
    record_edit.save(store, draft, f"{draft.text}withdrawn: true\n", DAY, lambda _: None)


@pytest.mark.parametrize("take_out", [rejected, withdrawn_in_an_editor])
@pytest.mark.parametrize("was_kept", [False, True])
def test_any_statement_is_decided_by_its_id(
    store: Store, take_out: Callable[[Store, str], None], was_kept: bool
) -> None:
    """Also one that has no line to delete, and who kept it first may think better of it."""
    (ada,), (lunch,) = (
        [row for row in rows(store).values() if row.text.startswith(word)]
        for word in ("Ada", "Lunch")
    )
    assert ada.stream == lunch.stream == "flow"
    kept: list[tuple[str, State]] = [(ada.id, "accepted"), (lunch.id, "accepted")]
    kept = kept[: 1 + was_kept]
    outcome = decide(store, kept, DAY, lambda _: None)
    assert {each.item.id for each in outcome.decisions} == {name for name, _ in kept}
    take_out(store, lunch.id)
    second_night(store)
    assert current(store, "Lunch", "lentil") == []
    with opened_state(store, DAY) as state:
        told = {each.name: each.is_kept for each in owner_of(state).decisions}
    assert told == {ada.id: True, lunch.id: False}
    (again,) = decide(store, [(lunch.id, "accepted")], DAY, lambda _: None).decisions
    assert again.effect.startswith("nothing to do")


def test_what_is_accepted_becomes_a_statement_and_stays(store: Store) -> None:
    assert current(store, "Dinner") == []
    answer(store, Dinner="accepted")
    (row,) = [row for row in rows(store).values() if "Dinner" in row.text]
    assert (row.pinned, row.trust) == (True, "user")
    assert row.sources
    second_night(store)
    assert current(store, "Dinner") == [row.text]


def test_what_was_asked_is_not_asked_again(store: Store) -> None:
    first = {item.id for item in load_offer(store)}
    assert 0 < len(first) <= MAX_OFFERED
    assert all(item.reason == WORTH for item in load_offer(store))
    answer(store, Breakfast="rejected", The="accepted")
    assert len(list_items(store, DAY)) == len(first) - 2
    second_night(store)
    assert first.isdisjoint(item.id for item in load_offer(store))


def test_why_names_what_was_decided(store: Store) -> None:
    (ada,) = [row for row in rows(store).values() if row.text.startswith("Ada")]
    told = explain(store, ada.id, DAY)
    assert (told.chance, told.shares) == (told.keep, [])
    answer(store, Breakfast="rejected", Lunch="rejected")
    second_night(store)
    (item,) = [item for item in load_offer(store) if item.kept.startswith("Lunch with Mia")]
    told = explain(store, item.id, DAY)
    assert told.keep is not None
    assert told.chance is not None
    assert told.keep < told.worth < told.chance
    assert {decision.text.split()[0] for _, decision in told.shares} >= {"Breakfast", "Lunch"}
    assert not any(decision.is_kept for _, decision in told.shares)
    with pytest.raises(BadInputError, match="no statement"):
        explain(store, "f-0000", DAY)


SAID = (
    "user: Please stop using emojis in messages to customers.",
    "user: I like Java.",
    "user: No, I mean the coffee.",
    "user: Schön!",
    "user: Maybe we should move the studio to Kiel.",
    "user: My sister Nina lives in Leeds with her two cats.",
)


def test_why_is_what_the_night_decided(store: Store, tmp_path: Path) -> None:
    talked(store, tmp_path, "one", "2026-03-10", *SAID)
    second_night(store)
    names = (*rows(store), *(item.id for item in load_offer(store)))
    why = [explain(store, name, DAY) for name in names]
    weighed = {told.text: told for told in why if told.chance is not None}
    assert {text for text, told in weighed.items() if told.reason in KEPT_VERDICTS} == {
        text for text, told in weighed.items() if told.is_held
    }
    assert {told.reason for told in weighed.values()} >= {"kept", "worth"}


def test_a_damaged_answer_stops_no_night(store: Store) -> None:
    """A line of the review list that was merged or edited into nonsense."""
    (first, second, *_) = load_offer(store)
    lines = (
        first._replace(state="rejected", other="not a number"),
        second._replace(state="accepted", other="nan", about=()),
    )
    with (store.flow / "review.jsonl").open("ab") as log:
        log.writelines(logs.render(line) + b"\n" for line in lines)
    second_night(store)
    assert explain(store, second.id, DAY).text == second.kept


def test_a_forget_leaves_no_offer(store: Store) -> None:
    assert load_offer(store)
    cleanup.marker_path(store).touch()
    cleanup.finish(store)
    assert load_offer(store) == []
