"""Changes of an agent's daily life: what is closed when, and what is current afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clsm_cli.config import ConsolidationSettings
from clsm_cli.consolidation import claims
from clsm_cli.consolidation.calibrate import Calibration
from clsm_cli.consolidation.claims import Claim
from clsm_cli.consolidation.lookup import Known
from clsm_cli.consolidation.rule_evidence import observe
from clsm_cli.consolidation.statement_selection import weighed
from clsm_cli.consolidation.values import is_same_value
from clsm_cli.heads.judge import about_document
from clsm_cli.model.episodes import Episode, Turn
from clsm_cli.model.graph import Statement
from clsm_cli.store import yaml_text
from clsm_cli.text.node_ids import node_id

HERE = Path(__file__).parent
SETTINGS = ConsolidationSettings()
Case = dict[str, Any]


def cases(name: str) -> list[Case]:
    found: list[Case] = yaml_text.load((HERE / name).read_text("utf-8"), 1 << 20)
    return found


def episode(number: int, day: str, text: str, speaker: str) -> Episode:
    """A daily note with one block, or what somebody said in a chat of that day."""
    turn = Turn(
        key=f"{number:012x}",
        speaker=speaker,
        role="user" if speaker else "assistant",
        text=text,
        time=f"{day}T09:00:00+01:00" if speaker else day,
        path="-" if speaker else f"memory/{day}.md",
        trust="user" if speaker else "agent",
    )
    document = None if speaker else f"note-{day}"
    return Episode(f"e-{number}", day, (turn,), "2026-04-30T00:00:00Z", document=document)


def claimed(number: int, day: str, text: str, speaker: str) -> list[Claim]:
    """The claims of what was said on a day."""
    heard = episode(number, day, text, speaker)
    keys = {turn.key for turn in heard.turns}
    found = claims.of_stated_rules(heard, observe(heard.turns), keys)
    about = None if speaker else about_document(heard.turns)
    return found + claims.of_episode(heard, weighed(heard.turns, about, None), keys, SETTINGS)


def consolidated(
    said: list[list[str]], speaker: str = "", *, at_once: bool = False
) -> list[Statement]:
    """The rows that memory believes after all that was said, night by night or in one."""
    known = Known([], {}, lambda name: name)
    calibration = Calibration(known, SETTINGS, lambda _: (), "2026-05-01T00:00:00Z")
    nights = [claimed(n, day, text, speaker) for n, (day, text) in enumerate(said)]
    for night in [[claim for each in nights for claim in each]] if at_once else nights:
        for claim in claims.in_order(night):
            calibration.read(claim, None)
    rows = [row for row in known.rows.values() if row.superseded_at is None and not row.withdrawn]
    return sorted(rows, key=lambda row: row.id)


def intervals(*said: tuple[str, str]) -> list[tuple[str | None, ...]]:
    """Subject, slot, value, first day and end of the rows that are left, in the order of time."""
    rows = [row for row in consolidated([[day, text] for day, text in said]) if row.slot]
    rows = sorted(
        rows, key=lambda row: (row.slot or "", row.valid_from or "", row.valid_until or "9")
    )
    return [(row.subject, row.slot, row.value, row.valid_from, row.valid_until) for row in rows]


def is_held(wanted: list[str | None], row: Statement) -> bool:
    subject, slot, value, since, until = wanted
    return (
        row.subject == node_id(subject or "")
        and (row.slot or "").partition("/")[0] == slot
        and is_same_value(row.value, value)
        and (row.valid_from or "")[:10] == since
        and (row.valid_until or "")[:10] == (until or "")
    )


def missed(case: Case) -> list[list[str | None]]:
    """What is expected and not believed, and current rows of its slots that nobody expects."""
    rows = consolidated(case["said"], case.get("speaker", ""))
    wrong = [each for each in case["holds"] if not any(is_held(each, row) for row in rows)]
    places = {(node_id(each[0]), each[1]) for each in case["holds"]}
    return wrong + [
        [row.subject, row.slot, row.value, row.valid_from, row.valid_until]
        for row in rows
        if row.is_current
        and (row.subject, (row.slot or "").partition("/")[0]) in places
        and not any(is_held(each, row) for each in case["holds"])
    ]


@pytest.mark.parametrize(("name", "right"), [("changes.yaml", 30), ("changes-held.yaml", 29)])
def test_changes_leave_the_right_intervals(name: str, right: int) -> None:
    found = {case["said"][-1][1]: missed(case) for case in cases(name)}
    wrong = {text: rows for text, rows in found.items() if rows}
    assert len(found) == 30
    assert len(found) - len(wrong) >= right, "\n".join(f"{t}: {r}" for t, r in wrong.items())


@pytest.mark.parametrize("case", cases("changes.yaml"), ids=lambda case: case["said"][-1][1])
def test_nights_one_by_one_are_one_long_night(case: Case) -> None:
    speaker = case.get("speaker", "")
    nightly = consolidated(case["said"], speaker)
    assert consolidated(case["said"], speaker, at_once=True) == nightly
    told_again = [*case["said"], case["said"][-1]]
    again = consolidated(told_again, speaker)
    assert [(row.id, row.valid_until) for row in again] == [
        (row.id, row.valid_until) for row in nightly
    ]


def test_what_stops_has_no_interval_until_it_goes_on() -> None:
    told = ("2026-03-02", "The poller runs every 5 minutes.")
    paused = ("2026-03-05", "The poller is paused as of today.")
    assert intervals(told, paused) == [
        ("poller", "interval", "5 minutes", "2026-03-02", "2026-03-05"),
        ("poller", "status", "paused", "2026-03-05", None),
    ]
    goes_on = ("2026-03-09", "The poller is running again since yesterday.")
    assert intervals(told, paused, goes_on) == [
        ("poller", "interval", "5 minutes", "2026-03-02", "2026-03-05"),
        ("poller", "interval", "5 minutes", "2026-03-08", None),
        ("poller", "status", "paused", "2026-03-05", "2026-03-08"),
        ("poller", "status", "running", "2026-03-08", None),
    ]
    faster = ("2026-03-08", "From today the poller runs every 2 minutes.")
    assert intervals(told, paused, goes_on, faster)[1:3] == [
        ("poller", "interval", "5 minutes", "2026-03-08", "2026-03-08"),
        ("poller", "interval", "2 minutes", "2026-03-08", None),
    ]


def test_an_older_value_that_memory_never_held_is_a_closed_row() -> None:
    assert intervals(("2026-03-06", "The poller runs every 20 minutes instead of every 5.")) == [
        ("poller", "interval", "5 minutes", None, "2026-03-06"),
        ("poller", "interval", "20 minutes", "2026-03-06", None),
    ]
    assert intervals(("2026-03-06", "Until yesterday Hugo's morning drink was espresso.")) == [
        ("hugo", "habit/morning", "espresso", None, "2026-03-06"),
    ]


def test_a_row_whose_beginning_is_unknown_does_not_end_a_newer_one() -> None:
    rows = intervals(
        ("2026-03-06", "The poller runs every 20 minutes instead of every 5."),
        ("2026-03-09", "The poller runs every 30 minutes."),
        ("2026-03-12", "On 3 March the poller ran every 5 minutes."),
    )
    assert [row[2:] for row in rows][1:] == [
        ("20 minutes", "2026-03-06", "2026-03-09"),
        ("30 minutes", "2026-03-09", None),
    ]


def test_what_is_to_come_ends_the_old_value_on_its_day() -> None:
    assert intervals(("2026-03-02", "Mia turns ten on Saturday 21 March.")) == [
        ("mia", "age", "9", "2026-03-02", "2026-03-21"),
        ("mia", "age", "10", "2026-03-21", None),
    ]


def test_what_was_ended_after_some_days_held_as_long() -> None:
    assert intervals(("2026-02-14", "Heron was switched off today, after 47 days.")) == [
        ("heron", "status", "running", "2025-12-29", "2026-02-14"),
        ("heron", "status", "switched off", "2026-02-14", None),
    ]


def test_a_finished_task_may_tell_a_change() -> None:
    first = ("2026-03-02", "No calls before nine.")
    then = ("2026-03-09", '- [x] Rule "no calls before nine" replaced by "no calls before ten"')
    assert intervals(first, then) == [
        ("i", "rule/no calls before", "nine", "2026-03-02", "2026-03-09"),
        ("i", "rule/no calls before", "ten", "2026-03-09", None),
    ]
