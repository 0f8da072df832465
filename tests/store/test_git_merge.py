"""Three clones of one store, edited at once and synchronised by real git.

``CLSM_ROUNDS=500 pytest tests/store/test_git_merge.py`` for the long run.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from using_git import git

from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.store import atomic, layout, reconcile, shards, topics

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.model.codec import Record

ROUNDS = int(os.environ.get("CLSM_ROUNDS", "5"))
NOW = "2026-02-24T22:00:00Z"


@dataclass
class Clone:
    """One machine's copy; it edits as clsm and its user do, and remembers what it wrote."""

    root: Path
    device: str
    aliases: set[tuple[str, str]] = field(default_factory=set)
    sources: set[tuple[str, str]] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    conflicts: int = 0

    @property
    def graph_folder(self) -> Path:
        return self.root / "projects" / "graph"

    def graph(self) -> shards.Graph:
        return shards.load_graph([self.graph_folder])

    def write(self, changes: list[Record]) -> None:
        for path, (data, before) in shards.plan_update(self.graph_folder, changes).items():
            atomic.put(path, data, read_as=before.sha256)

    def edit_graph(self, rng: random.Random) -> None:
        """As a run does: read, join, change, write."""
        known = self.graph().records
        name = f"n-{rng.randrange(12)}"
        node = known.get(name, Node(id=name, rev=(0, self.device), label=name))
        assert isinstance(node, Node)
        alias = f"{self.device} {rng.randrange(99)}"
        self.aliases.add((name, alias))
        changed = replace(
            node,
            rev=(node.rev[0] + 1, self.device),
            n=node.n + 1,
            aliases=tuple(sorted({*node.aliases, alias})),
            pinned=rng.random() < 0.2 or node.pinned,
        )
        target = f"g-{rng.randrange(12)}"
        edge = known.get(target, Edge(id=target, rev=(0, self.device), source=name, target="n-0"))
        assert isinstance(edge, Edge)
        source = f"{rng.randrange(1 << 32):012x}"
        self.sources.add((target, source))
        sources = tuple(sorted({*edge.sources, source}))
        weight = round(rng.random(), 4)
        rev = (edge.rev[0] + 1, self.device)
        self.write([changed, replace(edge, rev=rev, sources=sources, weight=weight)])

    def edit_shard_by_hand(self, rng: random.Random) -> None:
        """As a person does: a line at the end of some shard, in any style."""
        name = f"by-hand-{self.device}-{rng.randrange(5)}"
        path = self.graph_folder / shards.shard_name(name, 1)
        styles = (
            f'- {{"id": "{name}", "record": "node", "rev": [1, "{self.device}"], "label": "H"}}\n',
            f"- id: {name}\n  record: node\n  rev: [1, {self.device}]\n  label: H\n",
        )
        with path.open("a") as file:
            file.write(rng.choice(styles))
        self.aliases.add((name, ""))

    def edit_topic(self, rng: random.Random) -> None:
        path = self.root / "projects" / "memory.md"
        lines = path.read_text().rstrip("\n").split("\n")
        text = f"Fact {rng.randrange(10_000)} by {self.device}."
        self.texts.add(text)
        items = [n for n, line in enumerate(lines) if line.startswith("- ")]
        if rng.random() < 0.5:
            lines.insert(rng.choice(items), f"- {text}")
        else:  # a new text under an old id
            at = rng.choice(items)
            _, caret, record_id = lines[at].rpartition("  ^")
            lines[at] = f"- {text}" + (caret + record_id if caret else "")
        path.write_text("\n".join(lines) + rng.choice(["\n", ""]))

    def commit(self) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", "edit")

    def sync(self) -> None:
        if git(self.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main").returncode:
            self.conflicts += 1
            git(self.root, "merge", "--abort")
        else:
            git(self.root, "push", "-q", "origin", "HEAD:main")

    def edits(self) -> reconcile.Edits:
        records = {k: r for k, r in self.graph().records.items() if isinstance(r, Statement)}
        found = topics.read_topics(self.root / "projects")
        assert [problem for topic in found for problem in topic.problems] == []
        return reconcile.reconcile(found, records, stream="projects", now=NOW, device="x")


def clones(tmp_path: Path, *, union: bool) -> list[Clone]:
    first = tmp_path / "pi"
    layout.create(first, "Europe/Berlin")
    if not union:
        (first / ".gitattributes").write_text("")
    known = [
        Statement(
            id=f"f-{n}",
            rev=(1, "pi"),
            text_sha=topics.text_sha(f"Known fact {n}."),
            topic="memory",
            recorded_at=NOW,
        )
        for n in range(8)
    ]
    written = [replace(statement, text=f"Known fact {statement.id[2:]}.") for statement in known]
    topic = topics.render_topic("Memory", "projects", "memory", written)
    atomic.put(first / "projects" / "memory.md", topic)
    Clone(first, "pi").write([*known, *(Node(id=f"n-{n}", rev=(1, "pi")) for n in range(12))])
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "o")], check=True)
    git(first, "init", "-q", "-b", "main")
    git(first, "remote", "add", "origin", str(tmp_path / "o"))
    git(first, "add", "-A")
    git(first, "commit", "-qm", "0")
    assert git(first, "push", "-q", "origin", "main").returncode == 0
    for device in ("pc", "laptop"):
        assert (
            git(tmp_path, "clone", "-q", str(tmp_path / "o"), str(tmp_path / device)).returncode
            == 0
        )
    return [Clone(tmp_path / device, device) for device in ("pi", "pc", "laptop")]


def play(machines: list[Clone], rng: random.Random) -> None:
    for _ in range(12):
        clone = rng.choice(machines)
        if rng.random() < 0.35:
            clone.sync()
        else:
            edits = [clone.edit_graph, clone.edit_graph, clone.edit_topic, clone.edit_shard_by_hand]
            rng.choice(edits)(rng)
            clone.commit()
    for _ in range(2):
        for clone in machines:
            clone.sync()


def normalised(clone: Clone) -> dict[str, bytes]:
    """Bytes of every shard once a run has touched it."""
    clone.write(list(clone.graph().records.values()))
    return {path.name: path.read_bytes() for path in shards.shard_files(clone.graph_folder)}


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_clones_converge_without_conflicts_and_lose_nothing(tmp_path: Path, seed: int) -> None:
    machines = clones(tmp_path, union=True)
    play(machines, random.Random(seed))
    assert sum(clone.conflicts for clone in machines) == 0

    graphs = [clone.graph() for clone in machines]
    assert all(graph.problems == () for graph in graphs)
    assert graphs[0] == graphs[1] == graphs[2]
    records: dict[str, Any] = graphs[0].records
    for clone in machines:
        for name, alias in clone.aliases:
            assert alias in ("", *records[name].aliases)
        for name, source in clone.sources:
            assert source in records[name].sources

    files = [(clone.root / "projects" / "memory.md").read_bytes() for clone in machines]
    assert files[0] == files[1] == files[2]
    edits = [clone.edits() for clone in machines]
    assert edits[0] == edits[1] == edits[2]
    # Every text that git still holds is a statement of its own, also two texts under one id.
    texts = {s.text for s in edits[0].statements.values() if s.is_current}
    lines = files[0].decode().splitlines()
    assert texts == {line[2:].split("  ^")[0] for line in lines if line.startswith("- ")}
    # A text that no machine replaced is still there.
    history = subprocess.run(
        ["git", "-C", str(machines[0].root), "log", "-p", "--format=", "--", "projects/memory.md"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    removed = {line[3:].split("  ^")[0] for line in history.splitlines() if line[:3] == "-- "}
    written = set().union(*(clone.texts for clone in machines))
    assert written - removed <= texts

    normal = [normalised(clone) for clone in machines]
    assert normal[0] == normal[1] == normal[2]
    assert all(
        clone.graph() == replace(graph, lost=())
        for clone, graph in zip(machines, graphs, strict=True)
    )


def test_without_our_attributes_there_are_conflicts(tmp_path: Path) -> None:
    """The test above can fail."""
    conflicts = 0
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        machines = clones(folder, union=False)
        play(machines, random.Random(seed))
        conflicts += sum(clone.conflicts for clone in machines)
        shutil.rmtree(folder)
    assert conflicts > 3
