"""Two versions of one file, as Syncthing and Dropbox leave them: nothing is shown twice, nothing lost."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from forgetting.planting import holding, lose
from ingesting import new_store, take, tree
from sample_store import ask
from sleeping import bytes_of, sleep
from small_store import note, row, state, tell

from clsm_cli.forgetting import folding
from clsm_cli.forgetting.run_reversal import undo
from clsm_cli.model.graph import Node, Statement
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.store import episode_files, inbox, joining, logs, shards, topics
from clsm_cli.store.index.indexed_files import scan
from clsm_cli.store.layout import Store, is_conflict_copy, original_name

MARK = ".sync-conflict-20260101-120000-ABCDEFG"
NOW, DAY = "2026-03-02T08:00:00Z", "2026-02-24"


def beside(path: Path, data: bytes | None = None, mark: str = MARK) -> Path:
    """A second version of a file: the same bytes, or others."""
    copy = path.with_name(f"{path.stem}{mark}{path.suffix}")
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(path.read_bytes() if data is None else data)
    return copy


@pytest.mark.parametrize(
    ("name", "original"),
    [
        (f"3{MARK}.yaml", "3.yaml"),
        ("3.sync-conflict-20260101-120000.yaml", "3.yaml"),  # before Syncthing 0.14
        (f"a.b{MARK}{MARK}.jsonl", "a.b.jsonl"),
        ("people (Mara's conflicted copy 2026-01-01).md", "people.md"),
        ("people (conflicted copy 2026-01-01 120000).md", "people.md"),
    ],
)
def test_names_of_copies(name: str, original: str) -> None:
    assert is_conflict_copy(name)
    assert original_name(name) == original


def test_readers_pass_over_copies(store: Store) -> None:
    tell(store, row("The gate number is 4711.", session="gate"))
    state(store, "identity", "people", "Mara keeps bees.", ())
    before = scan(store)
    (box,) = inbox.files(store.inbox)
    kept = store.root / "identity" / "people.md"
    beside(box, box.read_bytes().replace(b"4711", b"9999"))
    beside(kept, b"- Somebody else.  ^f-else\n", " (Pi's conflicted copy 2026-01-01)")
    beside(store.graph("identity") / "3.yaml", shards.render([Node(id="odd", rev=(1, "pc"))]))
    assert scan(store) == before
    assert inbox.files(store.inbox) == [box]
    assert [topic.path.stem for topic in topics.read_topics(kept.parent)] == ["people"]
    assert "9999" not in str(ask(store, "What is the gate number?"))


def test_records_are_joined_by_id_and_the_copy_is_kept(store: Store) -> None:
    path = store.graph("projects") / shards.shard_name("mara", 1)
    ours = Node(id="mara", rev=(2, "pi"), label="Mara Lind", aliases=("M",))
    path.parent.mkdir(parents=True)
    path.write_bytes(shards.render([ours]))
    theirs = [replace(ours, rev=(1, "pc"), label="Mara", aliases=("Mar",))]
    copy = beside(path, shards.render(theirs))
    data = copy.read_bytes()
    assert len(joining.join(store, NOW)) == 1
    assert shards.read(path).records == (replace(ours, aliases=("M", "Mar")),)
    assert not copy.exists()
    assert [path.read_bytes() for path in store.quarantine.iterdir()] == [data]
    assert joining.join(store, NOW) == []


def test_a_value_that_a_person_set_is_not_joined_away(store: Store) -> None:
    state(store, "projects", "archive", "The archive uses SQLite.", ())
    (path,) = shards.shard_files(store.graph("projects"))
    (row_,) = shards.read(path).records
    assert isinstance(row_, Statement)
    mine = replace(row_, value="store", pinned=True, rev=(1, "pc"))
    path.write_bytes(shards.render([replace(row_, value="base", rev=(4, "pi"))]))
    beside(path, shards.render([mine]))
    joining.join(store, NOW)
    graph = shards.load_graph([path.parent])
    assert graph.records[row_.id].rev == (4, "pi")
    assert graph.lost == (mine,)  # for the review list


def test_uses_and_decisions_do_not_go_back(store: Store) -> None:
    store.flow.mkdir(parents=True, exist_ok=True)
    uses, review = store.flow / "uses.jsonl", store.flow / "review.jsonl"
    uses.write_bytes(logs.render(logs.Use("a", DAY, 3)) + b"\n")
    others = (logs.Use("a", DAY, 2), logs.Use("b", DAY, 1))
    beside(uses, b"\n".join(map(logs.render, others)))
    item = logs.ReviewItem("v-1", NOW, ("a",), "why", "x", "y")
    review.write_bytes(logs.render(item._replace(state="accepted")))
    beside(review, logs.render(item))
    joining.join(store, NOW)
    counts, _, _ = folding.read_folded(store.flow, frozenset())
    assert sorted(counts.values()) == [1, 3]
    assert [item.state for item in logs.review_items(store).values()] == ["accepted"]


def test_what_a_copy_forgets_counts_at_once(store: Store) -> None:
    stone = logs.Tombstone(tombstone_hash("0123456789ab"), NOW)
    path = store.root / "tombstones" / "pc.jsonl"
    copy = beside(path, b"\n" + logs.render(stone) + b"\n")
    assert logs.load_tombstones(store) == {stone.hash}
    joining.join(store, NOW)
    assert not copy.exists()
    assert logs.load_tombstones(store) == {stone.hash}
    assert stone.hash in path.read_text()


def test_turns_of_a_copy_that_no_episode_holds_stay(store: Store) -> None:
    tell(store, row("The gate number is 4711.", session="gate"), row("x", session="gate", end=True))
    sleep(store)
    (path,) = episode_files.files(store.flow)
    mine = episode_files.read(path)
    turn = replace(mine.turns[0], key="0123456789ab", text="The heron is back.")
    beside(path, episode_files.render(replace(mine, turns=(*mine.turns, turn))))
    take(store, stdin=b"")
    found = [episode_files.read(each) for each in episode_files.files(store.flow)]
    texts = sorted(turn.text for episode in found for turn in episode.turns)
    assert texts == sorted([*(turn.text for turn in mine.turns), "The heron is back."])
    assert episode_files.read(path) == mine
    assert "The heron is back." in str(ask(store, "Is the heron back?"))


def test_a_file_of_which_only_the_copy_is_left_comes_back(store: Store) -> None:
    state(store, "identity", "people", "Mara keeps bees.", ())
    path = store.root / "identity" / "people.md"
    data = path.read_bytes()
    beside(path)
    path.unlink()
    joining.join(store, NOW)
    assert path.read_bytes() == data


def test_a_join_can_be_undone(store: Store) -> None:
    path = store.root / "identity" / "people.md"
    path.write_text("- Mara keeps bees.\n")
    beside(path, b"- Mara is tall.\n")
    before = bytes_of(store)
    joining.join(store, NOW)
    assert path.read_text() != "- Mara keeps bees.\n"
    done = undo(store, None, datetime.fromisoformat(NOW), lambda _: None)
    assert (done.command, done.is_exact) == ("join", True)
    assert bytes_of(store) == before


def test_two_machines_that_join_agree(tmp_path: Path) -> None:
    found = []
    for device in ("pi", "pc"):
        store = new_store(tmp_path / device, device)
        path = store.root / "tasks" / "own.md"
        path.write_text("# Own\n\n- One.\n")
        beside(path, b"# Own\n\n- Two.\n")
        graph = store.graph("tasks") / "3.yaml"
        graph.parent.mkdir(parents=True)
        graph.write_bytes(shards.render([Node(id="a", rev=(1, "pi"))]))
        beside(graph, shards.render([Node(id="b", rev=(1, "pc"))]))
        joining.join(store, NOW)
        files = tree(store.root)
        found.append({name: data for name, data in files.items() if name[:5] in ("tasks", "quara")})
    assert found[0] == found[1]


def test_a_forget_reaches_a_copy_and_what_was_put_aside(store: Store, tmp_path: Path) -> None:
    note(store, tmp_path / "n.md", "The heron nests by the sluice.\n\nBees like clover.\n")
    sleep(store)
    path = next(iter(episode_files.files(store.flow)))
    beside(path, path.read_bytes().replace(b"recorded_at", b"read_at"))
    key = next(turn.key for turn in episode_files.read(path).turns if "heron" in turn.text)
    assert lose(store, ids=(key,)).turns == 1
    assert holding(store.root, "heron") == []
