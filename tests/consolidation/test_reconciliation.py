"""What git made of the rows of two machines, and what the next night makes of that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from consolidation.test_correction import bell, home, statement

from clsm_cli.config import ConsolidationSettings
from clsm_cli.consolidation.calibrate import Calibration
from clsm_cli.consolidation.claims import Claim
from clsm_cli.consolidation.lookup import Known
from clsm_cli.consolidation.reconciliation import Reunion
from clsm_cli.model.ids import closed_copy_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from clsm_cli.model.graph import Statement

NOW = "2026-03-01T02:00:00Z"
THEN = "2026-02-25T10:00:00+01:00"
HEARD = bell().sources[0]
LATER = "0f3a9c12d08e"


def claim(value: str, turn: str, at: str) -> Claim:
    return Claim(
        text=f"The bell rings every {value}.", kind="fact", stream="projects", topic="facts",
        turn=turn, trust="user", valid_from=at, observed=at, subject="bell", slot="interval",
        value=value, is_single=True,
    )  # fmt: skip


TOLD = [claim("10 minutes", HEARD, bell().valid_from or ""), claim("15 minutes", LATER, THEN)]


def settled(*rows: Statement, told: Iterable[Claim] = TOLD) -> dict[str, Statement]:
    def said(keys: Collection[str]) -> list[Claim]:
        return [each for each in told if each.turn in keys]

    def calibrate(known: Iterable[Statement]) -> Calibration:
        return Calibration(Known(known, {}, str), ConsolidationSettings(), lambda _: (), NOW)

    reunion = Reunion({row.id: row for row in rows}, str, NOW)
    return reunion.settle(said, calibrate, lambda _: {})


def quarter(**fields: object) -> Statement:
    text = "The bell rings every 15 minutes."
    values = {"subject": "bell", "slot": "interval", "value": "15 minutes", "sources": (LATER,)}
    return statement(text, **{**values, "valid_from": THEN, **fields})


def closed(row: Statement, until: str = THEN) -> tuple[Statement, Statement]:
    """The first two rows of a correction by a machine."""
    copy = replace(row, id=closed_copy_id(row.id, until), valid_until=until, recorded_at=NOW)
    return replace(row, superseded_at="2026-02-26T02:00:00Z"), copy


def values(rows: dict[str, Statement]) -> list[tuple[str | None, str | None, str | None]]:
    believed = [r for r in rows.values() if r.superseded_at is None and not r.withdrawn]
    believed.sort(key=lambda row: row.valid_from or "")
    return [(row.value, row.valid_from, row.valid_until) for row in believed]


IN_ORDER = [("10 minutes", bell().valid_from, THEN), ("15 minutes", THEN, None)]


def test_what_is_in_order_stays_as_it_is() -> None:
    rows = (*closed(bell()), quarter(supersedes=bell().id), home())
    assert settled(*rows) == {row.id: row for row in rows}


def test_two_values_at_a_time() -> None:
    after = settled(bell(), quarter(), home())
    assert [each for each in values(after) if each[0] != "Leeds"] == IN_ORDER
    assert after[bell().id].superseded_at == NOW
    assert after[home().id] == home()


@pytest.mark.parametrize("change", ["stands again", "is gone"])
def test_a_closed_row_whose_line_git_moved(change: str) -> None:
    """Union merges bring a line back, or drop one whose record the other machine had touched."""
    row, copy = closed(bell())
    if change == "stands again":
        row = replace(row, superseded_at=None, pinned=True, trust="user")
    else:
        row = replace(row, withdrawn=True, superseded_at=NOW, text="", text_sha="")
        row = replace(row, text=copy.text)
    after = settled(row, copy, quarter())
    assert values(after) == IN_ORDER
    assert (after[row.id].withdrawn, after[row.id].pinned) == (False, False)
    assert after[row.id].superseded_at


def test_a_row_without_a_slot_whose_line_came_back() -> None:
    row, copy = closed(statement("The yard is locked at night."))
    again = replace(row, superseded_at=None, pinned=True)
    after = settled(again, copy, home())
    assert not after[row.id].is_current
    assert after[copy.id] == copy


def test_two_ends_of_one_row() -> None:
    row, copy = closed(bell())
    _, other = closed(bell(), "2026-02-27T10:00:00+01:00")
    assert values(settled(row, copy, other, quarter())) == IN_ORDER


def test_a_value_that_only_a_lost_row_told_is_told_again() -> None:
    """The same sentence on two machines is one row; the older end of the join hid the newer start."""
    row, copy = closed(bell(), THEN)
    joined = replace(row, sources=(HEARD, "0f3a9c12d0ff"))
    back = claim("10 minutes", "0f3a9c12d0ff", "2026-02-27T10:00:00+01:00")
    after = settled(joined, copy, quarter(), told=[*TOLD, back])
    assert values(after) == [
        IN_ORDER[0],
        ("15 minutes", THEN, back.valid_from),
        ("10 minutes", back.valid_from, None),
    ]


def test_what_a_person_set_stands() -> None:
    by_hand = quarter(value="20 minutes", pinned=True, sources=(), valid_from="2026-02-22")
    by_hand = replace(by_hand, text="The bell rings every 20 minutes.")
    after = settled(bell(), by_hand, told=TOLD[:1])
    assert after[by_hand.id] == by_hand
    assert values(after) == [
        ("10 minutes", bell().valid_from, "2026-02-22"),
        ("20 minutes", "2026-02-22", None),
    ]
