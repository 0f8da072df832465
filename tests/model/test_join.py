from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import MAKERS, examples, few_ids, records

from clsm_cli.model.codec import RECORD_TYPES, Record, encode
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.join import SETS, join, join_all
from clsm_cli.store import shards

ONE = st.just("x")
every_type = pytest.mark.parametrize("kind", [*RECORD_TYPES])


def versions_of(kind: str, data: st.DataObject, count: int) -> list[Any]:
    return [data.draw(MAKERS[kind](ONE)) for _ in range(count)]


def elements(record: Record) -> Iterator[tuple[str, str]]:
    """Everything in a record that a join must keep: set elements, mentions and closed blocks."""
    for name in SETS[type(record)]:
        yield from ((name, element) for element in getattr(record, name))
    if isinstance(record, EpisodeRecord):
        for node, turns in record.mentions.items():
            yield from ((f"mentions {node}", turn) for turn in turns)
            yield ("mentions", node)
    if isinstance(record, Document):
        yield from (("closed", key) for key in record.closed)


@every_type
@examples(60)
@given(data=st.data())
def test_join_is_commutative_associative_and_idempotent(kind: str, data: st.DataObject) -> None:
    a, b, c = versions_of(kind, data, 3)
    assert join(a, b) == join(b, a)
    assert join(a, join(b, c)) == join(join(a, b), c)
    assert join(a, a) == a


@every_type
@examples(60)
@given(data=st.data())
def test_join_is_an_upper_bound_and_loses_nothing(kind: str, data: st.DataObject) -> None:
    a, b = versions_of(kind, data, 2)
    both = join(a, b)
    assert join(both, a) == both == join(b, both)
    assert {*elements(both)} == {*elements(a), *elements(b)}
    assert both.rev == max(a.rev, b.rev)


@examples(200)
@given(st.lists(records(ONE), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(versions: list[Record], random: Any) -> None:
    joined = join_all(versions)
    shuffled = [*versions, *versions]
    random.shuffle(shuffled)
    assert join_all(shuffled) == joined


@examples(200)
@given(st.lists(records(ONE), min_size=1, max_size=5))
def test_a_value_that_a_person_set_is_kept_or_reported(versions: list[Record]) -> None:
    joined = join_all(versions)
    lost = {str(encode(v)) for v in joined.lost}
    for version in versions:
        seen = version.rev[1] == joined.record.rev[1] and version.rev[0] < joined.record.rev[0]
        same = set_by_person(version) == set_by_person(joined.record)
        if version.pinned and not same and not seen:
            assert any(set_by_person(v) == set_by_person(version) for v in joined.lost)
    assert all(v.pinned for v in joined.lost)
    assert str(encode(joined.record)) not in lost


def set_by_person(record: Record) -> dict[str, Any]:
    derived = {*SETS[type(record)], "mentions", "closed", "rev", "n", "first", "last", "weight"}
    return {key: value for key, value in encode(record).items() if key not in derived}


@examples(150)
@given(st.lists(records(few_ids), max_size=8), st.lists(records(few_ids), max_size=8))
def test_joining_before_or_after_a_merge_is_one(ours: list[Record], theirs: list[Record]) -> None:
    """What ``merge=union`` makes of two shards, however often they were normalised before."""

    def graph(*parts: bytes) -> dict[str, Record]:
        return shards.fold(shards.parse(part, Path("a.yaml")) for part in parts).records

    one, two = shards.render(ours), shards.render(theirs)
    merged = graph(one, two)
    assert graph(one + two) == graph(two, one, one) == merged
    # Versions of one id with different types are no lattice: only their top type survives a fold.
    kinds: dict[str, set[type[Record]]] = {}
    for record in [*ours, *theirs]:
        kinds.setdefault(record.id, set()).add(type(record))
    tidy = graph(shards.render(graph(one).values()), shards.render(graph(two).values()))
    assert tidy.keys() == merged.keys()
    assert all(tidy[i] == merged[i] for i in merged if len(kinds[i]) == 1)


def test_the_higher_revision_decides_and_devices_break_ties() -> None:
    old = Node(id="x", rev=(1, "zz"), label="old", n=9)
    new = Node(id="x", rev=(2, "aa"), label="new", n=3)
    twin = replace(new, rev=(2, "ab"), label="twin")
    assert join(old, new) == join(new, old) == new
    assert join(new, twin) == join(twin, new) == twin


def test_a_pinned_version_that_lost_is_reported() -> None:
    mine = Node(id="x", rev=(1, "pi"), label="Mara Lind", pinned=True)
    run = Node(id="x", rev=(2, "pc"), label="mara")
    assert join_all([run, mine]).lost == (mine,)


def test_two_types_under_one_id_give_the_type_of_the_highest_revision() -> None:
    node = Node(id="x", rev=(1, "pi"), pinned=True, label="X")
    edge = Edge(id="x", rev=(2, "pi"), source="a", target="b")
    orders: list[list[Record]] = [[node, edge], [edge, node]]
    for order in orders:
        assert join_all(order).record == edge
        assert join_all(order).lost == ()
