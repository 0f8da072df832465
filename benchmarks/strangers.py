"""Silence and recall in the memories of strangers, by questions on which nothing is fitted.

``python -m benchmarks.strangers COPIES STORES`` makes a store of each workspace of
``fixtures/questions/held`` in STORES, unless one is there, by the real ingest and consolidate as of its
day, asks the real recall, and prints for each, in percent: how often a question that the notes answer
got nothing, how often one near the topic or about everyday matters did, and how much of what answers
stands in the first ten items and in the first. COPIES has the checkouts, as ``scripts/join_labels.py``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from benchmarks.starts import store_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

QUESTIONS = Path(__file__).parents[1] / "fixtures" / "questions"
EVERYDAY = 40
"""Questions about everyday matters that each memory is asked."""
BEGINNING = 60
"""Characters of a line by which an item is known to show it."""
COLUMNS = ("wrongly silent", "near topic silent", "everyday silent", "R10", "first")


def ask(store: Path, questions: Iterable[str]) -> list[dict[str, Any]]:
    """What recall answers, a question each."""
    rows = [json.dumps({"id": str(n), "query": text}) for n, text in enumerate(questions)]
    command = [sys.executable, "-m", "clsm_cli", "recall", "--batch", "-", "--no-touch", "--json"]
    told = subprocess.run(
        [*command, "-k", "10", "--budget", "4000", "--store", str(store)],
        input="\n".join(rows),
        capture_output=True,
        check=True,
        text=True,
    )
    return [json.loads(line) for line in told.stdout.splitlines()]


def plain(text: str) -> str:
    """The words of a text.

    >>> plain("- **Rent**: 900 euros.")
    'rent 900 euros'
    """
    return " ".join(re.findall(r"\w+", text.lower()))


def shown(copy: Path, evidence: Iterable[str], answer: Mapping[str, Any]) -> tuple[float, bool]:
    """The share of the lines that answer which an answer shows, and whether its first item shows one."""
    lines = []
    for place in evidence:
        name, _, number = place.rpartition(":")
        lines.append(plain((copy / name).read_text("utf-8").split("\n")[int(number) - 1]))
    items = [plain(item["text"]) for item in answer["memories"]]
    begins = [line[:BEGINNING] for line in lines]
    held = sum(any(begin in item for item in items) for begin in begins)
    return held / len(begins), any(begin in item for begin in begins for item in items[:1])


def measured(copies: Path, stores: Path, told: Mapping[str, Any]) -> list[float]:
    """The figures of a memory, in the order of ``COLUMNS``."""
    store = store_of(copies, stores, told["memory"], f"{told['day']}T07:00:00Z")
    rows, near = told["answerable"], told["near topic"]
    everyday = YAML(typ="safe").load(QUESTIONS / "everyday.yaml")["off topic"][:EVERYDAY]
    answers = ask(store, (*(row["query"] for row in rows), *near, *everyday))
    is_silent = [not answer["memories"] for answer in answers]
    ends = (0, len(rows), len(rows) + len(near), len(answers))
    silent = [sum(is_silent[a:b]) / (b - a) for a, b in itertools.pairwise(ends)]
    copy = copies / told["memory"].replace("/", "+", 1)
    found = [
        shown(copy, row["evidence"], answer) for row, answer in zip(rows, answers, strict=False)
    ]
    return [*silent, *(sum(each) / len(found) for each in zip(*found, strict=True))]


def main() -> None:
    """Ask every memory, and print a line each and their mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    parser.add_argument("stores", type=Path)
    given = parser.parse_args()
    print(f"| memory | {' | '.join(COLUMNS)} |")
    print(f"|---|{'---:|' * len(COLUMNS)}")
    every = []
    for path in sorted((QUESTIONS / "held").glob("*.yaml")):
        told = YAML(typ="safe").load(path)
        every.append(measured(given.copies, given.stores, told))
        print(f"| {told['memory']} | {_percent(every[-1])} |", flush=True)
    print(f"| mean | {_percent([sum(each) / len(every) for each in zip(*every, strict=True)])} |")


def _percent(shares: Iterable[float]) -> str:
    return " | ".join(f"{100 * share:.0f}" for share in shares)


if __name__ == "__main__":
    main()
