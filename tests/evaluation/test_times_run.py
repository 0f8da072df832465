"""Time expressions are read from a file, put to a real store and counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from clsm_cli.commands import evaluate_study
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.studies import times

SMALL = """
store:
- {id: a, time: "2025-09-02T18:10:00+02:00", about: [tea], text: ["user: Tea?", "assistant: Yes: tea."]}
- {id: b, time: "2025-09-03T18:10:00+02:00", about: [soup], text: ["user: Soup."]}
expressions:
- {id: x1, now: "2025-09-10T10:00:00+02:00", query: "our first chat", store: true, answer: [a]}
- {id: x2, now: "2025-09-10T10:00:00+02:00", query: "our last chat", store: true, answer: [a], or: [{answer: [b]}]}
- {id: x3, now: "2025-09-10T10:00:00+02:00", query: "our last chat", store: true, answer: [a]}
- {id: x4, now: "2025-09-10T10:00:00+02:00", query: "before 2024", first: null, until: "2024-01-01", hard: true}
- {id: x5, now: "2025-09-10T10:00:00+02:00", query: "recently", first: "2025-09-01", until: "2025-09-11", hard: true}
"""


def put(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / times.FILE).write_text(text, encoding="utf-8")
    return folder


def test_what_is_counted(factory: StoreFactory, tmp_path: Path) -> None:
    report = times.run_times(put(tmp_path / "set", SMALL), factory)
    assert [(each.id, each.is_right) for each in report.readings] == [
        ("x1", True),
        ("x2", True),
        ("x3", False),
        ("x4", True),
        ("x5", False),
    ]
    assert [each.is_firm for each in report.readings] == [True, True, True, True, False]
    assert report.readings[2].found == ("b",)
    right = evaluate_study.times_mapping(report)["right"]
    assert right == {
        "store": "2 of 3, 2 hard or soft too",
        "calendar": "1 of 2, 1 hard or soft too",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "store: []",
        "store: 3\nexpressions: 4",
        "expressions: [{id: x}]\nstore: []",
        SMALL.replace("2025-09-10T10:00:00+02:00", "noon"),
        SMALL.replace('until: "2024-01-01"', 'until: "2024-13-01"'),
        "[",
    ],
)
def test_a_file_that_is_not_of_this_set(factory: StoreFactory, tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInputError):
        times.run_times(put(tmp_path / "set", text), factory)
