"""One thing by its id, whatever it is, and how it begins."""

from pathlib import Path

import pytest
from ingesting import take

from clsm_cli.errors import BadInputError
from clsm_cli.inspection.item_lookup import look_up
from clsm_cli.inspection.overview import overview
from clsm_cli.store.layout import Store

NOTE = "# Bridge\n\n- The heron stood on the [[float gauge]].\n- The [[float gauge]] was retired.\n"
TURN = b'{"role": "user", "text": "Who drew the bridge?", "timestamp": "2026-02-24T08:00:00Z"}\n'


@pytest.fixture
def store(store: Store, tmp_path: Path) -> Store:
    (tmp_path / "bridge.md").write_text(NOTE)
    take(store, tmp_path / "bridge.md", model=False)
    take(store, stdin=TURN, session="yard", model=False)
    return store


def test_an_episode_and_its_blocks(store: Store) -> None:
    (file,) = store.flow.glob("episodes/*/*/*.md")
    episode = file.stem.partition("-")[2]
    found = look_up(store, episode)
    assert (found.kind, found.facts["turns"]) == ("episode", 2)
    assert look_up(store, episode[:6]) == found
    key = found.text.split()[0]
    block = look_up(store, key)
    assert (block.kind, block.facts["heading"]) == ("block", "Bridge")
    (told,) = block.told
    assert (told.source.rpartition("/")[2], told.line) == ("bridge.md:3", 3)
    assert Path(told.file).read_text() == NOTE
    assert look_up(store, f"{key}-0").id == key


@pytest.mark.parametrize(
    "wanted", ["", "e", "e-", "nosuch", "../x", "%", "'", "\U0010ffff", "float"]
)
def test_what_is_not_there(store: Store, wanted: str) -> None:
    with pytest.raises(BadInputError, match="nothing in this store has that id"):
        look_up(store, wanted)


def test_an_overview(store: Store) -> None:
    found = overview(store)
    expected = {"turns": 1, "sessions": 1, "blocks": 2, "documents": 1, "episodes": 1, "waiting": 1}
    assert {name: found.counts[name] for name in expected} == expected
    assert (found.unembedded, found.problems) == (3, ())
    assert [run["command"] for run in found.runs] == ["ingest", "ingest"]
    log = store.flow / "runs.jsonl"
    log.write_text(log.read_text() + "\n{torn\n")
    line = log.read_text().splitlines().index("{torn") + 1
    (problem,) = overview(store).problems
    assert (problem["path"], problem["line"]) == ("flow/pi/runs.jsonl", line)
