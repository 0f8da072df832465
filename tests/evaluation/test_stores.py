"""Stores are made once, by the real ingest, and completed after an interruption."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn

import pytest
from evaluation.small_sets import write_locomo, write_notes
from ingesting import state_of, tree

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.store.index.opening import Embedder

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.loaders.cases import Conversation
    from clsm_cli.evaluation.stores import Workshop


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return locomo.load(write_locomo(tmp_path / "set")).conversations[0]


def _interrupt(_texts: object) -> NoReturn:
    raise KeyboardInterrupt


def test_every_turn_is_in_an_episode(shop: Workshop, talk: Conversation) -> None:
    store, now = stores.of_conversation(shop, talk)
    assert now == datetime.fromisoformat("2023-06-02T09:05:01+00:00")
    state = state_of(store)
    held = sorted(turn.foreign_id or "" for each in state.episodes.values() for turn in each.turns)
    assert held == sorted(turn.id for turn in talk.turns)
    assert state.waiting == {}
    sessions = {
        (each.session, turn.foreign_id) for each in state.episodes.values() for turn in each.turns
    }
    assert ("session 10", "D10:1") in sessions


def test_the_second_time_nothing_is_ingested(shop: Workshop, talk: Conversation) -> None:
    store, _ = stores.of_conversation(shop, talk)
    before = tree(store.root, derived=True)
    broken = replace(shop, embedder=Embedder(shop.embedder.engine, lambda: _interrupt))
    again, _ = stores.of_conversation(broken, talk)
    assert again.root == store.root
    assert tree(again.root, derived=True) == before


def test_an_interrupted_store_is_completed(shop: Workshop, talk: Conversation) -> None:
    broken = replace(shop, embedder=Embedder(shop.embedder.engine, lambda: _interrupt))
    with pytest.raises(KeyboardInterrupt):
        stores.of_conversation(broken, talk)
    store, _ = stores.of_conversation(shop, talk)
    whole, _ = stores.of_conversation(replace(shop, folder=shop.folder / "other"), talk)
    assert state_of(store).keys() == state_of(whole).keys()
    assert state_of(store).waiting == {}


def test_fresh_makes_it_anew(shop: Workshop, talk: Conversation) -> None:
    store, _ = stores.of_conversation(shop, talk)
    (store.root / "mark").touch()
    stores.of_conversation(replace(shop, fresh=True), talk)
    assert not (store.root / "mark").exists()
    assert state_of(store).episodes


def test_another_input_gets_another_store(shop: Workshop, talk: Conversation) -> None:
    one, _ = stores.of_conversation(shop, talk)
    other, _ = stores.of_conversation(shop, replace(talk, turns=talk.turns[:-1]))
    assert one.root != other.root


def test_a_name_is_no_path(shop: Workshop, talk: Conversation) -> None:
    store, _ = stores.of_conversation(shop, replace(talk, name="../../x y"))
    assert store.root.resolve().is_relative_to(shop.folder.resolve())


def test_notes_are_ingested_from_their_folders(shop: Workshop, tmp_path: Path) -> None:
    root = write_notes(tmp_path / "set")
    day = root / "workspace" / "memory"
    day.mkdir()
    (day / "2026-02-03.md").write_text("# Tuesday\n\nThe heron left.\n")
    store, now = stores.of_folders(shop, root, ("workspace", "sessions"))
    assert now == datetime.fromisoformat("2026-02-04T12:00:00+00:00")
    texts = [t.text for each in state_of(store).episodes.values() for t in each.turns]
    assert any("stood on the gauge" in text for text in texts)
    assert any("The heron left." in text for text in texts)
    assert not any("delegation" in text for text in texts)
