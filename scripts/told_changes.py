"""The bench of told changes: what is said on one day and on a later one, as files that clsm can read.

``python -m scripts.told_changes FOLDER [--dev]`` writes each item of ``fixtures/changes/held.yaml`` (or
``told.yaml``) to FOLDER/ID/DATE/: the files that are new or changed on that day. Copied over one another into one folder,
day by day, they are the memory as it grows. ``fixtures/changes/README.md`` says what the items are.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.store import yaml_text
from scripts.join_labels import joined, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CHANGES = Path(__file__).parents[1] / "fixtures" / "changes"
FILLERS = (2, 4)
"""How many sentences about other things stand around those of an item, at least and at most."""


@dataclass(frozen=True)
class Told:
    """One item of the bench.

    Attributes:
        id: Its part (c: a change, b: both are true), manner and number.
        manner: How the change is told, or why both are true.
        said: What was said, oldest first.
        days: On which days, ISO dates; one for each of ``said``.
        nights: By day, the files that are new or changed, by their path in the memory.
        ask: What a person would ask afterwards.
        new: Stands in the passage that holds now, and in none before it; empty where both are true.
        old: Stands in the passage that was replaced last; where ``new`` stands beside it, it is not
            that passage. Empty where both are true.
        stay: Each stands in a passage that has to stay current; empty for a change.
    """

    id: str
    manner: str
    said: tuple[str, ...]
    days: tuple[str, ...]
    nights: dict[str, dict[str, str]]
    ask: str
    new: str
    old: str
    stay: tuple[str, ...]


def items(*, dev: bool = False) -> list[Told]:
    """The items of the bench, in its order; ``dev``: those that developers look at."""
    path = CHANGES / ("told.yaml" if dev else "held.yaml")
    bench = yaml_text.load(path.read_text("utf-8"), 1 << 20)
    return [_item(row, bench["fillers"]) for row in [*bench["changes"], *bench["both"]]]


AROUND = 12
"""Lines before and after a real change that are taken in with it."""


def natural(copies: Path) -> list[Told]:
    """The real changes of ``fixtures/changes/natural.jsonl`` that stand in files, see ``join_labels``.

    Of a file only the part around the line is taken in, below the headings above it.
    """
    found = []
    for row in joined("natural", copies, None):
        sides = [{"repo": row["repo"], **row[side]} for side in "ab"]
        files = [{side["file"]: _part(side, copies)} for side in sides]
        old, new = (side["text"] for side in sides)
        days = ("2026-04-29", "2026-04-30")
        nights = dict(zip(days, files, strict=True))
        found.append(Told(row["id"], "real", (old, new), days, nights, row["ask"], new, old, ()))
    return found


def _part(side: dict[str, Any], copies: Path) -> str:
    lines = lines_of(side, copies) or []
    first, last = max(0, side["line"] - 1 - AROUND), side["end_line"] + AROUND
    above = [line for line in lines[:first] if line.startswith("#")]
    fences = [line for line in lines[:first] if line.startswith("```")]
    opened = fences[-1:] if len(fences) % 2 else []  # else all that follows would be code
    return "\n".join([*above[:1], *above[1:][-1:], *opened, *lines[first:last]]) + "\n"


def _item(row: dict[str, Any], pool: Sequence[str]) -> Told:
    days, said = zip(*row["told"], strict=True)
    return Told(
        id=row["id"],
        manner=row["id"].split("-")[1],
        said=said,
        days=days,
        nights=_nights(row, _fillers(row["id"], len(days), pool)),
        ask=row["ask"],
        new=row.get("new", ""),
        old=row.get("old", ""),
        stay=tuple(row.get("stay", ())),
    )


def _fillers(name: str, days: int, pool: Sequence[str]) -> list[list[str]]:
    """Sentences about other things for each day; the same for the same id."""
    chance = random.Random(name)
    drawn = chance.sample(pool, chance.randint(*FILLERS))
    return [drawn[day::days] for day in range(days)]


def _nights(row: dict[str, Any], fillers: list[list[str]]) -> dict[str, dict[str, str]]:
    places = row.get("in", ["chat"])
    nights: dict[str, dict[str, str]] = {}
    for number, ((day, text), others) in enumerate(zip(row["told"], fillers, strict=True)):
        place = places[min(number, len(places) - 1)]
        daily = f"memory/{day}.md"
        listed = "".join(f"- {other}\n" for other in others)
        if place == "chat":
            nights[day] = {f"chats/{day}.jsonl": _chat(row["who"], day, [*others, text])}
        elif place == "daily":
            title = "" if text.startswith("# ") else f"# {day}\n\n"
            nights[day] = {daily: f"{title}{text}\n\n## Besides\n\n{listed}"}
        else:
            nights[day] = {place: f"{text}\n", daily: f"# {day}\n\n{listed}"}
    return nights


def _chat(speaker: str, day: str, texts: Sequence[str]) -> str:
    turns = (
        {"session": day, "role": "user", "speaker": speaker}
        | {"time": f"{day}T09:{minute:02}:00", "text": text}
        for minute, text in enumerate(texts)
    )
    return "".join(json.dumps(turn, ensure_ascii=False) + "\n" for turn in turns)


def main() -> None:
    """Write the items as files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dev", action="store_true", help="the items that developers look at")
    given = parser.parse_args()
    for item in items(dev=given.dev):
        for day, files in item.nights.items():
            for path, text in files.items():
                target = given.folder / item.id / day / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
