"""Several clsm at once on one store, as real processes; killed ones: ``faults.crowds.crowd``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import IO, Any

import pytest
from faults.crowds.locks import CLSM
from faults.running.laying import NOW, SAMPLE, environment
from ingesting import new_store, take

from clsm_cli.embedding import weights

PATIENCE = 300.0
EVERYTHING = ("--json", "-k", "1000", "--budget", "200000", "--min-score", "0")


class Crowd:
    """Starts ``clsm`` processes on one store."""

    def __init__(self, folder: Path) -> None:
        weights.install(weights.default_folder())
        self.folder = folder
        self.store = folder / "memory"
        self.environment = environment(folder, model=True)
        new_store(self.store)
        with (self.store / "clsm.yaml").open("a") as config:
            config.write(f"settings:\n  store.lock_wait: {PATIENCE:g}\n")

    def start(self, *words: object, stdin: int | IO[bytes] = subprocess.DEVNULL) -> Any:
        return subprocess.Popen(
            [*CLSM, *map(str, words), "--store", str(self.store)],
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def crowd(tmp_path: Path) -> Crowd:
    return Crowd(tmp_path)


def finish(process: Any) -> bytes:
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, (process.args, err.decode())
    assert isinstance(out, bytes)
    return out


def test_a_turn_is_never_out_of_sight_while_it_moves_to_its_episode(crowd: Crowd) -> None:
    """What was found before an ingest is found at every moment of it."""
    store = new_store(crowd.store)
    chat = SAMPLE / "sessions" / "a41f09c7.jsonl"
    take(store, chat, capture_only=True)
    words = ("recall", *EVERYTHING, "--no-touch", "Brian coffee")
    before = {m["id"] for m in json.loads(finish(crowd.start(*words)))["memories"]}
    assert before
    writer = crowd.start("ingest", chat, "--now", NOW)
    asked = 0
    while writer.poll() is None:
        now = {m["id"] for m in json.loads(finish(crowd.start(*words)))["memories"]}
        assert now >= before
        asked += 1
    finish(writer)
    assert asked > 0
