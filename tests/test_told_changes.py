"""The bench of told changes: whole, and each string where it is said to stand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from clsm_cli.store import yaml_text
from scripts import told_changes


def test_every_manner_has_its_items_and_every_fifth_is_for_developers() -> None:
    every = told_changes.items()
    assert len({item.id for item in every}) == len(every)
    manners = Counter(item.id.rpartition("-")[0] for item in every)
    assert sum(name.startswith("c-") for name in manners) == 12
    assert sum(name.startswith("b-") for name in manners) == 8
    assert min(manners.values()) >= 14
    assert Counter(item.id[0] for item in every) == {"c": 175, "b": 130}
    assert [item for item in every if item.dev] == every[4::5]
    bench = yaml_text.load(told_changes.TOLD.read_text("utf-8"), 1 << 20)
    assert len({*bench["fillers"]}) >= 40


def test_what_identifies_a_passage_stands_in_it() -> None:
    for item in told_changes.items():
        assert [*item.days] == sorted({*item.days}), item.id
        assert bool(item.stay) != bool(item.new and item.old), item.id
        if item.new:
            assert any(item.old in said for said in item.said[:-1]), item.id
            assert item.new in item.said[-1], item.id
            assert not any(item.new in said for said in item.said[:-1]), item.id
        for text, said in zip(item.stay, item.said, strict=False):
            assert text in said, item.id


def test_items_are_written_a_folder_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["told_changes", str(tmp_path), "--dev"])
    told_changes.main()
    for item in told_changes.items(dev=True):
        for day, said in zip(item.days, item.said, strict=True):
            files = [path for path in (tmp_path / item.id / day).rglob("*") if path.is_file()]
            assert any(_holds(path, said) for path in files), item.id


def _holds(path: Path, said: str) -> bool:
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return said in text
    return said in [json.loads(line)["text"] for line in text.splitlines()]
