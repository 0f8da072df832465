"""Stores are made once, by the real ingest, and completed after an interruption."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import pytest
from evaluation.small_sets import write_locomo
from ingesting import state_of, tree

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import Chat
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.store.index.opening import Embedder
from clsm_cli.store.layout import Store

NAME = "talk"


@pytest.fixture
def talk(tmp_path: Path) -> Chat:
    source = locomo.load(write_locomo(tmp_path / "set")).cases[0].source
    assert isinstance(source, Chat)
    return source


def _interrupt(_texts: object) -> NoReturn:
    raise KeyboardInterrupt


def test_every_turn_is_in_an_episode(factory: StoreFactory, talk: Chat) -> None:
    store, now = stores.chat_store(factory, NAME, talk)
    assert now == datetime.fromisoformat("2023-06-02T09:05:01+00:00")
    state = state_of(store)
    held = sorted(turn.foreign_id or "" for each in state.episodes.values() for turn in each.turns)
    assert held == sorted(turn.id for turn in talk.turns)
    assert state.waiting == {}
    sessions = {
        (each.session, turn.foreign_id) for each in state.episodes.values() for turn in each.turns
    }
    assert ("session 10", "D10:1") in sessions


def test_an_interrupted_store_is_completed(factory: StoreFactory, talk: Chat) -> None:
    broken = replace(factory, embedder=Embedder(factory.embedder.engine, lambda: _interrupt))
    with pytest.raises(KeyboardInterrupt):
        stores.chat_store(broken, NAME, talk)
    store, _ = stores.chat_store(factory, NAME, talk)
    whole, _ = stores.chat_store(replace(factory, folder=factory.folder / "other"), NAME, talk)
    assert state_of(store).keys() == state_of(whole).keys()
    assert state_of(store).waiting == {}


def test_another_program_makes_another_store(
    factory: StoreFactory, talk: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stores.chat_store(factory, NAME, talk)
    kept = stores.cached_copy(factory, made, "marked", _mark)
    monkeypatch.setattr(stores, "code_digest", lambda parts: f"other {len(parts)}")
    assert stores.chat_store(factory, NAME, talk).store.root != made.store.root
    assert stores.cached_copy(factory, made, "marked", _mark).root != kept.root


def _mark(store: Store) -> None:
    (store.root / "mark").write_text("1")


def test_a_change_is_made_once(factory: StoreFactory, talk: Chat) -> None:
    made = stores.chat_store(factory, NAME, talk)
    before = tree(made.store.root)
    changes: list[Store] = []

    def mark(store: Store) -> None:
        changes.append(store)
        _mark(store)

    first = stores.cached_copy(factory, made, "marked", mark)
    again = stores.cached_copy(factory, made, "marked", mark)
    assert again.root == first.root
    assert (first.root / "mark").exists()
    assert len(changes) == 1
    assert tree(made.store.root) == before
    assert state_of(first).keys() == state_of(made.store).keys()
    assert stores.cached_copy(factory, made, "marked, too", mark).root != first.root
    stores.cached_copy(replace(factory, fresh=True), made, "marked", mark)
    assert len(changes) == 3
