"""What was forgotten is not taken in again, and what was not is neither lost nor stored twice."""

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import captured, new_store, row, scratch, state_of, take, tree
from laid_down import bury
from strategies import examples

from clsm_cli.commands.ingest import ingest_lines, ingest_mapping
from clsm_cli.ingestion.ingest_report import IngestReport
from clsm_cli.model.episodes import Document
from clsm_cli.model.ids import turn_key
from clsm_cli.store import atomic, cleanup, episode_files, inbox, logs, shards
from clsm_cli.store.layout import Store

CANARY = "The canary is called Pip."
SWEPT = "2026-03-01T12:00:00Z"


def erase(store: Store, ids: set[str]) -> None:
    """Forget turns that wait in inboxes: tombstones, and their lines."""
    gone = bury(store, ids)
    for path in inbox.files(store.inbox):
        box = inbox.read(path, gone)
        atomic.remove(path)
        if box.items:
            atomic.append(path, inbox.render(box.items))


def held(store: Store) -> list[str]:
    """Keys of all turns in the files of a store, as often as they are held."""
    return state_of(store).keys()


def rows(*texts: str, timed: bool = False) -> bytes:
    return b"".join(row(text, number if timed else None) for number, text in enumerate(texts))


def file(folder: Path, data: bytes) -> Path:
    path = folder / "chat.jsonl"
    path.write_bytes(data)
    return path


def dropped(report: IngestReport) -> int:
    assert ingest_mapping(report)["files"][0]["dropped"].get("forgotten", 0) == report.forgotten
    said = any(
        f"{report.forgotten} left out as forgotten" in each
        for each in ingest_lines(report, verbose=False)
    )
    assert said == bool(report.forgotten)
    return report.forgotten


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("capture_only", [True, False])
def test_a_forgotten_turn_is_not_captured_again(
    store: Store, tmp_path: Path, timed: bool, capture_only: bool
) -> None:
    told = rows("Good morning.", CANARY, "Goodbye.", timed=timed)
    path = file(tmp_path, told)
    take(store, path, model=False)
    (gone,) = {k for k, text in texts(store).items() if text == CANARY}
    before = set(held(store)) - {gone}
    erase(store, {gone})
    assert dropped(take(store, path, model=False, capture_only=capture_only)) == 1
    assert dropped(take(store, stdin=told, model=False, capture_only=capture_only)) == 1
    if timed:
        assert set(held(store)) == before
    assert gone not in held(store)
    assert CANARY.encode() not in b"".join(tree(store.root).values())


def texts(store: Store) -> dict[str, str]:
    return {turn.key: turn.text for turn in captured(store)}


words = st.sampled_from(["yes", "no", "well"])


@examples(150)
@given(
    st.lists(words, min_size=1, max_size=6),
    st.lists(words, max_size=3),
    st.sets(st.integers(0, 5)),
    st.lists(st.integers(0, 6), max_size=2),
)
def test_untimed_turns_keep_their_numbers_when_one_of_them_was_forgotten(
    first: list[str], more: list[str], places: set[int], cuts: list[int]
) -> None:
    """Ingested again whole, in any prefix, or grown: as the store was that never held them."""
    keys = []
    for number, text in enumerate(first + more):
        keys.append(turn_key("main", "user", None, text, (first + more)[:number].count(text)))
    gone = {keys[place] for place in places if place < len(first)}
    with scratch() as folder:
        store, again = new_store(folder / "memory"), partial(take, capture_only=True)
        again(store, file(folder, rows(*first)))
        assert held(store) == sorted(keys[: len(first)])
        erase(store, gone)
        left = sorted({*keys[: len(first)]} - gone)
        for cut in [*cuts, len(first)]:
            found = dropped(again(store, file(folder, rows(*first[:cut]))))
            assert found == sum(key in gone for key in keys[: min(cut, len(first))])
            assert held(store) == left
        for _ in range(2):
            again(store, file(folder, rows(*first, *more)))
            assert held(store) == sorted({*keys} - gone)


def test_a_break_behind_a_forgotten_turn_stands_behind_the_one_before_it(store: Store) -> None:
    told = rows("One.", "Two.", timed=True)
    end = b'{"session": "main", "type": "end", "time": "2026-02-24T08:02:00+01:00"}\n'
    take(store, stdin=told + end, model=False)
    (one, two) = (k for k, _ in sorted(texts(store).items(), key=lambda each: each[1]))
    (path,) = inbox.files(store.inbox)
    box = inbox.read(path, bury(store, {two}))
    assert [item.turn.key for item in box.turns] == [one]
    assert [getattr(item, "after", None) for item in box.items] == [None, one]
    take(store, stdin=told + end, model=False)
    cleanup.sweep(store, SWEPT)
    assert inbox.read(path).items == box.items  # written down so, and no second mark


def blocks(store: Store) -> list[str]:
    found = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records.values()
    return sorted(b.key for record in found if isinstance(record, Document) for b in record.blocks)


def test_a_forgotten_block_is_left_out_of_its_document(store: Store, tmp_path: Path) -> None:
    source = tmp_path / "notes.md"
    page = f"# Birds\n\nA raven came.\n\n{CANARY}\n\nA robin left.\n"
    source.write_text(page, encoding="utf-8")
    plain = new_store(tmp_path / "plain")
    take(plain, source, model=False)
    (path,) = episode_files.files(plain.flow)
    by_text = {turn.text: turn.key for turn in episode_files.read(path).turns}
    bury(store, {by_text[CANARY]})
    assert dropped(take(store, source, model=False)) == 1
    left = sorted({*by_text.values()} - {by_text[CANARY]})
    assert held(store) == left == blocks(store)
    source.write_text(page + "\nA jay sings.\n", encoding="utf-8")
    report = take(store, source, model=False)
    assert (dropped(report), report.sources[0].added, report.sources[0].known) == (1, 1, 2)
    assert len(blocks(store)) == 3
    assert dropped(take(store, source.rename(tmp_path / "birds.md"), model=False)) == 1
    assert len(blocks(store)) == 3
    assert CANARY.encode() not in b"".join(tree(store.root).values())


@pytest.mark.parametrize("named", ["", "Date: 2026-02-01"])
def test_a_forgotten_block_stays_so_whenever_its_note_got_a_day(
    store: Store, tmp_path: Path, named: str
) -> None:
    source = tmp_path / "birds.md"
    source.write_text(f"{named}\n\nA raven came.\n\n{CANARY}\n", encoding="utf-8")
    take(store, source, model=False)
    (path,) = episode_files.files(store.flow)
    bury(store, {turn.key for turn in episode_files.read(path).turns if turn.text == CANARY})
    source.write_text(f"Date: 2026-02-01\n\nA raven came.\n\n{CANARY}\n\nA jay sings.\n")
    report = take(store, source, model=False)
    assert dropped(report) == 1
    assert report.sources[0].known == (2 if named else 1)
