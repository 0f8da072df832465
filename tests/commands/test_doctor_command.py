"""``clsm doctor``: what it prints, in text and as data, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from in_process import InProcess
from small_store import note

from clsm_cli.errors import RefusedError
from clsm_cli.store.layout import Store

NOW = "2026-03-01T12:00:00+01:00"
_COMMAND = InProcess("doctor", NOW)
run = _COMMAND.run


@pytest.fixture
def store(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("CLSM_DEVICE", "pi")
    monkeypatch.delenv("CLSM_EXAMPLES", raising=False)
    note(
        store,
        tmp_path / "notes.md",
        "# Boats\n\n- The ferry leaves at nine.\n- The mast is tall.\n",
    )
    return store


def as_json(store: Store, *words: str) -> tuple[int, Any]:
    done = run(store, "--json", *words)
    return done.exit_code, json.loads(done.stdout)


def spoil(store: Store) -> str:
    """Break a line of a shard; its path."""
    path = max((store.flow / "graph").iterdir(), key=lambda each: each.stat().st_size)
    path.write_bytes(path.read_bytes() + b'- {"id": "half\n')
    return path.relative_to(store.root).as_posix()


def test_names_in_what_no_night_has_looked_at_yet_are_no_fault(store: Store) -> None:
    """They are told by their turns; which of them become nodes a night decides."""
    note(store, store.root.parent / "people.md", "- The boat is blue.\n- Tom lives in Holm.\n")
    assert '"mentions"' in "".join(p.read_text() for p in (store.flow / "graph").iterdir())
    code, told = as_json(store)
    assert (code, [each["code"] for each in told["findings"]]) == (0, [])


def test_damage_is_told_mended_and_gone(store: Store) -> None:
    path = spoil(store)
    done = run(store)
    assert done.exit_code == 13
    line = next(line for line in done.stdout.splitlines() if "unreadable-line" in line)
    assert line.startswith(f"  x unreadable-line    {path}, line ")
    assert line.endswith("; run: clsm doctor --fix")
    summary = done.stdout.splitlines()[-1]
    assert summary.startswith("1 damaged, ")
    assert "clsm doctor --fix mends" in summary

    planned = run(store, "--fix", "--dry-run")
    assert planned.exit_code == 13
    assert planned.stdout.splitlines()[-1].endswith("nothing was written")
    assert as_json(store)[0] == 13

    code, fixed = as_json(store, "--fix")
    assert (code, fixed["exit_code"]) == (0, 0)
    assert fixed["run"].startswith("run-")
    mended = [row["code"] for row in fixed["findings"] if row["mended"]]
    assert "unreadable-line" in mended
    assert as_json(store)[1]["counts"]["damage"] == 0
    (kept,) = store.quarantine.iterdir()
    assert kept.read_bytes().endswith(b': - {"id": "half\n')

    path = spoil(store)
    lines = run(store, "--fix").stdout.splitlines()
    assert f"  mended  {path}: written anew" in lines
    assert "clsm undo takes it back" in lines[-1]
    assert run(store, "--fix").stdout.splitlines()[-1].startswith("mended 0")


def test_the_index_is_made_anew_when_asked_for(store: Store) -> None:
    code, told = as_json(store, "--rebuild")
    assert (code, told["done"], told["run"]) == (0, ["the index was made anew"], None)


def test_settings_that_cannot_be_used_are_a_finding_and_no_fix(store: Store) -> None:
    path = store.root / "clsm.yaml"
    path.write_text(path.read_text() + "settings: {recall.k: x}\n")
    code, told = as_json(store)
    assert code == 13
    (damage,) = [row for row in told["findings"] if row["severity"] == "damage"]
    assert (damage["code"], damage["path"]) == ("settings-unusable", "clsm.yaml")
    assert isinstance(run(store, "--fix").exception, RefusedError)


def test_a_damaged_model_alone_has_a_code_of_its_own(
    store: Store, model_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = model_copy / "vocab.txt"
    vocabulary.write_bytes(vocabulary.read_bytes().replace(b"the", b"teh", 1))
    monkeypatch.setenv("CLSM_MODEL_DIR", str(model_copy))
    code, told = as_json(store)
    assert code == 15
    assert [r["code"] for r in told["findings"] if r["severity"] == "damage"] == ["model-damaged"]
    spoil(store)
    assert as_json(store)[0] == 13
