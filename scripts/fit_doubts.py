"""Fit when a night's question about two statements is worth asking, on ``fixtures/labels/told_doubts.jsonl``.

Run ``python -m scripts.fit_doubts``. It prints the weights of ``supersession_check.asking_signs``; how many of
the questions that each memory would be asked are sensible, with weights of the others, tells ``benchmarks.study``.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from clsm_cli.consolidation.supersession_check import ASKING_LIMIT, ASKING_WEIGHTS, asking_signs
from clsm_cli.evaluation.compare import auroc
from scripts.fitting import logistic
from scripts.join_labels import LABELS

DECAY = 3.0  # of the weights of the standardised signs
MARGIN = 0.1  # of the log odds that a question is sensible, from which it is asked


def fit(signs: Any, truths: Any) -> tuple[Any, float]:
    """Weights and offset of a logistic regression over the signs."""
    mean, scale = signs.mean(0), signs.std(0)
    found = logistic((signs - mean) / scale, truths, ridge=[*[DECAY] * signs.shape[1], 0.0])
    weights = found[:-1] / scale
    return weights, float(found[-1] - weights @ mean)


def examples() -> tuple[Any, Any, Any]:
    """Signs [n, k] of the questions, whether each is sensible, and its memory."""
    rows = [json.loads(line) for line in (LABELS / "told_doubts.jsonl").open(encoding="utf-8")]
    signs = np.array(
        [asking_signs(*(row[k] for k in ("chance", "old", "new", "days"))) for row in rows]
    )
    truths = np.array([row["sensible"] for row in rows], bool)
    return signs, truths, np.array([row["memory"] for row in rows])


def left_out() -> dict[str, float]:
    """Figures of weights on the memories that each did not see."""
    signs, truths, places = examples()
    scores = np.zeros(len(truths))
    for place in set(places):
        weights, offset = fit(signs[places != place], truths[places != place])
        scores[places == place] = signs[places == place] @ weights + offset
    asked = scores >= MARGIN
    return {
        "questions": len(truths),
        "memories": len({*places}),
        "AUROC": auroc(scores, truths),
        "sensible of those asked": float(truths[asked].mean()),
        "asked of the sensible": float(asked[truths].mean()),
    }


def main() -> None:
    """Fit, and print the weights."""
    signs, truths, _ = examples()
    weights, offset = fit(signs, truths)
    shipped = signs @ np.array(ASKING_WEIGHTS) >= ASKING_LIMIT
    print(f"as shipped: asked {shipped.sum()}, sensible {truths[shipped].mean():.0%}")
    print("weights", weights.round(2), "limit", round(MARGIN - offset, 2))


if __name__ == "__main__":
    main()
