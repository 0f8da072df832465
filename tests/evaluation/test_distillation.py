"""A labelled memory from files to figures, with the real model and the real consolidation."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluation.small_sets import DAYS, write_memory
from ingesting import tree

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.loaders.own_memory import FOLDERS
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.studies import distillation, labelled


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_memory(tmp_path / "set")


def test_from_files_to_figures(root: Path, factory: StoreFactory) -> None:
    before = tree(root, derived=True)
    report = distillation.run_memory(root, factory, seed=0)
    assert tree(root, derived=True) == before
    assert report.data["turns"] > 0
    assert report.concepts.missing == ("the moon",)
    assert report.statements is not None
    assert report.statements.present == 1  # the task; nobody spoke of the moon
    assert report.statements.stream_right == 1
    assert [each.text for each in report.statements.missing] == ["The moon is full."]
    assert [value.is_stated for value in report.facts[0].values] == [False, False]  # passing
    assert report.repeated is not None
    assert report.repeated.changed_files == ()
    assert report.repeated.nights == 2
    assert report.sheet == ()


def test_a_sheet_shows_statements_with_their_sources(root: Path, factory: StoreFactory) -> None:
    report = distillation.run_memory(root, factory, seed=0, sheet=1000)
    assert report.repeated is None
    held = labelled.read_contents(
        stores.consolidated_copy(factory, stores.folder_store(factory, root, FOLDERS))
    )
    assert {row.id for row in report.sheet} == {row.id for row in held.statements}
    assert all(row.sources for row in report.sheet)


def test_plain_notes_have_no_markup(root: Path, factory: StoreFactory) -> None:
    report = distillation.run_memory(root, factory, seed=0, is_plain=True)
    assert (report.statements, report.facts, report.repeated) == (None, (), None)
    (copy,) = factory.folder.glob("*-rewritten")
    text = (copy / "workspace" / "memory" / "2026-03-03.md").read_text()
    assert "- [ ] Ask Brian for the invoice of the pump" in text
    assert "pump --status says so. cellar" in text
    assert "[[Brian]]" in DAYS["2026-03-03"]


def test_a_store_that_was_touched_is_seen(root: Path, factory: StoreFactory) -> None:
    """A second run over a store that lost a shard makes it again, which is a change."""
    made = stores.folder_store(factory, root, FOLDERS)
    store = stores.consolidated_copy(factory, made)
    whole = distillation.measure(root, factory, made, store)
    store = stores.consolidated_copy(factory, made)
    shard = next(
        path
        for path in sorted(store.graph("projects").glob("*.yaml"))
        if b'"record": "node"' in path.read_bytes()
    )
    shard.write_text("")
    broken = distillation.measure(root, factory, made, store)
    assert whole.changed_files == ()
    assert str(shard.relative_to(store.root)) in broken.changed_files
    assert any(each.what == "nodes: more" and each.count for each in broken.rebuilt)
