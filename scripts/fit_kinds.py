"""Fit the heads of kinds: whether a sentence states a fact, a preference (rules too) or a decision.

Run ``python -m scripts.fit_kinds COPIES --locomo FOLDER`` (see ``scripts.join_labels``). It writes
``clsm_cli/heads/weights/kind.json``: the same labels give the same bytes. It reads the inputs of the unit
heads, but has weights of its own, so that another fit of it leaves what is worth keeping as it is. What is
not worth keeping has no kind; tasks, events and the like count as facts. On the sentence's vector alone, it
fits ``rule.json``, for the rules of a briefing. Figures are of memories (workspaces, conversations, invented
memories and talks) that were left out, a fifth at a time.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from zoneinfo import ZoneInfo

import numpy as np

from clsm_cli.consolidation.statement_selection import MIN_KIND_P
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.weights import default_folder
from clsm_cli.embedding.wordpiece import StaticVectors
from clsm_cli.evaluation.compare import auroc
from clsm_cli.heads import classifier, judge, unit_features
from clsm_cli.heads.judge import DIMENSIONS, KINDS, UNKNOWN, unit_inputs
from clsm_cli.heads.units import units
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.ingestion.markdown import read
from clsm_cli.ingestion.turns import turn_from_block
from clsm_cli.model.episodes import Turn
from clsm_cli.retrieval.briefing_rules import MIN_RULE_P
from scripts import worlds
from scripts.fit_heads import INPUTS, Examples, Settings, left_out, lines_of_talks, of_units, write
from scripts.join_labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.ingestion.turns import Masker

FILES = ("units", "kinds", "told_kinds", "told_talks")
OUTPUTS = {"kind": KINDS}
SETTINGS = Settings(32, 0.01, rounds=120, directions=128)
RULE = {"rule": ("rule",)}
RULE_SETTINGS = Settings(16, 0.05, rounds=120)
FOLDS = 5


class Sentence(NamedTuple):
    """A sentence worth keeping, its inputs without its words, its kind, and what it is left out with."""

    text: str
    inputs: list[float]
    kind: str
    memory: str
    part: str


def of_public(copies: Path, locomo: Path | None) -> Iterator[Sentence]:
    """Those of workspaces and of LoCoMo."""
    heads: dict[tuple[float, ...], dict[str, float]] = {}
    for each in (*of_units(copies, locomo), *of_units(copies, locomo, "kinds")):
        if each.label.get("keep") == 0:
            continue
        about = None
        if each.document is not None:
            key = tuple(each.document)
            if key not in heads:
                heads[key] = classifier.load("document").probabilities([key])[0]
            about = heads[key]
        row = unit_inputs(each.shape, UNKNOWN, about)
        yield Sentence(each.text, row, each.label["kind"], each.group, _part(about))


def _part(about: dict[str, float] | None) -> str:
    return "conversations" if about is None else "notes"


def of_worlds() -> Iterator[Sentence]:
    """Those of invented memories, each in the file of its day."""
    rows = map(json.loads, (LABELS / "told_kinds.jsonl").read_text("utf-8").splitlines())
    kinds = {(row["world"], row["line"]): row["kind"] for row in rows}
    for world in worlds.told():
        name, lines = world["world"], list(enumerate(world["lines"]))
        for day, path, text in worlds.days(world):
            turns = _turns(path, text)
            found = units(turns)
            texts = [turns[unit.turn].text[unit.start : unit.end] for unit in found]
            shapes = unit_features.unit_features(turns, found)
            about = judge.about_document(turns) if path.endswith(".md") else None
            for number, line in lines:
                if line["day"] == day and (name, number) in kinds:
                    place = _nearest(line["text"], texts)
                    row = unit_inputs(shapes[place], UNKNOWN, about)
                    kind = kinds[name, number]
                    yield Sentence(texts[place], row, kind, f"world {name}", _part(about))


def _turns(path: str, text: str) -> list[Turn]:
    if path.endswith(".md"):
        raw = read(text.encode(), path=path, zone=ZoneInfo("UTC"))
        assert not isinstance(raw, Problem)
        unmasked = cast("Masker", str)
        return [turn_from_block(block, path, path, raw.trust, unmasked) for block in raw.blocks]
    told = [json.loads(line) for line in text.splitlines()]
    return [
        Turn("", turn.get("speaker", turn["role"]), turn["role"], turn["text"]) for turn in told
    ]


def _nearest(text: str, texts: Sequence[str]) -> int:
    """Place of the text that shares most words with another."""
    wanted = {*text.split()}
    shares = [len(wanted & {*each.split()}) / len(wanted | {*each.split()}) for each in texts]
    return shares.index(max(shares))


def of_talks() -> Iterator[Sentence]:
    """Those of invented talks."""
    for number, line, shape in lines_of_talks():
        if "kind" in line:
            row = unit_inputs(shape, UNKNOWN, None)
            yield Sentence(line["text"], row, line["kind"], f"talk {number}", "written talks")


def examples(told: Sequence[Sentence]) -> Examples:
    """Their inputs with what their words mean; memories are left out by fifths."""
    rows = np.array([each.inputs for each in told])
    words = StaticVectors.open(default_folder())
    rows[:, -DIMENSIONS:] = words.mean_vectors([each.text for each in told])
    kinds = [each.kind if each.kind in KINDS else "fact" for each in told]
    targets = [[float(kind == name) for name in KINDS] for kind in kinds]
    memories = sorted({each.memory for each in told})
    folds = [str(memories.index(each.memory) % FOLDS) for each in told]
    return Examples(rows, np.array(targets), folds)


def rule_examples(told: Sequence[Sentence], some: Examples) -> Examples:
    """The same sentences, with their vectors as inputs, and whether each is a preference or rule."""
    read = Encoder.open(default_folder()).encode([each.text for each in told])
    column = KINDS.index("preference")
    vectors = np.array([each.sentence for each in read], np.float64)
    return Examples(vectors, some.targets[:, column : column + 1], some.groups)


def rule_figures(rules: Examples, chances: Any, parts: Any) -> dict[str, dict[str, float]]:
    """How well rules are told in each part: what reaches the limit of a briefing."""
    told = {}
    for part in sorted({*parts}):
        scores, truths = chances[parts == part], rules.targets[parts == part, 0] == 1
        called = scores >= MIN_RULE_P
        told[part] = {
            "sentences": float(len(scores)),
            "rules": float(truths.sum()),
            "rules AUROC": round(auroc(scores, truths), 3),
            "rules called": float(called.sum()),
            "rules called rightly": float((called & truths).sum()),
        }
    return told


def figures(some: Examples, found: Any, parts: Any) -> dict[str, dict[str, float]]:
    """How well preferences and decisions are told in each part."""
    told = {}
    for part in sorted({*parts}):
        own = parts == part
        told[part] = {"sentences": float(own.sum())}
        for column, kind in enumerate(KINDS[1:], 1):
            scores, truths = found[own, column], some.targets[own, column] == 1
            called = scores >= MIN_KIND_P
            told[part] |= {
                kind: float(truths.sum()),
                f"{kind} AUROC": round(auroc(scores, truths), 3),
                f"{kind} called": float(called.sum()),
                f"{kind} called rightly": float((called & truths).sum()),
            }
    return told


def main() -> None:
    """Measure, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    parser.add_argument("--locomo", type=Path)
    given = parser.parse_args()
    told = [*of_public(given.copies, given.locomo), *of_worlds(), *of_talks()]
    some = examples(told)
    found = left_out(some, OUTPUTS, SETTINGS)
    parts = np.array([each.part for each in told])
    good = figures(some, found, parts)
    write("kind", some, OUTPUTS, SETTINGS, INPUTS, good, labels=FILES, script="fit_kinds")
    rules = rule_examples(told, some)
    alone = left_out(rules, RULE, RULE_SETTINGS)[:, 0]
    good = rule_figures(rules, (alone + found[:, KINDS.index("preference")]) / 2, parts)
    names = [f"vector {place}" for place in range(DIMENSIONS)]
    write("rule", rules, RULE, RULE_SETTINGS, names, good, labels=FILES, script="fit_kinds")


if __name__ == "__main__":
    main()
