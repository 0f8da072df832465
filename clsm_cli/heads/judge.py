"""Run the document, unit and kind heads: the type of a document, and the worth and kind of each of its units."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from clsm_cli.heads import classifier
from clsm_cli.heads.unit_features import TIME, Unit, log, stock_share, unit_features
from clsm_cli.heads.units import units
from clsm_cli.model.episodes import Turn
from clsm_cli.text import secrets
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
"""File names with a meaning in the documentation of OpenClaw (Agent workspace), Agent Skills and GitHub."""
FOLDERS = ("memory", "skills", "docs", "projects", "tasks")
"""Folder names with a meaning in the same documentation."""
_DATE = re.compile(r"\d{4}[-_.]?\d{2}[-_.]?\d{2}|\d{4}[-_]\d{2}")
_BOX = re.compile(rf"^\s*{ITEM}\s+{BOX}", re.MULTILINE)
_DONE = re.compile(rf"^\s*{ITEM}\s+\[[xX]\]", re.MULTILINE)
_SLOT = re.compile(
    r"\[[^\]\n(]{2,40}\](?!\()|<[A-Za-z_][^<>\n]{1,40}>|\{\{?[^{}\n]{1,40}\}|_{3,}|YYYY|\bX{2,}\b"
)
_EMPTY = re.compile(r"^\s*(?:[-*+]\s+)?(?:\*\*)?[^:\n]{1,40}:(?:\*\*)?\s*$", re.MULTILINE)
_LINK = re.compile(r"\]\(|https?://")
_MAX_TURNS = 400
"""Maximum blocks of a document whose features are computed."""

ROLES = ("log", "living", "instruction", "reference", "list")
DOCUMENT_LABELS = (*ROLES, "owner", "template")
"""Document labels, whose probabilities are inputs of the unit head; all zero for a chat."""
KINDS = ("fact", "preference", "decision")
"""Outputs of the kind head. A preference is also a rule; tasks, events and the like count as facts."""
DIMENSIONS = 384
"""Size of a unit's mean word embedding (``embedding/wordpiece``); zeros without the model."""
Meanings = Callable[[Sequence[str]], Sequence[Sequence[float]]]
UNKNOWN = (0.0,) * DIMENSIONS


class UnitProbabilities(NamedTuple):
    """A unit and the probabilities of its labels.

    Attributes:
        chances: Probabilities of ``noise``, ``keep`` (useful weeks later), ``alone`` (understood without
            its headings), ``with headings`` (understood with them), and with the model of each of ``KINDS``.
    """

    unit: Unit
    chances: Mapping[str, float]


def about_document(turns: Sequence[Turn]) -> dict[str, float]:
    """The probability of each of ``DOCUMENT_LABELS`` for a document, given its blocks."""
    return classifier.load("document").probabilities([document_features(turns)])[0]


def judge_units(
    turns: Sequence[Turn],
    about: Mapping[str, float] | None,
    words: Meanings | None = None,
) -> list[UnitProbabilities]:
    """The units of a document or chat with their probabilities.

    Args:
        turns: All of its turns.
        about: ``about_document`` of it; None for a chat.
        words: Returns mean word embeddings of texts, ``DIMENSIONS`` numbers each; None without the model.
    """
    import numpy as np

    found = units(turns)
    shapes = unit_features(turns, found)
    texts = [turns[unit.turn].text[unit.start : unit.end] for unit in found]
    known = words(texts) if words else [UNKNOWN] * len(texts)
    rows: Any = np.array([unit_inputs(*row, about) for row in zip(shapes, known, strict=True)])
    chances = classifier.load("unit" if about is not None else "talk").probabilities(rows)
    if words:
        kinds = classifier.load("kind").probabilities(rows)
        chances = [{**row, **kind} for row, kind in zip(chances, kinds, strict=True)]
    # What was masked is what the sentence told.
    chances = [
        {**row, "noise": 1.0, "keep": 0.0} if secrets.is_masked(text) else row
        for row, text in zip(chances, texts, strict=True)
    ]
    return [UnitProbabilities(unit, row) for unit, row in zip(found, chances, strict=True)]


def unit_inputs(
    shape: Sequence[float], words: Sequence[float], about: Mapping[str, float] | None
) -> list[float]:
    """The inputs of the unit head: a unit's features, its document's labels, its mean word embedding.

    >>> unit_inputs([1.0], [0.5], None)
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]
    """
    return [*shape, *(about.get(name, 0.0) if about else 0.0 for name in DOCUMENT_LABELS), *words]


def document_features(turns: Sequence[Turn]) -> list[float]:
    """The features of a document in the order of ``NAMES``, given its blocks.

    >>> from clsm_cli.model.episodes import Turn
    >>> row = document_features([Turn("k", "", "assistant", "- Rent.", path="memory/2026-03-02.md")])
    >>> row[NAMES.index("dated name")], row[NAMES.index("in memory")]
    (1.0, 1.0)
    """
    return [round(float(value), 4) for value in _features(turns).values()]


def _features(turns: Sequence[Turn]) -> dict[str, float]:
    """Feature name → value."""
    looked = [turn for turn in turns[:_MAX_TURNS] if turn.text.strip()]
    count = max(1, len(looked))
    text = "\n".join(turn.text for turn in looked)
    size = max(1, len(text))
    return {
        **_path_features(turns[0].path if turns else ""),
        "turns": log(len(turns)),
        "size": log(size),
        "turn size": log(size / count),
        **_heading_features(list(dict.fromkeys(turn.heading for turn in looked)), count),
        **_block_features([turn.text.lstrip()[:3] for turn in looked]),
        **_mark_features(text),
        "stock": sum(stock_share(turn.text) for turn in looked) / count,
    }


def _path_features(path: str) -> dict[str, float]:
    """Features of the file name and its folders."""
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


def _heading_features(paths: Sequence[tuple[str, ...]], blocks: int) -> dict[str, float]:
    """Features of the distinct heading paths, from the top down, above ``blocks`` blocks."""
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


def _block_features(starts: Sequence[str]) -> dict[str, float]:
    """Shares of blocks of each form, by their first three characters."""
    count = max(1, len(starts))
    return {
        "items": sum(s[:1] in {"-", "*", "+"} and s[:2] != "**" for s in starts) / count,
        "numbered items": sum(start[:1].isdigit() for start in starts) / count,
        "tables": sum(start[:1] == "|" for start in starts) / count,
        "quotes": sum(start[:1] == ">" for start in starts) / count,
        "code": sum(start in {"```", "~~~"} for start in starts) / count,
    }


def _mark_features(text: str) -> dict[str, float]:
    """Frequencies of marks and digits, per line or per character."""
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
        "digits": sum(map(str.isdigit, text)) / size,
        "capitals": sum(map(str.isupper, text)) / size,
        "bold": 100 * text.count("**") / size,
        "code marks": 100 * text.count("`") / size,
        "exclamations": 100 * text.count("!") / size,
        "questions": 100 * text.count("?") / size,
        "arrows": 100 * text.count("→") / size,
        "signs": sum(ord(c) > 0x2190 and not c.isalnum() for c in text) / size,
    }


NAMES = tuple(_features(()))
"""Feature names, in order."""
