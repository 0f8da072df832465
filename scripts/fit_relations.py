"""Fit the head that says whether a text relates two things that it names, on ``fixtures/labels/relations.jsonl``.

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
from clsm_cli.heads.classifier import Classifier
from clsm_cli.heads.relation_head import (
    INPUTS,
    MIN_RELATED_P,
    SHAPE,
    SLOTS,
    NameSpan,
    Pair,
    head_inputs,
)
from scripts.fit_heads import Examples, Settings, fit, left_out
from scripts.fitting import auroc, pack
from scripts.join_labels import LABELS, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WEIGHTS = Path(__file__).parents[1] / "clsm_cli" / "heads" / "weights" / "relation.json"
OUTPUTS = {"related": ("related",)}
SETTINGS = Settings(16, 0.02, rounds=200, dropped=0.3, directions=24, slots=len(SLOTS))


def labelled(copies: Path) -> Iterator[tuple[Mapping[str, Any], Pair]]:
    """The labels of pairs within one unit whose text is there, with the pair that each is about."""
    for label in joined("relations", copies, None):
        if "left" in label:
            spans = enumerate(label["names"])
            names = tuple(NameSpan(start, end, str(n), kind) for n, (start, end, kind) in spans)
            yield label, Pair(label["text"], names[label["left"]], names[label["right"]], names)


def examples(rows: Sequence[tuple[Mapping[str, Any], Pair]]) -> Examples:
    """Inputs and targets of pairs, then all again as without the model."""
    told = head_inputs(
        [pair for _, pair in rows], StaticVectors.open(default_folder()).mean_vectors
    )
    bare = told.copy()
    bare[:, len(SHAPE) :] = 0
    targets = [[float(label["relation"] != "none")] for label, _ in rows]
    return Examples(
        np.vstack([told, bare]), np.array(targets * 2), [label["repo"] for label, _ in rows] * 2
    )


def figures(rows: Sequence[tuple[Mapping[str, Any], Pair]], all_: Examples) -> dict[str, Any]:
    """Figures of heads on the workspaces that each did not see, with the model and without."""
    told = left_out(all_, OUTPUTS, SETTINGS)
    count = len(rows)
    true = all_.targets[:count, 0] == 1
    found: dict[str, Any] = {"pairs": count, "related": int(true.sum())}
    for name, chances in (("model", told[:count]), ("no model", told[count:])):
        order = np.argsort(-chances[:, 0], kind="stable")
        said = chances[:, 0] >= MIN_RELATED_P
        found[name] = {
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
    rows = [row for row in labelled(given.copies) if row[0]["repo"] not in given.without]
    found = examples(rows)
    mean, scale, (first, bias, second, offset) = fit(found.inputs, found.targets, OUTPUTS, SETTINGS)
    head = Classifier(INPUTS, OUTPUTS, mean, scale, (first, bias, second, offset))
    data = {
        "about": "Fitted by scripts/fit_relations.py; the figures are of workspaces that were left out.",
        "labels": hashlib.sha256((LABELS / "relations.jsonl").read_bytes()).hexdigest(),
        "figures": {} if given.without else figures(rows, found),
        **pack(head),
    }
    given.to.write_text(json.dumps(data) + "\n", "utf-8")
    print(json.dumps(data["figures"], indent=1))


if __name__ == "__main__":
    main()
