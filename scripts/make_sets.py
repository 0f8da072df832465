"""Make labelled memories for ``clsm eval run`` of what others published, in the layout of fixtures/sample.

    python -m scripts.make_sets hops musique.jsonl FOLDER --questions 60
    python -m scripts.make_sets workspaces CLONES FOLDER

``hops`` takes questions that need two to four paragraphs, of MuSiQue (Trivedi et al., TACL 2022; JSON
lines) or HotpotQA (Yang et al., EMNLP 2018; JSON): the paragraphs of the drawn questions become notes of
one memory, and the supporting ones are the evidence. ``workspaces`` takes the labelled questions of
``fixtures/questions`` to public workspaces, whose clones stand at ``owner+name``. Then, say:

    clsm eval run FOLDER --work DIR --ablate activation
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

QUESTIONS = Path(__file__).parents[1] / "fixtures" / "questions"
SEED = 7
NOTES = 10
"""Paragraphs of one file."""
QUOTED = 100
"""Characters of a line or paragraph that an answer must show."""
_MARK = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")


def hops(source: Path, folder: Path, count: int) -> None:
    """The paragraphs and questions of a set of two and more steps.

    Args:
        source: The file of questions.
        folder: What is made.
        count: Questions that are drawn.
    """
    drawn = random.Random(SEED)
    asked = _read(source)
    drawn.shuffle(asked)
    paragraphs: dict[str, str] = {}
    queries = []
    for number, row in enumerate(asked[:count], 1):
        found = _paragraphs(row)
        paragraphs.update((text, title) for title, text, _ in found)
        evidence = [text for _, text, supports in found if supports]
        queries.append((f"q{number}", row["question"], evidence))
    order = sorted(paragraphs, key=lambda text: (paragraphs[text], text))
    drawn.shuffle(order)
    place: dict[str, str] = {}
    for start in range(0, len(order), NOTES):
        name = f"workspace/notes-{start // NOTES:03}.md"
        here = order[start : start + NOTES]
        place.update(dict.fromkeys(here, name))
        parts = [f"## {paragraphs[text]}\n\n{text}\n" for text in here]
        _put(folder / name, "# Notes\n\n" + "\n".join(parts))
    rows = [
        {
            "id": name,
            "query": text,
            "category": "two steps and more",
            "evidence": [{"file": place[each], "quote": each[:QUOTED]} for each in evidence],
        }
        for name, text, evidence in queries
    ]
    _label(folder, rows, [])


def workspaces(clones: Path, folder: Path) -> None:
    """The workspaces that have labelled questions, one folder each.

    Args:
        clones: Of the repositories, at the commits of ``fixtures/labels/sources.json``.
        folder: What is made.
    """
    for path in sorted(QUESTIONS.glob("*.yaml")):
        found = YAML(typ="safe").load(path.read_text("utf-8"))
        if "labelled" not in found:
            continue
        source = clones / found["memory"].replace("/", "+")
        root = folder / path.stem
        for pattern in found["files"]:
            for file in sorted(source.glob(pattern)):
                name = str(file.relative_to(source)).replace("/.", "/").lstrip(".")
                (root / "workspace" / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, root / "workspace" / name)
        names = sorted({name for row in found["labelled"] for name in row.get("concepts", ())})
        rows = [_row(number, row, source) for number, row in enumerate(found["labelled"], 1)]
        _label(root, rows, [{"id": name, "label": name} for name in names])


def _row(number: int, row: dict[str, Any], source: Path) -> dict[str, Any]:
    evidence = []
    for reference in row["evidence"]:
        name, line = reference.rsplit(":", 1)
        text = (source / name).read_text("utf-8").splitlines()[int(line) - 1]
        place = "workspace/" + name.replace("/.", "/").lstrip(".")
        evidence.append({"file": place, "quote": _MARK.sub("", text, count=1).strip()[:QUOTED]})
    named = {"id": f"q{number}", "query": row["query"], "category": "of strangers"}
    return {**named, "concepts": row.get("concepts", []), "evidence": evidence}


def _read(source: Path) -> list[dict[str, Any]]:
    text = source.read_text("utf-8")
    if text.lstrip().startswith("["):
        found: list[dict[str, Any]] = json.loads(text)
        return found
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _paragraphs(row: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """Title, text and whether it supports the answer, of each paragraph of a question."""
    if "paragraphs" in row:
        given = [(p["title"], p["paragraph_text"], p["is_supporting"]) for p in row["paragraphs"]]
    else:
        supporting = {title for title, _ in row["supporting_facts"]}
        given = [(t, "".join(parts), t in supporting) for t, parts in row["context"]]
    return [(title, " ".join(text.split()), supports) for title, text, supports in given]


def _label(folder: Path, rows: list[dict[str, Any]], concepts: list[dict[str, Any]]) -> None:
    for name, found in (("queries", rows), ("concepts", concepts)):
        _put(folder / "labels" / f"{name}.yaml", json.dumps(found, ensure_ascii=False, indent=1))


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def main() -> None:
    """Read the arguments, and make what they ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("hops", "workspaces"))
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=60)
    given = parser.parse_args()
    if given.what == "hops":
        hops(given.source, given.folder, given.questions)
    else:
        workspaces(given.source, given.folder)


if __name__ == "__main__":
    main()
