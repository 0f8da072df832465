"""A link inside a store is not followed: not read through, not written through."""

import shutil
from pathlib import Path

import pytest
from sample_store import ask
from small_store import note
from tables import column

from clsm_cli.errors import DamagedStoreError
from clsm_cli.store import layout
from clsm_cli.store.index import database

ENVIRONMENT = {"CLSM_DEVICE": "pi"}


@pytest.fixture
def store(store: layout.Store, tmp_path: Path) -> layout.Store:
    note(store, tmp_path / "a.md", "The ferry leaves at nine.\n", model=False)
    return store


@pytest.mark.parametrize("name", column(__file__, "folders"))
def test_a_folder_that_is_a_link_is_refused(store: layout.Store, tmp_path: Path, name: str) -> None:
    away = tmp_path / "away"
    if (store.root / name).exists():
        shutil.move(store.root / name, away)
    else:
        away.mkdir()
    (store.root / name).symlink_to(away)
    with pytest.raises(DamagedStoreError, match="symbolic link"):
        layout.open_store(store.root, ENVIRONMENT)


@pytest.mark.parametrize("name", ["index", "index/index.sqlite"])
def test_a_linked_index_is_made_anew(store: layout.Store, tmp_path: Path, name: str) -> None:
    away = tmp_path / "away"
    shutil.move(store.derived / name, away)
    (store.derived / name).symlink_to(away)
    held = {p: p.read_bytes() for p in [away, *away.rglob("*")] if p.is_file()}
    assert [memory.text for memory in ask(store, "when does the ferry leave").memories]
    assert not (store.derived / name).is_symlink()
    assert {p: p.read_bytes() for p in held} == held
    assert database.path_of(store.derived).is_file()


def test_a_device_name_is_not_read_through_a_link(store: layout.Store, tmp_path: Path) -> None:
    (tmp_path / "away").write_text("other")
    (store.derived / "device").unlink(missing_ok=True)
    (store.derived / "device").symlink_to(tmp_path / "away")
    assert layout.open_store(store.root, {}).device != "other"
