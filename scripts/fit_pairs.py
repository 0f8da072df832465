"""Fit the head of pairs on ``fixtures/labels/told_pairs.jsonl`` and ``told_asked.jsonl``, and measure it.

Run ``python -m scripts.fit_pairs MODEL`` (an installed model). It writes
``clsm_cli/heads/weights/pair.json``, with figures on settings that were left out: the same labels give
the same bytes. A pair of which something is asked counts twice, with the question and without, since
a recall knows what is asked and a night does not. The pairs of ``told_asked.jsonl`` are plain ones, as
people tell them; those of ``told_pairs.jsonl`` are made to be hard, and count a fortieth.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clsm_cli.embedding.encoder import Encoder
from clsm_cli.heads.pair_head import (
    CLIP,
    RELATIONS,
    Head,
    packed,
    pair_features,
    sentence,
    unpacked,
)
from scripts.fit_names import auroc

ROOT = Path(__file__).parents[1]
LABELS = ROOT / "fixtures" / "labels"
WEIGHTS = ROOT / "clsm_cli" / "heads" / "weights" / "pair.json"
HIDDEN, DECAY, ROUNDS, RATE, DROPPED, DIRECTIONS, FOLDS = 12, 0.004, 200, 0.03, 0.3, 32, 6
PLAIN = 40.0
"""What a plain pair counts, a hard one being 1."""
FALSE = 0.02
"""Share of the pairs that are no update, of which the figures allow so many to be taken for one."""


class Examples(NamedTuple):
    """Labelled pairs, an array with a row each; ``asked`` tells those with a question."""

    shapes: Any
    moves: Any
    labels: Any
    groups: Any
    asked: Any
    weights: Any

    def part(self, rows: Any) -> Examples:
        """Those of a mask."""
        return Examples(*(column[rows] for column in self))


def read(name: str) -> list[dict[str, Any]]:
    """The lines of a file of labels."""
    return [json.loads(line) for line in (LABELS / name).read_text("utf-8").splitlines()]


def examples(model: Path) -> Examples:
    """Every labelled pair, with and without a question."""
    plain = read("told_asked.jsonl")
    pairs = [*read("told_pairs.jsonl"), *plain]
    asks = {row["about"]: row["ask"] for row in read("told_questions.jsonl")}
    texts = sorted({pair[side] for pair in pairs for side in "ab"})
    encoded = Encoder.open(model).encode(texts)
    vectors = {
        text: np.asarray(each.sentence, np.float64)
        for text, each in zip(texts, encoded, strict=True)
    }
    rows: list[tuple[Any, ...]] = []
    for pair in pairs:
        one, other = (sentence(pair[side], pair.get(f"{side}_head") or "") for side in "ab")
        first, last = vectors[pair["a"]], vectors[pair["b"]]
        cosine = float(first @ last)
        ask = pair.get("ask") or asks.get(pair["a"]) or asks.get(pair["b"])
        weight = PLAIN if "ask" in pair else 1.0
        for asked in (None, sentence(ask)) if ask else (None,):
            shape = pair_features(one, other, cosine, asked)
            label = RELATIONS.index(pair["label"])
            rows.append((shape, last - first, label, pair["group"], asked is not None, weight))
    return Examples(*(np.array(column) for column in zip(*rows, strict=True)))


def head_of(seen: Examples) -> Head:
    """The head fitted on some examples, with the rounding that the data file gives it."""
    mean, scale = seen.shapes.mean(0), _scale(seen.shapes)
    ways = np.linalg.svd(seen.moves - seen.moves.mean(0), full_matrices=False)[2][:DIRECTIONS].T
    lengths = _scale(seen.moves @ ways)
    shapes = np.clip((seen.shapes - mean) / scale, -CLIP, CLIP)
    rows = np.hstack([shapes, seen.moves @ ways / lengths])
    first, bias, second, offset = _layers(rows, np.eye(len(RELATIONS))[seen.labels], seen.weights)
    width = shapes.shape[1]
    head = Head(
        mean.tolist(),
        scale.tolist(),
        first[:width].T.tolist(),
        ((ways / lengths) @ first[width:]).T.tolist(),
        bias.tolist(),
        second.T.tolist(),
        offset.tolist(),
    )
    return unpacked(packed(head))


def _scale(columns: Any) -> Any:
    found = columns.std(0)
    found[found < 1e-6] = 1.0
    return found


def _layers(rows: Any, wanted: Any, weights: Any) -> list[Any]:
    """The layers, by Adam over all rows with dropout."""
    chance = np.random.default_rng(0)
    shares = (weights / weights.sum())[:, None]
    layers = [
        chance.normal(0, rows.shape[1] ** -0.5, (rows.shape[1], HIDDEN)),
        np.zeros(HIDDEN),
        chance.normal(0, HIDDEN**-0.5, (HIDDEN, wanted.shape[1])),
        np.zeros(wanted.shape[1]),
    ]
    means = [np.zeros_like(layer) for layer in layers]
    squares = [np.zeros_like(layer) for layer in layers]
    for step in range(1, ROUNDS + 1):
        some = rows * (chance.random(rows.shape) > DROPPED / 2) / (1 - DROPPED / 2)
        inner = np.tanh(some @ layers[0] + layers[1])
        mask = (chance.random(inner.shape) > DROPPED) / (1 - DROPPED)
        slope = (_shares((inner * mask) @ layers[2] + layers[3]) - wanted) * shares
        back = (slope @ layers[2].T) * mask * (1 - inner * inner)
        slopes = [
            some.T @ back + DECAY * layers[0],
            back.sum(0),
            (inner * mask).T @ slope + DECAY * layers[2],
            slope.sum(0),
        ]
        rate = RATE * (1 - step / (ROUNDS + 1)) ** 0.5
        for at, by in enumerate(slopes):
            means[at] += 0.1 * (by - means[at])
            squares[at] += 0.001 * (by * by - squares[at])
            root = np.sqrt(squares[at] / (1 - 0.999**step)) + 1e-8
            layers[at] -= rate * means[at] / (1 - 0.9**step) / root
    return layers


def _shares(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def told(head: Head, rows: Examples) -> Any:
    """What a head says of some examples: [n, 4]."""
    return np.array(
        [
            head.relation(shape, head.along(move))
            for shape, move in zip(rows.shapes.tolist(), rows.moves.tolist(), strict=True)
        ]
    )


def left_out(rows: Examples) -> tuple[Any, dict[str, Any]]:
    """What heads say of the settings that each did not see, and how good that is."""
    names = np.unique(rows.groups)
    said = np.zeros((len(rows.labels), len(RELATIONS)))
    for fold in range(FOLDS):
        held = np.isin(rows.groups, names[fold::FOLDS])
        said[held] = told(head_of(rows.part(~held)), rows.part(held))
    figures: dict[str, Any] = {}
    for name, part in (("without a question", ~rows.asked), ("with one", rows.asked)):
        labels, chances = rows.labels[part], said[part]
        updates = labels == RELATIONS.index("update")
        others = np.sort(chances[~updates, 1])[::-1]
        least = float(others[int(FALSE * len(others))])
        figures[name] = {
            "pairs": len(labels),
            "right": round(float((chances.argmax(1) == labels).mean()), 3),
            "update AUROC": round(auroc(chances[:, 1], updates), 3),
            "same AUROC": round(auroc(chances[:, 0], labels == 0), 3),
            f"updates found at {FALSE:.0%} false": round(
                float((chances[updates, 1] > least).mean()), 3
            ),
            "from": round(least, 3),
        }
    return said, figures


def main() -> None:
    """Fit on all pairs, and measure on settings left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    given = parser.parse_args()
    rows = examples(given.model)
    figures = left_out(rows)[1]
    digest = hashlib.sha256((LABELS / "told_pairs.jsonl").read_bytes()).hexdigest()
    data = {"labels": digest[:16], "figures": figures, **packed(head_of(rows))}
    WEIGHTS.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
