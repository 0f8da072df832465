"""Fit the head that says whether a string names a thing, and of what kind.

The labels are ``names.jsonl``, and ``told_names.jsonl`` for the names of ``told_worlds.jsonl``.

Run ``python -m scripts.fit_names COPIES MODEL`` (COPIES as in ``scripts.join_labels``, MODEL an installed
model). It writes ``clsm_cli/heads/weights/name.json``, with figures on workspaces that were left out, an
eighth at a time: the same labels give the same bytes. The string's vector enters by its 64 principal
directions, found without the workspaces left out and folded into the first layer.
``--without OWNER/NAME …`` leaves workspaces out altogether and ``--to FILE`` writes elsewhere, to
measure on these workspaces.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clsm_cli.embedding.encoder import Encoder
from clsm_cli.evaluation.compare import auroc
from clsm_cli.heads.classifier import CLIP, Classifier, unpack
from clsm_cli.heads.name_head import INPUTS, KINDS, name_features
from scripts import worlds
from scripts.fitting import layers, pack, scale, shares
from scripts.join_labels import LABELS, joined

WEIGHTS = Path(__file__).parents[1] / "clsm_cli" / "heads" / "weights" / "name.json"
HIDDEN, DECAY, ROUNDS, RATE, DROPPED, DIRECTIONS = 32, 0.003, 200, 0.02, 0.2, 64
MOST_BYTES = 8 << 20
FOLDS = 8
STRONGEST = 40
"""Names of a memory among which noise is counted."""
YOUNG = 4
"""Of so many notes one stands in a young store."""


class Examples(NamedTuple):
    """Labelled strings, an array with a row each.

    ``kinds`` is all zero for what is no thing; ``whole`` tells the rows with all that is known.
    """

    shapes: Any
    vectors: Any
    things: Any
    kinds: Any
    repos: Any
    whole: Any

    def part(self, rows: Any) -> Examples:
        """Those of a mask."""
        return Examples(*(column[rows] for column in self))


def examples(copies: Path, model: Path) -> Examples:
    """Every label of a name with its uses in all notes, then in a quarter of them.

    A young store holds few uses of a name, and a machine without the model has no vectors: of the
    second rows the vectors are zeros.
    """
    file = LABELS / "told_names.jsonl"
    told = map(json.loads, file.read_text("utf-8").splitlines())
    labels = [*joined("names", copies, None), *({**each, "repo": each["world"]} for each in told)]
    kinds = np.zeros((len(labels), len(KINDS)))
    for row, label in enumerate(labels):
        if label["thing"]:
            kinds[row, KINDS.index(label["kind"] if label["kind"] in KINDS else "other")] = 1
    encoded = Encoder.open(model).encode([label["text"] for label in labels])
    vectors = np.array([found.sentence for found in encoded], np.float64)
    things = np.array([label["thing"] for label in labels])
    repos = np.array([label["repo"] for label in labels])
    every, some = (_shapes(labels, _texts(labels, copies), step) for step in (1, YOUNG))
    used = some[:, INPUTS.index("uses")] > 0
    return Examples(
        np.vstack([every, some[used]]),
        np.vstack([vectors, np.zeros_like(vectors[used])]),
        np.hstack([things, things[used]]),
        np.vstack([kinds, kinds[used]]),
        np.hstack([repos, repos[used]]),
        np.hstack([np.ones(len(labels), bool), np.zeros(used.sum(), bool)]),
    )


def _texts(labels: list[dict[str, Any]], copies: Path) -> dict[str, list[str]]:
    """The notes of every memory that has labels."""
    repos = {label["repo"] for label in labels}
    told = {world["world"]: worlds.notes(world) for world in worlds.told()}
    return {
        repo: told.get(repo) or _notes(copies / repo.replace("/", "+", 1)) for repo in sorted(repos)
    }


def _shapes(labels: list[dict[str, Any]], texts: dict[str, list[str]], step: int) -> Any:
    """The features of every label, from each ``step``-th note of its memory."""
    told = {
        repo: name_features(
            {label["text"] for label in labels if label["repo"] == repo}, notes[::step]
        )
        for repo, notes in texts.items()
    }
    return np.array([told[label["repo"]][label["text"]] for label in labels])


def _notes(folder: Path) -> list[str]:
    return [
        path.read_text("utf-8", "replace")
        for path in sorted(folder.rglob("*.md"))
        if path.is_file() and not path.is_symlink() and path.stat().st_size < MOST_BYTES
    ]


def classifier_of(seen: Examples) -> Classifier:
    """The head fitted on some examples, with the rounding that the data file gives it."""
    shapes = (seen.shapes.mean(0), scale(seen.shapes))
    middle, spread = seen.vectors.mean(0), scale(seen.vectors)
    directions = np.linalg.svd(seen.vectors - middle, full_matrices=False)[2][:DIRECTIONS].T
    lengths = scale((seen.vectors - middle) @ directions)
    rows = np.hstack(
        [(seen.shapes - shapes[0]) / shapes[1], (seen.vectors - middle) @ directions / lengths]
    )
    first, bias, second, offset = layers(
        np.clip(rows, -CLIP, CLIP),
        1 + len(KINDS),
        lambda scores: _errors(scores, seen),
        hidden=HIDDEN,
        decay=DECAY,
        rounds=ROUNDS,
        rate=RATE,
        dropped=DROPPED,
    )
    width = len(INPUTS)
    folded = spread[:, None] * ((directions / lengths) @ first[width:])
    return unpack(
        pack(
            Classifier(
                (*INPUTS, *(f"vector {number}" for number in range(len(middle)))),
                {"thing": ("thing",), "kind": KINDS},
                np.concatenate([shapes[0], middle]),
                np.concatenate([shapes[1], spread]),
                (np.vstack([first[:width], folded]), bias, second, offset),
            )
        )
    )


def _errors(scores: Any, seen: Examples) -> Any:
    """The slope of the loss: kinds count where there is a thing."""
    kinds = (shares(scores[:, 1:]) - seen.kinds) * seen.things[:, None]
    things = 1 / (1 + np.exp(-scores[:, :1])) - seen.things[:, None]
    return np.hstack([things, kinds]) / len(scores)


def left_out(all_: Examples) -> dict[str, float]:
    """Figures of heads on the workspaces that each did not see."""
    seen, all_ = all_, all_.part(all_.whole)
    chances, kinds = np.zeros(len(all_.things)), np.zeros_like(all_.kinds)
    repos = np.unique(all_.repos)
    for fold in range(FOLDS):
        held, known = (np.isin(rows.repos, repos[fold::FOLDS]) for rows in (all_, seen))
        told = classifier_of(seen.part(~known)).probabilities(
            np.hstack([all_.shapes[held], all_.vectors[held]]).tolist()
        )
        chances[held] = [row["thing"] for row in told]
        kinds[held] = [[row[kind] for kind in KINDS] for row in told]
    things, best = all_.things == 1, kinds.argmax(1)
    prominence = all_.shapes[:, INPUTS.index("uses")] * chances**2
    of_repo = [np.flatnonzero(all_.repos == repo) for repo in repos]
    strongest = [rows[np.argsort(-prominence[rows], kind="stable")[:STRONGEST]] for rows in of_repo]
    said, persons = chances > 0.5, all_.kinds[:, 0] == 1
    called = said & (best == KINDS.index("person"))
    return {
        "labels": len(things),
        "things": int(things.sum()),
        "thing AUROC": round(auroc(chances, things), 3),
        "thing precision": round(float(things[said].mean()), 3),
        "thing recall": round(float(said[things].mean()), 3),
        "kind accuracy": round(float((best == all_.kinds.argmax(1))[things].mean()), 3),
        "persons": int(persons.sum()),
        "called persons": int(called.sum()),
        "called persons that are": int(persons[called].sum()),
        f"noise of the {STRONGEST} strongest": round(
            float(np.mean([(~things[rows]).sum() for rows in strongest if len(rows) == STRONGEST])),
            1,
        ),
        "person AUROC": round(auroc(chances * kinds[:, 0], persons), 3),
    }


def main() -> None:
    """Fit, and write the weights with their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--to", type=Path, default=WEIGHTS)
    given = parser.parse_args()
    found = examples(given.copies, given.model)
    found = found.part(~np.isin(found.repos, given.without))
    files = (LABELS / name for name in ("names.jsonl", "told_names.jsonl", "told_worlds.jsonl"))
    labels = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    data = {"labels": labels, "left out": left_out(found), **pack(classifier_of(found))}
    given.to.write_text(json.dumps(data) + "\n", "utf-8")


if __name__ == "__main__":
    main()
