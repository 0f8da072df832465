"""The hand-edit rules: what topic files and shard records together say (docs/format.md)."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import closed_copy_id
from clsm_cli.model.streams import Stream
from clsm_cli.store import record_files, topics

NOW = "2026-02-24T22:00:00Z"
TEA = "Mara drinks tea."
FIRST = "The recommendation first."
BELL = "The bell rings at nine."


def statement(record_id: str, known_text: str, **values: object) -> Statement:
    made = Statement(
        id=record_id,
        rev=(3, "pc"),
        text=known_text,
        text_sha=topics.text_sha(known_text),
        topic="memory",
        recorded_at="2026-01-01T00:00:00Z",
        trust="agent",
    )
    return replace(made, **values)  # type: ignore[arg-type]


TWO = {"f-1": statement("f-1", TEA), "f-2": statement("f-2", FIRST)}


class Outcome(NamedTuple):
    """What hand edits made of some records."""

    statements: dict[str, Statement]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    withdrawn: tuple[str, ...]
    conflicts: tuple[tuple[str, str, str], ...]
    stale: tuple[str, ...]


def reconcile(
    files: dict[str, str],
    records: dict[str, Statement],
    stream: Stream = "projects",
    unreadable: tuple[str, ...] = (),
) -> Outcome:
    found = [topics.parse(text.encode(), Path(f"{name}.md")) for name, text in files.items()]
    found += [topics.Topic(Path(f"{name}.md"), (), (), None) for name in unreadable]
    edits = record_files.reconcile(found, records, stream=stream, now=NOW, device="pi")
    changed = [
        i
        for i, old in records.items()
        if (new := edits.statements[i]).is_current
        and (not old.is_current or topics.text_sha(new.text) != old.text_sha)
    ]
    added = tuple(i for i in edits.statements if i not in records)
    rest = (edits.withdrawn, edits.conflicts, edits.stale)
    return Outcome(edits.statements, tuple(changed), added, *rest)


def stored(edits: Outcome) -> dict[str, Statement]:
    """Records as shards keep them."""
    return {i: record_files.as_stored(s) for i, s in edits.statements.items()}


def test_an_untouched_file_changes_nothing() -> None:
    edits = reconcile({"memory": f"- {TEA}  ^f-1\n-  The  recommendation\n  first. ^f-2\n"}, TWO)
    assert (edits.changed, edits.added, edits.withdrawn, edits.conflicts) == ((), (), (), ())
    assert stored(edits) == TWO
    assert edits.statements["f-1"].text == TEA


def test_a_changed_text_is_a_new_version_by_the_user() -> None:
    edits = reconcile({"memory": f"- Mara drinks coffee. ^f-1\n- {FIRST} ^f-2\n"}, TWO)
    assert edits.changed == ("f-1",)
    (before,) = edits.added
    assert edits.statements["f-1"] == replace(
        TWO["f-1"],
        rev=(4, "pi"),
        text="Mara drinks coffee.",
        text_sha=topics.text_sha("Mara drinks coffee."),
        trust="user",
        pinned=True,
        recorded_at=NOW,
        supersedes=before,
    )
    old = replace(TWO["f-1"], id=before, rev=(1, "pi"), superseded_at=NOW)
    assert edits.statements[before] == old
    assert edits.statements["f-2"] == replace(TWO["f-2"], text=FIRST)


def test_an_item_without_id_is_a_new_statement_by_the_user() -> None:
    memory = f"- {TEA} ^f-1\n- {FIRST} ^f-2\n- New.\n"
    edits = reconcile({"memory": memory, "more": "- Other\n"}, TWO)
    assert len(edits.added) == 2
    new, other = (edits.statements[i] for i in edits.added)
    assert (new.text, new.topic, new.rev, new.trust) == ("New.", "memory", (1, "pi"), "user")
    assert (new.pinned, new.recorded_at, new.kind) == (True, NOW, "fact")
    assert other.topic == "more"
    assert edits.withdrawn == ()


def test_a_removed_item_is_withdrawn_and_keeps_its_record() -> None:
    for rest in (f"- {FIRST} ^f-2\n", f"- ^f-1\n- {FIRST} ^f-2\n"):
        edits = reconcile({"memory": rest}, TWO)
        assert (edits.withdrawn, edits.added) == (("f-1",), ())
        gone = edits.statements["f-1"]
        assert (gone.withdrawn, gone.superseded_at, gone.rev) == (True, NOW, (4, "pi"))
        assert not gone.is_current
        again = reconcile({"memory": rest}, stored(edits))
        assert (again.withdrawn, stored(again)) == ((), stored(edits))


def test_an_item_that_comes_back_is_current_again() -> None:
    gone = replace(TWO["f-1"], withdrawn=True, superseded_at=NOW, rev=(4, "pi"), text=TEA)
    edits = reconcile({"memory": f"- {TEA} ^f-1\n"}, {"f-1": gone})
    assert edits.changed == ("f-1",)
    back = edits.statements["f-1"]
    assert back.is_current
    assert back.rev == (5, "pi")  # else the withdrawn version could win a join


def test_an_item_may_move_to_another_file() -> None:
    edits = reconcile({"memory": f"- {FIRST} ^f-2\n", "people": f"- {TEA} ^f-1\n"}, TWO)
    assert (edits.changed, edits.added, edits.withdrawn) == ((), (), ())
    assert edits.statements["f-1"] == replace(TWO["f-1"], text=TEA, topic="people", rev=(4, "pi"))
    assert edits.statements["f-1"].trust == "agent"


def test_a_copy_in_a_second_file_is_no_move() -> None:
    both = f"- {TEA} ^f-1\n- {FIRST} ^f-2\n"
    for files in ({"a": both, "memory": both}, {"memory": both, "z": both}):
        edits = reconcile(files, TWO)
        assert stored(edits) == TWO


def test_an_unreadable_file_withdraws_nothing() -> None:
    edits = reconcile({"other": "- New\n"}, TWO, unreadable=("memory",))
    assert edits.withdrawn == ()
    assert {i: edits.statements[i] for i in TWO} == TWO
    elsewhere = {"f-3": statement("f-3", "Gone.", topic="other")}
    assert reconcile({"other": ""}, TWO | elsewhere, unreadable=("memory",)).withdrawn == ("f-3",)


@pytest.mark.parametrize(
    ("box", "state"), [("[x]", "done"), ("[X]", "done"), ("[!]", "blocked"), ("[ ]", "open")]
)
def test_a_ticked_box_changes_the_state_of_a_task(box: str, state: str) -> None:
    task = statement("f-1", "Call Brian.", kind="task", stream="tasks", state="open")
    edits = reconcile({"memory": f"- {box} Call Brian. ^f-1\n"}, {"f-1": task}, "tasks")
    now = edits.statements["f-1"]
    assert (now.state, now.rev) == (state, (3, "pc") if state == "open" else (4, "pi"))
    assert edits.changed == ()
    again = reconcile({"memory": f"- {box} Call Brian. ^f-1\n"}, stored(edits), "tasks")
    assert stored(again) == stored(edits)


def test_a_tick_survives_a_merge_that_kept_both_lines() -> None:
    task = statement("f-1", "Call.", kind="task", stream="tasks", state="open")
    both = ["- [ ] Call. ^f-1\n", "- [x] Call. ^f-1\n"]
    for lines in (both, both[::-1]):
        edits = reconcile({"memory": "".join(lines)}, {"f-1": task}, "tasks")
        assert edits.statements["f-1"].state == "done"


def test_a_box_makes_a_new_item_a_task_in_any_stream() -> None:
    edits = reconcile({"memory": "- [ ] Call.\n- Fact\n"}, {})
    assert [edits.statements[i].kind for i in edits.added] == ["task", "fact"]
    edits = reconcile({"memory": "- Call.\n"}, {}, "tasks")
    assert [edits.statements[i].kind for i in edits.added] == ["task"]


@pytest.mark.parametrize("swap", [False, True])
def test_two_texts_under_one_id_are_both_kept(swap: bool) -> None:
    lines = [f"- {TEA} ^f-1", "- Mara drinks coffee. ^f-1"]
    text = "\n".join(reversed(lines) if swap else lines)
    edits = reconcile({"memory": text}, {"f-1": TWO["f-1"]})
    assert edits.conflicts == (("f-1", TEA, "Mara drinks coffee."),)
    assert stored(edits)["f-1"] == TWO["f-1"]
    (other,) = edits.added
    assert edits.statements[other].text == "Mara drinks coffee."
    again = reconcile({"memory": text}, stored(edits))
    assert (stored(again), again.added, again.withdrawn) == (stored(edits), (), ())


def test_a_new_item_with_the_first_text_of_an_edited_one_is_a_statement_of_its_own() -> None:
    (birth,) = reconcile({"memory": f"- {TEA}\n"}, {}).added
    known = {birth: statement(birth, "Mara drinks coffee.")}
    both = [f"- Mara drinks coffee. ^{birth}\n", f"- {TEA}\n"]
    for lines in (both, both[::-1]):
        edits = reconcile({"memory": "".join(lines)}, known)
        assert edits.statements[birth].text == "Mara drinks coffee."
        (new,) = edits.added
        assert edits.statements[new].text == TEA
        assert (edits.conflicts, edits.withdrawn) == ((), ())


lines = st.builds(
    lambda box, text, tail: f"- {box}{text}{tail}",
    st.sampled_from(["", "[ ] ", "[x] "]),
    st.sampled_from(["a", "A", "b", "c d", "c  d", "e"]),
    st.sampled_from(["", "  ^f-1", "  ^f-2", "  ^f-3"]),
)


@examples(300)
@given(
    st.lists(lines, max_size=6),
    st.lists(lines, max_size=3),
    st.dictionaries(st.sampled_from(["f-1", "f-2", "f-9"]), st.sampled_from(["a", "b", "z"])),
)
def test_no_text_is_lost_and_a_second_look_finds_nothing_new(
    memory: list[str], more: list[str], known: dict[str, str]
) -> None:
    records = {i: statement(i, text) for i, text in known.items()}
    files = {"memory": "\n".join(memory), "more": "\n".join(more)}
    edits = reconcile(files, records)
    written = {
        " ".join(item.text.lower().split())
        for text in files.values()
        for item in topics.parse(text.encode(), Path("x.md")).items
    }
    current = [s for s in edits.statements.values() if s.is_current]
    assert {" ".join(s.text.lower().split()) for s in current} == written
    assert edits.statements.keys() >= records.keys()
    again = reconcile(files, stored(edits))
    assert (again.changed, again.added, again.withdrawn) == ((), (), ())
    assert stored(again) == stored(edits)


def test_a_line_that_a_merge_brought_back_is_stale_and_no_edit_by_hand() -> None:
    old = statement("f-9", BELL, superseded_at=NOW, text=BELL)
    edits = reconcile({"memory": f"- {BELL}  ^f-9\n"}, {"f-9": old})
    assert (edits.stale, edits.changed, edits.statements) == (("f-9",), (), {"f-9": old})
    again = reconcile({"memory": "- The bell rings at nine, again.  ^f-9\n"}, {"f-9": old})
    assert (again.stale, again.changed) == ((), ("f-9",))  # other words are a person's


def test_a_row_that_another_machine_closed_is_superseded_and_not_withdrawn() -> None:
    row, until = statement("f-0123456789ab", BELL), "2026-03-01T00:00:00+01:00"
    times = {"valid_until": until, "recorded_at": "2026-03-01T22:00:00Z"}
    copy = statement(closed_copy_id(row.id, until), BELL, text=BELL, **times)
    edits = reconcile({"memory": ""}, {row.id: row, copy.id: copy})
    now = edits.statements[row.id]
    assert (edits.withdrawn, now.withdrawn, now.superseded_at) == ((), False, copy.recorded_at)
    assert now.text == copy.text
