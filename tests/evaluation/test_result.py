"""A report is read back as it was written, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from evaluation.report_sample import full as sample
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.result import (
    SCHEMA,
    NotAResultError,
    Result,
    SetResult,
    dump,
    load,
    parse,
)

PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=8),
    int: st.integers(-(2**63), 2**63),
    float: st.floats(allow_nan=False, allow_infinity=False),
    NoneType: st.none(),
}


def values_of(wanted: Any) -> st.SearchStrategy[Any]:
    """Any value of a type that a result is made of."""
    if wanted in PLAIN:
        return PLAIN[wanted]
    if isinstance(wanted, type) and is_dataclass(wanted):
        hints = get_type_hints(wanted)
        return st.builds(
            wanted, **{each.name: values_of(hints[each.name]) for each in fields(wanted)}
        )
    inside = get_args(wanted)
    if get_origin(wanted) is dict:
        return st.dictionaries(values_of(str), values_of(inside[1]), max_size=2)
    if get_origin(wanted) is tuple:
        if inside[1:] == (...,):
            return st.lists(values_of(inside[0]), max_size=2).map(tuple)
        return st.tuples(*map(values_of, inside))
    return st.one_of(*map(values_of, inside))


@given(values_of(Result))
@examples(40)
def test_what_was_written_is_read_back(made: Result) -> None:
    result = replace(made, schema=SCHEMA)
    assert parse(json.loads(json.dumps(dump(result)))) == result


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    """The sample report with something else in it."""
    value = dump(sample())
    change(value)
    return json.dumps(value)


HOSTILE = {
    "is longer": " " * 10,
    "is not JSON": "{",
    "is not UTF-8": "\udcff",
    "schema is null": "[]",
    'schema is "clsm.eval/2"': changed(lambda value: value.update(schema="clsm.eval/2")),
    "has no field 'seed'": changed(lambda value: value.pop("seed")),
    'has a field "more"': changed(lambda value: value.update(more=1)),
    "seed must be a whole number": changed(lambda value: value.update(seed=True)),
    "version must be text": changed(lambda value: value.update(version=1)),
    "machine must be an object": changed(lambda value: value.update(machine=[])),
    "sets must be a list": changed(lambda value: value.update(sets={})),
    r"sets\[0\] must be an object": changed(lambda value: value.update(sets=[1])),
    r"sets\[0\].silenced must be a number": changed(
        lambda value: value["sets"][0].update(silenced="0.5")
    ),
    r"sets\[0\].silenced is too large": changed(
        lambda value: value["sets"][0].update(silenced=10**400)
    ),
    r"interval must have 2 values, not 3": changed(
        lambda value: value["sets"][0]["pairs"][0].update(interval=[1, 2, 3])
    ),
    "holds NaN": changed(lambda value: value["sets"][0].update(stored=float("nan"))),
    "too large a number": '{"schema": 1e999}',
    "nested deeper": "[" * 100_000,
    "twice": '{"schema": 1, "schema": 2}',
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_what_is_no_report_is_refused_in_one_sentence(
    tmp_path: Path, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(HOSTILE[reason].encode("utf-8", "surrogateescape"))
    if reason == "is longer":
        monkeypatch.setattr("clsm_cli.evaluation.result.MAX_REPORT", 5)
        reason = "is larger"
    with pytest.raises(BadInputError, match=reason) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_each_field_of_a_set_is_checked() -> None:
    value = dump(sample())
    for each in fields(SetResult):
        broken = {**value, "sets": [{**value["sets"][0], each.name: object()}]}
        with pytest.raises(NotAResultError, match=rf"^sets\[0\]\.{each.name} must be"):
            parse(broken)
