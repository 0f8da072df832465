import json

from hypothesis import given
from hypothesis import strategies as st
from strategies import MAKERS, examples, json_values, records

from clsm_cli.model.codec import RECORD_TYPES, Record, RecordError, decode, encode
from clsm_cli.model.graph import Edge, Node


@examples(200)
@given(records())
def test_every_record_survives_encoding_and_json(record: Record) -> None:
    mapping = encode(record)
    assert decode(mapping) == record
    assert decode(json.loads(json.dumps(mapping))) == record
    assert encode(decode(mapping)) == mapping


BARE = {"id": "x", "record": "node", "rev": [1, "pi"]}


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


def test_unknown_keys_are_kept_and_written_last() -> None:
    mapping = {**BARE, "zeal": [1, {"a": None}], "label": "X"}
    record = decode(mapping)
    assert record.extra == {"zeal": [1, {"a": None}]}
    assert [*encode(record)] == ["id", "record", "rev", "label", "zeal"]
    assert encode(record) == mapping


def test_defaults_are_not_written() -> None:
    assert encode(Node(id="x", rev=(1, "pi"))) == BARE


def test_floats_have_four_decimals_and_whole_ones_none() -> None:
    mapping = encode(Edge(id="g-1", rev=(1, "pi"), weight=1 / 3))
    assert mapping["weight"] == 0.3333
    whole = encode(Edge(id="g-1", rev=(1, "pi"), weight=1.0))["weight"]
    assert (whole, type(whole)) == (1, int)


def test_sets_are_read_sorted_and_without_duplicates() -> None:
    node = decode({**BARE, "aliases": ["b", "a", "b"]})
    assert isinstance(node, Node)
    assert node.aliases == ("a", "b")
