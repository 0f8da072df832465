"""Logs without what went, line by line."""

import json

import pytest

from clsm_cli.forgetting import clean_writing

GONE = {"0f3a9c12d08e", "f-3a9c12d08e41", "mara"}


def log(*rows: object) -> bytes:
    return b"".join(b"\n" + json.dumps(row).encode() + b"\n" for row in rows)


KEPT = {"recall": "r-1", "at": "2026-02-24T10:00:00Z", "ids": ["a"], "led": ["bm25"]}


@pytest.mark.parametrize(
    ("row", "left"),
    [
        (KEPT, KEPT),
        ({**KEPT, "ids": ["0f3a9c12d08e", "a"], "led": ["fact", "bm25"]}, KEPT),
        ({**KEPT, "ids": ["0f3a9c12d08e-2"], "led": ["fact"]}, None),  # a part of a long turn
        ({**KEPT, "concepts": ["mara", "leeds"]}, {**KEPT, "concepts": ["leeds"]}),
        ({"id": "0f3a9c12d08e", "day": "2026-02-24", "n": 3}, None),
        ({"id": "a", "day": "2026-02-24", "n": 3}, {"id": "a", "day": "2026-02-24", "n": 3}),
        ({"id": "v-1", "about": ["f-3a9c12d08e41"], "reason": "x"}, None),
        (
            {"recall": "r-1", "at": "t", "good": ["mara"], "bad": ["a"], "bad_led": ["x"]},
            {"recall": "r-1", "at": "t", "good": [], "bad": ["a"], "bad_led": ["x"]},
        ),
    ],
)
def test_a_line(row: dict[str, object], left: dict[str, object] | None) -> None:
    found = clean_writing.clean_log(log(KEPT, row, KEPT), GONE)
    lines = [json.loads(line) for line in found.split(b"\n") if line.strip()]
    assert lines == [KEPT, *([] if left is None else [left]), KEPT]


def test_a_torn_line_that_names_it_goes() -> None:
    data = log(KEPT) + b'\n{"ids": ["0f3a9c12d08e", "\n' + log(KEPT)
    assert clean_writing.clean_log(data, GONE) == log(KEPT, KEPT)


def test_a_ledger_loses_the_names_of_files_and_keeps_its_runs() -> None:
    run = {"id": "run-1", "command": "ingest", "at": "t", "changes": [{"path": "flow/pi/inbox/a"}]}
    left = clean_writing.without_paths(log(run), {"flow/pi/inbox/a"})
    assert json.loads(left) == {**run, "changes": []}
    assert clean_writing.without_paths(log(run), {"other"}) == log(run)


@pytest.mark.parametrize(
    ("data", "tells"),
    [
        (b'- {"id": "0f3a9c12d08e"', True),
        (b"the gate code is 1234, she said", True),
        (b"the gate code is", False),
        (b"a short", False),
    ],
)
def test_bytes_that_tell_of_it(data: bytes, tells: bool) -> None:
    texts = ["The first line\n  the gate code is 1234", "short"]
    assert clean_writing.has_trace(data, GONE, texts) is tells
