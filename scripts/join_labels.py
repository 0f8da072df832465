"""Joins the labels of ``fixtures/labels``, and natural changes, with the texts that they are about.

``python -m scripts.join_labels COPIES [--locomo FOLDER] [--gvd FOLDER]`` prints a line of JSON for each
label whose text is there: the label with ``text``, a pair with a text for each of its sides. COPIES
holds a checkout of each repository of ``sources.json`` at its commit, in a folder named ``owner+name``,
and for sides that name another commit a bare clone, ``owner+name.git``; the other folders hold LoCoMo's
conversations and GVD's. The repository has no text of theirs: a label says
where its text stands, and a hash says whether it is that text.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LABELS = Path(__file__).parents[1] / "fixtures" / "labels"
CHAT = "locomo"
GVD = "gvd"
_NEAR = 8
"""Lines in which a name stands that begins on the line of its label."""


def joined(
    name: str, copies: Path, locomo: Path | None, gvd: Path | None = None
) -> Iterator[dict[str, Any]]:
    """The labels of a file that have their text, with it.

    Args:
        name: ``units``, ``statements``, ``documents``, ``names``, ``relations``, ``starts``, ``starts_graded``;
            or ``pairs``, ``pairs_asked``, ``pairs_found``, ``pairs_compared`` or ``natural`` (changes, with a
            question), whose ``a`` and ``b`` each have theirs.
        copies: The checkouts.
        locomo: LoCoMo's conversations, if they are there.
        gvd: The folder of GVD's conversations, if it is there.
    """
    chats = {CHAT: locomo, GVD: gvd}
    folder = LABELS.with_name("changes") if name == "natural" else LABELS
    for line in (folder / f"{name}.jsonl").read_text("utf-8").splitlines():
        label = json.loads(line)
        if "a" not in label:
            text = _text(label, copies, chats)
            if text is not None:
                yield {**label, "text": text}
            continue
        sides = [{"repo": label["repo"], **label[side]} for side in ("a", "b")]
        earlier, later = (_text(side, copies, chats) for side in sides)
        if earlier is not None and later is not None:
            yield label | {
                "a": {**label["a"], "text": earlier},
                "b": {**label["b"], "text": later},
            }


def _text(label: dict[str, Any], copies: Path, chats: dict[str, Path | None]) -> str | None:
    if label["repo"] in chats:
        folder = chats[label["repo"]]
        found = (
            _said(turns_of(folder / label["file"]).get(label["turn"]), label) if folder else None
        )
    else:
        lines = lines_of(label, copies)
        if lines is None:
            return None
        if "hash" not in label:
            return "\n".join(lines)
        if "length" in label:
            return _name(lines[label["line"] - 1 :][:_NEAR], label["length"], label["hash"])
        block = "\n".join(lines[label["line"] - 1 : label["end_line"]])
        found = block[label["start"] : label["end"]]
    return found if found is not None and digest(found) == label["hash"] else None


def lines_of(label: dict[str, Any], copies: Path) -> list[str] | None:
    """The lines of the file that a label is of, as it was then; None where it is not there."""
    copy = copies / label["repo"].replace("/", "+", 1)
    if "commit" in label:
        return _lines_at(copy.with_name(f"{copy.name}.git"), label["commit"], label["file"])
    return _lines(copy / label["file"])


def heading_above(label: dict[str, Any], copies: Path) -> str:
    """The innermost heading that a label of a document stands under; empty without one."""
    lines = lines_of(label, copies) or []
    above = (line for line in reversed(lines[: label["line"] - 1]) if line.startswith("#"))
    return next(above, "").strip("# ")


def _said(turn: str | None, label: dict[str, Any]) -> str | None:
    """A turn with its speaker, or the sentence of it that a label is about."""
    if turn is None or "start" not in label:
        return turn
    return turn.partition(": ")[2][label["start"] : label["end"]]


def digest(text: str) -> str:
    """The first 64 bits of its SHA-256, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _name(lines: list[str], length: int, wanted: str) -> str | None:
    text = "\n".join(lines)
    parts = (text[place : place + length] for place in range(len(text) - length + 1))
    return next((part for part in parts if digest(part) == wanted), None)


@cache
def _lines(path: Path) -> list[str] | None:
    try:
        return path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return None


@cache
def _lines_at(clone: Path, commit: str, file: str) -> list[str] | None:
    command = ["git", "--git-dir", str(clone), "show", f"{commit}:{file}"]
    shown = subprocess.run(command, capture_output=True, check=False)
    return None if shown.returncode else shown.stdout.decode("utf-8", "replace").split("\n")


@cache
def turns_of(path: Path) -> dict[str, str]:
    """The turns of a conversation as ``speaker: text``, by their id; in GVD ``name/day/number``."""
    if not path.exists():
        return {}
    said = json.loads(path.read_text("utf-8"))
    if path.name.startswith("memory_bank"):
        return {
            f"{name}/{day}/{number}": f"{name}: {turn['query']}"
            for name, person in said.items()
            for day, turns in person["history"].items()
            for number, turn in enumerate(turns)
        }
    said = said.get("conversation", said)
    sessions = [value for key, value in said.items() if key.startswith("session_")]
    return {
        turn["dia_id"]: f"{turn['speaker']}: {turn['text']}"
        for session in sessions
        if isinstance(session, list)
        for turn in session
    }


def main() -> None:
    """Print all that can be joined, and say on stderr how much that is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--gvd", type=Path)
    given = parser.parse_args()
    for name in (
        "units",
        "documents",
        "names",
        "relations",
        "starts",
        "starts_graded",
        "pairs",
        "pairs_asked",
        "pairs_found",
        "pairs_compared",
        "natural",
    ):
        count = 0
        for row in joined(name, given.copies, given.locomo, given.gvd):
            print(json.dumps({"of": name, **row}, ensure_ascii=False))
            count += 1
        print(f"{name}: {count} with their text", file=sys.stderr)


if __name__ == "__main__":
    main()
