"""Whole invented memories (``told_worlds.jsonl``): their notes, and pairs of their sentences.

In each of them, every change is marked. So every other pair of its sentences is known to be no change, and
those that are near to each other, or to a question, are the ones that a night or a recall would compare.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clsm_cli.heads import answer_head
from clsm_cli.heads.pair_head import content, joined, sentence
from scripts.join_labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.embedding.encoder import Encoder

ROLES = {"", "user", "assistant"}
"""Speakers without a name. Of two who have one, it says whose car was sold."""
NEAR_CHANGE, NEAR_OTHER = 2, 1
"""Earlier sentences, nearest first, that are compared with one that changes something, and with another."""
NEAR_QUESTION = 3
"""Sentences, nearest to a question first, that are compared with each other and with its change."""
SEEMING, OTHERS = 4, 2
"""Lines, nearest to a question first, that do not answer it: of one without an answer, of another."""


def told() -> list[dict[str, Any]]:
    """All of them, in order."""
    return [
        json.loads(line) for line in (LABELS / "told_worlds.jsonl").read_text("utf-8").splitlines()
    ]


@cache
def more_questions() -> dict[str, dict[str, Any]]:
    """The rows of ``told_near.jsonl``, by memory."""
    rows = (LABELS / "told_near.jsonl").read_text("utf-8").splitlines()
    return {row["world"]: row for row in map(json.loads, rows)}


def is_held(place: int) -> bool:
    """Whether nothing is fitted on the memory at a place."""
    return place % 6 == 0


def days(world: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The files of a memory as it grows: the day, the path and the text of each."""
    for day, told in groupby(world["lines"], itemgetter("day")):
        lines = list(told)
        if world["genre"] in ("chat", "owner"):
            turns = (_turn(day, minute, line) for minute, line in enumerate(lines))
            yield day, f"chats/{day}.jsonl", "".join(f"{turn}\n" for turn in turns)
        else:
            yield day, f"memory/{day}.md", "\n".join([f"# {day}", *_blocks(world["genre"], lines)])


def _turn(day: str, minute: int, line: dict[str, Any]) -> str:
    who = line.get("who", "user")
    turn = {"session": day, "role": "assistant" if who == "assistant" else "user"}
    turn |= {"time": f"{day}T09:{minute:02}:00", "text": line["text"]}
    return json.dumps(turn if who in ROLES else turn | {"speaker": who}, ensure_ascii=False)


def _blocks(genre: str, lines: list[dict[str, Any]]) -> Iterator[str]:
    """The lines of a note below their headings: a diary's are paragraphs, others are items."""
    for head, below in groupby(lines, lambda line: line.get("head", "")):
        yield f"\n## {head}\n" if head else ""
        for line in below:
            said = f"{line['who']}: {line['text']}" if line.get("who") else line["text"]
            yield f"{said}\n" if genre == "diary" else f"- {said}"


def notes(world: dict[str, Any]) -> list[str]:
    """The texts of a memory, one for each heading of a day, with the speakers' names before what they say."""
    found = []
    for (_, head), lines in groupby(world["lines"], lambda line: (line["day"], line.get("head"))):
        said = (
            f"{line['who']}: {line['text']}" if line.get("who") else line["text"] for line in lines
        )
        found.append("\n".join([f"# {head}", *said] if head else said))
    return found


def pairs(world: dict[str, Any], encoder: Encoder) -> Iterator[dict[str, Any]]:
    """Every marked pair of a memory, and the unmarked ones that it would compare, with their question.

    Args:
        world: A row of ``told_worlds.jsonl``.
        encoder: For the sentences' nearness.
    """
    yield from _World(world, encoder).pairs()


class Answered(NamedTuple):
    """A question, and a line near to it as the reader of answers sees it.

    Attributes:
        answers: Whether the line answers the question.
        is_known: Whether any line does.
    """

    question: str
    passage: str
    answers: bool
    is_known: bool


def answered(world: dict[str, Any], encoder: Encoder) -> Iterator[Answered]:
    """The questions of a memory with the lines that answer them, and with the nearest that do not.

    Args:
        world: A row of ``told_worlds.jsonl``.
        encoder: For the nearness of questions and lines.
    """
    lines, more = world["lines"], more_questions().get(world["world"], {})
    heads = [" › ".join((line["day"], *filter(None, [line.get("head")]))) for line in lines]
    is_talk = world["genre"] in ("chat", "owner")
    vectors = _vectors(encoder, [line["text"] for line in lines])
    asked = [(each["ask"], {*each["answer"]}, True) for each in world["stable"]]
    asked += [(each["ask"], {each["new"], *each["old"]}, False) for each in world["changes"]]
    asked += [(each["ask"], {*each["lines"]}, True) for each in more.get("asked", ())]
    asked += [(ask, set(), True) for ask in (*world["unanswered"], *more.get("near", ()))]
    for (question, rows, is_whole), vector in zip(
        asked, _vectors(encoder, [question for question, *_ in asked]), strict=True
    ):
        near = [int(row) for row in np.argsort(-(vectors @ vector), kind="stable")]
        beside = [row for row in near if row not in rows][: OTHERS if rows else SEEMING]
        for row in (*sorted(rows), *(beside if is_whole else ())):
            text, who = lines[row]["text"], lines[row].get("who", "")
            shown = answer_head.passage_text(question, text, who, "" if is_talk else heads[row])
            yield Answered(question, shown, row in rows, bool(rows))


class _World:
    """One memory: its sentences in order, and what each later one makes of an earlier one."""

    def __init__(self, world: dict[str, Any], encoder: Encoder) -> None:
        self._world = world
        self._lines = world["lines"]
        heads = [line.get("head") or "" for line in self._lines]
        self._texts = [
            joined(line["text"], head) for line, head in zip(self._lines, heads, strict=True)
        ]
        self._vectors = _vectors(encoder, self._texts)
        asked = [each["ask"] for part in ("changes", "stable") for each in world[part]]
        self._questions = dict(zip(asked, _vectors(encoder, asked), strict=True))
        self._known: dict[tuple[int, int], str] = {}
        for each in world["changes"]:
            self._known |= {(old, each["new"]): "update" for old in each["old"]}
        for each in world["same"]:
            self._known |= {(old, each["new"]): "same" for old in each["old"]}

    def pairs(self) -> Iterator[dict[str, Any]]:
        """All of them, each with and without a question at most once."""
        doubtful = self._doubtful()
        found = {*self._asked()}
        seen = {(old, new) for old, new, _ in found}
        again = (pair for pair, label in self._known.items() if label == "same")
        found |= {(*pair, "") for pair in (*self._near(), *again) if pair not in seen}
        for old, new, ask in sorted(found):
            if (old, new) not in doubtful:
                yield self._pair(old, new, ask)

    def _pair(self, old: int, new: int, ask: str) -> dict[str, Any]:
        one, two = self._lines[old], self._lines[new]
        label = self._known.get((old, new))
        if label is None:
            shares = content(sentence(one["text"])) & content(sentence(two["text"]))
            label = "both" if shares else "unrelated"
        speakers = {one.get("who", ""), two.get("who", "")} - ROLES
        pair = {"label": label, "group": self._world["world"], "ask": ask, "kind": "world"}
        for side, line in (("a", one), ("b", two)):
            pair[side] = f"{line['who']}: {line['text']}" if len(speakers) == 2 else line["text"]
            if line.get("head"):
                pair[f"{side}_head"] = line["head"]
        return pair

    def _doubtful(self) -> set[tuple[int, int]]:
        """Unmarked pairs that follow from marked ones: what says again what was changed, or the change."""
        again = [(old, new) for (old, new), label in self._known.items() if label == "same"]
        found = set()
        for (old, new), label in self._known.items():
            if label == "update":
                for one, two in again:
                    other = {one: two, two: one}
                    found |= {(other.get(old, old), new), (old, other.get(new, new))}
                    found.add((other.get(old, old), other.get(new, new)))
        return {(min(pair), max(pair)) for pair in found} - self._known.keys()

    def _near(self) -> Iterator[tuple[int, int]]:
        changing = {new for _, new in self._known}
        for new in range(1, len(self._lines)):
            count = NEAR_CHANGE if new in changing else NEAR_OTHER
            order = np.argsort(-(self._vectors[:new] @ self._vectors[new]), kind="stable")
            yield from ((int(old), new) for old in order[:count])

    def _asked(self) -> Iterator[tuple[int, int, str]]:
        for each in self._world["changes"]:
            near = self._nearest(each["ask"])
            for old in each["old"]:
                yield old, each["new"], each["ask"]
                yield from (
                    (*sorted((old, other)), each["ask"]) for other in near[:2] if other != old
                )
            yield from (
                (*sorted((each["new"], other)), each["ask"])
                for other in near
                if other != each["new"]
            )
        for each in self._world["stable"]:
            beside = [*each["near"], *self._nearest(each["ask"])[:2]]
            for answer in each["answer"]:
                yield from (
                    (*sorted((answer, other)), each["ask"]) for other in beside if other != answer
                )

    def _nearest(self, ask: str) -> list[int]:
        order = np.argsort(-(self._vectors @ self._questions[ask]), kind="stable")
        return [int(row) for row in order[:NEAR_QUESTION]]


def _vectors(encoder: Encoder, texts: Sequence[str]) -> Any:
    return np.array([each.sentence for each in encoder.encode(texts)], np.float64)
