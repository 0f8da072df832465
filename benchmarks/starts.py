"""What an agent should know at the start of a session, and how much of it ``clsm context`` says.

A store of each workspace of ``fixtures/labels/starts.jsonl`` is made by the real ingest and consolidate as of
the morning that the labels name, unless one is there. Of the labelled things that the context of 1,500 tokens
holds, ``benchmarks.study`` tells the number: a thing is held when one of its places is, and a place when one
line printed has most of its words (HELD).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from scripts.join_labels import joined

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

HELD, SHORT = (0.8, 0.6), 8
"""Share of a place's words that one printed line must have, up to so many words and above."""
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


def held(copies: Path, stores: Path) -> Iterator[tuple[str, float, int]]:
    """Of each workspace how many of its things the context holds, and how many there are."""
    labels: dict[str, dict[int, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for label in joined("starts", copies, None):
        labels[label["repo"]][label["thing"]].append(label)
    for repo, things in sorted(labels.items()):
        now = f"{things[1][0]['day']}T07:00:00Z"
        lines = context_lines(store_of(copies, stores, repo, now), now)
        count = sum(any(is_held(p["text"], lines) for p in each) for each in things.values())
        yield repo, count, len(things)
