"""What capture writes to the inbox, and what it recognises."""

from datetime import timedelta
from pathlib import Path

import pytest
from conversations import header
from ingesting import START, pipe, place, row, state_of, take
from openclaw_state import answers, calls, jsonl

from clsm_cli.ingestion import ingest_report
from clsm_cli.model.episodes import EndMark
from clsm_cli.store import inbox
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked


def captured(store: Store, *rows: bytes) -> ingest_report.IngestReport:
    return pipe(store, *rows, capture_only=True)


def box_of(store: Store, session: str = "main") -> inbox.Inbox:
    return inbox.read(inbox.path_of(store.inbox, session))


def texts(store: Store) -> list[str]:
    return [item.turn.text for item in box_of(store).turns]


def test_a_turn_is_written_once(store: Store) -> None:
    report = captured(store, row("hello", 1), row("hello", 1), row("hello", 2))
    assert (report.sources[0].added, report.sources[0].known) == (2, 1)
    assert captured(store, row("hello", 2)).sources[0].known == 1
    assert texts(store) == ["hello", "hello"]


def test_equal_turns_without_time_are_numbered(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(row("ok") + row("and?") + row("ok"))
    take(store, path, capture_only=True)
    assert texts(store) == ["ok", "and?", "ok"]
    assert len(set(state_of(store).keys())) == 3
    with path.open("ab") as file:
        file.write(row("ok"))
    report = take(store, path, capture_only=True)
    assert (report.sources[0].added, report.sources[0].known) == (1, 3)
    assert texts(store) == ["ok", "and?", "ok", "ok"]


def test_a_turn_without_time_at_another_line_is_new(store: Store, tmp_path: Path) -> None:
    """Two files of one name go on with one session: only the same line can be the same turn."""
    for folder, said in (("a", ("start", "ok")), ("b", ("more", "x", "ok"))):
        place(tmp_path / folder, **{"chat.jsonl": b"".join(map(row, said))})
        take(store, tmp_path / folder / "chat.jsonl", capture_only=True)
    assert texts(store) == ["start", "ok", "more", "x", "ok"]


def test_turns_without_time_are_known_from_episodes_too(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(row("ok") + row("done") + row("", type="end"))
    take(store, path)
    assert not box_of(store).turns
    assert take(store, path, capture_only=True).sources[0].known == 2
    assert not box_of(store).turns


def test_an_end_mark_at_the_head_of_an_input_ends_what_was_before(store: Store) -> None:
    captured(store, row("a", 1))
    captured(store, row("", 2, type="reset"), row("b", 3))
    marks = [item for item in box_of(store).items if isinstance(item, EndMark)]
    assert [mark.after for mark in marks] == [box_of(store).turns[0].turn.key]
    captured(store, row("", 2, type="reset"), row("b", 3))
    captured(store, row("", 2, type="reset"))
    assert len(box_of(store).items) == 3


def test_an_end_mark_alone_ends_the_conversation(store: Store) -> None:
    captured(store, row("a", 1), row("b", 2))
    captured(store, row("", 3, type="end"))
    captured(store, row("", 3, type="end"))
    assert [isinstance(item, EndMark) for item in box_of(store).items] == [False, False, True]


@pytest.mark.parametrize("head", [b"", header("main")], ids=["--session", "header"])
def test_the_later_result_of_a_clsm_call_is_dropped(store: Store, head: bytes) -> None:
    call, answer = calls(1, "t1", "clsm recall x"), answers(2, "t1", "the answer")
    for each in (call, answer, answers(3, "t2", "other")):
        pipe(store, head + jsonl([each]), capture_only=True, session="main")
    assert texts(store) == ["other"]
    assert [mark.call for mark in box_of(store).calls] == ["t1"]


def test_a_call_mark_outlives_the_rewrite_of_the_inbox(store: Store) -> None:
    pipe(store, jsonl([calls(1, "t1", "clsm recall x")]), session="main")
    pipe(store, row("hello", 3), row("", type="end"), session="main")  # all is closed and cut
    assert not box_of(store).turns
    pipe(store, jsonl([answers(2, "t1", "the answer")]), session="main")
    assert not box_of(store).turns
    many = [calls(number, f"c{number}", "clsm status") for number in range(80)]
    pipe(store, jsonl(many), session="main", capture_only=True)
    pipe(store, row("x", 5), row("", type="end"), session="main")
    assert [mark.call for mark in box_of(store).calls] == [f"c{n}" for n in range(16, 80)]


def test_what_is_told_while_another_clsm_writes_is_put_aside(store: Store) -> None:
    captured(store, row("before", 1))
    with locked(store.root, 0):
        for _ in range(2):
            report = captured(store, row("before", 1), row("hello", 2))
            assert report.sources[0].added + report.sources[0].known == 2
        captured(store, row("more", 3), row("untimed"))
        assert texts(store) == ["before"]
        (parts,) = inbox.side_files(store.inbox).values()
        assert len(parts) == 2
    captured(store, row("hello", 2), row("untimed"), row("after", 4))
    assert texts(store) == ["before", "hello", "more", "untimed", "after"]
    assert inbox.files(store.inbox) == [inbox.path_of(store.inbox, "main")]


def test_since_leaves_out_what_was_before(store: Store) -> None:
    rows, since = (row("a", 1), row("b", 2), row("c")), START + timedelta(minutes=2)
    report = pipe(store, *rows, since=since, capture_only=True)
    assert texts(store) == ["b", "c"]
    assert report.sources[0].dropped == {"before --since": 1}
