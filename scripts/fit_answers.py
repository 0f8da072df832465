"""Fit the head that says whether a passage answers a question, and what it is worth beside other signs.

Run ``python -m scripts.fit_answers --work DIR --locomo DIR --gvd DIR --workspaces DIR --squad FILE --model DIR``,
as ``scripts/fit_verdict.py``, which puts questions with and without an answer to many memories; it needs
the extra ``fit``. It writes ``clsm_cli/heads/weights/answer.onnx`` and beside it ``answer.json`` with
the figures, and prints the weights of ``scoring.confidence.READ_WEIGHTS``. It takes forty minutes on two cores.
With ``--start`` it goes on from earlier weights, and writes the mean of both. ``--combine`` leaves the head as
it is, and fits those weights alone.

The passages that a question found are its examples: those with the words of a labelled turn or line
answer, the three best others do not, nor does what a question without an answer found. To these come
passages of memories and invented ones with questions that they answer, and with questions that they only
seem to (``answers_found.jsonl``, ``answers.jsonl``), whole invented memories with theirs
(``told_worlds.jsonl``, ``told_near.jsonl``), the questions of ``told_asked.jsonl``, which both their
sentences answer, and questions to Wikipedia with and without an answer (Rajpurkar et al., ACL 2018, "SQuAD
2.0": a development set in its format, CC BY-SA 4.0). Some memories are left out of the fit: all figures are of them.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from clsm_cli.embedding.encoder import Encoder
from clsm_cli.embedding.weights import VOCABULARY, WEIGHTS
from clsm_cli.embedding.wordpiece import WordPieces
from clsm_cli.evaluation.compare import auroc
from clsm_cli.evaluation.dataset import Case, Folders
from clsm_cli.heads import answer_head, cross_encoder
from clsm_cli.retrieval.verdict import ANSWER_P, MAX_READ, MIN_READ_CONFIDENCE
from clsm_cli.scoring.confidence import ReadWeights, log_odds
from scripts import fit_verdict, worlds
from scripts.cross_encoder import Examples, Minilm, Network, fit, probabilities, read_by
from scripts.fit_verdict import EVERYDAY, KINDS, NAMED, NEAR, WITH, WRONG, Asked, Fit, Memory
from scripts.join_labels import LABELS, digest

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

CLASSES = ("about it at most", "answers")
WEIGHED = Path(cross_encoder.WEIGHTS) / "answer.json"
KEPT = 0.5
"""Share of the earlier weights in the mean of those and the fitted ones."""
HELD = "invented, held"
LEFT_OUT = frozenset(("locomo/43", "gvd", "cfo", "evan", "montblanc", "suika", "techne", "kunming"))
"""Groups of memories that the figures are of, together with invented ones (``HELD``)."""
ANEW, ONWARD = (1e-3, 3), (8e-4, 2)
"""Rate, and rounds over all examples, of a fit from the checkpoint and of one that goes on."""
OTHERS, OFF_TOPIC, FEW = 3, 0.12, 2
"""Passages that do not answer a question with an answer; share of the questions off the topic that are
examples, and the passages of each."""
FEWER = 0.7
"""Share of the passages found that do not answer which are examples."""
TOLD = 1500
"""Of the questions of ``told_asked.jsonl``."""
SIDE, TOLD_SIDE, OTHER_WORLD = 0.5, 0.5, 0.6
"""What such passages, such questions, and those to Wikipedia count."""


def is_left_out(group: str) -> bool:
    """Whether nothing of a group is fitted on."""
    return group in LEFT_OUT or group.startswith(HELD)


class Example(NamedTuple):
    """A question and a passage; ``group`` is left out together."""

    question: str
    passage: str
    answers: bool
    group: str
    weight: float


def examples(asked: list[Asked], squad: Path, encoder: Encoder) -> list[Example]:
    """Every question with a passage, each pair once."""
    chance = random.Random(0)
    found: dict[tuple[str, str], Example] = {}
    written = (_written(), _worlds(encoder), _told(chance), _squad(squad))
    for each in chain(_of_memories(asked, chance), _found(asked), *written):
        found.setdefault((each.question, each.passage), each)
    return list(found.values())


def _of_memories(asked: list[Asked], chance: random.Random) -> Iterator[Example]:
    for each in sorted(asked, key=lambda each: f"{each.memory.replace('/', '-')}.json"):
        is_part = each.memory != each.group
        if each.kind == WITH and any(each.answers or ()):
            pairs = list(zip(each.shown, each.answers or (), strict=True))
            for passage in (passage for passage, does in pairs if does):
                yield Example(each.question, passage, True, each.group, 1.0)
            chosen = [(passage, SIDE) for passage, does in pairs if does is False][:OTHERS]
        elif each.kind in (NEAR, WRONG) and not is_part:
            chosen = [(passage, 1.0) for passage in each.shown[:MAX_READ]]
        elif each.kind in (EVERYDAY, NAMED) and not is_part and chance.random() < OFF_TOPIC:
            chosen = [(passage, 1.0) for passage in each.shown[:FEW]]
        else:
            continue
        kept = [pair for pair in chosen if chance.random() < FEWER]
        yield from (Example(each.question, p, False, each.group, w) for p, w in kept)


def _found(asked: list[Asked]) -> Iterator[Example]:
    """Of the passages that somebody wrote questions to, those that are found today."""
    shown = {(each.memory, digest(text)): text for each in asked for text in each.shown}
    for row in _lines("answers_found.jsonl"):
        passage = shown.get((row["memory"], row["hash"]))
        if passage is not None:
            yield from _both(row, passage, row["memory"])


def _written() -> Iterator[Example]:
    for row in _lines("answers.jsonl"):
        yield from _both(row, row["passage"], row["group"])


def _both(row: dict[str, Any], passage: str, group: str) -> Iterator[Example]:
    for answers, name in ((True, "answered"), (False, "near")):
        yield from (Example(question, passage, answers, group, 1.0) for question in row[name])


def _squad(file: Path) -> Iterator[Example]:
    """Questions to paragraphs; where an answer lies in a part that is not shown, that part too."""
    for article in json.loads(file.read_text("utf-8"))["data"]:
        title = article["title"].replace("_", " ")
        for paragraph in article["paragraphs"]:
            text = re.sub(r"(?<=[.!?]) (?=[A-Z])", "\n", paragraph["context"])
            for asked in paragraph["qas"]:
                question = asked["question"]
                answers = [] if asked["is_impossible"] else [a["text"] for a in asked["answers"]]
                shown = answer_head.passage_text(question, text, "", title)
                holds = any(answer in shown for answer in answers)
                yield Example(question, shown, holds, "squad", OTHER_WORLD)
                if answers and not holds:
                    for line in text.split("\n"):
                        if any(answer in line for answer in answers):
                            passage = answer_head.passage_text(question, line, "", title)
                            yield Example(question, passage, True, "squad", OTHER_WORLD)
                            break


def _worlds(encoder: Encoder) -> Iterator[Example]:
    for place, world in enumerate(worlds.told()):
        name = world["world"]
        group = HELD if worlds.is_held(place) else name
        for question, passage, answers, is_known in worlds.answered(world, encoder):
            weight = SIDE if is_known and not answers else 1.0
            yield Example(question, passage, answers, group, weight)


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

    def fitted(self, rows: Any, start: Path | None) -> Network:
        """A network that has seen some of the examples, from the checkpoint or from earlier weights."""
        torch.manual_seed(0)
        network = Network(self.model, len(CLASSES))
        if start:
            network.go_on_from(start)
        fit(network, self._data, rows, *(ONWARD if start else ANEW))
        if start:
            network.go_on_from(start, KEPT)
        return network

    def read(self, network: Network, pairs: list[tuple[str, str]]) -> Any:
        """How likely each passage answers its question."""
        return probabilities(network, self._examples(pairs), np.arange(len(pairs)))[:, 1]


def read_rows(asked: list[Asked], chances: dict[tuple[str, str], float]) -> list[Asked]:
    """The questions that would be read, with the log odds of what is read, by signs and by reading."""
    found = []
    for each in asked:
        if max(each.sure) < MIN_READ_CONFIDENCE:
            continue
        read = [chances[each.question, shown] for shown in each.shown[:MAX_READ]]
        until = next((n for n, chance in enumerate(read, 1) if chance >= ANSWER_P), MAX_READ)
        rows = [(log_odds(s), log_odds(c)) for s, c in zip(each.sure, read[:until], strict=False)]
        found.append(each._replace(rows=np.array(rows)))
    return found


def report(asked: list[Asked], chances: dict[tuple[str, str], float]) -> dict[str, Any]:
    """The weights of what is read, and what is silenced, in memories left out."""
    every = Fit([each._replace(rows=each.rows[:, :1]) for each in asked])
    before = np.array([max(each.sure) for each in asked])
    read = Fit(kept := read_rows(asked, chances), every.counts[before >= MIN_READ_CONFIDENCE])
    weights = read.weights(np.ones(len(kept), bool))
    names = [(each.memory, each.question) for each in kept]
    left = dict(zip(names, map(float, read.left_out()), strict=True))
    after = np.array([left.get((each.memory, each.question), max(each.sure)) for each in asked])
    named = zip(ReadWeights._fields, weights, strict=True)
    found: dict[str, Any] = {"weights": {name: round(float(each), 3) for name, each in named}}
    is_invented = np.array([each.group.startswith(HELD) for each in asked])
    for where, chosen in (("", ~is_invented), (", invented", is_invented)):
        fit = Fit([each for each, is_one in zip(asked, chosen, strict=True) if is_one])
        for name, chance in (("signs alone", before), ("with reading", after)):
            told = fit_verdict.Left(fit, chance[chosen])
            for floor in (0.15, 0.2, 0.25, 0.3):
                found[f"silent in percent, {name}, floor {floor}{where}"] = {
                    kind: round(100 * told.silent(kind, floor), 1)
                    for kind in KINDS
                    if kind in fit.kinds
                }
            found[f"calibration error, {name}{where}"] = round(
                fit.calibration_error(chance[chosen]), 3
            )
    return found


def invented(work: Path) -> Iterator[Memory]:
    """The invented memories that nothing is fitted on, with what was asked of them."""
    for place, world in enumerate(worlds.told()):
        if not worlds.is_held(place):
            continue
        name, more = f"invented-{place}", worlds.more_questions()[world["world"]]
        for _, path, text in worlds.days(world):
            file = work / "invented" / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        known = [each["ask"] for each in (*world["changes"], *world["stable"], *more["asked"])]
        asked = {WITH: known, NEAR: [*world["unanswered"], *more["near"]]}
        case = Case(name, Folders(work / "invented", (name,)), ())
        yield Memory(name, f"{HELD}, {world['genre']}", case, asked)


def main() -> None:
    """Ask, fit, measure on memories left out."""
    parser = fit_verdict.parser_of(__doc__)
    for name in ("model", "squad"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="weights (answer.onnx) to go on from")
    parser.add_argument("--combine", action="store_true", help="fit READ_WEIGHTS alone")
    given = parser.parse_args()
    found = chain(fit_verdict.memories(given), invented(given.work))
    asked = fit_verdict.ask_all(
        given, (each for each in found if is_left_out(each.group) or not given.combine)
    )
    measured = [each for each in asked if is_left_out(each.group)]
    pairs = sorted({(each.question, shown) for each in measured for shown in each.shown[:MAX_READ]})
    if given.combine:
        figures = json.loads(WEIGHED.read_text("utf-8"))
        read = [answer_head.answer_probability(*pair) for pair in pairs]
    else:
        figures, read = _fitted(given, asked, pairs)
    figures |= report(measured, dict(zip(pairs, read, strict=True)))
    print(json.dumps(figures, indent=1))
    WEIGHED.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def _fitted(
    given: argparse.Namespace, asked: list[Asked], pairs: list[tuple[str, str]]
) -> tuple[dict[str, Any], list[float]]:
    """Fit and write the head: its figures, and its probabilities for some pairs."""
    told = examples(asked, given.squad, Encoder.open(given.model))
    reader = Reader(told, given.model)
    is_left = np.array([is_left_out(each.group) for each in told])
    network = reader.fitted(np.flatnonzero(~is_left), given.start)
    network.write("answer", given.model / WEIGHTS.name)
    held = [each for each in told if is_left_out(each.group)]
    read = reader.read(network, [(each.question, each.passage) for each in held])
    figures: dict[str, Any] = {"examples": len(told) - len(held), "left out": len(held)}
    figures["AUROC"] = round(auroc(read, np.array([each.answers for each in held])), 3)
    return figures, list(map(float, reader.read(network, pairs)))


if __name__ == "__main__":
    main()
