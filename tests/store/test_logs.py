from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, few_ids, ids, texts, times

from clsm_cli.store import atomic, logs
from clsm_cli.store.jsonlines import load

some_ids = st.lists(few_ids, max_size=3).map(tuple)
hashes = st.one_of(st.none(), texts)
changes = st.builds(logs.Change, texts, hashes, hashes, st.one_of(st.none(), st.integers(0, 99)))
LINES: dict[Any, st.SearchStrategy[Any]] = {
    logs.Activation: st.builds(logs.Activation, ids, times, some_ids, some_ids),
    logs.Use: st.builds(logs.Use, ids, times, st.integers(1, 9)),
    logs.Feedback: st.builds(logs.Feedback, ids, times, *(some_ids,) * 4),
    logs.ReviewItem: st.builds(logs.ReviewItem, ids, times, some_ids, *(texts,) * 4),
    logs.RunLine: st.builds(
        logs.RunLine, ids, texts, times, st.lists(changes, max_size=3).map(tuple)
    ),
    logs.Tombstone: st.builds(logs.Tombstone, texts, times),
}


@pytest.mark.parametrize("kind", [*LINES])
@examples(60)
@given(data=st.data())
def test_each_kind_of_line_reads_back(kind: Any, data: st.DataObject) -> None:
    line = data.draw(LINES[kind])
    rendered = logs.render(line)
    assert b"\n" not in rendered
    assert logs.parse(kind, load(rendered.decode())) == line


@pytest.mark.parametrize("kind", [*LINES])
@pytest.mark.parametrize("row", [{}, {"id": 1}, {"recall": "r", "at": "t", "ids": 3, "good": 1}])
def test_what_is_no_such_line_raises_what_callers_expect(kind: Any, row: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError)):
        logs.parse(kind, row)


def test_rows_have_line_numbers_and_bad_ones_are_problems(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for record in (b'{"a": 1}', b'{"a": 2', b'["a"]', b'{"a": \xff}', b'{"a": 5}'):
        atomic.append(path, record)
    found, problems = logs.rows(path)
    assert found == [(2, {"a": 1}), (10, {"a": 5})]
    assert [problem.line for problem in problems] == [4, 6, 8]
    assert logs.rows(tmp_path / "no.jsonl") == ([], [])
