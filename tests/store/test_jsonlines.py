import json
from typing import Any

import pytest
from hypothesis import given
from strategies import examples, json_values
from tables import table

from clsm_cli.store import jsonlines
from clsm_cli.store.jsonlines import LineError, dump, load


@examples(200)
@given(json_values)
def test_every_value_survives_one_line_of_plain_characters(value: Any) -> None:
    line = dump(value)
    assert load(line) == json.loads(line) == value
    assert len(line.splitlines()) <= 1
    assert jsonlines.load_all([line, line]) == [value, value]


HOSTILE = {
    **{name: (line, reason) for name, line, reason in table(__file__, "hostile")},
    "brackets": ("[" * 5000 + "]" * 5000, "nested deeper than 64"),
    "braces": ('{"a":' * 5000 + "1" + "}" * 5000, "nested deeper than 64"),
    "behind a string": ('["\\"[", ' + "[" * 5000 + "]" * 5001, "nested deeper than 64"),
    "unclosed": ("[" * 64, "is not JSON"),
    "long float": ("[" + "9" * 400 + ".0]", "too large a number"),
    "huge integer": ("[" + "9" * 10_000 + "]", "is not JSON"),
    "NUL": ("\0\0\0", "is not JSON"),
    "NUL in text": ('"\0"', "is not JSON"),
    "too long": ('"' + "x" * (8 << 20) + '"', "is longer than 8 MiB"),
}


@pytest.mark.parametrize("name", [*HOSTILE])
def test_hostile_lines_are_refused_with_a_reason(name: str) -> None:
    line, reason = HOSTILE[name]
    with pytest.raises(LineError, match=reason):
        load(line)
    with pytest.raises(LineError):
        jsonlines.load_all(["{}", line])


def test_many_lines_at_once_are_one_value_a_line() -> None:
    with pytest.raises(LineError, match="one value a line"):
        jsonlines.load_all(['{"a": [1', "2]}"])
    assert jsonlines.load_all([]) == []


def test_lone_surrogates_are_read_escaped_and_can_be_replaced() -> None:
    value = load('{"a\\ud800": ["\\udc00x", "\\ud83d\\ude00"]}')
    assert dump(value) == '{"a\\ud800": ["\\udc00x", "😀"]}'
    assert jsonlines.without_surrogates(value) == {"a\ufffd": ["\ufffdx", "😀"]}
    assert jsonlines.without_surrogates("\ud83d\ude00") == "😀"
