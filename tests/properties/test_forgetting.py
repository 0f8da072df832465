"""Random sequences of ingest, consolidate, forget and merge on two machines: nothing comes back.

``CLSM_EXAMPLES=200 pytest tests/properties/test_forgetting.py`` for the long run. Two clones of one
store, synchronised by real git with ``merge=union``; either machine tells, sleeps and forgets.
"""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ingesting import embedder, new_store, take
from sleeping import chat, sleep
from using_git import git_says

from clsm_cli.forgetting import erasure, store_contents
from clsm_cli.forgetting.selection import Wanted
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge
from clsm_cli.store import layout, logs, shards
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

DEVICES = ("desk", "pi")
PEOPLE = ("Mara", "Brian", "Ines")
MARKS = ("quagga", "dodo", "aurochs", "moa", "thylacine", "tarpan", "rail", "huia")
"""One word each that nothing else holds: a file that holds it holds the turn, or what came of it."""
SHAPES = (
    "{who} lives in {mark} Lane.",
    "The {mark} uses PostgreSQL.",
    "We decided that the {mark} opens in May.",
    "The Harbour Project (also known as {mark} Yard) needs a crane.",
    "Remember: always feed the {mark} before noon.",
    "TODO: call {who} about the {mark}.",
)


class Forgetting(RuleBasedStateMachine):
    """What was told, what was forgotten, and two stores that must agree with it."""

    def __init__(self) -> None:
        super().__init__()
        shm = "/dev/shm"
        self.folder = Path(mkdtemp(prefix="clsm-", dir=shm if os.access(shm, os.W_OK) else None))
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.stores: dict[str, Store] = {}
        self.told: dict[str, set[str]] = {device: set() for device in DEVICES}
        self.gone: dict[str, set[str]] = {device: set() for device in DEVICES}
        self.clean = dict.fromkeys(DEVICES, False)
        self.number = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        first = self.folder / DEVICES[0]
        new_store(first)
        git_says(first, "init", "-q", "-b", "main")
        self._commit(first)
        git_says(self.folder, "clone", "-q", str(first), str(self.folder / DEVICES[1]))
        for device in DEVICES:
            self.stores[device] = layout.open_store(self.folder / device, {"CLSM_DEVICE": device})

    @rule(
        device=st.sampled_from(DEVICES),
        said=st.lists(
            st.tuples(st.sampled_from(PEOPLE), st.sampled_from(SHAPES)), min_size=1, max_size=3
        ),
    )
    def tell(self, device: str, said: list[tuple[str, str]]) -> None:
        """A conversation; each of its turns has a mark of its own."""
        if len(self._all_marks()) + len(said) > len(MARKS) * 10:
            return
        turns = []
        for who, shape in said:
            mark = f"{MARKS[self.number % len(MARKS)]}{self.number}x"
            self.number += 1
            self.told[device].add(mark)
            turns.append((who, self._tick(), shape.format(who=who, mark=mark.capitalize())))
        folder = self.folder / f"sources-{device}"
        folder.mkdir(exist_ok=True)
        take(self.stores[device], chat(folder, f"s{self.number}", turns), now=self._tick())
        self.clean[device] = False

    @rule(device=st.sampled_from(DEVICES))
    def again(self, device: str) -> None:
        """Everything that was ever told this machine is ingested again."""
        folder = self.folder / f"sources-{device}"
        if folder.is_dir():
            take(self.stores[device], folder, now=self._tick())

    @rule(device=st.sampled_from(DEVICES))
    def consolidate(self, device: str) -> None:
        sleep(self.stores[device], self._tick(), allow_loss=True)
        self.clean[device] = True

    @precondition(lambda self: any(self.told[d] - self.gone[d] for d in DEVICES))
    @rule(data=st.data())
    def lose(self, data: Any) -> None:
        """Forget a turn, or a whole conversation, that a machine knows."""
        device = data.draw(st.sampled_from([d for d in DEVICES if self.told[d] - self.gone[d]]))
        store = self.stores[device]
        mark = data.draw(st.sampled_from(sorted(self.told[device] - self.gone[device])))
        held = store_contents.read_store(store, "2026-03-01T12:00:00Z").turns
        key = next(k for k, t in held.items() if mark in t.turn.text.lower())
        wanted = Wanted(ids=(key,))
        lost = {key}
        if data.draw(st.booleans()):
            wanted = Wanted(session=held[key].session)
            lost = {k for k, t in held.items() if t.session == held[key].session}
        now = datetime.fromisoformat(self._tick())
        planned = erasure.plan(store, wanted, now, embedder(), lambda *_: None)
        assert planned is not None
        erasure.apply(store, planned, now, embedder())
        self.gone[device] |= {
            each
            for each in self.told[device]
            if any(each in held[k].turn.text.lower() for k in lost)
        }
        self.clean[device] = True

    @rule()
    def merge(self) -> None:
        """Both machines exchange what they have; ``merge=union`` must be enough."""
        desk, pi = (self.folder / device for device in DEVICES)
        for root in (desk, pi):
            self._commit(root)
        git_says(pi, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        git_says(desk, "pull", "-q", "--no-rebase", "--no-edit", str(pi), "main")
        told, gone = set.union(*self.told.values()), set.union(*self.gone.values())
        for device in DEVICES:
            self.told[device], self.gone[device] = set(told), set(gone)
            self.clean[device] = False

    @invariant()
    def nothing_comes_back(self) -> None:
        for device, store in self.stores.items():
            held = store_contents.read_store(store, "2026-03-01T12:00:00Z")
            texts = [t.turn.text.lower() for t in held.turns.values()]
            texts += [s.text.lower() for s in held.statements.values()]
            back = {mark for mark in self.gone[device] if any(mark in text for text in texts)}
            assert not back, (device, back)
            left = self.told[device] - self.gone[device]
            lost = {mark for mark in left if not any(mark in text for text in texts)}
            assert not lost, (device, lost)
            self._is_not_found(store, self.gone[device])
            if self.clean[device]:
                self._is_in_no_file(store, self.gone[device])
                self._has_no_orphan(store)

    def _is_not_found(self, store: Store, gone: set[str]) -> None:
        with open_index(store, None) as opened:
            rows = opened.index.connection.execute("SELECT text FROM passages").fetchall()
            texts = [row[0].lower() for row in rows]
            assert not {mark for mark in gone if any(mark in text for text in texts)}

    def _is_in_no_file(self, store: Store, gone: set[str]) -> None:
        for path in store.root.rglob("*"):
            if path.is_file() and not {".git", ".clsm"} & {*path.relative_to(store.root).parts}:
                data = path.read_bytes().lower()
                back = {mark for mark in gone if mark.encode() in data or mark in path.name}
                assert not back, (path, back)

    def _has_no_orphan(self, store: Store) -> None:
        records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
        held = store_contents.read_store(store, "2026-03-01T12:00:00Z")
        episodes = {e.id for _, e in held.episodes}
        for record in records.values():
            if isinstance(record, Edge):
                assert {record.source, record.target} <= records.keys() | episodes, record
            if isinstance(record, EpisodeRecord):
                assert record.id in episodes, record
                turns = {key for keys in record.mentions.values() for key in keys}
                assert turns <= held.turns.keys(), record
        for row in held.statements.values():
            if row.is_current and row.kind != "gist":
                assert {*row.sources} <= held.turns.keys(), row

    def _all_marks(self) -> set[str]:
        return set.union(*self.told.values())

    def _tick(self) -> str:
        self.now += timedelta(hours=6)
        return self.now.isoformat()

    def _commit(self, root: Path) -> None:
        git_says(root, "add", "-A")
        git_says(root, "commit", "-q", "--allow-empty", "-m", "memory")


check = settings(
    max_examples=int(os.environ.get("CLSM_EXAMPLES", "10")),
    stateful_step_count=12,
    deadline=None,
    derandomize="CLSM_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
TestForgetting = Forgetting.TestCase
TestForgetting.settings = check


def test_a_store_that_heeds_no_tombstone_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive control."""
    machine = Forgetting()
    try:
        machine.begin()
        machine.tell("desk", [("Mara", SHAPES[0])])
        store = machine.stores["desk"]
        wanted, now = Wanted(session="s1"), machine.now
        planned = erasure.plan(store, wanted, now, embedder(), lambda *_: None)
        assert planned is not None
        erasure.apply(store, planned, now, embedder())
        machine.gone["desk"] |= machine.told["desk"]
        machine.nothing_comes_back()
        monkeypatch.setattr(logs, "load_tombstones", _nothing)
        take(store, machine.folder / "sources-desk", capture_only=True)
        with pytest.raises(AssertionError, match="quagga0x"):
            machine.nothing_comes_back()
    finally:
        machine.teardown()


def _nothing(store: Store) -> frozenset[str]:
    del store
    return frozenset()
