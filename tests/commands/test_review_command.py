"""``clsm review``: the list, decisions by options, and by a file at a terminal."""

import json
from datetime import UTC
from pathlib import Path

import pytest
from curation.test_correction import BELL, NOW, QUARTER, bell, hold
from curation.test_review_queue import ask, listed
from hypothesis import given
from hypothesis import strategies as st
from in_process import InProcess
from ingesting import unchanged
from processes import Cli, environment
from pseudo_terminal import at_a_terminal
from sleeping import current
from tables import table

from clsm_cli.commands import review
from clsm_cli.consolidation.store_state import NEAR_NAMES
from clsm_cli.curation.review_queue import CONTRADICTION, REASONS
from clsm_cli.curation.selection_reasons import Explanation
from clsm_cli.errors import BadInputError
from clsm_cli.heads.owner_model import Decision
from clsm_cli.store.layout import Store
from clsm_cli.store.logs import ReviewItem

_COMMAND = InProcess("review", NOW)
run, ok = _COMMAND.run, _COMMAND.ok


@pytest.fixture
def store(store: Store) -> Store:
    """With a statement, and two questions to a person."""
    hold(store, bell())
    ask(store, "a1", CONTRADICTION, bell().id, BELL, QUARTER)
    ask(store, "b2", NEAR_NAMES, "kiln loom", "kiln", "loom")
    return store


def test_the_list_without_a_terminal(store: Store) -> None:
    with unchanged(store.root):
        assert "v-b2  two names, perhaps of one thing  (2026-02-28)" in ok(store)
        data = json.loads(ok(store, "--json"))
        assert (data["schema"], data["run"], data["decisions"]) == ("clsm.review/1", None, [])
        assert [item["id"] for item in data["items"]] == ["v-a1", "v-b2"]
        assert set(data["items"][0]) == {*ReviewItem._fields, "what", "accept", "reject", "sources"}
        place = data["items"][0]["sources"]["kept"]
        assert bell().id in Path(place["file"]).read_text().split("\n")[place["line"] - 1]


def test_decisions_by_options(store: Store) -> None:
    assert ok(store, "--accept", "v-a1", "--dry-run").splitlines()[-1] == "nothing was written"
    lines = ok(store, "--accept", "v-a1", "--reject", "v-b2").splitlines()
    assert [line.split(":")[0] for line in lines] == ["v-a1  accepted", "v-b2  rejected"]
    assert current(store) == [QUARTER]
    assert ok(store, "--reject", "v-a1") == "v-a1  accepted before\n"
    data = json.loads(ok(store, "--accept", "v-b2", "--json"))
    assert (data["decisions"][0]["state"], data["decisions"][0]["is_new"]) == ("rejected", False)
    assert ok(store) == "nothing to decide\n"
    assert "v-b2  two names, perhaps of one thing  rejected" in ok(store, "--all")


def test_why_a_sentence_is_a_statement(store: Store) -> None:
    told = bell()
    assert ok(store, "--why", told.id).splitlines() == [
        f"{told.id}  {told.text}",
        "  was not weighed: its source does not have it in these words, so an adviser put it like that",
    ]
    data = json.loads(ok(store, "--why", told.id[:6], "--json"))
    assert data["schema"] == "clsm.review.why/1"
    assert (data["id"], data["chance"], data["decisions"]) == (told.id, None, [])
    assert (data["reason"], data["is_held"]) == ("adviser", True)
    assert run(store, "--why", told.id, "--accept", "v-a1").exit_code == 2
    assert isinstance(run(store, "--why", "f-ffffffff").exception, BadInputError)


@pytest.mark.parametrize(("reason", "is_held", "said"), table(__file__, "weighed"))
def test_how_a_sentence_was_weighed(reason: str, is_held: str, said: str) -> None:
    other = Decision("f-2", "Lunch was soup.", "a.md", None, 0.6, is_kept=False)
    share = [(-1.02, other)]
    told = Explanation(
        "f-1", "Dinner was pasta.", reason, 0.6, 0.2, is_held == "yes", 0.66, 0.41, 0.35, share
    )
    assert list(review.explanation_lines(told)) == [
        "f-1  Dinner was pasta.",
        "  66% likely to be of use weeks later, by where it stands and how it is put",
        "  less likely by 1.02, as you rejected f-2: Lunch was soup.",
        f"  {said}",
    ]


def test_what_cannot_be_decided(store: Store) -> None:
    assert isinstance(run(store, "--accept", "v-zz").exception, BadInputError)
    assert isinstance(run(store, "--accept", "v-a1", "--reject", "v-a1").exception, BadInputError)
    assert set(listed(store)) == {"v-a1", "v-b2"}


def test_deciding_in_an_editor(store: Store, tmp_path: Path, model_folder: Path) -> None:
    seen = store.root.parent / "seen"
    script = (
        f'cp "$1" {seen}; sed -i -e "s/^leave v-a1/accept v-a1/" -e "s/^leave v-b2/r v-b2/" "$1"'
    )
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    editor.chmod(0o700)
    cli = Cli(tmp_path, {**environment(tmp_path, model_folder), "CLSM_DEVICE": "pi"})
    words = ("review", "--store", str(store.root), "--now", NOW)
    code, shown = at_a_terminal(cli, *words, TERM="dumb", VISUAL=str(editor))
    assert code == 0, shown
    assert "v-a1  accepted" in shown
    assert "v-b2  rejected" in shown
    assert current(store) == [QUARTER]
    assert listed(store) == {}
    assert list((store.derived / "edit").iterdir()) == []
    text = seen.read_text(encoding="utf-8")
    assert text.index("leave v-a1") < text.index("leave v-b2")
    assert all(line[:1] in ("#", "l", "") for line in text.splitlines())
    assert f"Memory says: {BELL}" in text


TEXTS = st.text(max_size=60)
ITEMS = st.builds(
    ReviewItem,
    id=st.from_regex(r"v-[0-9a-f]{12}", fullmatch=True),
    at=st.just("2026-02-28T02:00:00Z"),
    about=st.just(("f-1",)),
    reason=st.sampled_from([*REASONS, "another\nreason"]),
    kept=TEXTS,
    other=TEXTS,
)


@given(st.lists(ITEMS, unique_by=lambda item: item.id), st.data())
def test_a_file_says_what_was_decided_and_no_text_can_decide(
    items: list[ReviewItem], data: st.DataObject
) -> None:
    text = review.todo_file(items, {}, UTC)
    assert review.read_todo(text, items) == {}
    words = ("leave", "accept", "reject", "a", "r", "l")
    chosen = {item.id: data.draw(st.sampled_from(words)) for item in items}
    for item_id, word in chosen.items():
        text = text.replace(f"leave {item_id}\n", f"{word} {item_id}\n")
    expected = {
        item_id: "accepted" if word[0] == "a" else "rejected"
        for item_id, word in chosen.items()
        if word[0] != "l"
    }
    assert review.read_todo(text, items) == expected


@pytest.mark.parametrize(
    "line", ["keep v-a1", "accept", "accept v-a1 v-b2", "accept v-zz", "accept v-a1\nreject v-a1"]
)
def test_lines_that_are_no_decisions(line: str) -> None:
    items = [
        ReviewItem("v-a1", "", (), NEAR_NAMES, "kiln", ""),
        ReviewItem("v-b2", "", (), NEAR_NAMES, "", ""),
    ]
    with pytest.raises(BadInputError, match=r"line [12] "):
        review.read_todo(line, items)
