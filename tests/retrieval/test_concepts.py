"""The concepts of a query on the sample memory, consolidated, and on stores that lack something."""

from collections.abc import Sequence

from sample_store import ask
from sleeping import nodes
from small_store import talk, tell
from tables import column

from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import edge_id
from clsm_cli.retrieval.answer import Concept
from clsm_cli.store import record_files, runs
from clsm_cli.store.layout import Store

LATER = "2026-02-25T09:00:00+01:00"
REV = (1, "pi")
QUERIES = column(__file__, "queries")


def write(store: Store, records: Sequence[Record]) -> None:
    runs.apply(store, "test", LATER, record_files.plan_records(store, "projects", records))


def concepts(store: Store, query: str) -> list[Concept]:
    return list(ask(store, query, now=LATER).concepts)


def named(store: Store, query: str) -> dict[str, Concept]:
    return {concept.label: concept for concept in concepts(store, query)}


def test_a_concept_brings_what_it_belongs_to(slept: Store) -> None:
    found = named(slept, "delegation defect")
    assert next(iter(found)) == "delegation defect"
    assert found["delegation defect"].seed == "exact"
    assert {"Hardin", "memory_v2", "alignment"} <= set(found)
    activations = [concept.activation for concept in found.values()]
    assert activations == sorted(activations, reverse=True)
    assert all(0 < each <= 1 for each in activations)


def test_a_hub_that_touches_everything_changes_next_to_nothing(slept: Store) -> None:
    before = {query: [c.id for c in concepts(slept, query)][:10] for query in QUERIES}
    known = sorted(nodes(slept))
    spokes = [*known, *(f"nowhere-{n}" for n in range(200 - len(known)))][:200]
    hub = Node(id="hub", rev=REV, label="Everything", n=200, first=LATER, last=LATER)
    kinds = [("co_occurs", 0.17) if number % 2 else ("part_of", 1.0) for number in range(200)]
    edges = [
        Edge(
            id=edge_id("hub", kind, to), rev=REV, source="hub", target=to, type=kind, weight=weight
        )
        for to, (kind, weight) in zip(spokes, kinds, strict=True)
    ]
    write(slept, [hub, *edges])
    for query in QUERIES:
        after = [c.id for c in concepts(slept, query)][:10]
        assert len(set(after) - set(before[query])) <= 1, query
        assert len(set(before[query]) - set(after)) <= 1, query


def test_a_node_without_a_word_about_it_is_found_by_its_name(slept: Store) -> None:
    name = edge_id("zeppelin", "part_of", "ghost")
    ghost = Edge(id=name, rev=REV, source="zeppelin", target="ghost")
    write(slept, [Node(id="zeppelin", rev=REV, label="zeppelin", aliases=("airship",)), ghost])
    found = named(slept, "did Brian see the airship")
    assert (found["zeppelin"].seed, found["zeppelin"].path) == ("alias", ("zeppelin",))
    assert found["Brian"].seed == "exact"


def test_before_a_night_names_in_the_text_are_concepts(store: Store) -> None:
    tell(store, *talk("main", "[[Corrie]] mends the pump.", "The pump is in Leiden, says Corrie."))
    found = named(store, "who mends the pump")
    assert found["Corrie"].stream == "flow"
    assert found["Corrie"].seed is None
    assert named(store, "what about Corrie")["Corrie"].seed == "exact"
