"""What was forgotten is not learnt again, and nothing else is lost with it."""

import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from ingesting import made_once, new_store, state_of, take
from laid_down import bury
from sleeping import chat, current, sleep

from clsm_cli.consolidation.lookup import StatementIndex
from clsm_cli.curation.correction import correct
from clsm_cli.model.codec import encode
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import statement_id, tombstone_hash
from clsm_cli.store import atomic, episode_files, logs, record_files, shards
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import Store

NOW = "2026-03-02T12:00:00+01:00"
AT = "2026-02-2{}T08:0{}:00+01:00"
BIRDS = (
    ("user", AT.format(4, 0), "My canary Pip lives with my brother in Zwolle, who feeds him."),
    ("assistant", AT.format(4, 1), "I will remember Pip, the canary in Zwolle."),
)
WORK = (
    ("user", AT.format(5, 0), "My sister Mara works in Utrecht as a dentist."),
    ("assistant", AT.format(5, 1), "Good to know that Mara works in Utrecht."),
    ("user", AT.format(5, 2), "Mara lives in Utrecht with her husband and her dog Bello."),
)
WORDS = ("canary", "Pip", "Zwolle")


def of_birds(store: Store) -> set[str]:
    """Ids of the turns and the episode about birds, and of what rests on those turns alone."""
    found = [episode_files.read(p) for flow in store.flows() for p in episode_files.files(flow)]
    (episode,) = (each for each in found if each.session == "birds")
    keys = {turn.key for turn in episode.turns}
    rows = shards.load_graph(store.graphs()).records.values()
    stated = {r.id for r in rows if isinstance(r, Statement) and r.sources and keys >= {*r.sources}}
    assert stated
    return {episode.id, *keys, *stated}


def seen(store: Store) -> dict[str, Statement]:
    """What readers take for the statements of a store, times of recording and revisions aside."""
    records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
    rows = record_files.load_statements(store, records, "")
    return {
        i: replace(r, rev=(0, ""), recorded_at=None, supersedes=None, superseded_at=None)
        for i, r in rows.items()
        if r.kind != "gist"
    }


def check(store: Store, plain: dict[str, Statement], forgotten: frozenset[str]) -> None:
    assert seen(store) == plain
    records = shards.load_graph(store.graphs(), forgotten).records
    text = "".join(dump(encode(record)) for record in records.values())
    text += "".join(path.read_text() for path in store.root.glob("*/*.md"))
    text += repr(state_of(store))
    assert not [word for word in WORDS if word in text]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Statement]:
    """What a store holds that never heard of birds."""
    folder = tmp_path_factory.mktemp("plain")
    store = new_store(folder / "memory")
    take(store, chat(folder, "work", WORK))
    sleep(store, NOW)
    return seen(store)


@made_once
def told(folder: Path) -> Store:
    made = new_store(folder / "memory")
    for name, turns in (("birds", BIRDS), ("work", WORK)):
        take(made, chat(folder, name, turns))
    sleep(made, NOW)
    assert current(made, "Pip")
    return made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return told(tmp_path)


def test_neither_sources_nor_an_old_clone_bring_it_back(
    store: Store, tmp_path: Path, plain: dict[str, Statement]
) -> None:
    shutil.copytree(store.root, tmp_path / "old", ignore=shutil.ignore_patterns(".clsm"))
    forgotten = bury(store, of_birds(store))
    assert seen(store) == plain  # at once, for every reader
    sleep(store, NOW)
    check(store, plain, forgotten)
    for _ in range(2):
        shutil.copytree(tmp_path / "old", store.root, dirs_exist_ok=True)
        assert seen(store) == plain
        report = take(store, tmp_path / "birds.jsonl", tmp_path / "work.jsonl")
        assert (report.forgotten, report.episodes) == (len(BIRDS), 0)
        sleep(store, NOW)
        check(store, plain, forgotten)


def test_an_old_clone_that_learnt_it_under_another_id_is_not_believed(
    store: Store, plain: dict[str, Statement]
) -> None:
    """Only the turns and their episode have tombstones: what rests on them is gone all the same."""
    forgotten = bury(store, {i for i in of_birds(store) if not i.startswith("f-")})
    assert seen(store) == plain
    sleep(store, NOW)
    check(store, plain, forgotten)


def test_what_is_told_again_is_remembered_anew(store: Store, tmp_path: Path) -> None:
    gone = of_birds(store)
    bury(store, gone)
    sleep(store, NOW)
    assert not [row for row in seen(store).values() if "Pip" in row.text]
    later = [(who, time.replace("02-24", "03-03"), text) for who, time, text in BIRDS]
    take(store, chat(tmp_path, "again", later))
    sleep(store, "2026-03-04T12:00:00+01:00")
    again = [row for row in seen(store).values() if "Pip" in row.text and row.is_current]
    assert again
    assert not {row.id for row in again} & gone


def test_births_pass_over_forgotten_ids(store: Store) -> None:
    first = statement_id("mara lives in delft.")
    known = StatementIndex([], {}, frozenset([tombstone_hash(first)]))
    assert known.birth_id("Mara lives in  Delft.", "2026-03-01", "k") == statement_id(
        "mara lives in delft.", "2026-03-01"
    )
    assert StatementIndex([], {}).birth_id("Mara lives in Delft.", "2026-03-01") == first
    bury(store, {first})
    (old,) = (r for r in seen(store).values() if r.is_current and "Mara lives in" in r.text)
    now = datetime.fromisoformat(NOW)
    done = correct(store, old.id, "Mara lives in Delft.", now, lambda _: None)
    assert done.now.id not in (first, old.id)
    assert seen(store)[done.now.id].text == "Mara lives in Delft."


def test_review_items_about_it_are_left_out(store: Store) -> None:
    for number in (1, 2):
        item = logs.ReviewItem(f"v-{number}", "", (f"f-{number}",), "contradiction", "", "")
        atomic.append(store.flow / "review.jsonl", logs.render(item))
    bury(store, {"f-1"})
    assert logs.review_items(store) == {"v-2": item}
