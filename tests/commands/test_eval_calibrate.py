"""``clsm eval calibrate``: the table, the one setting, and the way back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import labelled_store
import pytest
import typer
from ingesting import scratch
from typer.testing import CliRunner, Result

from clsm_cli.commands import evaluate_calibrate
from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.store import layout
from clsm_cli.store.layout import Store

APP = typer.Typer(add_completion=False, rich_markup_mode=None)
APP.callback()(lambda: None)
APP.command("calibrate")(evaluate_calibrate.calibrate)


@pytest.fixture(scope="module")
def store(model_folder: object) -> Iterator[Store]:
    assert model_folder
    with scratch() as folder:
        yield labelled_store.make(folder)


def run(store: Store, *words: str) -> Result:
    named = ["--store", str(store.root), "--now", labelled_store.NOW]
    return CliRunner().invoke(APP, ["calibrate", *named, *words])


def test_the_table_and_the_setting(store: Store) -> None:
    labelled_store.write(store, labelled_store.text())
    config = store.root / layout.CONFIG_NAME
    before = config.read_bytes()
    dry = run(store, "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert config.read_bytes() == before
    assert "24 queries with an answer, 10 without" in dry.stdout
    assert dry.stdout.endswith("nothing was written\n")
    assert max(map(len, dry.stdout.splitlines())) <= 80
    told = json.loads(run(store, "--dry-run", "--json").stdout)
    assert told["schema"] == "clsm.calibrate/1"
    done = run(store)
    assert done.exit_code == 0, done.output
    assert f"recall.floor is {told['after']:g} now" in done.stdout
    assert config.read_bytes() == before + f"settings:\n  recall.floor: {told['after']}\n".encode()
    assert "the floor is right as it is" in run(store).stdout


def test_refusals(store: Store) -> None:
    path = labelled_store.write(store, labelled_store.text(3, 2))
    config = (store.root / layout.CONFIG_NAME).read_bytes()
    assert isinstance(run(store).exception, RefusedError)
    path.write_text("queries: [")
    assert isinstance(run(store).exception, BadInputError)
    shutil.rmtree(path.parent)
    refused = run(store)
    assert isinstance(refused.exception, BadInputError)
    assert "clsm eval label" in str(refused.exception)
    assert (store.root / layout.CONFIG_NAME).read_bytes() == config
