"""A canary in every kind of place is nowhere afterwards; what has other support is still there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from forgetting.planting import CANARY, NOW, holding, lose, plan, planted
from ingesting import embedder, made_once, new_store, scratch
from sample_store import ask
from sleeping import believed, current, edges, nodes, rows, sleep, talked
from tables import table

from clsm_cli.curation.correction import correct
from clsm_cli.errors import RefusedError
from clsm_cli.forgetting import clean_writing, erasure, selection
from clsm_cli.forgetting.receipt import Receipt
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.store import shards
from clsm_cli.store.layout import Store


@pytest.fixture(scope="module")
def lost() -> Iterator[tuple[Store, Receipt]]:
    with scratch() as folder:
        store = planted(folder)
        assert len(holding(store.root)) > 8
        yield store, lose(store, person="Quaggamire")


def test_no_file_holds_it_and_nothing_finds_it(lost: tuple[Store, Receipt]) -> None:
    store, receipt = lost
    assert holding(store.root) == []
    gone = {each.id for each in receipt.gone}
    answer = ask(store, "What does the Quaggamire cost?", min_score=0.0, k=1000, budget=10**6)
    assert not any(CANARY in memory.text.lower() for memory in answer.memories)
    assert not gone & {memory.id for memory in answer.memories}
    assert not any(CANARY in concept.label.lower() for concept in answer.concepts)


def test_what_has_other_support_is_still_there(lost: tuple[Store, Receipt]) -> None:
    store, receipt = lost
    assert current(store, "PostgreSQL")
    assert current(store, "Mara", "Leeds")
    assert "harbour" in nodes(store)
    assert "harbour" in {each.id for each in receipt.stays}
    assert (store.quarantine / "x.txt").read_text() == "4: - unrelated\n"


def test_no_record_is_an_orphan(lost: tuple[Store, Receipt]) -> None:
    store, _ = lost
    known = set(nodes(store)) | {r.id for r in rows(store).values()}
    records = shards.load_graph(store.graphs()).records
    episodes = {i for i, r in records.items() if isinstance(r, EpisodeRecord)}
    for edge in edges(store).values():
        assert {edge.source, edge.target} <= known | episodes, edge


@made_once
def small(folder: Path) -> Store:
    """Two conversations that say one thing each, and one thing both."""
    store = new_store(folder / "memory")
    same = "Mara: The archive uses PostgreSQL as its database."
    talked(store, folder, "one", "2026-02-10", same, "Mara: My sister is called Ines.")
    talked(store, folder, "two", "2026-02-12", same)
    sleep(store)
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return small(tmp_path)


def test_a_fact_that_two_turns_tell_outlives_one_of_them(store: Store) -> None:
    (row,) = [r for r in rows(store).values() if "PostgreSQL" in r.text and r.kind != "gist"]
    assert len(row.sources) == 2
    receipt = lose(store, session="one")
    left = rows(store)[row.id]
    assert len(left.sources) == 1
    assert [s.why for s in receipt.stays if s.id == row.id] == ["rests on 1 other turn too"]
    assert current(store, "Ines") == []


def test_a_date_that_only_the_forgotten_turn_gives_goes(store: Store) -> None:
    told = selection.read_store(store, utc_text(NOW))
    (row,) = [r for r in rows(store).values() if "PostgreSQL" in r.text and r.kind != "gist"]
    dated = {row.id: replace(row, text=f"{row.text} Since 4 May.")}
    chosen = selection.select_items(told, selection.ForgetRequest(session="one"), store.zone)
    memory = told._replace(statements=told.statements | dated)
    assert row.id in erasure.purge(store, memory, chosen, utc_text(NOW)).statements


def test_what_was_forgotten_can_be_told_again(store: Store, tmp_path: Path) -> None:
    lose(store, session="one")
    talked(store, tmp_path, "three", "2026-02-28", "Mara: My sister is called Ines.")
    sleep(store, "2026-03-03T12:00:00+01:00")
    assert current(store, "Ines")
    assert any("Ines" in m.text for m in ask(store, "Who is Mara's sister?").memories)


def test_it_is_as_if_it_had_never_been_told(tmp_path: Path) -> None:
    """What is believed afterwards is what a store believes that was never told it."""
    told, untold = (new_store(tmp_path / name) for name in ("told", "untold"))
    for number, (session, lines) in enumerate(table(__file__, "talks")):
        for store in (told, untold) if session != "two" else (told,):
            talked(store, tmp_path, session, f"2026-02-1{number}", *lines.split("\n"))
    for store in (told, untold):
        sleep(store)
    lose(told, session="two")
    # Episodes know what was before them; that a file names it is no belief.
    found, expected = (
        {
            i: r
            for i, r in believed(store).items()
            if getattr(r, "type", "") not in ("next", "continues")
        }
        for store in (told, untold)
    )
    assert found == expected


def test_a_plan_that_is_out_of_date_is_refused(store: Store, tmp_path: Path) -> None:
    planned = plan(store, session="one")
    talked(store, tmp_path, "three", "2026-02-20", "Mara: The archive uses Redis.")
    sleep(store, "2026-03-01T23:00:00+01:00")
    with pytest.raises(RefusedError, match="was changed while clsm worked"):
        clean_writing.apply(store, planned, NOW, embedder())
    assert current(store, "Ines")


def test_a_statement_by_a_person_stays_and_says_why(store: Store) -> None:
    (row,) = [r for r in rows(store).values() if "Ines" in r.text and r.kind != "gist"]
    done = correct(store, row.id, "Mara's sister is called Ada.", NOW, lambda _: None)
    receipt = lose(store, session="one")
    assert rows(store)[done.now.id].supersedes is None
    assert "a person wrote it" in {s.why for s in receipt.stays if s.id == done.now.id}
