"""What is archived answers where nothing else does for sure, or where a rare word asks for it."""

from pathlib import Path

import pytest
from ingesting import new_store
from laid_down import lay_archived
from sample_store import NOW, ask, query_engine
from small_store import note

from clsm_cli.commands.engine import embedder
from clsm_cli.retrieval.question import Query
from clsm_cli.retrieval.recall import recall, two_pass_search
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

FOUND = ("delegation defect", "who is brian", "filters against folly")
COMMON = "who is brian"
"""No word of it is rare in the sample."""
DOUBTFUL = "where do they walk on Sundays"
"""Nothing answers it for sure."""
NONSENSE = "qwzx vlorbing hnnt"


def keys_of(store: Store) -> list[str]:
    with open_index(store, embedder()) as opened:
        rows = opened.index.traits(opened.index.current_rows()).values()
        return sorted({row.key for row in rows})


def archive(store: Store, keys: list[str]) -> None:
    lay_archived(store.flow, dict.fromkeys(sorted(keys), "2026-02-24"))


def opens_archive(store: Store, text: str) -> bool:
    query, engine = Query(text=text, now=NOW, k=10, budget=2000), query_engine()
    engine.open()
    with open_index(store, embedder()) as opened:
        found, hidden = two_pass_search(opened.index, query, engine), opened.index.hidden()
        return any(each.row in hidden for each in found.ranked.candidates)


@pytest.mark.parametrize("text", [COMMON, NONSENSE])
def test_with_everything_archived_the_answer_is_the_same(sample: Store, text: str) -> None:
    before = ask(sample, text)
    archive(sample, keys_of(sample))
    assert ask(sample, text) == before
    assert bool(before.memories) == (text != NONSENSE)


@pytest.mark.parametrize("text", FOUND)
def test_with_everything_archived_the_best_is_found(sample: Store, text: str) -> None:
    """Or its neighbour in the same window of a note, if that alone has the rare word."""
    (best, *_) = ask(sample, text).memories[0].sources
    archive(sample, keys_of(sample))
    shown = {turn for memory in ask(sample, text).memories for turn in memory.sources[0].turn_ids}
    assert not shown.isdisjoint(best.turn_ids)


def test_what_is_archived_is_left_out_as_long_as_something_else_answers(sample: Store) -> None:
    before = ask(sample, COMMON)
    archive(sample, [before.memories[0].id.partition("-")[0]])
    after = ask(sample, COMMON)
    assert after.memories
    assert before.memories[0].id not in {memory.id for memory in after.memories}
    everything = ask(sample, COMMON, as_of=NOW)
    assert before.memories[0].id in {memory.id for memory in everything.memories}


def test_a_rare_word_wakes_what_is_archived(sample: Store) -> None:
    best = ask(sample, FOUND[0]).memories[0].id
    archive(sample, [best.partition("-")[0]])
    assert best in {memory.id for memory in ask(sample, FOUND[0]).memories}


def test_one_question_does_not_open_the_archive_for_the_next(sample: Store) -> None:
    best = ask(sample, COMMON).memories[0].id
    archive(sample, [key for key in keys_of(sample) if key != best.partition("-")[0]])
    texts = (FOUND[0], COMMON, NONSENSE, COMMON, FOUND[0])
    queries = [Query(text=text, now=NOW, k=10, budget=2000) for text in texts]
    together = list(recall(sample, queries, query_engine(), embedder()))
    assert together == [ask(sample, text) for text in texts]
    assert len(together[0].memories) > 1
    assert [memory.id for memory in together[1].memories] == [best]


def test_in_doubt_the_archive_is_looked_into_where_something_near_lies_there(sample: Store) -> None:
    answer = ask(sample, DOUBTFUL, k=40, budget=100_000)
    shown = {turn.partition("-")[0] for m in answer.memories for turn in m.sources[0].turn_ids}
    archive(sample, [key for key in keys_of(sample) if key not in shown][:20])
    assert not opens_archive(sample, DOUBTFUL)
    archive(sample, sorted(shown))
    assert opens_archive(sample, DOUBTFUL)
    assert ask(sample, DOUBTFUL, k=40, budget=100_000) == answer


RELATIVES = "# MEMORY\n\n- Wim is my father-in-law, he keeps pigeons in Gouda.\n- The boiler is from 2019.\n"


def test_what_a_document_no_longer_says_answers_last_and_marked(tmp_path: Path) -> None:
    store, path = new_store(tmp_path / "memory"), tmp_path / "MEMORY.md"
    note(store, path, RELATIVES, now="2026-02-10T12:00:00+01:00")
    note(store, path, "# MEMORY\n\n- The boiler is from 2019.\n", now="2026-02-20T12:00:00+01:00")
    (wim,) = ask(store, "who is my father-in-law?").memories
    assert "Wim" in wim.text
    assert wim.until == "2026-02-20"
    assert not ask(store, "where do we buy the bread?").memories
    assert all(each.until is None for each in ask(store, "how old is the boiler?").memories)


def test_what_took_its_place_is_the_answer(tmp_path: Path) -> None:
    store, path = new_store(tmp_path / "memory"), tmp_path / "MEMORY.md"
    for day, place in (("10", "Gouda"), ("20", "Delft")):
        note(store, path, RELATIVES.replace("Gouda", place), now=f"2026-02-{day}T12:00:00+01:00")
    texts = " ".join(each.text for each in ask(store, "where does Wim keep pigeons?").memories)
    assert "Delft" in texts
    assert "Gouda" not in texts
