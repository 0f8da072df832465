"""Fit the probability that a reader would draw a node, on ``fixtures/labels/nodes.jsonl``.

Run ``python -m scripts.fit_prominence``. It prints the weights of ``model.graph.DRAWN``, and how well weights of
the other workspaces sort the nodes of each.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from clsm_cli.evaluation.compare import auroc
from clsm_cli.model import graph
from clsm_cli.model.graph import Node
from scripts.fitting import logistic
from scripts.join_labels import LABELS

WORTH = {"thing": 1.0, "minor": 0.5, "noise": 0.0, "name": 0.8, "none": 0.0}
"""How far a node should be drawn: of the strongest, which readers judged, and of others by ``names.jsonl``."""
SHARE = 0.5
"""What one of the others counts: without them, it would not show how seldom the rest of a graph is drawn."""
DECAY = 1.0
STRONGEST = 40
SIGNS = ("log odds", "two days", "capitals", "file name", "bias")
READ = ("thing", "minor", "noise")


def examples() -> list[tuple[dict[str, Any], Node]]:
    """Each label with a node that has the signs of the one that it is about."""
    lines = (LABELS / "nodes.jsonl").read_text("utf-8").splitlines()
    return [(row, _node(row)) for row in map(json.loads, lines)]


def _node(row: dict[str, Any]) -> Node:
    return Node(
        id=row["hash"],
        rev=(0, ""),
        label={"file": "a.b", "capitals": "AB"}.get(row.get("form", ""), "a"),
        kind=row["kind"],
        confidence=row["confidence"],
        n=row["n"],
        first="2000-01-01",
        last="2000-01-02" if row["days"] > 1 else "2000-01-01",
    )


def fit(found: list[tuple[dict[str, Any], Node]]) -> dict[str, float]:
    """The weight of each sign, to two decimals."""
    table = np.array([[node.signs[sign] for sign in SIGNS[:-1]] for _, node in found])
    worth = np.array([WORTH[row["judged"]] for row, _ in found])
    counts = np.array([1.0 if row["judged"] in READ else SHARE for row, _ in found])
    weights = logistic(table, worth, counts, ridge=[*[DECAY] * (len(SIGNS) - 1), 1e-6])
    return {sign: round(float(weight), 2) for sign, weight in zip(SIGNS, weights, strict=True)}


def left_out(found: list[tuple[dict[str, Any], Node]]) -> dict[str, float]:
    """Means over the workspaces that readers judged, of weights that did not see them."""
    told: dict[str, list[float]] = {}
    shipped = dict(graph.DRAWN)
    for repo in sorted({row["repo"] for row, _ in found if row["judged"] == "thing"}):
        mine = [e for e in found if e[0]["repo"] == repo and e[0]["judged"] in READ]
        graph.DRAWN |= fit([each for each in found if each[0]["repo"] != repo])
        scores = np.array([node.prominence for _, node in mine])
        graph.DRAWN |= shipped
        judged = np.array([row["judged"] for row, _ in mine])
        first = judged[np.argsort(-scores, kind="stable")[:STRONGEST]]
        for name, value in {
            "things AUROC": auroc(scores, judged == "thing"),
            "noise AUROC": auroc(-scores, judged == "noise"),
            "noise of the strongest": float((first == "noise").sum()),
            "things of the strongest": float((first == "thing").sum()),
        }.items():
            told.setdefault(name, []).append(value)
    return {name: float(np.mean(values)) for name, values in told.items()}


def main() -> None:
    """Print figures and weights."""
    found = examples()
    print({name: round(value, 3) for name, value in left_out(found).items()})
    print(fit(found))


if __name__ == "__main__":
    main()
