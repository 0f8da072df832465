from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import assert_linear, cpu_seconds, examples, json_values

from clsm_cli.store import jsonlines
from clsm_cli.store.jsonlines import LineError, dump, load


@examples(200)
@given(json_values)
def test_every_value_survives_one_line_of_plain_characters(value: Any) -> None:
    line = dump(value)
    assert load(line) == json.loads(line) == value
    assert len(line.splitlines()) <= 1
    assert jsonlines.load_all([line, line]) == [value, value]


@examples(300)
@given(st.one_of(st.text(st.sampled_from('[]{}",:\\ue\n 1aN-.\ud800'), max_size=40), st.text()))
def test_any_text_is_a_value_or_a_refusal(text: str) -> None:
    try:
        value = load(text)
    except LineError:
        return
    assert load(dump(value)) == value
    dump(jsonlines.without_surrogates(value)).encode()


HOSTILE = {
    "brackets": ("[" * 5000 + "]" * 5000, "nested deeper than 64"),
    "braces": ('{"a":' * 5000 + "1" + "}" * 5000, "nested deeper than 64"),
    "behind a string": ('["\\"[", ' + "[" * 5000 + "]" * 5001, "nested deeper than 64"),
    "unclosed": ("[" * 64, "is not JSON"),
    "duplicate key": ('{"id": "a", "id": "b"}', "has the key 'id' twice"),
    "duplicate key inside": ('{"a": [{"x": 1, "x": 1}]}', "has the key 'x' twice"),
    "NaN": ('{"w": NaN}', "holds NaN"),
    "infinity": ("[-Infinity]", "holds -Infinity"),
    "huge float": ("[1e999]", "too large a number"),
    "long float": ("[" + "9" * 400 + ".0]", "too large a number"),
    "huge integer": ("[" + "9" * 10_000 + "]", "is not JSON"),
    "two values": ("1 2", "is not JSON"),
    "torn": ('{"id": "a", "te', "is not JSON"),
    "NUL": ("\0\0\0", "is not JSON"),
    "NUL in text": ('"\0"', "is not JSON"),
    "nothing": ("", "is not JSON"),
    "too long": ('"' + "x" * (8 << 20) + '"', "is longer than 8 MiB"),
}


@pytest.mark.parametrize("name", [*HOSTILE])
def test_hostile_lines_are_refused_with_a_reason(name: str) -> None:
    line, reason = HOSTILE[name]
    with pytest.raises(LineError, match=reason):
        load(line)
    with pytest.raises(LineError):
        jsonlines.load_all(["{}", line])


def test_depth_up_to_the_limit_and_brackets_in_text_are_fine() -> None:
    load("[" * 64 + "]" * 64)
    load(dump({"text": "[" * 5000 + '"' + "{" * 5000}))
    load("[" + ",".join(["{}"] * 5000) + "]")


def test_many_lines_at_once_are_one_value_a_line() -> None:
    with pytest.raises(LineError, match="one value a line"):
        jsonlines.load_all(['{"a": [1', "2]}"])
    assert jsonlines.load_all([]) == []


def test_lone_surrogates_are_read_escaped_and_can_be_replaced() -> None:
    value = load('{"a\\ud800": ["\\udc00x", "\\ud83d\\ude00"]}')
    assert dump(value) == '{"a\\ud800": ["\\udc00x", "😀"]}'
    assert jsonlines.without_surrogates(value) == {"a\ufffd": ["\ufffdx", "😀"]}
    assert jsonlines.without_surrogates("\ud83d\ude00") == "😀"


FILLERS = ['"\\"', '\\"', '"', "[", "{", '{"a":', "[[]],", '["a",', "1", "-", "\\", '"a":1,', "]"]


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("head", ["", "[]" * 65 + '"', "{"])
def test_time_is_linear(filler: str, head: str) -> None:
    def refused(text: str) -> None:
        with pytest.raises(LineError):
            load(text)

    assert_linear(refused, filler, 1 << 18, head)


def test_a_duplicate_among_many_keys_is_found_fast() -> None:
    line = "{" + ",".join(f'"{n}":0' for n in range(100_000)) + ',"7":0}'

    def refused() -> None:
        with pytest.raises(LineError, match="'7' twice"):
            load(line)

    assert cpu_seconds(refused) < 2
