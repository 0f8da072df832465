import io
import json
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.ingestion import jsonl_rows
from clsm_cli.store.jsonlines import LineError

NOW = datetime(2026, 2, 24, 12, 0, tzinfo=UTC)


def rows(data: bytes) -> list[object]:
    about = jsonl_rows.Reading("a.jsonl", UTC, NOW, "s")
    lines, plain = (
        jsonl_rows.bounded_lines(io.BytesIO(data)),
        cast("Any", lambda row, n: [(n, row)]),
    )
    found: list[Any] = list(jsonl_rows.row_items(lines, plain, about))
    return [*found, *about.findings.problems("a.jsonl")]


@given(st.binary(max_size=200), st.integers(min_value=1, max_value=20))
def test_lines_are_complete_and_bounded(data: bytes, limit: int) -> None:
    expected = data.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    lines = list(jsonl_rows.bounded_lines(io.BytesIO(data), limit))
    assert [number for number, _ in lines] == list(range(1, len(expected) + 1))
    for (_, line), whole in zip(lines, expected, strict=True):
        if isinstance(line, str):
            assert (len(whole) > limit, line[:8]) == (True, "line of ")
        else:
            assert isinstance(line, bytes)
            assert line.rstrip(b"\n") == whole
            assert len(line) <= limit + 2


def test_a_bad_line_is_a_problem_and_the_rest_goes_on() -> None:
    found = rows(
        b'\xef\xbb\xbf{"a":1}\n\n{"a":1,"a":2}\nnope\n[1]\n{"a":NaN}\n'
        + b'{"a":' * 5000
        + b'\n{"b":2}\n{"half'
    )
    assert found == [
        (1, {"a": 1}),
        jsonl_rows.Problem("a.jsonl", 3, "has the key 'a' twice"),
        jsonl_rows.Problem("a.jsonl", 4, "not JSON (expecting value)"),
        jsonl_rows.Problem("a.jsonl", 5, "not a JSON object"),
        jsonl_rows.Problem("a.jsonl", 6, "holds NaN, which is no number"),
        jsonl_rows.Problem("a.jsonl", 7, "nested deeper than 64"),
        (8, {"b": 2}),
        jsonl_rows.Problem("a.jsonl", 9, "incomplete last line"),
    ]


def test_bad_bytes_are_replaced_and_told_once() -> None:
    found = rows(b'{"a":"caf\xe9"}\n{"a":"\xe9"}\n{"a":"x\0y\\u0000z"}\n{"a\\ud800":["\\ud83d"]}\n')
    assert found == [
        (1, {"a": "caf\ufffd"}),
        (2, {"a": "\ufffd"}),
        (3, {"a": "xyz"}),
        (4, {"a\ufffd": ["\ufffd"]}),
        jsonl_rows.Problem("a.jsonl", 1, "invalid UTF-8 replaced (3 times)"),
        jsonl_rows.Problem("a.jsonl", 3, "NUL removed (2 times)"),
    ]


@given(st.binary(max_size=300))
def test_any_bytes_give_a_row_or_a_line_error(data: bytes) -> None:
    try:
        row = jsonl_rows.parse(data, 1, jsonl_rows.Findings())
    except LineError:
        return
    json.dumps(row, ensure_ascii=False).encode()


@pytest.mark.parametrize("value", [1.5, True, [], {}, " \n", "x" * 5000])
def test_labels_are_short_lines(value: object) -> None:
    name = jsonl_rows.label(value)
    assert name is None or (len(name) <= 200 and "\n" not in name)
