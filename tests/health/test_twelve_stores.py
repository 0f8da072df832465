"""Twelve stores, each damaged in its own way, through the real command line.

``clsm doctor`` finds it, ``--fix`` mends what can be mended, and the next ``clsm doctor`` has nothing
to say of damage, or says what a person must do.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest
from faults.stores import worn
from processes import Cli, environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clsm_cli.store.layout import Store


class Damaged(NamedTuple):
    """A store, what doctor must say of it, and the codes that are left for a person.

    Attributes:
        code: Exit code of the first look; ``after`` of the one behind ``--fix``.
    """

    name: str
    damage: Callable[[Path], None]
    finding: str
    code: int = 13
    after: int = 0


def _first(root: Path, pattern: str) -> Path:
    return max(root.glob(pattern), key=lambda path: path.stat().st_size)


def _torn_shard(root: Path) -> None:
    path = _first(root, "identity/graph/*.yaml")
    path.write_bytes(path.read_bytes()[:-20])


def _merged_shard(root: Path) -> None:
    path = _first(root, "flow/*/graph/*.yaml")
    rows = path.read_text().splitlines(keepends=True)
    rows[-1:] = ["<<<<<<< HEAD\n", rows[-1], "=======\n", rows[-1], ">>>>>>> attic\n"]
    path.write_text("".join(rows))


def _swapped_shards(root: Path) -> None:
    one, other, *_ = sorted(root.glob("flow/*/graph/*.yaml"))
    first = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(first)


def _no_episode(root: Path) -> None:
    path = _first(root, "flow/*/episodes/*/*/*.md")
    path.write_bytes(b"\0" * path.stat().st_size)


def _cut_episode(root: Path) -> None:
    path = _first(root, "flow/*/episodes/*/*/*.md")
    path.write_bytes(path.read_bytes()[:-200])


def _gone_episode(root: Path) -> None:
    _first(root, "flow/*/episodes/*/*/*.md").unlink()


def _noise_in_inbox(root: Path) -> None:
    path = _first(root, "flow/*/inbox/*.jsonl")
    path.write_bytes(b'{"key": "half a li\n' + path.read_bytes())


def _merged_topic(root: Path) -> None:
    path = _first(root, "identity/*.md")
    text = path.read_text()
    path.write_text(f"{text}<<<<<<< HEAD\n=======\n- Mara sings.\n>>>>>>> attic\n")


def _open_modes(root: Path) -> None:
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _spoilt_index(root: Path) -> None:
    path = root / ".clsm" / "index" / "index.sqlite"
    data = bytearray(path.read_bytes())
    data[8192:40960] = bytes(32768)
    path.write_bytes(data)


def _lost_tombstones(root: Path) -> None:
    shutil.rmtree(root / "tombstones")


def _killed_writer(root: Path) -> None:
    path = _first(root, "projects/*.md")
    path.with_name(f".tmp-{path.name}").write_text("half")
    (root / ".clsm" / "redo").write_text('{"line": {"id": "run-1"')


STORES = (
    Damaged("torn shard", _torn_shard, "unreadable-line"),
    Damaged("merged shard", _merged_shard, "conflict-markers"),
    Damaged("swapped shards", _swapped_shards, "wrong-shard", code=0),
    Damaged("zeroed episode", _no_episode, "unreadable-episode"),
    Damaged("cut episode", _cut_episode, "turn-mismatch", after=13),
    Damaged("lost episode", _gone_episode, "missing-episode", after=13),
    Damaged("noise in an inbox", _noise_in_inbox, "unreadable-line"),
    Damaged("merged topic", _merged_topic, "conflict-markers"),
    Damaged("open modes", _open_modes, "open-to-others", code=0),
    Damaged("spoilt index", _spoilt_index, "index-damaged"),
    Damaged("lost tombstones", _lost_tombstones, "tombstone-lost"),
    Damaged("killed writer", _killed_writer, "begun-run", code=0),
)


def test_there_are_twelve() -> None:
    assert len(STORES) == 12


@pytest.mark.parametrize("each", STORES, ids=lambda each: each.name)
def test_found_mended_and_clean(each: Damaged, worn_store: Store, model_folder: Path) -> None:
    desk = worn_store.root.parent
    values = environment(desk.parent, model_folder) | {"CLSM_DEVICE": "pi"}
    clsm = Cli(desk, values | {"CLSM_STORE": str(worn_store.root)})
    each.damage(worn_store.root)

    found = clsm("doctor", "--now", worn.NOW, "--json")
    codes = {row["code"] for row in found.json["findings"]}
    assert (found.code, found.err) == (each.code, "")
    assert each.finding in codes

    fixed = clsm("doctor", "--fix", "--now", worn.NOW)
    assert (fixed.code, fixed.err) == (each.after, "")
    again = clsm("doctor", "--now", worn.NOW, "--json")
    assert again.code == each.after
    left = [row for row in again.json["findings"] if row["mends"]]
    assert left == []
    if not each.after:
        damaged = [row for row in again.json["findings"] if row["severity"] == "damage"]
        assert damaged == []
