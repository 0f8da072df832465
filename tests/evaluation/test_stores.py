"""Stores are made once, by the real ingest, and completed after an interruption."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import pytest
from evaluation.small_sets import write_locomo
from ingesting import state_of, tree

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import Case, Chat
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.store.index.opening import Embedder
from clsm_cli.store.layout import Store


@pytest.fixture
def talk(tmp_path: Path) -> Case:
    return locomo.load(write_locomo(tmp_path / "set")).cases[0]


def _interrupt(_texts: object) -> NoReturn:
    raise KeyboardInterrupt


def test_every_turn_is_in_an_episode(factory: StoreFactory, talk: Case) -> None:
    store, now = stores.make_store(talk, factory)
    assert now == datetime.fromisoformat("2023-06-02T09:05:01+00:00")
    state = state_of(store)
    assert isinstance(talk.source, Chat)
    held = [(e.session, turn.foreign_id) for e in state.episodes.values() for turn in e.turns]
    assert sorted(held) == sorted((turn.session, turn.id) for turn in talk.source.turns)
    assert state.waiting == {}


def test_an_interrupted_store_is_completed(factory: StoreFactory, talk: Case) -> None:
    broken = replace(factory, embedder=Embedder(factory.embedder.engine, lambda: _interrupt))
    with pytest.raises(KeyboardInterrupt):
        stores.make_store(talk, broken)
    store, _ = stores.make_store(talk, factory)
    whole, _ = stores.make_store(talk, replace(factory, folder=factory.folder / "other"))
    assert state_of(store).keys() == state_of(whole).keys()
    assert state_of(store).waiting == {}


def test_a_change_is_made_once(
    factory: StoreFactory, talk: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stores.make_store(talk, factory)
    before = tree(made.store.root)
    changes: list[Store] = []

    def mark(store: Store) -> None:
        changes.append(store)
        (store.root / "mark").write_text("1")

    first = stores.cached_copy(made, "marked", mark)
    again = stores.cached_copy(made, "marked", mark)
    assert again.root == first.root
    assert (first.root / "mark").exists()
    assert len(changes) == 1
    assert tree(made.store.root) == before
    assert state_of(first).keys() == state_of(made.store).keys()
    assert stores.cached_copy(made, "marked, too", mark).root != first.root
    monkeypatch.setattr(stores, "code_digest", lambda parts: f"other {len(parts)}")
    assert stores.make_store(talk, factory).store.root != made.store.root
    assert stores.cached_copy(made, "marked", mark).root != first.root
