"""Fit the head that says whether a passage answers a question, and what it is worth beside other signs.

Run ``python -m scripts.fit_answers --work DIR --locomo DIR --gvd DIR --workspaces DIR --model DIR``, as
``scripts/fit_verdict.py``, which puts questions with and without an answer to many memories; it needs
the extra ``fit``. It writes ``clsm_cli/heads/weights/answer.onnx`` and beside it ``answer.json`` with
the figures, and prints the weights of ``scoring.confidence.READ``. It takes forty minutes on two cores.

The passages that a question found are its examples: those with the words of a labelled turn or line
answer, the three best others do not, nor does what a question without an answer found. To these
come passages that were written with questions that they answer, and with questions that they only seem
to (``answers.jsonl``), and the questions of ``told_asked.jsonl``, which both their sentences answer.
Figures are of groups of memories that were left out of the fit, a third at a time, but for the questions
about everyday matters, which are asked everywhere.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from clsm_cli.embedding.pins import VOCABULARY, WEIGHTS
from clsm_cli.embedding.wordpiece import WordPieces
from clsm_cli.heads import cross_encoder
from clsm_cli.heads.answer_head import CLASSES
from clsm_cli.retrieval.answer_reading import HOPELESS, MOST, UNSURE
from clsm_cli.scoring.confidence import LEAST
from scripts import fit_verdict
from scripts.build_graph import build_cross_encoder
from scripts.cross_encoder import Examples, Minilm, Network, fit, probabilities, read_by
from scripts.fit_verdict import EVERYDAY, KINDS, LATER, NAMED, NEAR, WITH, WRONG, Asked, Fit
from scripts.fitting import auroc
from scripts.join_labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator

GRAPH = Path(cross_encoder.WEIGHTS) / "answer.onnx"
FOLDS = (
    ("locomo/26", "locomo/41", "sample", "kit", "milo"),
    ("locomo/30", "locomo/42", "gvd", "delta", "sophie"),
    ("locomo/43", "kamnoob"),
)
WRITTEN_FOLDS = 5
"""Of the written passages, a fifth is left out with each fold."""
RATE = 1e-3
OTHERS, OFF_TOPIC, FEW = 3, 0.12, 2
"""Passages that do not answer a question with an answer; share of the questions off the topic that are
examples, and the passages of each."""
TOLD = 1500
"""Of the questions of ``told_asked.jsonl``."""
SHARE = 0.4
"""What the log odds by reading count beside 1 for those by signs: at .3 to .5 most is silenced near the
topic and off it for one price, alone a regression says .7."""
SIDE, TOLD_SIDE = 0.5, 0.5
"""What such passages, and such questions, count."""


class Example(NamedTuple):
    """A question and a passage; ``group`` is left out together."""

    question: str
    passage: str
    answers: bool
    group: str
    weight: float


def examples(asked: list[Asked]) -> list[Example]:
    """Every question with a passage, each pair once."""
    chance = random.Random(0)  # noqa: S311  # seeded, not secret
    found: dict[tuple[str, str], Example] = {}
    for each in chain(_of_memories(asked, chance), _written(), _told(chance)):
        found.setdefault((each.question, each.passage), each)
    return list(found.values())


def _of_memories(asked: list[Asked], chance: random.Random) -> Iterator[Example]:
    for each in sorted(asked, key=lambda each: f"{each.memory.replace('/', '-')}.json"):
        if each.kind == WITH and any(each.answers or ()):
            pairs = list(zip(each.shown, each.answers or (), strict=True))
            chosen = [(passage, 1.0) for passage, does in pairs if does]
            yield from (Example(each.question, p, True, each.group, w) for p, w in chosen)
            chosen = [(passage, SIDE) for passage, does in pairs if does is False][:OTHERS]
        elif each.kind in (NEAR, WRONG):
            chosen = [(passage, 1.0) for passage in each.shown[:MOST]]
        elif each.kind in (LATER, EVERYDAY, NAMED) and chance.random() < OFF_TOPIC:
            chosen = [(passage, 1.0) for passage in each.shown[:FEW]]
        else:
            continue
        yield from (Example(each.question, p, False, each.group, w) for p, w in chosen)


def _written() -> Iterator[Example]:
    for row in _lines("answers.jsonl"):
        for answers, name in ((True, "answered"), (False, "near")):
            for question in row[name]:
                yield Example(question, row["passage"], answers, f"w-{row['group']}", 1.0)


def _told(chance: random.Random) -> Iterator[Example]:
    told = _lines("told_asked.jsonl")
    chance.shuffle(told)
    alike = defaultdict(list)
    for pair in told:
        alike[_family(pair["group"])].append(pair)
    for pair in told[:TOLD]:
        if pair.get("kind") != "twin":
            yield Example(pair["ask"], pair["a"], True, "told", TOLD_SIDE)
            other = chance.choice(alike[_family(pair["group"])])
            if other["group"] != pair["group"]:
                yield Example(pair["ask"], other["a"], False, "told", TOLD_SIDE)


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LABELS / name).read_text("utf-8").splitlines()]


def _family(group: str) -> str:
    return re.sub(r"\d+$", "", group)


def fold_of(group: str) -> int:
    """The fold that leaves a group out; −1 for none."""
    if group.startswith("w-"):
        return (
            int(hashlib.md5(group.encode(), usedforsecurity=False).hexdigest(), 16) % WRITTEN_FOLDS
        )
    return next((place for place, fold in enumerate(FOLDS) if group in fold), -1)


class Reader:
    """Fits networks on some of the examples, and reads with them."""

    def __init__(self, told: list[Example], folder: Path) -> None:
        """Prepare the examples, with the model in a folder."""
        self.model = Minilm(folder / WEIGHTS.name)
        self._cut = WordPieces.open(folder / VOCABULARY.name)
        counts = np.array([each.weight for each in told], np.float32)
        labels = np.array([int(each.answers) for each in told])
        pairs = [(each.question, each.passage) for each in told]
        self._data = self._examples(pairs)._replace(labels=labels, counts=counts)

    def _examples(self, pairs: list[tuple[str, str]]) -> Examples:
        packed = [read_by(self._cut, *pair) for pair in pairs]
        return Examples(
            packed, self.model.embedded(packed), np.zeros(len(pairs), int), np.ones(len(pairs))
        )

    def fitted(self, rows: Any) -> Network:
        """A network that has seen some of the examples."""
        torch.manual_seed(0)
        network = Network(self.model, len(CLASSES))
        fit(network, self._data, rows, RATE)
        return network

    def read(self, network: Network, pairs: list[tuple[str, str]]) -> Any:
        """How likely each passage answers its question."""
        return probabilities(network, self._examples(pairs), np.arange(len(pairs)))[:, 1]


def read_rows(asked: list[Asked], chances: dict[tuple[str, str], float]) -> list[Asked]:
    """The questions that would be read, with the log odds of the best passages, by signs and reading."""
    return [
        each._replace(
            rows=np.array(
                [
                    (_logit(sure) + SHARE * _logit(chances[each.question, shown]),)
                    for sure, shown in zip(each.sure[:MOST], each.shown[:MOST], strict=True)
                ]
            )
        )
        for each in asked
        if HOPELESS <= max(each.sure) < UNSURE
    ]


def _logit(chance: float) -> float:
    kept = min(1 - LEAST, max(LEAST, chance))
    return float(np.log(kept / (1 - kept)))


def report(asked: list[Asked], chances: dict[tuple[str, str], float]) -> dict[str, Any]:
    """The weights of what is read, and what is silenced, in memories left out."""
    every = Fit([each._replace(rows=each.rows[:, :1]) for each in asked])
    before = np.array([max(each.sure) for each in asked])
    read = Fit(
        kept := read_rows(asked, chances), every.counts[(before >= HOPELESS) & (before < UNSURE)]
    )
    weights = read.weights(np.ones(len(kept), bool))
    names = [(each.memory, each.question) for each in kept]
    left = dict(zip(names, map(float, read.left_out()), strict=True))
    after = np.array([left.get((each.memory, each.question), max(each.sure)) for each in asked])
    sure, bias = (round(float(weight), 3) for weight in weights)
    shown = {"sure": sure, "chance": round(SHARE * sure, 3), "bias": bias}
    found: dict[str, Any] = {"weights": shown}
    for name, chance in (("signs alone", before), ("with reading", after)):
        told = fit_verdict.Left(every, chance)
        for floor in (0.05, 0.08, 0.1, 0.12, 0.15, 0.2):
            found[f"silent in percent, {name}, floor {floor}"] = {
                kind: round(100 * told.silent(kind, floor), 1) for kind in KINDS
            }
        found[f"calibration error, {name}"] = round(every.calibration_error(chance), 3)
    return found


def main() -> None:
    """Ask, fit on all, measure on memories left out."""
    parser = fit_verdict.parser_of(__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=len(FOLDS), help="measure on these alone")
    given = parser.parse_args()
    asked = fit_verdict.ask_all(given)
    told = examples(asked)
    reader = Reader(told, given.model)
    network = reader.fitted(np.arange(len(told)))
    GRAPH.write_bytes(build_cross_encoder(given.model / WEIGHTS.name, network.weights()))
    folds = np.array([fold_of(each.group) for each in told])
    answers = np.array([each.answers for each in told])
    chances: dict[tuple[str, str], float] = {}
    figures: dict[str, Any] = {"examples": len(told)}
    for fold in range(given.folds):
        network = reader.fitted(np.flatnonzero(folds != fold))
        held = [each for each in told if fold_of(each.group) == fold]
        read = reader.read(network, [(each.question, each.passage) for each in held])
        figures[f"AUROC, fold {fold}"] = round(auroc(read, answers[folds == fold]), 3)
        pairs = sorted(
            {
                (each.question, shown)
                for each in asked
                if fold_of(each.group) == fold
                for shown in each.shown[:MOST]
            }
        )
        chances.update(zip(pairs, map(float, reader.read(network, pairs)), strict=True))
    measured = [each for each in asked if 0 <= fold_of(each.group) < given.folds]
    figures |= report(measured, chances)
    print(json.dumps(figures, indent=1))
    GRAPH.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
