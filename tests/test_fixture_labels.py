"""The labels of strangers' memories: whole, without a text of theirs, and joined with the right one."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from clsm_cli.store import yaml_text
from scripts import join_labels

if TYPE_CHECKING:
    from pathlib import Path

VALUES: dict[str, dict[str, set[Any]]] = {
    "units": {
        "keep": {0, 1, 2},
        "alone": {0, 0.5, 1},
        "kind": {*["fact", "decision", "preference", "task", "event", "lesson", "state", "other"]},
        "stream": {"identity", "projects", "tasks", "flow"},
    },
    "documents": {
        "role": {*["log", "living", "instruction", "reference", "list"]},
        "owner": {0, 1},
    },
    "names": {"thing": {0, 1}},
}
SIZES = {"units": 3333, "documents": 658, "names": 1881}


def rows(name: str) -> list[dict[str, Any]]:
    text = (join_labels.LABELS / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", SIZES)
def test_every_label_has_a_place_and_a_value(name: str) -> None:
    found = rows(name)
    sources = json.loads((join_labels.LABELS / "sources.json").read_text("utf-8"))
    assert len(found) == SIZES[name]
    assert sum("second" in row for row in found) == 300
    assert {row["repo"] for row in found} <= {*sources, join_labels.CHAT}
    for key, values in VALUES[name].items():
        assert {row[key] for row in found} == values


def test_the_questions_are_told_apart() -> None:
    folder = join_labels.LABELS.with_name("questions")
    kinds: Counter[str] = Counter()
    every: list[str] = []
    for path in sorted(folder.glob("*.yaml")):
        for kind, asked in yaml_text.load(path.read_text("utf-8"), 1 << 20).items():
            if kind not in ("memory", "files"):
                told = kind if kind in ("answerable", "off topic") else "near topic"
                kinds[told] += len(asked)
                every += asked
    assert kinds == {"near topic": 218, "answerable": 74, "off topic": 50}
    assert len({*every}) == len(every)


def test_no_label_holds_a_text() -> None:
    fields = Counter(key for name in SIZES for row in rows(name) for key in row)
    places = {"repo", "file", "line", "end_line", "start", "end", "turn", "unit", "length", "hash"}
    labels = {
        *[
            "keep",
            "alone",
            "kind",
            "stream",
            "second",
            "role",
            "owner",
            "template",
            "thing",
            "same",
            "count",
        ]
    }
    assert {*fields} == places | labels


def test_told_pairs_are_whole_and_no_clue_decides_alone() -> None:
    found = rows("told_pairs")
    assert len({row["id"] for row in found}) == len(found) == 2499
    assert {key for row in found for key in row} == {
        *["id", "a", "b", "label", "group", "frame", "a_head", "b_head"]
    }
    labels = Counter(row["label"] for row in found)
    assert labels == {"update": 581, "same": 506, "both": 917, "unrelated": 495}
    assert (
        len({(row["a"], row["b"], row.get("a_head"), row.get("b_head")) for row in found}) == 2499
    )
    group = {row["frame"]: row["group"] for row in found}
    assert all(group[row["frame"]] == row["group"] for row in found)
    frames: dict[tuple[str, str, str | None], str] = {}
    for row in found:
        for side in "ab":
            told = (row["group"], row[side], row.get(f"{side}_head"))
            assert frames.setdefault(told, row["frame"]) == row["frame"], told
    cue = re.compile(r"\b(now|instead|no longer|actually|any ?more)\b", re.IGNORECASE)
    marked = Counter(row["label"] for row in found if cue.search(f"{row['a']} {row['b']}"))
    assert 0.15 < marked["update"] / labels["update"] < 1 / 3
    apart = labels["both"] + labels["unrelated"]
    assert (marked["both"] + marked["unrelated"]) / apart > 0.18


def test_a_label_finds_its_text_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "copies" / "mara+notes" / "memory" / "2026-03-09.md"
    note.parent.mkdir(parents=True)
    note.write_text("# Monday\n\n- The ferry Albertine leaves\n  at nine.\n", "utf-8")
    chat = tmp_path / "1.json"
    turn = {"dia_id": "D1:1", "speaker": "Mara", "text": "Hello."}
    chat.write_text(json.dumps({"session_1": [turn]}), "utf-8")
    unit = "- The ferry Albertine leaves\n  at nine."
    place = {"repo": "mara/notes", "file": "memory/2026-03-09.md"}
    where = {**place, "line": 3, "end_line": 4, "start": 0, "end": len(unit)}
    told: dict[str, list[dict[str, Any]]] = {
        "units": [
            {**where, "hash": join_labels.digest(unit)},
            {**where, "hash": join_labels.digest("another text")},
            {"repo": "locomo", "file": "1.json", "turn": "D1:1"}
            | {"hash": join_labels.digest("Mara: Hello.")},
            {"repo": "locomo", "file": "1.json", "turn": "D1:1", "start": 0, "end": 4}
            | {"hash": join_labels.digest("Hell")},
        ],
        "documents": [place, {**place, "file": "gone.md"}],
        "names": [{**place, "line": 3, "length": 9, "hash": join_labels.digest("Albertine")}],
    }
    for name, labels in told.items():
        (tmp_path / f"{name}.jsonl").write_text(
            "\n".join(json.dumps(each) for each in labels), "utf-8"
        )
    monkeypatch.setattr(join_labels, "LABELS", tmp_path)

    def texts(name: str) -> list[str]:
        return [row["text"] for row in join_labels.joined(name, tmp_path / "copies", tmp_path)]

    assert texts("units") == [unit, "Mara: Hello.", "Hell"]
    assert texts("documents") == [note.read_text("utf-8")]
    assert texts("names") == ["Albertine"]
