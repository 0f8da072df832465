"""Fit the head of pairs on ``fixtures/labels/told_asked.jsonl`` and ``told_pairs.jsonl``, and measure it.

Run ``python -m scripts.fit_pairs MODEL`` (an installed model). It writes
``clsm_cli/heads/weights/pair.json``, with figures on settings that were left out: the same labels give
the same bytes. A pair of which something is asked counts twice, with the question and without, since
a recall knows what is asked and a night does not. The pairs of ``told_asked.jsonl`` are plain ones, as
people tell them; those of ``told_pairs.jsonl`` are made to be hard, and count a twentieth. Each plain
pair gives another that is about two things.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from array import array
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.wordpiece import StaticVectors
from clsm_cli.heads import pair_head
from clsm_cli.heads.pair_head import CLIP, RELATIONS, Head, Question, Table
from scripts.fitting import auroc, layers, scale, shares

ROOT = Path(__file__).parents[1]
LABELS = ROOT / "fixtures" / "labels"
WEIGHTS = ROOT / "clsm_cli" / "heads" / "weights" / "pair.json"
HIDDEN, DECAY, ROUNDS, RATE, DROPPED, DIRECTIONS, FOLDS = 12, 0.004, 200, 0.03, 0.3, 32, 4
PLAIN, APART = 20.0, 10.0
"""What a plain pair counts, and one of two plain sentences about two things; a hard pair counts 1."""
FIRST, FREQUENT = 1996, 6000
"""Id of the vocabulary's first word, "the", and of how many words from there the head knows the meaning:
they stand in the order of their frequency."""
FALSE = (0.02, 0.05)
"""Shares of the pairs that are no update, of which the figures allow so many to be taken for one."""


class Examples(NamedTuple):
    """Labelled pairs, an array with a row each.

    Attributes:
        shapes: Their ``pair_features``.
        moves: The later vector less the earlier.
        before: The mean meaning of the words that only the earlier has; ``after`` of the later.
        sides: The two sentences.
        asked: Whether it has a question.
        plain: Whether it is of ``told_asked.jsonl``.
    """

    shapes: Any
    moves: Any
    before: Any
    after: Any
    sides: Any
    labels: Any
    groups: Any
    asked: Any
    plain: Any
    weights: Any

    def part(self, rows: Any) -> Examples:
        """Those of a mask."""
        return Examples(*(column[rows] for column in self))


def read(name: str) -> list[dict[str, Any]]:
    """The lines of a file of labels."""
    return [json.loads(line) for line in (LABELS / name).read_text("utf-8").splitlines()]


def labelled() -> list[dict[str, Any]]:
    """Every pair with its weight and its question, None where it has none."""
    plain = read("told_asked.jsonl")
    asks = {row["about"]: row["ask"] for row in read("told_questions.jsonl")}
    found = [pair | {"weight": PLAIN} for pair in plain]
    others = np.random.default_rng(0).permutation(len(plain))
    for pair, other in zip(plain, (plain[each] for each in others), strict=True):
        if pair["group"] != other["group"]:
            later = {"b": other["b"], "b_head": other.get("b_head"), "label": "unrelated"}
            found.append(pair | later | {"weight": APART})
    for pair in read("told_pairs.jsonl"):
        ask = asks.get(pair["a"]) or asks.get(pair["b"])
        found.append(pair | {"ask": ask, "weight": 1.0})
    return found


def examples(model: Path) -> Examples:
    """Every labelled pair, with and without a question."""
    every = labelled()
    texts = sorted({pair[side] for pair in every for side in ("a", "b", "ask") if pair[side]})
    encoded = Encoder.open(model).encode(texts)
    vectors = {
        text: np.asarray(each.sentence, np.float64)
        for text, each in zip(texts, encoded, strict=True)
    }
    rows: list[list[Any]] = []
    for pair in every:
        one, two = (pair_head.sentence(pair[side], pair.get(f"{side}_head") or "") for side in "ab")
        first, last = vectors[pair["a"]], vectors[pair["b"]]
        meant = _meant(model, pair_head.left(one, two)), _meant(model, pair_head.left(two, one))
        sides = np.empty(1, object)
        sides[0] = one, two
        about = sides, RELATIONS.index(pair["label"]), pair["group"]
        for ask in (None, pair["ask"]) if pair["ask"] else (None,):
            asked = None
            if ask:
                near, later = (float(vectors[ask] @ vector) for vector in (first, last))
                asked = Question(pair_head.sentence(ask), near, later)
            shape = pair_head.pair_features(one, two, float(first @ last), asked)
            kind = ask is not None, pair["weight"] > 1, pair["weight"]
            rows.append([shape, last - first, *meant, *about, *kind])
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    columns[4] = columns[4][:, 0]
    return Examples(*columns)


@cache
def frequent(model: Path) -> tuple[dict[str, int], Any]:
    """The frequent words of the model's vocabulary, and what each means less what all mean on average."""
    lines = (model / "vocab.txt").read_text("utf-8").split("\n")[FIRST:]
    known = [line for line in lines if line.isascii() and line.isalpha()][:FREQUENT]
    table = StaticVectors.open(model).mean_vectors(known)
    return {word: place for place, word in enumerate(known)}, table - table.mean(0)


def _meant(model: Path, words: list[str]) -> Any:
    """The mean of some words; one that is not known counts as nothing."""
    known, table = frequent(model)
    return table[[known[word] for word in words if word in known]].sum(0) / (len(words) or 1)


def head_of(seen: Examples, model: Path) -> Head:
    """The head fitted on some examples, with the rounding that the data file gives it."""
    mean, spread = seen.shapes.mean(0), scale(seen.shapes)
    shapes = np.clip((seen.shapes - mean) / spread, -CLIP, CLIP)
    vectors = seen.moves, seen.before, seen.after
    folds = [_directions(part) for part in vectors]
    rows = np.hstack([shapes, *(part @ fold for part, fold in zip(vectors, folds, strict=True))])
    wanted = np.eye(len(RELATIONS))[seen.labels]
    weights = (seen.weights / seen.weights.sum())[:, None]
    first, bias, second, offset = layers(
        rows,
        len(RELATIONS),
        lambda scores: (shares(scores) - wanted) * weights,
        hidden=HIDDEN,
        decay=DECAY,
        rounds=ROUNDS,
        rate=RATE,
        dropped=DROPPED,
    )
    width = shapes.shape[1]
    inner, *outer = np.split(first, [width + DIRECTIONS * part for part in range(3)])
    ways, before, after = (fold @ part for fold, part in zip(folds, outer, strict=True))
    known, table = frequent(model)
    head = Head(
        mean.tolist(),
        spread.tolist(),
        inner.T.tolist(),
        ways.T.tolist(),
        bias.tolist(),
        second.T.tolist(),
        offset.tolist(),
        known,
        _coded(table @ before),
        _coded(table @ after),
    )
    return pair_head.unpacked(pair_head.packed(head))


def _directions(vectors: Any) -> Any:
    """What leads from vectors to their principal directions, each of deviation 1."""
    ways = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)[2][:DIRECTIONS].T
    return ways / scale(vectors @ ways)


def _coded(rows: Any) -> Table:
    steps = [pair_head.step_of(column) for column in rows.T.tolist()]
    codes = np.rint(rows / np.array(steps)).astype(np.int8)
    return Table(steps, array("b", codes.tobytes()))


def told(head: Head, rows: Examples) -> Any:
    """What a head says of some examples: [n, 4]."""
    columns = zip(rows.shapes.tolist(), rows.moves.tolist(), rows.sides, strict=True)
    return np.array(
        [head.relation(shape, head.along(move), head.meant(*both)) for shape, move, both in columns]
    )


def left_out(rows: Examples, model: Path) -> dict[str, Any]:
    """How good heads are on the settings that each did not see."""
    names = np.random.default_rng(1).permutation(np.unique(rows.groups))
    said = np.zeros((len(rows.labels), len(RELATIONS)))
    for fold in range(FOLDS):
        held = np.isin(rows.groups, names[fold::FOLDS])
        said[held] = told(head_of(rows.part(~held), model), rows.part(held))
    return {
        f"{kind}, {way}": figures(said[some & how], rows.labels[some & how])
        for kind, some in (("plain", rows.plain), ("hard", ~rows.plain))
        for way, how in (("with a question", rows.asked), ("without", ~rows.asked))
    }


def figures(chances: Any, labels: Any) -> dict[str, float]:
    """How well updates are told from the rest."""
    updates = labels == RELATIONS.index("update")
    others = np.sort(chances[~updates, 1])[::-1]
    found = {
        "pairs": len(labels),
        "updates": int(updates.sum()),
        "update AUROC": round(auroc(chances[:, 1], updates), 3),
        "same AUROC": round(auroc(chances[:, 0], labels == 0), 3),
    }
    for share in FALSE:
        least = float(others[int(share * len(others))])
        found[f"found at {share:.0%} false"] = round(float((chances[updates, 1] > least).mean()), 3)
        found[f"from, at {share:.0%}"] = round(least, 3)
    return found


def main() -> None:
    """Fit on all pairs, and measure on settings left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    given = parser.parse_args()
    rows = examples(given.model)
    good = left_out(rows, given.model)
    labels = b"".join(
        (LABELS / name).read_bytes() for name in ("told_asked.jsonl", "told_pairs.jsonl")
    )
    digest = hashlib.sha256(labels).hexdigest()[:16]
    data = {"labels": digest, "figures": good, **pair_head.packed(head_of(rows, given.model))}
    WEIGHTS.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    print(json.dumps(good, indent=1))


if __name__ == "__main__":
    main()
