"""Logs without what went, line by line."""

import json

import pytest
from tables import table

from clsm_cli.forgetting import clean_writing

GONE = {"0f3a9c12d08e", "f-3a9c12d08e41", "mara"}


def log(*rows: object) -> bytes:
    return b"".join(b"\n" + json.dumps(row).encode() + b"\n" for row in rows)


KEPT = {"recall": "r-1", "at": "2026-02-24T10:00:00Z", "ids": ["a"], "led": ["bm25"]}


@pytest.mark.parametrize(("row", "left"), table(__file__, "lines"))
def test_a_line(row: str, left: str) -> None:
    found = clean_writing.clean_log(log(KEPT, json.loads(row), KEPT), GONE)
    lines = [json.loads(line) for line in found.split(b"\n") if line.strip()]
    assert lines == [KEPT, *filter(None, [json.loads(left)]), KEPT]


def test_a_torn_line_that_names_it_goes() -> None:
    data = log(KEPT) + b'\n{"ids": ["0f3a9c12d08e", "\n' + log(KEPT)
    assert clean_writing.clean_log(data, GONE) == log(KEPT, KEPT)


def test_a_ledger_loses_the_names_of_files_and_keeps_its_runs() -> None:
    run = {"id": "run-1", "command": "ingest", "at": "t", "changes": [{"path": "flow/pi/inbox/a"}]}
    left = clean_writing.without_paths(log(run), {"flow/pi/inbox/a"})
    assert json.loads(left) == {**run, "changes": []}
    assert clean_writing.without_paths(log(run), {"other"}) == log(run)


@pytest.mark.parametrize(("data", "tells"), table(__file__, "bytes"))
def test_bytes_that_tell_of_it(data: str, tells: str) -> None:
    texts = ["The first line\n  the gate code is 1234", "short"]
    assert clean_writing.has_trace(data.encode(), GONE, texts) is (tells == "yes")
