"""Run the unit and document heads: what a document is, and what each of its units is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from clsm_cli.heads import classifier
from clsm_cli.heads.unit_features import TIME, Unit, log, stock_share, unit_features
from clsm_cli.heads.units import units
from clsm_cli.model.episodes import Turn
from clsm_cli.text.markdown_marks import BOX, ITEM

WORKSPACE_FILES = (
    "AGENTS",
    "SOUL",
    "TOOLS",
    "IDENTITY",
    "USER",
    "HEARTBEAT",
    "BOOTSTRAP",
    "MEMORY",
    "SKILL",
    "README",
)
"""Names that the documentation of OpenClaw (Agent workspace), Agent Skills and GitHub give a meaning."""
FOLDERS = ("memory", "skills", "docs", "projects", "tasks")
"""Folders to which the same give one."""
_DATE = re.compile(r"\d{4}[-_.]?\d{2}[-_.]?\d{2}|\d{4}[-_]\d{2}")
_BOX = re.compile(rf"^\s*{ITEM}\s+{BOX}", re.MULTILINE)
_DONE = re.compile(rf"^\s*{ITEM}\s+\[[xX]\]", re.MULTILINE)
_SLOT = re.compile(
    r"\[[^\]\n(]{2,40}\](?!\()|<[A-Za-z_][^<>\n]{1,40}>|\{\{?[^{}\n]{1,40}\}|_{3,}|YYYY|\bX{2,}\b"
)
_EMPTY = re.compile(r"^\s*(?:[-*+]\s+)?(?:\*\*)?[^:\n]{1,40}:(?:\*\*)?\s*$", re.MULTILINE)
_LINK = re.compile(r"\]\(|https?://")
_MOST = 400
"""Turns that are looked at."""

ROLES = ("log", "living", "instruction", "reference", "list")
ABOUT = (*ROLES, "owner", "template")
"""What a document may be, as inputs of the unit head; all zero for a chat."""
DIMENSIONS = 384
"""Numbers of what a unit's words mean (``embedding/wordpiece``); zeros where the model is not there."""
Meanings: TypeAlias = "Callable[[Sequence[str]], Sequence[Sequence[float]]]"
UNKNOWN = (0.0,) * DIMENSIONS


class UnitProbabilities(NamedTuple):
    """A unit and what it is likely to be.

    Attributes:
        chances: Probabilities of ``noise``, ``keep`` (useful weeks later), ``alone`` and ``with
            headings`` (understood so), and of each kind.
    """

    unit: Unit
    chances: Mapping[str, float]


def about_document(turns: Sequence[Turn]) -> dict[str, float]:
    """The probability of each of ``ABOUT`` for a document that some turns are the blocks of."""
    return classifier.load("document").probabilities([document_features(turns)])[0]


def judge_units(
    turns: Sequence[Turn],
    about: Mapping[str, float] | None,
    words: Meanings | None = None,
) -> list[UnitProbabilities]:
    """The units of a document or chat, all of whose turns are given, with what they are worth.

    Args:
        about: What ``about_document`` says of it; None for a chat.
        words: What the words of texts mean, ``DIMENSIONS`` numbers each; None without the model.
    """
    found = units(turns)
    shapes = unit_features(turns, found)
    texts = [turns[unit.turn].text[unit.start : unit.end] for unit in found]
    known = words(texts) if words else [UNKNOWN] * len(texts)
    rows = [unit_inputs(*row, about) for row in zip(shapes, known, strict=True)]
    chances = classifier.load("unit" if about is not None else "talk").probabilities(rows)
    return [UnitProbabilities(unit, told) for unit, told in zip(found, chances, strict=True)]


def unit_inputs(
    shape: Sequence[float], words: Sequence[float], about: Mapping[str, float] | None
) -> list[float]:
    """The inputs of the unit head: a unit's shape, what its document is, what its words mean.

    >>> unit_inputs([1.0], [0.5], None)
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]
    """
    return [*shape, *(about.get(name, 0.0) if about else 0.0 for name in ABOUT), *words]


def document_features(turns: Sequence[Turn]) -> list[float]:
    """The features of a document that some turns are the blocks of, a number each of ``NAMES``.

    >>> from clsm_cli.model.episodes import Turn
    >>> row = document_features([Turn("k", "", "assistant", "- Rent.", path="memory/2026-03-02.md")])
    >>> row[NAMES.index("dated name")], row[NAMES.index("in memory")]
    (1.0, 1.0)
    """
    return [round(float(value), 4) for value in _features(turns).values()]


def _features(turns: Sequence[Turn]) -> dict[str, float]:
    """The features of a document by name: of its path, size, headings, blocks and marks."""
    looked = [turn for turn in turns[:_MOST] if turn.text.strip()]
    count = max(1, len(looked))
    text = "\n".join(turn.text for turn in looked)
    size = max(1, len(text))
    return {
        **_of_path(turns[0].path if turns else ""),
        "turns": log(len(turns)),
        "size": log(size),
        "turn size": log(size / count),
        **_of_headings(list(dict.fromkeys(turn.heading for turn in looked)), count),
        **_of_blocks([turn.text.lstrip()[:3] for turn in looked]),
        **_marks(text),
        "stock": sum(stock_share(turn.text) for turn in looked) / count,
    }


def _of_path(path: str) -> dict[str, float]:
    """What the name of a document and its folders show."""
    *above, name = path.replace("\\", "/").split("/")
    stem = name.rpartition(".")[0] or name
    folders = [folder.lower() for folder in above]
    return {
        **{f"named {known}": stem.upper() == known for known in WORKSPACE_FILES},
        **{f"in {known}": known in folders for known in FOLDERS},
        "dated name": bool(_DATE.search(stem)),
        "dated folder": any(map(_DATE.search, folders)),
        "shouted name": stem.isupper(),
        "capital name": stem[:1].isupper(),
        "digits in name": any(map(str.isdigit, stem)),
        "words in name": stem.count("-") + stem.count("_"),
        "name length": log(len(stem)),
    }


def _of_headings(paths: Sequence[tuple[str, ...]], blocks: int) -> dict[str, float]:
    """What the headings that so many blocks stand under are like; each path once, from the top down."""
    titles = [path[-1] for path in paths if path]
    count = max(1, len(titles))
    return {
        "headings": log(len(titles)),
        "headings a turn": len(titles) / blocks,
        "depth": max(map(len, paths), default=0),
        "dated headings": sum(bool(_DATE.search(title)) for title in titles) / count,
        "timed headings": sum(bool(TIME.search(title)) for title in titles) / count,
        "numbered headings": sum(title[:1].isdigit() for title in titles) / count,
        "asking headings": sum(title.endswith(("?", "？")) for title in titles) / count,
        "dated title": bool(titles) and bool(_DATE.search(titles[0])),
    }


def _of_blocks(starts: Sequence[str]) -> dict[str, float]:
    """How many blocks are of each form, by their first three characters."""
    count = max(1, len(starts))
    return {
        "items": sum(s[:1] in {"-", "*", "+"} and s[:2] != "**" for s in starts) / count,
        "numbered items": sum(start[:1].isdigit() for start in starts) / count,
        "tables": sum(start[:1] == "|" for start in starts) / count,
        "quotes": sum(start[:1] == ">" for start in starts) / count,
        "code": sum(start in {"```", "~~~"} for start in starts) / count,
    }


def _marks(text: str) -> dict[str, float]:
    """How often marks and figures stand in a text, a line or a character."""
    size = max(1, len(text))
    lines = text.count("\n") + 1
    return {
        "boxes": len(_BOX.findall(text)) / lines,
        "done": len(_DONE.findall(text)) / lines,
        "slots": 100 * len(_SLOT.findall(text)) / size,
        "empty labels": len(_EMPTY.findall(text)) / lines,
        "links": 100 * len(_LINK.findall(text)) / size,
        "times": 100 * len(TIME.findall(text)) / size,
        "dates": 100 * len(_DATE.findall(text)) / size,
        "digits": sum(c.isdigit() for c in text) / size,
        "capitals": sum(c.isupper() for c in text) / size,
        "bold": 100 * text.count("**") / size,
        "code marks": 100 * text.count("`") / size,
        "exclamations": 100 * text.count("!") / size,
        "questions": 100 * text.count("?") / size,
        "arrows": 100 * text.count("→") / size,
        "signs": sum(ord(c) > 0x2190 and not c.isalnum() for c in text) / size,
    }


NAMES = tuple(_features(()))
"""What each number is."""
