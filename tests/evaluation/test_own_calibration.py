"""The floor: how it is chosen, where it is refused, and that only one setting changes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from statistics import fmean

import labelled_store
import pytest
from ingesting import embedder, scratch, tree

from clsm_cli.errors import RefusedError
from clsm_cli.evaluation.own import calibration
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.forgetting import run_reversal
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.store import layout
from clsm_cli.store.layout import Store

NOW = datetime.fromisoformat(labelled_store.NOW)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with scratch() as folder:
        yield labelled_store.make(folder)


@pytest.fixture
def factory(tmp_path: Path) -> StoreFactory:
    return StoreFactory(tmp_path, embedder(), NOW, fresh=False, progress=lambda *_: None)


@pytest.mark.parametrize("number", [20, 40, 100])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.betavariate(2, 2),
        lambda rng: rng.betavariate(5, 2),
        lambda rng: rng.betavariate(2, 5),
        lambda rng: rng.uniform(0.1, 0.9),
    ],
)
def test_further_queries_are_seldom_silenced(
    number: int, draw: Callable[[random.Random], float]
) -> None:
    """Mean share of 1,000 new ones below the floor of a few; the smallest seen would give 1/(n + 1)."""
    rng = random.Random(0)
    shares = []
    for _ in range(150):
        floor = calibration.choose_floor([draw(rng) for _ in range(number)])
        shares.append(fmean(draw(rng) < floor for _ in range(1000)))
    assert 0.001 < fmean(shares) < 0.04


def test_a_floor_is_chosen_and_only_it_changes(
    store: Store, factory: StoreFactory, engine: Engine
) -> None:
    labelled_store.write(store, labelled_store.text())
    config = store.root / layout.CONFIG_NAME
    config.write_text(config.read_text() + "settings:\n  recall.k: 5  # five are enough\n# end\n")
    before = tree(store.root)
    opened = layout.open_store(store.root, {"CLSM_DEVICE": "pi"})
    found = calibration.calibrate(opened, factory, engine)
    assert tree(store.root) == before  # nothing is written
    assert (found.answerable, found.negative) == (24, 10)
    assert found.before == opened.settings.recall.floor
    points = {point.floor: point for point in found.points}
    assert list(points) == sorted(points)
    assert points[0.0][1:] == (0, 0)
    assert points[found.after].silenced <= 24 / 50
    assert found.auroc > 0.9
    run = calibration.apply(opened, found, NOW)
    changed = layout.open_store(store.root, {}).settings
    assert changed.recall.floor == found.after
    assert changed.recall.k == 5
    text = config.read_text()
    assert text.replace(f"  recall.floor: {found.after:g}\n", "") == before["clsm.yaml"].decode()
    again = layout.open_store(store.root, {"CLSM_DEVICE": "pi"})
    assert calibration.apply(again, replace(found, before=found.after), NOW) is None
    undone = run_reversal.undo(again, run, NOW, lambda _: None)
    assert undone.is_exact
    assert config.read_bytes() == before["clsm.yaml"]
    config.write_bytes(config.read_bytes().split(b"settings:")[0])


@pytest.mark.parametrize(
    ("answered", "negative", "missing"),
    [
        (24, 4, "needs 6 more that have none"),
        (5, 10, "needs 15 more that have an answer"),
        (5, 4, "needs 15 more that have an answer and 6 more that have none"),
    ],
)
def test_too_few_are_refused(
    store: Store, factory: StoreFactory, engine: Engine, answered: int, negative: int, missing: str
) -> None:
    labelled_store.write(store, labelled_store.text(answered, negative))
    with pytest.raises(RefusedError, match=missing):
        calibration.calibrate(store, factory, engine)
