"""Tombstones: what was forgotten does not exist, in an index that grew and in one made anew."""

import shutil
from contextlib import closing
from random import Random
from typing import Any

import pytest
from index_changes import Files, brought_up, check_counts, contents, rows, write

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.store import episode_files, logs, shards
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.layout import Store

AT = "2026-02-24T00:00:00Z"


def everything(store: Store) -> dict[str, Any]:
    with closing(brought_up(store)) as connection:
        return contents(connection)


def anew(store: Store) -> dict[str, Any]:
    shutil.rmtree(store.derived)
    return everything(store)


class Mortal(Files):
    """Files of which a part is forgotten, and comes back."""

    def state(self) -> None:
        """A statement in Markdown and a shard that rests on turns."""
        keys, name = self.keys() or ["00000000000a"], f"f-{self._next()}"
        turns = tuple(sorted(self.random.sample(keys, min(len(keys), 2))))
        record = Statement(id=name, rev=(1, "pi"), topic="c", sources=turns, recorded_at=AT)
        text = self._text()
        topic = self.store.root / "projects" / "c.md"
        known = topic.read_bytes() if topic.exists() else b""
        write(topic, known + f"- {text} ^{name}\n".encode())
        folder = self.store.graph("projects")
        for path, (data, _) in shards.plan_update(folder, [record]).items():
            write(path, data)

    def bury(self) -> None:
        """A turn, an episode or a statement is forgotten on some machine."""
        ids = self.keys()
        ids += [episode_files.read(path).id for path in self._files("flow/*/episodes/*/*/*.md")]
        ids += [f"f-{number}" for number in range(self.number + 1)]
        line = logs.render(logs.Tombstone(tombstone_hash(self.random.choice(ids)), AT))
        path = self.store.root / "tombstones" / f"{self.random.choice(['pi', 'attic'])}.jsonl"
        write(path, (path.read_bytes() if path.exists() else b"") + line + b"\n")

    def unbury(self) -> None:
        """Somebody deletes a line of the tombstones, or all of a machine's."""
        found = self._files("tombstones/*.jsonl")
        if found:
            path = self.random.choice(found)
            lines = path.read_bytes().splitlines(keepends=True)
            del lines[self.random.randrange(len(lines))]
            if lines:
                write(path, b"".join(lines))
            else:
                path.unlink()


@pytest.mark.parametrize("seed", range(8))
def test_an_index_that_grew_is_one_made_anew(store: Store, seed: int) -> None:
    random = Random(seed)
    files = Mortal(store, random)
    for number in range(14):
        changes = [files.change, files.describe, files.describe, files.state]
        if number % 3 == 0:
            changes += [files.bury, files.bury, files.unbury]
        for _ in range(random.randrange(1, 5)):
            random.choice(changes)()
        if random.random() < 0.5:  # a git merge brings much at once, tombstones with it
            continue
        with closing(brought_up(store, random.choice([None, "one", "one", "two"]))) as connection:
            check_counts(connection)
            grown = contents(connection)
        if number % 3 == 2:
            made_anew = anew(store)
            for table, expected in made_anew.items():
                assert table == "waiting" or grown[table] == expected, table


@pytest.mark.parametrize("seed", range(4))
def test_without_its_tombstones_everything_is_back(store: Store, seed: int) -> None:
    random = Random(1000 + seed)
    files = Mortal(store, random)
    for _ in range(12):
        random.choice([files.change, files.describe, files.state])()
    before = everything(store)
    for _ in range(12):
        files.bury()
    buried = everything(store)
    assert buried["tombstones"]
    assert buried != before
    shutil.rmtree(store.root / "tombstones")
    assert everything(store) == before


@pytest.mark.parametrize("seed", range(4))
def test_nothing_with_a_tombstone_is_in_any_table(store: Store, seed: int) -> None:
    random = Random(2000 + seed)
    files = Mortal(store, random)
    for _ in range(14):
        random.choice([files.change, files.describe, files.state, files.bury])()
    files.bury()
    with closing(brought_up(store)) as connection:
        gone = {row[0] for row in rows(connection, "SELECT hash FROM tombstones")}
        queries = (
            "SELECT key FROM passages",
            "SELECT id FROM episodes",
            "SELECT id FROM records",
            "SELECT key FROM blocks",
            "SELECT key FROM clocks",
            "SELECT episode FROM episode_stages",
            "SELECT printf('%012x', turn) FROM turn_nodes",
            "SELECT s.value FROM passages p, json_each(p.sources) s",
        )
        for query in queries:
            assert not gone & {tombstone_hash(row[0]) for row in rows(connection, query)}, query
        index = Index(connection, store)
        for (name,) in rows(connection, "SELECT DISTINCT id FROM records"):
            record = index.record(name)
            named = [] if record is None else _turns_of(record)
            assert not gone & {tombstone_hash(key) for key in named}
        turns = "(SELECT COUNT(DISTINCT turn) FROM turn_nodes WHERE node = number)"
        counted = f"SELECT id, n, {turns} FROM nodes WHERE label IS NOT NULL"
        for node, n, count in rows(connection, counted):
            record = index.node(node)
            assert record is not None
            assert n <= count
            assert count or record.pinned


def _turns_of(record: Any) -> list[str]:
    if isinstance(record, EpisodeRecord):
        return [key for keys in record.mentions.values() for key in keys]
    return [*getattr(record, "sources", ()), *(b.key for b in getattr(record, "blocks", ()))]
