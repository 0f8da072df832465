from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MAKERS, examples, json_values, records

from clsm_cli.model.codec import RECORD_TYPES, RecordError, decode, encode
from clsm_cli.model.graph import Edge, Node, Statement

if TYPE_CHECKING:
    from clsm_cli.model.codec import Record


@examples(200)
@given(records())
def test_every_record_survives_encoding_and_json(record: Record) -> None:
    mapping = encode(record)
    assert decode(mapping) == record
    assert decode(json.loads(json.dumps(mapping))) == record
    assert encode(decode(mapping)) == mapping


def test_every_record_type_has_a_strategy() -> None:
    assert MAKERS.keys() == RECORD_TYPES.keys()


@examples(200)
@given(st.sampled_from([*RECORD_TYPES]), st.data())
def test_any_value_in_any_field_is_read_or_refused_by_name(kind: str, data: st.DataObject) -> None:
    fields = [f for f in RECORD_TYPES[kind].__dataclass_fields__ if f != "extra"]
    name = data.draw(st.sampled_from(fields))
    value = data.draw(st.one_of(json_values, st.just(10**400), st.just([[]]), st.just({"a": {}})))
    mapping = {"id": "x", "record": kind, "rev": [1, "pi"], name: value}
    refusal = ""
    try:
        again = encode(decode(mapping))
    except RecordError as error:
        refusal = str(error)
    if refusal:
        assert f"'{name}'" in refusal
    else:
        assert encode(decode(again)) == again


WRONG: list[tuple[str, str, Any]] = [
    ("node", "id", "../etc"),
    ("node", "id", "a" * 81),
    ("node", "id", None),
    ("node", "rev", 3),
    ("node", "rev", ["1", "pi"]),
    ("node", "rev", [10**30, "pi"]),
    ("node", "label", 7),
    ("node", "aliases", "Mara"),
    ("node", "aliases", ["a", 1]),
    ("node", "n", 1.5),
    ("node", "n", True),
    ("node", "n", 10**30),
    ("node", "pinned", "yes"),
    ("node", "stream", "work"),
    ("node", "stream", []),
    ("edge", "weight", "0.5"),
    ("edge", "weight", True),
    ("edge", "weight", 10**400),
    ("edge", "weight", float("nan")),
    ("edge", "weight", float("inf")),
    ("edge", "directed", 1),
    ("statement", "state", "finished"),
    ("statement", "due", 20260301),
    ("statement", "kind", {}),
    ("episode", "mentions", ["mara"]),
    ("episode", "mentions", {"mara": "k"}),
    ("episode", "mentions", {1: ["k"]}),
    ("episode", "open_questions", [{"answered_by": "k"}]),
    ("episode", "open_questions", ["why?"]),
    ("document", "blocks", [{"lines": [1, 2]}]),
    ("document", "blocks", [{"key": "k", "lines": [1]}]),
    ("document", "blocks", [{"key": "k", "lines": {"0": 1}}]),
    ("document", "blocks", [{"key": "k", "lines": 3}]),
    ("document", "blocks", {"key": "k"}),
    ("document", "closed", {"k": ["2026-02-24"]}),
]


@pytest.mark.parametrize(("kind", "name", "value"), WRONG)
def test_a_wrong_value_is_refused_with_the_name_of_its_field(
    kind: str, name: str, value: Any
) -> None:
    with pytest.raises(RecordError, match=f"field '{name}' must "):
        decode({"id": "x", "record": kind, "rev": [1, "pi"], name: value})


@pytest.mark.parametrize("kind", [None, "", "nodes", 7, [], {}])
def test_an_unknown_record_type_is_refused(kind: Any) -> None:
    with pytest.raises(RecordError, match="field 'record' must be one of"):
        decode({"id": "x", "rev": [1, "pi"], "record": kind})


@pytest.mark.parametrize("missing", ["id", "rev"])
def test_id_and_rev_are_required(missing: str) -> None:
    mapping: dict[str, Any] = {"id": "x", "record": "node", "rev": [1, "pi"]}
    del mapping[missing]
    with pytest.raises(RecordError, match="required"):
        decode(mapping)


def test_unknown_keys_are_kept_and_written_last() -> None:
    mapping = {
        "id": "x",
        "record": "node",
        "rev": [1, "pi"],
        "zeal": [1, {"a": None}],
        "label": "X",
    }
    record = decode(mapping)
    assert record.extra == {"zeal": [1, {"a": None}]}
    assert [*encode(record)] == ["id", "record", "rev", "label", "zeal"]
    assert encode(record) == mapping


def test_defaults_are_not_written() -> None:
    assert encode(Statement(id="f-1", rev=(1, "pi"))) == {
        "id": "f-1",
        "record": "statement",
        "rev": [1, "pi"],
    }


def test_a_weight_that_rounds_to_the_default_is_not_written_either() -> None:
    for tiny in (0.00004, -0.00004):
        assert "weight" not in encode(Edge(id="g-1", rev=(1, "pi"), weight=tiny))


def test_floats_have_four_decimals_and_whole_ones_none() -> None:
    mapping = encode(Edge(id="g-1", rev=(1, "pi"), weight=1 / 3))
    assert mapping["weight"] == 0.3333
    whole = encode(Edge(id="g-1", rev=(1, "pi"), weight=1.0))["weight"]
    assert (whole, type(whole)) == (1, int)


def test_sets_are_read_sorted_and_without_duplicates() -> None:
    node = decode({"id": "x", "record": "node", "rev": [1, "pi"], "aliases": ["b", "a", "b"]})
    assert isinstance(node, Node)
    assert node.aliases == ("a", "b")
