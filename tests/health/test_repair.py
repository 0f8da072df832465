"""What ``--fix`` does: memories stay, what cannot be read is kept byte for byte, undo takes it back."""

import json
import os

import pytest
from faults.stores.mutate import memories
from faults.stores.worn import AROUND, largest
from ingesting import embedder

from clsm_cli.errors import LockedError
from clsm_cli.forgetting import run_reversal
from clsm_cli.health import diagnosis
from clsm_cli.health.diagnosis import Diagnosis
from clsm_cli.store import shards
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked


def fix(store: Store) -> Diagnosis:
    return diagnosis.fix(store, AROUND, embedder(), lambda *_: None)


def test_unreadable_lines_are_kept_byte_for_byte(worn_store: Store) -> None:
    bad = (b'- {"id": "caf\xe9", "record": "node"}', b"- {\0\0}", b"\xff\xfe nothing")
    path = largest(worn_store, "flow/*/graph/*.yaml")
    path.write_bytes(path.read_bytes() + b"".join(line + b"\n" for line in bad))
    held = memories(worn_store)
    report = fix(worn_store)
    assert report.exit_code == 0
    assert memories(worn_store) == held
    (copy,) = worn_store.quarantine.iterdir()
    for line in bad:
        assert line in copy.read_bytes()
    assert not shards.read(path).problems


def test_a_file_that_is_none_is_moved_whole(worn_store: Store) -> None:
    path = largest(worn_store, "flow/*/episodes/*/*/*.md")
    data = b"\0" * 100 + path.read_bytes()
    path.write_bytes(data)
    report = fix(worn_store)
    assert not path.exists()
    (copy,) = worn_store.quarantine.iterdir()
    assert copy.read_bytes() == data
    (lost,) = [each for each in report.findings if each.code == "missing-episode"]
    assert (lost.severity, copy.name in lost.reason) == ("warning", True)


def test_undo_takes_it_back(worn_store: Store) -> None:
    path = largest(worn_store, "flow/*/inbox/*.jsonl")
    damaged = path.read_bytes() + b"\n{torn\n"
    path.write_bytes(damaged)
    report = fix(worn_store)
    assert report.run is not None
    assert path.read_bytes() != damaged
    run_reversal.undo(worn_store, report.run, AROUND.now, lambda _: None)
    assert path.read_bytes() == damaged


def test_records_go_where_they_belong(worn_store: Store) -> None:
    one, other, *_ = sorted(worn_store.root.glob("flow/*/graph/*.yaml"))
    before = {path: path.read_bytes() for path in (one, other)}
    one.write_bytes(before[other])
    other.write_bytes(before[one])
    assert fix(worn_store).exit_code == 0
    assert {path: path.read_bytes() for path in (one, other)} == before


def test_both_sides_of_a_conflict_stay(worn_store: Store) -> None:
    path = largest(worn_store, "identity/*.md")
    mine, theirs = "- Mara sings.", "- Mara rows."
    text = f"<<<<<<< HEAD\n{mine}\n=======\n{theirs}\n>>>>>>> attic\n"
    path.write_text(path.read_text() + text)
    fix(worn_store)
    left = path.read_text()
    assert "<<<" not in left
    assert "===" not in left
    assert mine in left
    assert theirs in left


def test_a_bad_line_of_the_ledger_goes_beside_any_run(worn_store: Store) -> None:
    path = worn_store.flow / "runs.jsonl"
    good = path.read_bytes()
    path.write_bytes(good + b'\n{"id": 7}\n')
    report = fix(worn_store)
    assert report.run is None
    rows = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    assert rows == [json.loads(line) for line in good.split(b"\n") if line]


def test_nothing_is_mended_while_somebody_writes(worn_store: Store) -> None:
    limits = worn_store.settings.store._replace(lock_wait=0.0)
    store = worn_store._replace(settings=worn_store.settings._replace(store=limits))
    with locked(store.root, 1), pytest.raises(LockedError):
        fix(store)


def test_the_log_of_recalls_is_never_rewritten(worn_store: Store) -> None:
    path = worn_store.flow / "activation.jsonl"
    data = b"{torn\n" + path.read_bytes()
    path.write_bytes(data)
    inode = os.stat(path).st_ino
    report = fix(worn_store)
    assert (path.read_bytes(), os.stat(path).st_ino) == (data, inode)
    assert report.exit_code == 0
