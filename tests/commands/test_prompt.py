"""``clsm recall --format prompt``: what a model reads, and the key that seals it."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clsm_cli.commands import fence_key
from clsm_cli.commands.render_recall import ABOUT, prompt_lines
from clsm_cli.retrieval.answer import Answer, Budget, Concept, DroppedItem, Memory, Signals, Source
from clsm_cli.text.fence_lines import KEY_BYTES

KEY = bytes(range(KEY_BYTES))


def memory(text: str = "Juno is a cat.", **values: Any) -> Memory:
    source = Source("a.jsonl", 14, 14, ("m1",), "2026-02-24T08:15:00+01:00", "/m/a.jsonl", 14)
    told = Memory(
        id="0123456789ab", kind="passage", text=text, stream="flow", score=1.0, confidence=0.9,
        tokens=5, trust="user", session="main", sources=(source,), why=Signals(), shares=Signals(),
        speaker="Mara",
    )  # fmt: skip
    return told._replace(**values)


def answer(*memories: Memory, concepts: tuple[str, ...] = (), dropped: int = 0) -> Answer:
    shown = tuple(Concept(each, each, (), "concept", "flow", 1.0, None, ()) for each in concepts)
    left_out = tuple(DroppedItem(f"d{n}", 90, "budget") for n in range(dropped))
    return Answer(
        recall_id="r-0123456789ab", query="juno", now="2026-03-02T08:00:00+01:00", route="ltm",
        confidence=0.9, concepts=shown, memories=memories, budget=Budget(2000, 5, dropped=left_out),
        embedder=None,
    )  # fmt: skip


def test_a_block_reads_like_this() -> None:
    note = memory(
        "Juno eats:\n- fish\n\n- rice",
        speaker="",
        heading="Pets > Juno",
        trust="agent",
        sources=(Source("notes/pets.md", 3, 6, ("k",), None, "/m/notes/pets.md", 3),),
    )
    lines = prompt_lines(answer(memory(), note, concepts=("juno", "fish"), dropped=2), KEY)
    assert lines[0].startswith('<clsm-recall id="r-0123456789ab" fence="')
    assert lines[1:] == [
        f"| {ABOUT}", "| Concepts: juno, fish", "| Files are below /m.",
        "| 1. trust user, 90 % sure, 2026-02-24 08:15, a.jsonl:14", "|    Mara: Juno is a cat.",
        "| 2. trust agent, 90 % sure, undated, notes/pets.md:3", "|    Pets > Juno",
        "|    Juno eats:", "|    - fish", "|", "|    - rice",
        "| Over the budget and not shown (180 tokens): d0, d1", "</clsm-recall>",
    ]  # fmt: skip


def test_of_many_over_the_budget_the_number_is_told() -> None:
    line = prompt_lines(answer(memory(), dropped=12), KEY)[-2]
    assert line == (
        "| Over the budget and not shown (1080 tokens): "
        "d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, 2 more"
    )


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the key lies; it does not exist yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return tmp_path / "share" / "clsm"


def obtain() -> tuple[bytes | None, list[str]]:
    said: list[str] = []
    return fence_key.obtain_key(said.append), said


def test_the_key_is_made_once_for_its_owner_alone(data: Path) -> None:
    old = os.umask(0)
    try:
        key, said = obtain()
    finally:
        os.umask(old)
    assert key is not None
    assert (len(key), said) == (KEY_BYTES, [])
    assert obtain() == (key, [])
    assert fence_key.key_reader(said.append)() == key
    assert [path.name for path in data.iterdir()] == ["fence.key"]
    assert stat.S_IMODE((data / "fence.key").stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def _link(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")
    (path.parent / "elsewhere").write_bytes(KEY)


def _no_folder(path: Path) -> None:
    path.parent.rmdir()
    path.parent.touch()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "short": lambda path: path.write_bytes(KEY[:-1]), "empty": Path.touch,
    "long": lambda path: path.write_bytes(KEY * 1000), "link": _link, "folder": Path.mkdir,
    "no folder": _no_folder,
}  # fmt: skip


@pytest.mark.parametrize("how", DAMAGE)
def test_a_key_that_cannot_be_used_is_said_and_left_alone(data: Path, how: str) -> None:
    data.mkdir(parents=True)
    DAMAGE[how](data / "fence.key")
    before = sorted(data.parent.rglob("*"))
    key, said = obtain()
    assert (key, len(said)) == (None, 1)
    assert str(data) in said[0]
    assert "until then recalled text that comes back is taken for" in said[0]
    if how != "no folder":
        assert fence_key.key_reader(said.append)() is None
        assert said[1] == said[0]
    assert sorted(data.parent.rglob("*")) == before
