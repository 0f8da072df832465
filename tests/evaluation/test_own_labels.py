"""A person's own labels: what is proposed, the list to mark, and the file of queries that is measured."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import labelled_store
import pytest
from ingesting import new_store, scratch

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import own_labels
from clsm_cli.evaluation.dataset import Existing
from clsm_cli.evaluation.loaders import own_memory
from clsm_cli.evaluation.own_labels import DEPTH, Pool, Proposal
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.forgetting.selection import StoreContents
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.store import labels
from clsm_cli.store.labels import Label
from clsm_cli.store.layout import Store


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with scratch() as folder:
        yield labelled_store.make(folder)


@pytest.fixture(scope="module")
def held(store: Store) -> StoreContents:
    return own_labels.whole_memory(store)


@pytest.fixture
def pool(store: Store, engine: Engine, factory: StoreFactory) -> Pool:
    now = datetime.fromisoformat(labelled_store.NOW)
    return own_labels.open_pools(store, replace(factory, now=now), engine)


def test_questions_that_were_asked_come_first_and_requests_do_not(held: StoreContents) -> None:
    found = own_labels.propose(held, [], 20)
    assert found[0].text == "Where did the Marsdiep ferry go on Friday?"
    assert found[0].kind == "asked"
    (asked_in,) = found[0].hidden
    assert "Marsdiep ferry go" in held.turns[asked_in].turn.text
    assert not any("book it" in each.text for each in found)


def test_a_fact_that_changed_is_asked_for(held: StoreContents) -> None:
    first = next(iter(held.statements.values()))
    old = replace(first, id="f-1", subject="heron", valid_until="2026-02-03")
    new = replace(old, id="f-2", supersedes="f-1", valid_until=None)
    changed = held._replace(statements={**held.statements, "f-1": old, "f-2": new})
    texts = [each.text for each in own_labels.propose(changed, [], 20)]
    assert "What has changed about heron?" in texts


def test_a_pool_holds_the_answer_in_an_order_of_its_own(pool: Pool) -> None:
    query = Proposal("Who waters the orchids?", "asked", "")
    found = pool(query)
    assert found == pool(query)
    assert any("Sami waters the orchids" in each.text for each in found)
    assert DEPTH <= len(found) <= 3 * DEPTH
    assert len({each.text for each in found}) == len(found)
    place = {
        text: next(n for n, each in enumerate(pool(query._replace(text=text))) if fact in each.text)
        for text, fact in labelled_store.FACTS[:8]
    }
    assert len(set(place.values())) > 2  # not always first
    best = next(each.id for each in found if "orchids" in each.text)
    assert best not in [each.id for each in pool(query._replace(hidden=frozenset({best})))]


ASKED = [
    Proposal("Who waters the orchids?", "asked", "far \x1b[2J."),
    Proposal("Who flew?", "negative", ""),
]


def test_a_list_comes_back_with_marks(pool: Pool, store: Store) -> None:
    text = own_labels.todo_list(ASKED, pool)
    assert "\x1b" not in text
    known = own_labels.NameLookup(store)
    assert own_labels.read_todo(text, known) == ([], 2)
    first, second = text.split("query: Who flew?")
    first = re.sub(r"(?m)^\[ \](?=.*orchids)", "[x]", first)
    second = second.replace("[ ] none", "[X] none")
    rows, left = own_labels.read_todo(f"{first}query: Who flew?{second}", known)
    assert left == 0
    assert rows[0].memories
    assert rows[0].category == "asked"
    assert (rows[1].has_gold, rows[1].is_labelled, rows[1].category) == (False, True, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[x] none of these", "line 1 is no query and no item"),
        ("query: a\n[x] x", "no memory or turn 'x'"),
        ("query: a\n[x] KEY\n[x] none of these", "and at another"),
    ],
)
def test_a_list_that_is_none(store: Store, held: StoreContents, text: str, reason: str) -> None:
    text = text.replace("KEY", next(iter(held.turns)))
    with pytest.raises(BadInputError, match=reason):
        own_labels.read_todo(text, own_labels.NameLookup(store))


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_quotes_ids_and_concepts(store: Store, held: StoreContents, tmp_path: Path) -> None:
    key = next(key for key, told in held.turns.items() if "mended by Brian" in told.turn.text)
    path = write(
        tmp_path,
        "queries:\n"
        f"- query: who mends the crane\n  evidence: ['mended  by']\n  memories: [{key}-2]\n"
        "  concepts: [brian]\n  category: work\n  difficulty: easy\n"
        "- query: what is my blood type\n  evidence: []\n",
    )
    dataset = own_memory.load_queries(path, store.root)
    assert (dataset.kind, dataset.unit, dataset.headline) == ("queries", "memory", "f1")
    assert dataset.notes == ()
    (case,) = dataset.cases
    assert case.source == Existing(store.root)
    first, second = case.queries
    assert first.gold == ("mended by", f"{key}\n")
    assert "brian" in first.concepts[0]
    assert (first.category, first.negative) == ("work", "")
    assert (second.gold, second.concepts, second.negative) == ((), (), "near topic")


def test_faults_are_said_with_their_lines(store: Store, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "queries:\n"
        "- query: one\n  evidence: [x]\n  memories: [f-000000000000]\n"
        "- query: two\n  concepts: [briann]\n"
        "- query: three\n"
        "- query: four\n  memories: [f-000000000000]\n",
    )
    dataset = own_memory.load_queries(path, store.root)
    assert [q.text for q in dataset.cases[0].queries] == ["one", "two"]
    said = "\n".join(dataset.notes)
    assert "line 2, f-000000000000; line 8, f-000000000000" in said
    assert "concept is no node of the store and counts as missed (1): line 5, briann" in said
    assert "query is left out, it is not labelled" in said
    assert "query is left out, all memories that answered it are gone (1): line 8" in said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("queries: []\n", "holds no query"),
        ("queries:\n- {query: a, evidence: []}\n", "nothing to measure"),
        ("queries:\n- {query: a, memories: [f-00]}\n", "all memories .* nothing to measure"),
        ("queries:\n- {query: a, evidence: []\n", "is not YAML"),
    ],
)
def test_the_unmeasurable_is_refused(store: Store, tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason) as caught:
        own_memory.load_queries(write(tmp_path, text), store.root)
    assert "mine.yaml" in str(caught.value)


def test_labels_are_added_beside_what_a_person_writes(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    assert labels.load(store.root)[-1].rows == ()
    own_labels.save_labels(store, [Label("a", "one", memories=("x",))])
    path = store.root / "eval" / "queries.yaml"
    path.write_text(path.read_text() + "# mine\n- query: two\n  evidence: []  # none\n")
    own_labels.save_labels(store, [Label("a", "one", memories=("y",)), Label("c", "three")])
    read = labels.load(store.root)[-1].rows
    assert [row.text for row in read] == ["one", "two", "three"]
    assert [row.memories for row in read] == [("y",), (), ()]
    assert "# mine\n- query: two\n  evidence: []  # none\n" in path.read_text()
    path.write_text("queries: [")
    with pytest.raises(BadInputError, match="is not YAML"):
        own_labels.save_labels(store, [Label("d", "four")])
    assert path.read_text() == "queries: ["
