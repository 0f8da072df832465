"""The picture of forgetting: its curves are the law's, its columns count the memories of a store."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any, cast
from xml.etree import ElementTree as ET

import pytest
from aging import BORN, at, later, recall, say, state, tree

from clsm_cli.forgetting import curves
from clsm_cli.inspection.svg_charts import PLOT
from clsm_cli.model.streams import Stream
from clsm_cli.scoring import retention
from clsm_cli.store.layout import Store

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("law", ["power", "exponential"])
def test_the_curve_of_an_unused_memory_is_the_law_itself(law: retention.Curve) -> None:
    for stream, days in retention.STREAM_DAYS.items():
        points = dict(curves.curve(law, cast("Stream", stream)))
        assert points[0] == 1.0
        assert max(points) == curves.TWO_YEARS
        for age_, left in points.items():
            assert left == pytest.approx(retention.retention(law, age_, days))


def test_memories_stand_where_their_retention_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    used, _ = say(store, "The seal of the pump.", "A heron on the gauge.")
    state(store, "Mara lives in Leiden.", stream="identity")
    state(store, "The lamp is green.", stream="projects")
    state(store, "The lamp was red.", stream="projects", superseded_at=at(later(1)))
    state(store, "Mara moved twice.", stream="projects", withdrawn=True)
    recall(store, later(98), used)  # is not folded yet
    before = tree(store)
    seen: list[Any] = []
    counted = curves.histogram

    def counts(*given: Any) -> Any:
        seen.append(counted(*given))
        return seen[-1]

    monkeypatch.setattr(curves, "histogram", counts)
    moment = datetime.combine(BORN + timedelta(99), time(12), UTC)
    root = ET.fromstring(curves.forgetting_picture(store, moment))
    assert tree(store) == before
    left = {  # (1 + t/S)^-1/2
        "flow": (100**-0.5, (1 + 1 / 2) ** -0.5),  # 0.1 and, used once, 0.816
        "identity": ((1 + 99 / 30) ** -0.5,),
        "projects": ((1 + 99 / 10) ** -0.5,),
        "tasks": (),
    }
    (found,) = seen
    assert {
        stream: {at for at, n in enumerate(column) if n} for stream, column in found.items()
    } == {
        stream: {int(each * curves.COLUMNS) for each in values} for stream, values in left.items()
    }
    words = [each.text for each in root.iter(f"{SVG}text")]
    assert f"{later(99)}: 4 memories" in words
    assert {"identity (1)", "projects (1)", "tasks (0)", "flow (2)"} <= {*words}
    heights = sorted(float(each.get("height", "")) for each in root.iter(f"{SVG}rect"))
    assert heights[-5:-1] == [PLOT] * 4  # a column each, as high as the plot; the paper is last
