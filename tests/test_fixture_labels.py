"""The labels of strangers' memories: whole, without a text of theirs, and joined with the right one."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from using_git import commit, git_says

from scripts import join_labels

SIZES = {"units": 3333, "documents": 658, "names": 1881}


def rows(name: str) -> list[dict[str, Any]]:
    text = (join_labels.LABELS / f"{name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_no_label_holds_a_text() -> None:
    fields = Counter(key for name in SIZES for row in rows(name) for key in row)
    places = {"repo", "file", "line", "end_line", "start", "end", "turn", "unit", "length", "hash"}
    labels = {"keep", "alone", "kind", "stream", "second", "role", "owner", "template", "thing"}
    labels |= {"same", "count"}
    assert {*fields} == places | labels


def test_told_pairs_are_whole_and_no_clue_decides_alone() -> None:
    found = rows("told_pairs")
    assert len({row["id"] for row in found}) == len(found) == 2499
    fields = {"id", "a", "b", "label", "group", "frame", "a_head", "b_head"}
    assert {key for row in found for key in row} == fields
    labels = Counter(row["label"] for row in found)
    assert labels == {"update": 581, "same": 506, "both": 917, "unrelated": 495}
    pairs = {(row["a"], row["b"], row.get("a_head"), row.get("b_head")) for row in found}
    assert len(pairs) == 2499
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


def test_a_label_finds_its_text_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_pair_finds_both_texts_also_those_of_an_older_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = tmp_path / "copies"
    note = copies / "mara+notes" / "MEMORY.md"
    note.parent.mkdir(parents=True)
    note.write_text("- Port: 80\n", "utf-8")
    old_commit = _cloned_bare(note.parent)
    note.write_text("# Server\n\n- Port: 8080\n", "utf-8")
    said = {"history": {"2023-04-27": [{"query": "I like tea."}, {"query": "I like rain."}]}}
    (tmp_path / "memory_bank_en.json").write_text(json.dumps({"Ivy": said}), "utf-8")
    old = {"file": "MEMORY.md", "line": 1, "end_line": 1, "start": 0, "end": 10}
    new = {"file": "MEMORY.md", "line": 3, "end_line": 3, "start": 0, "end": 12}
    old["commit"] = old_commit
    first = {"file": "memory_bank_en.json", "turn": "Ivy/2023-04-27/0", "start": 0, "end": 11}
    second = {"file": "memory_bank_en.json", "turn": "Ivy/2023-04-27/1", "start": 0, "end": 12}
    labels = [
        _pair("mara/notes", (old, "- Port: 80"), (new, "- Port: 8080")),
        _pair("mara/notes", (old, "- Port: 80"), (new, "- Port: 9090")),
        _pair("gvd", (first, "I like tea."), (second, "I like rain.")),
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, labels)), "utf-8")
    monkeypatch.setattr(join_labels, "LABELS", tmp_path)
    found = join_labels.joined("pairs", copies, None, tmp_path)
    assert [(row["a"]["text"], row["b"]["text"]) for row in found] == [
        ("- Port: 80", "- Port: 8080"),
        ("I like tea.", "I like rain."),
    ]


def _pair(repo: str, *sides: tuple[dict[str, Any], str]) -> dict[str, Any]:
    found = ({**place, "hash": join_labels.digest(text)} for place, text in sides)
    return {"repo": repo, **dict(zip("ab", found, strict=True))}


def _cloned_bare(folder: Path) -> str:
    """Commit what is in a folder and clone it to ``NAME.git`` beside it; the commit."""
    git_says(folder, "init", "-q")
    commit(folder)
    git_says(folder, "clone", "-q", "--bare", ".", f"../{folder.name}.git")
    return git_says(folder, "rev-parse", "HEAD")
