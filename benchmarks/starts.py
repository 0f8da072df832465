"""What an agent should know at the start of a session, and how much of it ``clsm context`` says.

``python -m benchmarks.starts COPIES STORES`` makes a store of each workspace of
``fixtures/labels/starts.jsonl`` in STORES, unless one is there, by the real ingest and consolidate as of
the morning that the labels name, and counts the labelled things that the context of 1,500 tokens holds:
a thing is held when one of its places is, and a place when one line printed has most of its words (HELD). ``--verbose`` names the places of what is missed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.join_labels import joined

if TYPE_CHECKING:
    from collections.abc import Collection

HELD, SHORT = (0.8, 0.6), 8
"""Share of a place's words that one printed line must have, up to so many words and above."""
WANTED = 7
"""Things of ten that should be held."""
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]|[^\W_]+")


def words(text: str) -> set[str]:
    """The words of a text, each sign of scripts without spaces one of them.

    >>> sorted(words("- **Rent**: 900"))
    ['900', 'rent']
    """
    return set(_WORD.findall(text.lower()))


def is_held(place: str, lines: Collection[set[str]]) -> bool:
    """Whether one of the printed lines has most of the words of a place."""
    wanted = words(place)
    least = HELD[len(wanted) > SHORT] * len(wanted)
    return any(len(wanted & line) >= least for line in lines)


def clsm(*arguments: str | Path) -> str:
    """What clsm prints."""
    command = [sys.executable, "-m", "clsm_cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def store_of(copies: Path, stores: Path, repo: str, now: str) -> Path:
    """The store of a workspace as it is on a morning."""
    name = repo.replace("/", "+", 1)
    store = stores / name
    if not store.exists():
        clsm("init", store)
        clsm("ingest", copies / name, "--store", store, "--now", now, "--quiet")
        clsm("consolidate", "--store", store, "--now", now, "--quiet")
    return store


def context_lines(store: Path, now: str) -> list[set[str]]:
    """The words of each line of the context, with the heading it stands under."""
    found = json.loads(clsm("context", "--store", store, "--now", now, "--json"))
    items = [item for section in found["sections"] for item in section["items"]]
    return [words(f"{item['about']} {item['text']}") for item in items]


def main() -> None:
    """Count, and print a line for each workspace."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    parser.add_argument("stores", type=Path)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    labels: dict[str, dict[int, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for label in joined("starts", given.copies, None):
        labels[label["repo"]][label["thing"]].append(label)
    total = 0
    for repo, things in sorted(labels.items()):
        now = f"{things[1][0]['day']}T07:00:00Z"
        lines = context_lines(store_of(given.copies, given.stores, repo, now), now)
        held = {n for n, each in things.items() if any(is_held(p["text"], lines) for p in each)}
        print(f"{repo}: {len(held)} of {len(things)}, {len(lines)} lines")
        total += len(held)
        for place in (p for n, each in sorted(things.items()) if n not in held for p in each):
            if given.verbose:
                print(f"  {place['thing']} {place['file']}:{place['line']} {place['text'][:90]}")
    print(f"together: {total} of {sum(map(len, labels.values()))}; wanted {WANTED} of ten")


if __name__ == "__main__":
    main()
