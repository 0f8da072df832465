"""Fit the head that says whether a text relates two things that it names.

The labels are ``relations.jsonl``, of public workspaces, and ``told_relations.jsonl``, of invented texts.

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

from clsm_cli.embedding.weights import default_folder
from clsm_cli.embedding.wordpiece import StaticVectors
from clsm_cli.evaluation.compare import auroc
from clsm_cli.heads.classifier import Classifier
from clsm_cli.heads.relation_head import (
    INPUTS,
    MIN_RELATED_P,
    SHAPE,
    SLOTS,
    Pair,
    head_inputs,
    pairs,
)
from clsm_cli.text.known_names import NameSpan
from scripts.fit_heads import Examples, Settings, fit, left_out
from scripts.fitting import pack
from scripts.join_labels import LABELS, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WEIGHTS = Path(__file__).parents[1] / "clsm_cli" / "heads" / "weights" / "relation.json"
FILE, TOLD = LABELS / "relations.jsonl", LABELS / "told_relations.jsonl"
OUTPUTS = {"related": ("related",)}
SETTINGS = Settings(16, 0.02, rounds=200, dropped=0.3, directions=24, slots=len(SLOTS))


def labelled(copies: Path) -> Iterator[tuple[str, str, Pair]]:
    """Workspace or invented text, relation and pair: the pairs of one unit whose text is there."""
    for label in joined("relations", copies, None):
        if "left" in label:
            names = _names(label)
            pair = Pair(label["text"], names[label["left"]], names[label["right"]], names)
            yield label["repo"], label["relation"], pair


def told() -> Iterator[tuple[str, str, Pair]]:
    """The same of the invented texts; pairs of which the reader was not sure are left out."""
    for line in TOLD.read_text("utf-8").splitlines():
        label = json.loads(line)
        names = _names(label)
        related = {frozenset((a, b)): relation for a, b, relation in label["related"]}
        unsure = {frozenset(each) for each in label.get("unsure", ())}
        for pair in pairs(label["text"], names):
            ends = frozenset((int(pair.left.node), int(pair.right.node)))
            if ends not in unsure:
                about = label["world"] if "world" in label else f"written: {label['about']}"
                yield about, related.get(ends, "none"), pair


def _names(label: Mapping[str, Any]) -> tuple[NameSpan, ...]:
    spans = enumerate(label["names"])
    return tuple(NameSpan(start, end, str(n), kind) for n, (start, end, kind) in spans)


def examples(rows: Sequence[tuple[str, str, Pair]]) -> Examples:
    """Inputs and targets of pairs, then all again as without the model."""
    told = head_inputs(
        [pair for *_, pair in rows], StaticVectors.open(default_folder()).mean_vectors
    )
    bare = told.copy()
    bare[:, len(SHAPE) :] = 0
    targets = [[float(relation != "none")] for _, relation, _ in rows]
    return Examples(np.vstack([told, bare]), np.array(targets * 2), [each for each, *_ in rows] * 2)


def figures(rows: Sequence[tuple[str, str, Pair]], all_: Examples) -> dict[str, Any]:
    """Figures of heads on what each did not see: workspaces with the model and without, invented texts."""
    told = left_out(all_, OUTPUTS, SETTINGS)
    count = len(rows)
    is_real = np.array(["/" in each for each, *_ in rows])
    found: dict[str, Any] = {}
    parts = {"model": (told[:count], is_real), "no model": (told[count:], is_real)}
    for name, (scores, of) in (parts | {"invented": (told[:count], ~is_real)}).items():
        chances, true = scores[of], all_.targets[:count, 0][of] == 1
        order = np.argsort(-chances[:, 0], kind="stable")
        said = chances[:, 0] >= MIN_RELATED_P
        found[name] = {
            "pairs": len(true),
            "related": int(true.sum()),
            "AUROC": round(auroc(chances[:, 0], true), 3),
            **{
                f"related of the best {n}": round(float(true[order[:n]].mean()), 3)
                for n in (50, 100, 200)
            },
            "taken": int(said.sum()),
            "related of those taken": round(float(true[said].mean()), 3) if said.any() else None,
        }
    return found


def main() -> None:
    """Fit, and write the weights with their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--to", type=Path, default=WEIGHTS)
    given = parser.parse_args()
    all_rows = (*labelled(given.copies), *told())
    rows = [row for row in all_rows if row[0] not in given.without]
    found = examples(rows)
    mean, scale, (first, bias, second, offset) = fit(found.inputs, found.targets, OUTPUTS, SETTINGS)
    head = Classifier(INPUTS, OUTPUTS, mean, scale, (first, bias, second, offset))
    data = {
        "about": "Fitted by scripts/fit_relations.py; the figures are of workspaces that were left out.",
        "labels": hashlib.sha256(FILE.read_bytes() + TOLD.read_bytes()).hexdigest(),
        "figures": {} if given.without else figures(rows, found),
        **pack(head),
    }
    given.to.write_text(json.dumps(data) + "\n", "utf-8")


if __name__ == "__main__":
    main()
