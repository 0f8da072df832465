"""Fit the head of pairs, and measure it on pairs that it is not fitted on.

Run ``python -m scripts.fit_pairs MODEL COPIES LOCOMO GVD``: an installed model, the checkouts of the
public workspaces (``scripts/join_labels.py``) and two sets of conversations; it needs the extra
``fit``. It writes ``clsm_cli/heads/weights/pair.onnx`` and ``pair_reader.onnx``, and beside them ``pair.json``
with the digest of the labels and the figures, in half an hour on two cores. With ``--start`` it goes on from
fitted weights: the shipped ones went on from those of the release before, which had seen no invented memory
(``start`` is their digest). The same labels and start give the same weights on one machine.

The pairs: plain ones that people would tell, each with a question (``told_asked.jsonl``), of which two
that belong to different settings make a pair about two things, and twins, which are one thing or another
by their question; pairs written to be hard
(``told_pairs.jsonl``); real ones (``pairs.jsonl``), whose texts are not in the repository; and real ones
that recalls read when they were asked something (``pairs_asked.jsonl``, ``pairs_compared.jsonl``), or
that readers found (``pairs_found.jsonl``); and those of whole invented memories (``told_worlds.jsonl``,
``scripts/worlds.py``). Pairs of ``fixtures/changes/natural.jsonl`` are in no fit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.weights import VOCABULARY, WEIGHTS
from clsm_cli.embedding.wordpiece import WordPieces
from clsm_cli.evaluation.compare import auroc
from clsm_cli.heads import cross_encoder
from clsm_cli.heads.pair_head import RELATIONS, joined
from scripts import worlds
from scripts.cross_encoder import Examples, Minilm, Network, Packed, fit, probabilities, read_by
from scripts.join_labels import CHAT, LABELS, heading_above
from scripts.join_labels import joined as with_texts
from scripts.told_changes import CHANGES

if TYPE_CHECKING:
    from collections.abc import Iterator

WEIGHED = Path(cross_encoder.WEIGHTS) / "pair.json"
ANEW, ONWARD = (2e-3, 4), (1.2e-3, 2)
"""Highest rate of a step, and rounds: of a fit that begins anew, and of one that goes on from fitted weights."""
UNASKED = 0.4
"""Share of the pairs with a question that a round shows without it: a night knows none. Twins need theirs."""
PLAIN = 6_000
"""Plain pairs, by lot: there are more than do good."""
APART = 1500
"""Pairs about two things."""
COUNTS = {
    "plain": 1.0,
    "twin": 1.0,
    "apart": 0.5,
    "hard": 0.7,
    "real": 0.7,
    "recalled": 1.5,
    "found": 0.7,
    "world": 1.0,
}
"""What a pair of each kind counts."""
ASKED = ("pairs_asked", "pairs_compared", "pairs_found")
LEFT_OUT = frozenset(
    (
        "41.json",
        "brandoclaw/openclaw-workspace",
        "CorvusBot1/corvus-openclaw-workspace",
        "JoseLeanDev/cfo-ai",
        "KamNoob/workspace",
    )
)
"""Memories of which no pair that a recall read, or a reader found, is fitted on."""
HELD = ("contrast", "marked", "recalled left out", "found left out", "world left out")
"""Kinds that the figures are of: those of ``told_held.jsonl``, and pairs of the memories left out."""
FALSE = (0.02, 0.05)
"""Shares of the pairs that are no update, of which the figures allow so many to be taken for one."""


def read(name: str) -> list[dict[str, Any]]:
    """The lines of a file of labels."""
    return _lines(LABELS / name)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def labelled(copies: Path, locomo: Path, gvd: Path) -> list[dict[str, Any]]:
    """Every pair with its kind, and its question where it has one."""
    plain = read("told_asked.jsonl")
    lot = np.random.default_rng(0).permutation(len(plain))[:PLAIN]
    plain = [plain[place] for place in sorted(lot)]
    found = [{**pair, "kind": pair.get("kind", "plain")} for pair in plain]
    others = np.random.default_rng(0).permutation(len(plain))[:APART]
    for place, other in enumerate(others):
        pair, apart = plain[place * 7 % len(plain)], plain[other]
        if pair["group"] != apart["group"]:
            later = {"b": apart["b"], "b_head": apart.get("b_head"), "label": "unrelated"}
            found.append({**pair, **later, "kind": "apart"})
    asks = {row["about"]: row["ask"] for row in read("told_questions.jsonl")}
    for pair in read("told_pairs.jsonl"):
        ask = asks.get(pair["a"]) or asks.get(pair["b"])
        found.append({**pair, "ask": ask, "kind": "hard"})
    for pair in with_texts("pairs", copies, locomo, gvd):
        texts = {"a": pair["a"]["text"], "b": pair["b"]["text"], "group": pair["repo"]}
        found.append({"label": pair["label"], **texts, "kind": "real"})
    return found


def asked(name: str, copies: Path, locomo: Path) -> Iterator[dict[str, Any]]:
    """Pairs that recalls read, or readers found, with what was asked."""
    benched = {(pair["a"]["hash"], pair["b"]["hash"]) for pair in _lines(CHANGES / "natural.jsonl")}
    kind = "found" if name == "pairs_found" else "recalled"
    for pair in with_texts(name, copies, locomo):
        if (pair["a"]["hash"], pair["b"]["hash"]) in benched:
            continue
        found = {"label": pair["label"], "ask": pair["ask"]}
        for side in ("a", "b"):
            found[side] = pair[side]["text"]
            if pair["repo"] != CHAT:
                found[f"{side}_head"] = heading_above({"repo": pair["repo"], **pair[side]}, copies)
        is_held = {pair["repo"], pair["a"]["file"]} & LEFT_OUT
        yield {**found, "kind": f"{kind} left out" if is_held else kind}


def of_worlds(model: Path) -> Iterator[dict[str, Any]]:
    """Pairs of invented memories."""
    encoder = Encoder.open(model)
    for place, world in enumerate(worlds.told()):
        kind = "world left out" if worlds.is_held(place) else "world"
        yield from ({**pair, "kind": kind} for pair in worlds.pairs(world, encoder))


def examples(
    model: Minilm, pairs: list[dict[str, Any]], vocabulary: Path
) -> tuple[Examples, Any, Any]:
    """Pairs as the model reads them, those with a question once more without it behind all.

    Returns:
        The examples, the row of each pair without its question (its own where it has none), and the
        kinds of the pairs.
    """
    cut = WordPieces.open(vocabulary)

    def packed(pair: dict[str, Any], ask: str) -> Packed:
        return read_by(cut, *(joined(pair[s], pair.get(f"{s}_head") or "") for s in "ab"), ask)

    asked = [row for row, pair in enumerate(pairs) if pair.get("ask") and pair["kind"] != "twin"]
    rows = [packed(pair, pair.get("ask") or "") for pair in pairs]
    rows += [packed(pairs[row], "") for row in asked]
    bare = np.arange(len(pairs))
    bare[asked] = len(pairs) + np.arange(len(asked))
    labels = np.array([RELATIONS.index(pair["label"]) for pair in pairs])
    counts = np.array([COUNTS.get(pair["kind"], 0.0) for pair in pairs], np.float32)
    kinds = np.array([pair["kind"] for pair in pairs])
    return Examples(rows, model.embedded(rows), labels, counts), bare, kinds


def judged(network: Network, data: Examples, kinds: Any) -> dict[str, Any]:
    """How good a network is on the pairs that it was not fitted on, by what they were written for."""
    found = {}
    for kind in HELD:
        rows = np.flatnonzero(kinds == kind)
        found[kind] = figures(probabilities(network, data, rows), data.labels[rows])
    return found


def figures(chances: Any, labels: Any) -> dict[str, float]:
    """How well updates are told from the rest."""
    updates = labels == RELATIONS.index("update")
    others = np.sort(chances[~updates, 1])[::-1]
    found = {
        "pairs": len(labels),
        "updates": int(updates.sum()),
        "update AUROC": round(float(auroc(chances[:, 1], updates)), 3),
    }
    for share in FALSE:
        least = float(others[int(share * len(others))])
        found[f"found at {share:.0%} false"] = round(float((chances[updates, 1] > least).mean()), 3)
        found[f"from, at {share:.0%}"] = round(least, 3)
    return found


def main() -> None:
    """Fit, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=Path, help="weights (pair.onnx) to go on from")
    for name in ("model", "copies", "locomo", "gvd"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    model = Minilm(given.model / WEIGHTS.name)
    pairs = labelled(given.copies, given.locomo, given.gvd)
    held = [{**pair, "kind": pair["group"].partition("-")[0]} for pair in read("told_held.jsonl")]
    recalled = [asked(name, given.copies, given.locomo) for name in ASKED]
    for pair in chain(*recalled, of_worlds(given.model)):
        (held if pair["kind"] in HELD else pairs).append(pair)
    data, bare, kinds = examples(model, [*pairs, *held], given.model / VOCABULARY.name)

    def shown(rows: Any, chance: np.random.Generator) -> Any:
        return np.where(chance.random(len(rows)) < UNASKED, bare[rows], rows)

    torch.manual_seed(0)
    network = Network(model, len(RELATIONS))
    if given.start:
        network.go_on_from(given.start)
    rate, rounds = ONWARD if given.start else ANEW
    fit(network, data, np.arange(len(pairs)), rate, rounds, shown)
    good = judged(network, data, kinds)
    network.write("pair", given.model / WEIGHTS.name)
    names = (
        "told_asked.jsonl",
        "told_pairs.jsonl",
        "told_questions.jsonl",
        "pairs.jsonl",
        "told_worlds.jsonl",
        *(f"{name}.jsonl" for name in ASKED),
    )
    labels = b"".join((LABELS / name).read_bytes() for name in names)
    start = hashlib.sha256(given.start.read_bytes()).hexdigest()[:16] if given.start else None
    digest = hashlib.sha256(labels).hexdigest()[:16]
    about = {"labels": digest, "start": start, "figures": good}
    WEIGHED.write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    print(json.dumps(good, indent=1))


if __name__ == "__main__":
    main()
