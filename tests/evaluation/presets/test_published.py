"""The published systems: cls-m on graphs drawn by hand, all on the consolidated sample memory."""

import json
import shutil
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from aging import write
from hypothesis import given
from hypothesis import strategies as st
from ingesting import embedder, opened
from sample_store import NOW, query_engine
from strategies import NASTY, examples
from tables import table

from clsm_cli.curation.correction import correct
from clsm_cli.evaluation.formulas import retrieve_in_rounds
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.presets import published
from clsm_cli.evaluation.presets.library import Library
from clsm_cli.model.graph import Edge, Node
from clsm_cli.retrieval.question import Query
from clsm_cli.store import atomic, record_files, shards
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import stems

DAY = datetime.fromisoformat(NOW).date().isoformat()
LABELS = ("Quartz", "Ferry", "Violin", "Tax", "Moss")
"""Things that are far from each other in meaning."""


def asked(text: str, budget: int = 10**6) -> Query:
    return Query(text, NOW, 10, budget)


def ask(library: Library, name: str, text: str, budget: int = 10**6) -> Retrieved:
    return published.retrieve(library, asked(text, budget), name)


def node(label: str, *, last: str = DAY) -> Node:
    return Node(id=label.lower(), rev=(1, "pi"), label=label, n=3, last=last)


def edge(source: str, target: str, weight: float = 1.0, **times: Any) -> Edge:
    a, b = source.lower(), target.lower()
    times |= {"rev": (1, "pi"), "type": "semantic", "weight": weight}
    return Edge(id=f"g-{a}-{b}", source=a, target=b, **times)


def draw(store: Store, *records: Node | Edge) -> None:
    write(store, record_files.plan_records(store, "projects", records))


def reached(store: Store) -> list[str]:
    """The nodes that cls-m finds for "Quartz" with the nearest seed alone, so that all else is spread."""
    with open_index(store, embedder()) as index:
        found = published.cls_m(Library(index.index, query_engine()), asked("Quartz"), most=1)
        return [unit.id for unit, _ in found]


def test_only_edges_that_hold_conduct(store: Store) -> None:
    draw(
        store,
        *map(node, LABELS),
        edge("Quartz", "Ferry", valid_until="2026-02-01"),
        edge("Quartz", "Violin", superseded_at="2026-02-01T00:00:00Z"),
        edge("Quartz", "Tax", valid_from="2026-03-01"),
        edge("Moss", "Quartz"),
        edge("Quartz", "Nobody"),
    )
    assert reached(store) == ["quartz", "moss"]


def test_a_node_that_was_used_is_awake(store: Store) -> None:
    far = node("Violin", last="2020-01-01")  # .5 · 2^-.2 · .5 is above .15, not above 1.5 of it
    draw(
        store, node("Quartz"), node("Ferry"), far, edge("Quartz", "Ferry"), edge("Ferry", "Violin")
    )
    assert reached(store) == ["quartz", "ferry"]
    used = json.dumps({"id": "violin", "day": DAY, "n": 1})
    atomic.put(store.flow / "uses.jsonl", f"{used}\n".encode())
    assert reached(store) == ["quartz", "ferry", "violin"]


@pytest.fixture(scope="module")
def asleep(slept_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The sample memory after a night; nothing is written to it here."""
    root = shutil.copytree(slept_store, tmp_path_factory.mktemp("asleep") / "memory")
    with open_index(opened(root), embedder()) as index:
        yield Library(index.index, query_engine())


@pytest.mark.parametrize("name", published.PRESETS)
def test_every_preset_returns_memories_and_their_concepts(asleep: Library, name: str) -> None:
    answer = ask(asleep, name, "why did memory_v2 fail", 2000)
    assert 0 < sum(each.tokens for each in answer.items) <= 2000
    assert answer.confidence is None
    assert 0 < len(answer.concepts) <= 10
    assert "memoryv2" in {key for names in answer.concepts for key in names}
    assert all(each.turns for each in answer.items)
    assert answer == ask(asleep, name, "why did memory_v2 fail", 2000)


def test_nemori_ten_episodes_of_which_two_have_their_turns_and_twenty_statements(
    asleep: Library,
) -> None:
    found = ask(asleep, "nemori", "how is the alignment problem connected").items
    episodes, statements = found[:10], found[10:]
    assert len(statements) == 20
    assert all(item.id.startswith("f-") for item in statements)
    assert ["\n\n" in item.text for item in episodes] == [True] * 2 + [False] * 8


def test_caim_finds_by_date_or_tag_and_filters_what_is_not_near(asleep: Library) -> None:
    pool = asleep.pool("statement")
    dated = published.by_dates(asleep, asked("What happened on 12 February?"), pool)
    day = date(2026, 2, 12).toordinal()
    assert dated == {at for at, unit in enumerate(pool.units) if day in asleep.days(unit)} != set()
    assert not published.by_dates(asleep, asked("What happened on 12 March 2019?"), pool)
    question = asked("how is the alignment problem connected")
    tagged = {pool.units[at].id for at in published.by_tags(asleep, question, pool)}
    kept = {unit.id for unit, _ in published.caim(asleep, question)}
    assert kept
    assert kept < tagged


@examples(200)
@given(st.one_of(st.sampled_from(NASTY), st.text(max_size=200)))
def test_any_text_has_at_most_three_tags_of_the_ontology(text: str) -> None:
    found = published.tags_by_likeness(text, [])
    assert len(set(found)) == len(found) <= 3
    assert {*found} <= published.ontology().keys()


def test_more_words_win_then_earlier_ones() -> None:
    text = "Puppies, kittens, a puppy on a leash: the rollback of the deployment broke."
    assert published.tags_by_likeness(text, []) == ("dog", "deployment", "cat")


def test_the_ontology_leads_each_word_to_one_tag() -> None:
    owner: dict[str, str] = {}
    for tag, synonyms in published.ontology().items():
        for word in (tag, *synonyms):
            [stem] = stems(word)
            assert owner.setdefault(stem, word) == word, f"{word} of {tag}"


@pytest.mark.parametrize(("text", "parts"), table(__file__, "complex"))
def test_smriti_takes_apart_what_is_complex(text: str, parts: str) -> None:
    found: list[str] = []

    def search(part: str) -> dict[int, float]:
        found.append(part)
        return {}

    retrieve_in_rounds(text, search, lambda _: "")
    assert (len(found), found[0]) == (int(parts), text)


def test_smriti_fuses_rounds_and_asks_for_what_is_missing() -> None:
    held = {"REST vs GraphQL": {1: 0.4, 2: 0.3}, "REST": {1: 0.5}, "GraphQL": {3: 0.2}}
    asked = []

    def search(text: str) -> dict[int, float]:
        asked.append(text)
        return held.get(text, {})

    found = retrieve_in_rounds("REST vs GraphQL", search, lambda _: "REST is an interface")
    assert asked == ["REST vs GraphQL", "REST", "GraphQL"]  # GraphQL was asked for already
    assert found == pytest.approx({1: (0.4 + 0.8 * 0.5) * 1.3, 2: 0.3, 3: 0.6 * 0.2})


def test_cma_a_value_that_was_superseded_is_a_distractor(slept: Store) -> None:
    records = shards.load_graph(slept.graphs()).records
    row = next(
        each
        for each in record_files.load_statements(slept, records, "2026-02-25T08:00:00Z").values()
        if each.is_current and each.kind == "fact" and len(each.sources) == 1
    )

    def gains() -> dict[str, float]:
        with open_index(slept, embedder()) as index:
            library = Library(index.index, query_engine())
            pool = library.pool("turn")
            places = range(len(pool.units))
            found = published.gains(library, row.text, pool, places)
            return {pool.units[at].id: gain for at, gain in found.items()}

    before = gains()
    now = datetime.fromisoformat("2026-02-25T08:00:00+01:00")
    correct(slept, row.id, "That is over.", now, lambda _: None, is_whole=True)
    after = gains()
    (source,) = row.sources
    assert before[source] == max(before.values())
    assert before[source] - after.get(source, 0.0) == pytest.approx(min(1.0, before[source]))
    others = before.keys() & after.keys() - {source}
    assert [after[each] for each in others] == pytest.approx([before[each] for each in others], 0.1)
