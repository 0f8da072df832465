"""Reads the labelled stories, makes stores of them, and counts what is offered."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ingesting import new_store, scratch, take
from small_store import row

from clsm_cli.forgetting import references, selection
from clsm_cli.forgetting.selection import StoreContents

FILE = Path(__file__).with_name("stories.txt")
ZONE = ZoneInfo("Europe/Amsterdam")


class Line(NamedTuple):
    """A turn or block with its label; a heading or a break has "#"."""

    label: str
    text: str


class Story(NamedTuple):
    """A story: its part of the file, form, who is forgotten."""

    half: str
    form: str
    name: str
    lines: tuple[Line, ...]


class Found(NamedTuple):
    """Texts that are about the person: found, missed, and offered without need."""

    found: list[str]
    missed: list[str]
    needless: list[str]


def stories() -> Iterator[Story]:
    _, *parts = FILE.read_text("utf-8").split("\n== ")
    for part in parts:
        head, *lines = part.strip().split("\n")
        half, form, name = head.split(" ", 2)
        yield Story(half, form, name, tuple(Line(line[0], line[2:]) for line in lines))


def held(story: Story, folder: Path) -> StoreContents:
    """The memory of somebody who was told a story."""
    store = new_store(folder / "memory")
    if story.form == "note":
        blocks = []
        for label, text in story.lines:
            blocks += [f"# {text}" if label == "#" else text, ""]
        text = "\n".join(blocks).replace("\n\n- ", "\n- ")
        (folder / "note.md").write_text(text, "utf-8")
        take(store, folder / "note.md", model=False)
    else:
        rows, day = [], 10
        for at, (label, text) in enumerate(story.lines):
            if label == "#":
                day += 1
                continue
            speaker, _, said = text.partition(": ")
            time = f"2026-02-{day}T09:{at:02}:00+01:00"
            told = {"speaker": speaker, "session": f"talk-{day}", "timestamp": time}
            rows.append(row(said, role="assistant" if speaker == "Assistant" else "user", **told))
        take(store, stdin="".join(rows).encode(), model=False)
    return selection.read_store(store, "2026-03-01T11:00:00Z")


def judge(story: Story, told: StoreContents) -> Found:
    """Compare what is offered with the labels."""
    wanted = selection.ForgetRequest(person=story.name)
    chosen = selection.select_items(told, wanted, ZONE)
    found = references.find_references(told, chosen, wanted, ZONE)
    offered = {_plain(told.turns[each.id].turn.text) for each in found}
    gone = {_plain(told.turns[key].turn.text) for key in chosen.turns}
    texts = {
        mark: [
            _plain(t if story.form == "note" else t.partition(": ")[2])
            for label, t in story.lines
            if label == mark
        ]
        for mark in "+-"
    }
    return Found(
        [text for text in texts["+"] if text in offered | gone],
        [text for text in texts["+"] if text not in offered | gone],
        [text for text in texts["-"] if text in offered],
    )


def _plain(text: str) -> str:
    return text.removeprefix("- ").strip()


def count(half: str, *, show: bool = False) -> tuple[float, float]:
    """Recall and precision over the stories of a half."""
    found = missed = needless = 0
    for story in stories():
        if story.half != half:
            continue
        with scratch() as folder:
            result = judge(story, held(story, folder))
        found += len(result.found)
        missed += len(result.missed)
        needless += len(result.needless)
        if show and (result.missed or result.needless):
            print(story.name, "missed", result.missed, "needless", result.needless)  # noqa: T201
    return found / (found + missed), found / (found + needless)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(each, *(f"{value:.3f}" for value in count(each, show=each == "tune")))  # noqa: T201
