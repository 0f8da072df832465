"""What a question that names no speaker finds: a fact among small talk, and what it leads to."""

from dataclasses import replace
from pathlib import Path

import pytest
from ingesting import new_store
from sample_store import ask
from small_store import found, talk, tell

from clsm_cli.commands.render_recall import answer_lines
from clsm_cli.config import Settings, with_changes
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import edge_id
from clsm_cli.retrieval import activation
from clsm_cli.retrieval.answer import ActivationPath, Memory
from clsm_cli.retrieval.question import understand
from clsm_cli.store import record_files, runs
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

NOW = "2026-03-01T12:00:00+01:00"
SMALL_TALK = (
    "The bus was late again this morning.", "It has been raining since noon.",
    "The printer is out of paper once more.", "Somebody left an umbrella at the door.",
    "The soup at the canteen was far too salty.", "I could not sleep because of the wind.",
)  # fmt: skip
HUSBAND = "Tamsin is married to Corvo."
TRADE = "Corvo has taken a post as a roofer."
SPOUSE = "What does Tamsin's spouse do for work?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """What leads to what, each among small talk of its own; others of its kind besides."""
    made = new_store(tmp_path_factory.mktemp("activation") / "memory")
    lone = (HUSBAND, TRADE, "Ottoline works at a bakery.", "Pell works as a nurse in Delft.")
    for number, text in enumerate(lone):
        said = [*SMALL_TALK[number:], text, *SMALL_TALK[:number]]
        tell(made, *talk(f"s{number}", *said, speaker="user"))
    return made


def of(memories: list[Memory], text: str) -> Memory:
    return next(memory for memory in memories if memory.text == text)


def without(store: Store, **changes: float) -> Store:
    named = {f"recall.{name}": value for name, value in changes.items()}
    return store._replace(settings=with_changes(Settings(), named))


def test_the_second_memory_is_reached_by_the_name_in_the_first(store: Store) -> None:
    best = found(store, SPOUSE)[:3]
    assert best[0].text == HUSBAND
    assert of(best, TRADE).why.graph > 0.5
    assert of(best, TRADE).way == ActivationPath("Corvo", best[0].id, HUSBAND)
    told = "\n".join(answer_lines(ask(store, SPOUSE), explain=True))
    assert f'reached through Corvo from {best[0].id}: "{HUSBAND}"' in told
    assert of(found(store, SPOUSE), "Pell works as a nurse in Delft.").why.graph == 0


def test_without_it_others_of_its_kind_stand_above_it(store: Store) -> None:
    order = [memory.text for memory in found(without(store, weight_graph=0), SPOUSE)]
    assert order.index("Pell works as a nurse in Delft.") < order.index(TRADE)


def test_a_name_of_the_question_or_of_many_passages_leads_nowhere(tmp_path: Path) -> None:
    made = new_store(tmp_path / "memory")
    lines = [f"On day {n} we met Corvo at pier {n}." for n in range(activation.MAX_PASSAGES + 9)]
    tell(made, *talk("s", *lines, "My sister is called Odile.", "Say hello to Odile."))
    assert all(memory.why.graph == 0 for memory in found(made, "Where is Odile?"))
    assert all(memory.why.graph == 0 for memory in found(made, "Whom did we meet at a pier?"))


def test_an_edge_set_by_hand_leads_on_the_more_the_higher_it_is(tmp_path: Path) -> None:
    """Nothing in the text says whom Tamsin lives with."""
    made = new_store(tmp_path / "memory")
    tell(made, *talk("a", "I met Tamsin at the market.", *SMALL_TALK, speaker="user"))
    tell(made, *talk("b", *SMALL_TALK, TRADE, speaker="user"))
    tell(made, *talk("c", "Pell works as a nurse in Delft.", *SMALL_TALK, speaker="user"))
    question = "What work does somebody in the house of Tamsin do?"
    name = edge_id("tamsin", "personal", "corvo")
    tie = Edge(id=name, rev=(0, "pi"), source="tamsin", target="corvo", type="personal")
    shares = []
    for number, weight in enumerate((0.2, 0.6, 1.0), 1):
        rev = (number, "pi")
        records: list[Node | Edge] = [
            Node(id="tamsin", rev=rev, label="Tamsin", pinned=True),
            Node(id="corvo", rev=rev, label="Corvo", pinned=True),
            replace(tie, rev=rev, weight=weight, pinned=True),
        ]
        runs.apply(made, "test", NOW, record_files.plan_records(made, "identity", records))
        memory = of(found(made, question), TRADE)
        assert memory.way is not None
        assert memory.way.concept == "Corvo"
        shares.append(memory.why.graph)
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_what_is_reached_joins_the_candidates(store: Store) -> None:
    with open_index(store, None) as opened:
        index = opened.index
        passages = index.current_passages()
        row_of = {passage.text: row for row, passage in passages.items()}
        question = understand(SPOUSE, (), index.speakers())
        reached = activation.linked_passages(index, question, [row_of[HUSBAND]])
    assert reached == {row_of[HUSBAND], row_of[TRADE]}


def test_beside_a_lone_fact_its_neighbours_gain_nothing_from_it(store: Store) -> None:
    """Where nobody is named, what stands around a passage counts as far as it is near itself."""
    question = "Where is somebody a nurse?"
    fact, neighbour = "Pell works as a nurse in Delft.", SMALL_TALK[2]
    alone, as_named = found(store, question), found(without(store, alone=0), question)
    assert alone[0].text == fact
    assert of(alone, fact).why.session == of(as_named, fact).why.session == 1
    assert of(alone, neighbour).why.session < 0.5 < of(as_named, neighbour).why.session
    assert of(alone, fact).why.meaning == 1
    assert of(as_named, fact).why.meaning == 0
