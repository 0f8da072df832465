"""What a query names, on a store whose nodes are known."""

from collections.abc import Iterator

import pytest
from sample_store import ask
from small_store import row, tell
from tables import column, table

from clsm_cli.model.graph import Node
from clsm_cli.retrieval.entity_linking import link_entities
from clsm_cli.retrieval.question import Query
from clsm_cli.retrieval.recall import retrieve_passages
from clsm_cli.store import record_files, runs
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.graph_queries import number_of
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

NODES = {
    "garrett-hardin": ("Garrett Hardin", ("Hardin",)),
    "delegation-defect": ("delegation defect", ()),
    "defect": ("defect", ("fault",)),
    "c-cedb1bac": ("C++", ()),
    "may": ("May", ("the month of May",)),
}


@pytest.fixture
def index(store: Store) -> Iterator[Index]:
    records = [
        Node(id=name, rev=(1, "pi"), label=label, aliases=aliases)
        for name, (label, aliases) in NODES.items()
    ]
    runs.apply(store, "test", "2026-03-01", record_files.plan_records(store, "projects", records))
    with open_index(store, None) as opened:
        yield opened.index


@pytest.mark.parametrize(("query", "wanted"), table(__file__, "names"))
def test_names(index: Index, query: str, wanted: str) -> None:
    near = graph_queries.nodes(index.connection, [number_of(name) for name in NODES])
    linked = link_entities(index, query, near).items()
    assert {f"{near[number].id} {how}" for number, how in linked} == {*wanted.split(", ")} - {""}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("what did Garret write", {"garrett-hardin"}),
        ("the delegatoin of powers", {"delegation-defect"}),
        ("what about the garden", set()),
        ("delagetion defect", {"defect"}),  # one name is there, so no other is guessed at
    ],
)
def test_a_misspelt_name_is_found_though_no_passage_mentions_it(
    index: Index, query: str, wanted: set[str]
) -> None:
    known = {number_of(name): name for name in NODES}
    assert {known[number] for number in link_entities(index, query, {})} == wanted


@pytest.fixture
def family(store: Store) -> Store:
    texts = column(__file__, "family")
    at = "2026-02-24T08:0{}:00+01:00"
    tell(store, *(row(text, timestamp=at.format(n)) for n, text in enumerate(texts)))
    return store


@pytest.mark.parametrize(("asked", "found"), table(__file__, "misspelt"))
def test_a_misspelt_name_is_looked_for_by_the_right_one(
    family: Store, asked: str, found: str
) -> None:
    answer = ask(family, asked)
    told = [each for each in answer.warnings if "read as" in each]
    assert (told != []) == bool(found)
    assert not found or found in answer.memories[0].text


def test_what_came_after_is_asked_by_the_right_name(family: Store) -> None:
    tell(family, row("Dry.", session="later", timestamp="2026-02-25T08:00:00+01:00"))
    asked = Query("What came after Judit moved?", "2026-02-26T08:00:00+01:00", 10, 2000)
    with open_index(family, None) as opened:
        question, _ = retrieve_passages(opened.index, asked, None, family.settings.recall)
    assert (len(question.scope.rows), question.text) == (1, "What came after judith moved?")


@pytest.mark.parametrize(("message", "found"), table(__file__, "named"))
def test_a_message_that_names_somebody_known_needs_memory(
    family: Store, message: str, found: str
) -> None:
    told = [each.text for each in ask(family, message, is_gated=True).memories]
    assert (found in told[0]) if found else not told


@pytest.mark.parametrize("letter", ["\ud7ff", "\U0010ffff"])
def test_a_letter_without_a_next_one_begins_no_name(index: Index, letter: str) -> None:
    assert not graph_queries.names_with_initial(index.connection, letter)
