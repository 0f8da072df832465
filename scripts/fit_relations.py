"""Fit the head that says how two named things are related, on ``fixtures/labels/relations.jsonl``.

Run ``python -m scripts.fit_relations COPIES`` (as in ``scripts.join_labels``, with a model installed). It
writes ``clsm_cli/heads/weights/relation.json``, with figures on workspaces that were left out, one at a
time: the same labels give the same bytes. ``--without OWNER/NAME …`` leaves workspaces out altogether
and ``--to FILE`` writes elsewhere, to measure on these workspaces.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clsm_cli.embedding.stamp import default_folder
from clsm_cli.embedding.words import Words
from clsm_cli.heads.classifier import Classifier, packed
from clsm_cli.heads.relations import (
    DIMENSIONS,
    INPUTS,
    SHAPE,
    SLOTS,
    TYPES,
    Named,
    Pair,
    inputs,
)
from scripts.fit_heads import Examples, Settings, _copy, _document, auroc, fit, left_out
from scripts.join_labels import LABELS, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WEIGHTS = Path(__file__).parents[1] / "clsm_cli" / "heads" / "weights" / "relation.json"
OUTPUTS = {"related": ("related",), "type": TYPES, "forward": ("forward",)}
SETTINGS = Settings(16, 0.01, rounds=200, dropped=0.3, directions=12, slots=len(SLOTS))


def labelled(copies: Path) -> Iterator[tuple[Mapping[str, Any], Pair]]:
    """The labels whose text is there, with the pair that each is about."""
    for label in joined("relations", copies, None):
        path = _copy(copies, label["repo"], label["file"])
        turns = (_document(path, label["file"]) or ([], [], []))[0]
        turn = next((turn for turn in turns if turn.line_start == label["line"]), None)
        if turn is None:
            continue
        names = tuple(Named(*span, str(n), kind) for n, (*span, kind) in enumerate(label["names"]))
        above = turn.heading[-1] if turn.heading else ""
        if "left" in label:
            left = names[label["left"]]
        else:
            place, start, end, kind = label["heading"]
            above, left = turn.heading[place], Named(start, end, "above", kind)
        right = names[label["right"]]
        yield label, Pair(label["text"], above, left, right, "left" not in label, names)


def examples(rows: Sequence[tuple[Mapping[str, Any], Pair]]) -> Examples:
    """Inputs and targets of pairs, then all again as without the model."""
    told = inputs([pair for _, pair in rows], Words.open(default_folder()).of)
    bare = told.copy()
    bare[:, len(SHAPE) :] = 0
    targets = []
    for label, _ in rows:
        known = label["relation"] in TYPES
        kinds = [float(label["relation"] == kind) if known else np.nan for kind in TYPES]
        forward = float(label["source"] == "left") if known else np.nan
        targets.append([float(known), *kinds, forward])
    return Examples(
        np.vstack([told, bare]), np.array(targets * 2), [label["repo"] for label, _ in rows] * 2
    )
