"""The picture of forgetting: its curves are the law's, its columns count the memories of a store."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from aging import BORN, at, later, recall, say, state, tree

from clsm_cli.forgetting import curves
from clsm_cli.inspection.svg_charts import Chart, Line, Picture
from clsm_cli.scoring import retention
from clsm_cli.store.layout import Store


def drawn(store: Store, days: int) -> Picture:
    moment = datetime.combine(BORN + timedelta(days), time(12), UTC)
    return curves.forgetting_picture(store, moment)


def line(found: Chart, name: str) -> Line:
    (one,) = [each for each in found.lines if each.name == name]
    return one


def columns(picture: Picture) -> dict[str, dict[int, int]]:
    """Stream → column → memories, empty ones left out."""
    return {
        bars.name.split(" ")[0]: {at: int(n) for at, n in enumerate(bars.values) if n}
        for bars in picture.charts[1].bars
        if any(bars.values)
    }


@pytest.mark.parametrize("law", ["power", "exponential", "base-level"])
def test_the_curve_of_an_unused_memory_is_the_law_itself(law: retention.Curve) -> None:
    found = curves.curves(law)
    for stream, days in retention.STREAM_DAYS.items():
        points = dict(line(found, stream).points)
        assert points[0] == 1.0
        assert max(points) == curves.TWO_YEARS
        for age_, left in points.items():
            assert left == pytest.approx(retention.retention(law, age_, days))
    assert {level.value for level in found.levels} == {retention.DORMANT, retention.ARCHIVE}


def test_memories_stand_where_their_retention_is(store: Store) -> None:
    used, _ = say(store, "The seal of the pump.", "A heron on the gauge.")
    state(store, "Mara lives in Leiden.", stream="identity")
    state(store, "The lamp is green.", stream="projects")
    state(store, "The lamp was red.", stream="projects", superseded_at=at(later(1)))
    state(store, "Mara moved twice.", stream="projects", withdrawn=True)
    recall(store, later(98), used)  # is not folded yet
    before = tree(store)
    picture = drawn(store, 99)
    assert tree(store) == before
    left = {  # (1 + t/S)^-1/2
        "flow": (100**-0.5, (1 + 1 / 2) ** -0.5),  # 0.1 and, used once, 0.816
        "identity": ((1 + 99 / 30) ** -0.5,),
        "projects": ((1 + 99 / 10) ** -0.5,),
    }
    assert columns(picture) == {
        stream: {int(each * curves.COLUMNS): 1 for each in values}
        for stream, values in left.items()
    }
    assert picture.note == f"{later(99)}: 4 memories"
    names = [bars.name for bars in picture.charts[1].bars]
    assert names == ["identity (1)", "projects (1)", "tasks (0)", "flow (2)"]
    assert picture.charts[1].y.high >= 1
