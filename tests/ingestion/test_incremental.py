"""Catching up with OpenClaw: nothing twice, nothing lost, and nothing read that was read before."""

import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from ingesting import captured, new_store, opened, same, scratch, state_of, take
from openclaw_state import (
    answers,
    calls,
    change,
    database_of,
    header,
    jsonl,
    message,
    reset,
    talk,
    transcript_of,
    write_rows,
)
from processes import Cli

from clsm_cli.ingestion.ingest_report import IngestReport
from clsm_cli.store import cursors
from clsm_cli.store.layout import Store


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "openclaw"


def catch(store: Store, state: Path, **options: Any) -> IngestReport:
    return take(store, state, openclaw=True, capture_only=True, **options)


def added(report: IngestReport) -> int:
    return sum(source.added for source in report.sources)


def known(report: IngestReport) -> int:
    return sum(source.known for source in report.sources)


def told(report: IngestReport) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.reason) for problem in report.problems]


def texts(store: Store) -> list[str]:
    return [turn.text for turn in captured(store)]


def test_a_database_and_what_comes_later(store: Store, state: Path) -> None:
    write_rows(database_of(state), "s1", talk("s1"))
    first = catch(store, state)
    assert (added(first), told(first), first.warnings) == (4, [], [])
    assert first.sources[0].path.endswith("openclaw-agent.sqlite#s1")
    assert any(len(text) > 10_000 for text in texts(store)), "the row that is zstd"
    again = catch(store, state)
    assert (again.sources, again.up_to_date) == ([], 1)
    write_rows(database_of(state), "s1", talk("s1", 6)[5:], first=5)
    later = catch(store, state)
    assert (added(later), known(later)) == (2, 0), "what was read before is not read again"


def test_a_turn_by_hook_file_and_database_is_one(store: Store, state: Path) -> None:
    rows = talk("s1")
    hook = jsonl([row["message"] for row in rows[1:]])
    assert added(take(store, stdin=hook, session="s1", capture_only=True)) == 4
    write_rows(database_of(state), "s1", rows)
    transcript_of(state, "s1", agent="old").write_bytes(jsonl(rows))
    report = catch(store, state)
    assert (added(report), known(report)) == (0, 8)


@pytest.mark.parametrize("cut", range(1, 9))
def test_two_catch_ups_are_as_good_as_one(tmp_path: Path, cut: int) -> None:
    """Wherever the first one stopped, between a call of clsm and its result too."""
    rows = [
        header("s1"),
        message(1, "user", "What did Brian say about the roof?"),
        calls(2, "c1", "clsm recall 'roof'"),
        answers(3, "c1", "Brian wanted slate."),
        message(4, "assistant", "He wanted slate."),
        reset(5),
        message(6, "user", "Another thing: the bread."),
        calls(7, "c2", "ls"),
        answers(8, "c2", "flour.txt"),
    ]
    states = []
    for kind in ("once", "database", "file"):
        store, state = new_store(tmp_path / kind), tmp_path / f"state-{kind}"
        for part, first in ((rows, 0),) if kind == "once" else ((rows[:cut], 0), (rows[cut:], cut)):
            if kind == "file":
                with transcript_of(state, "s1").open("ab") as file:
                    file.write(jsonl(part))
            else:
                write_rows(database_of(state), "s1", part, first=first)
            catch(store, state)
        states.append(state_of(store))
        assert "Brian wanted slate." not in texts(store)
    same(states[1], states[0])
    same(states[2], states[0])


def test_resets_are_boundaries_and_all_is_cut_into_episodes(store: Store, state: Path) -> None:
    rows = [header("s1")]
    for part, word in enumerate(("roof", "bread", "train")):
        rows += [message(10 * part + n, "user", f"Let us plan the {word}, {n}.") for n in range(3)]
        rows.append(reset(10 * part + 5))
    write_rows(database_of(state), "s1", rows)
    report = take(store, state, openclaw=True)
    assert (report.episodes, report.open_turns) == (3, 0)


def test_a_crash_before_the_cursor_moves_loses_nothing(
    store: Store, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(database_of(state), "s1", talk("s1"))

    def killed(*_: Any) -> None:
        assert len(texts(store)) == 4, "the cursor moves when the turns are safe"
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cursors, "save_cursors", killed)
        with pytest.raises(KeyboardInterrupt):
            catch(store, state)
    report = catch(store, state)
    assert (added(report), known(report)) == (0, 4)


@pytest.mark.parametrize("damage", [b"", b"{", b'{"version":1,"ledger":[0,""],"places":{"a":3}}'])
def test_without_its_cursor_all_is_read_and_known(store: Store, state: Path, damage: bytes) -> None:
    write_rows(database_of(state), "s1", talk("s1"))
    catch(store, state)
    cursors.path_of(store).write_bytes(damage)
    assert known(catch(store, state)) == 4
    assert catch(store, state).up_to_date == 1


def test_a_rewritten_conversation_of_a_database_is_read_anew(store: Store, state: Path) -> None:
    database = database_of(state)
    write_rows(database, "s1", talk("s1"))
    catch(store, state)
    change(database, "DELETE FROM transcript_events WHERE seq > 1")
    report = catch(store, state)
    assert (added(report), known(report)) == (0, 1), "seq went backwards"
    change(database, "DELETE FROM transcript_events")
    write_rows(database, "s1", [header("s1"), *(message(n, "user", f"O {n}") for n in range(9))])
    assert added(catch(store, state)) == 9


def test_a_line_that_is_being_written_is_read_when_it_is_whole(store: Store, state: Path) -> None:
    path, data = transcript_of(state, "s1"), jsonl(talk("s1"))
    path.write_bytes(data[:-40])
    first = catch(store, state)
    assert (added(first), told(first)) == (3, [(5, "incomplete last line")])
    path.write_bytes(data)
    later = catch(store, state)
    assert (added(later), known(later), told(later)) == (1, 3, [])


def test_a_row_that_cannot_be_read_is_told_with_its_place(store: Store, state: Path) -> None:
    database = database_of(state)
    write_rows(database, "s1", talk("s1", 8))
    write = "UPDATE transcript_events SET event_json = ?, event_zstd = ? WHERE seq = ?"
    change(database, write, "{nonsense", None, 1)
    change(database, write, None, b"no zstd at all", 2)
    with sqlite3.connect(database) as connection:
        found = connection.execute("SELECT event_zstd FROM transcript_events WHERE seq = 3")
        change(database, write, None, found.fetchone()[0][:-4], 3)
    change(database, write, None, None, 4)
    change(database, write, None, zstd.compress(b" " * (64 << 20)), 5)
    report = catch(store, state)
    assert told(report) == [
        (1, "not JSON (expecting property name enclosed in double quotes)"),
        (2, "row is not zstd"),
        (3, "row is cut short"),
        (4, "row has neither JSON nor zstd"),
        (5, "row is longer than 1 MiB"),
    ]
    assert {problem.path for problem in report.problems} == {f"{database}#s1"}
    assert added(report) == 3


@pytest.mark.parametrize("version", [22, 24])
def test_an_unknown_version_is_read_with_a_warning(store: Store, state: Path, version: int) -> None:
    write_rows(database_of(state), "s1", talk("s1"))
    change(database_of(state), f"PRAGMA user_version = {version}")
    report = catch(store, state)
    assert added(report) == 4
    assert report.warnings == [
        f"{database_of(state)}: version {version} where clsm knows 23; what it could find there is read"
    ]


def test_a_database_without_the_table_is_a_problem(store: Store, state: Path) -> None:
    write_rows(database_of(state), "s1", talk("s1"))
    write_rows(database_of(state, "other"), "s2", talk("s2"))
    change(database_of(state), "ALTER TABLE transcript_events RENAME TO events_of_tomorrow")
    change(database_of(state), "PRAGMA user_version = 99")
    report = catch(store, state)
    assert [problem.path for problem in report.problems] == [str(database_of(state))]
    assert "version 99 where clsm knows 23" in report.problems[0].reason
    assert (added(report), report.fatal) == (4, None)


def test_a_damaged_database_does_not_move_its_cursor(store: Store, state: Path) -> None:
    database = database_of(state)
    rows = [message(n, "user", f"Message number {n} about the garden wall.") for n in range(400)]
    write_rows(database, "s1", [header("s1"), *rows])
    change(database, "PRAGMA wal_checkpoint(TRUNCATE)")
    whole = database.read_bytes()
    half = len(whole) * 2 // 3 // 4096 * 4096
    database.write_bytes(whole[:half] + b"\xff" * 8192 + whole[half + 8192 :])
    first = catch(store, state)
    assert [line for line, _ in told(first)] == [None]
    database.write_bytes(whole)
    later = catch(store, state)
    assert 0 < added(first) == known(later)
    assert added(later) + known(later) == 400


def test_a_gateway_that_is_writing_is_no_hindrance(store: Store, state: Path) -> None:
    write_rows(database_of(state), "s1", talk("s1"))
    writer = sqlite3.connect(database_of(state), isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM transcript_events")
    started = time.monotonic()
    assert added(catch(store, state)) == 4
    assert time.monotonic() - started < 5
    writer.execute("ROLLBACK")
    writer.close()


def test_what_is_passed_over_is_said(store: Store, state: Path) -> None:
    folder = transcript_of(state, "s1").parent
    transcript_of(state, "s1").write_bytes(jsonl(talk("s1")))
    (folder / "notes.png").write_bytes(b"{}")
    (folder / "link.jsonl").symlink_to(transcript_of(state, "s1"))
    (state / "agents" / "twin").symlink_to(state / "agents" / "main")
    write_rows(database_of(state), "s2", talk("s2"))
    change(database_of(state), "INSERT INTO session_transcript_cold_archives VALUES ('s9', 7)")
    report = catch(store, state)
    reasons = {os.path.basename(each.path): each.reason for each in report.skipped}
    assert reasons == {
        "notes.png": "neither a note nor a transcript",
        "link.jsonl": "symbolic link",
        "twin": "symbolic link",
        "openclaw-agent.sqlite#s9": "in an archive of OpenClaw's own",
    }
    assert added(report) == 8


def test_openclaw_is_not_here(store: Store, tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        report = catch(store, path)
        assert report.fatal is not None
        assert report.fatal.reason == 'no state of OpenClaw here, which has a folder "agents"'


def test_nothing_behind_a_cursor_is_read() -> None:
    """Hundreds of old conversations, half of them files, are passed in a moment."""
    with scratch() as folder:
        store, state = new_store(folder / "memory"), folder / "openclaw"
        for number in range(150):
            write_rows(database_of(state), f"d{number}", talk(f"d{number}", 2))
            transcript_of(state, f"f{number}").write_bytes(jsonl(talk(f"f{number}", 2)))
        catch(store, state)
        started = time.process_time()
        report = catch(store, state)
        taken = time.process_time() - started
    assert (report.up_to_date, report.sources) == (300, [])
    assert taken < 0.1


def test_two_at_once_take_every_turn_in_once(cli: Cli, tmp_path: Path) -> None:
    for number in range(8):
        write_rows(database_of(tmp_path), f"s{number}", talk(f"s{number}"))
    with (cli.store / "clsm.yaml").open(
        "a"
    ) as config:  # on a busy machine, too, one waits for the other
        config.write("settings:\n  store.capture_wait: 60\n")
    words = ("ingest", "--openclaw", str(tmp_path), "--capture", "--json")
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: cli.ok(*words).json, range(2)))
    assert sum(each["added"] for one in done for each in one["files"]) == 32
    inside = cursors.load_cursors(opened(cli.store, "test"))
    assert sorted(len(places) for places in inside.values()) == [8]


def test_notes_of_a_workspace_are_read_again_once_they_were_taken_in(
    store: Store, state: Path
) -> None:
    write_rows(database_of(state), "s1", talk("s1"))
    for name in ("workspace", "workspace-research"):
        (state / name).mkdir()
        (state / name / "MEMORY.md").write_text("The ferry is at nine.\n")
    take(store, state / "workspace")
    (state / "workspace" / "MEMORY.md").write_text("The ferry is at ten.\n")
    report = take(store, state, openclaw=True)
    changed = [tally.path for tally in report.sources if tally.changed]
    assert changed == [str(state / "workspace" / "MEMORY.md")]
    assert not [tally for tally in report.sources if "research" in tally.path]
