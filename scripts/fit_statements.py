"""Fit the head of statements, and measure it on memories that were left out.

Run ``python -m scripts.fit_statements MODEL COPIES LOCOMO``: an installed model, the checkouts of the
public workspaces (``scripts/join_labels.py``) and LoCoMo's conversations; it needs the extra ``fit``. It
writes ``clsm_cli/heads/weights/statement.onnx`` and beside it ``statement.json`` with the digest of the
labels and the figures, which are of every eighth memory: these are left out of the fit. It takes a quarter
of an hour on two cores. The same labels give the same weights on one machine.

Readers judged candidates as they would stand in memory (``statements.jsonl``). The labels of units
(``units.jsonl``, ``units_held.jsonl``) say as much of them, less directly: worth keeping and clear with its
headings is good, noise or unclear junk. What people say in talks has labels in invented memories
(``told_statements.jsonl``), as lines of notes have (``told_notes.jsonl``), in talks that were written as a
whole (``told_talks.jsonl``), and as plain sentences (``fit_heads.plain_sentences``).

With ``--start GRAPH`` the fit goes on from earlier weights, over invented memories and ``REPLAYED`` of the rest.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from clsm_cli.consolidation import statement_selection
from clsm_cli.embedding.weights import VOCABULARY, WEIGHTS
from clsm_cli.embedding.wordpiece import StaticVectors, WordPieces
from clsm_cli.evaluation.compare import auroc
from clsm_cli.heads import cross_encoder, judge
from clsm_cli.heads.statement_head import TALK, VERDICTS, place_of
from clsm_cli.heads.units import spans_of
from clsm_cli.text.plain import to_plain
from scripts import worlds
from scripts.cross_encoder import Examples, Minilm, Network, fit, probabilities, read_by
from scripts.fit_heads import plain_sentences, turns_of_document
from scripts.fitting import every_eighth
from scripts.join_labels import CHAT, LABELS, joined, turns_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clsm_cli.consolidation.statement_selection import ScoredUnit
    from clsm_cli.heads.judge import Meanings
    from clsm_cli.model.episodes import Turn

plain = partial(to_plain, has_addresses=True)
WEIGHED = Path(cross_encoder.WEIGHTS) / "statement.json"
FILES = {"statements": 1.0, "units": 0.5, "units_held": 0.5}
"""What a label of a file counts."""
TOLD_FILES = ("told_statements", "told_notes", "told_worlds", "told_talks", "told_asked")
SIDE, PLAIN, CHATS, JOINED = 0.5, 0.3, 0.6, 0.7
"""What sentences of written talks, plain sentences, sentences of LoCoMo as of a talk, and sentences with those
before them count."""
RATE = 1e-3
ONWARD, REPLAYED = (8e-4, 2), 2500
"""Rate, and rounds over all examples, of a fit that goes on; statements of memories that it sees again."""
KEPT = 0.5
"""Share of other weights in a mean."""
SHARES = (0.05, 0.1, 0.2)
"""Of the statements, the best so many of which the figures look at."""


LOCOMO = "chat"
"""The place of what LoCoMo's people say, which is also shown as said in a talk."""
TOLD = {"good": 0, "middling": 1}
"""Verdict of a label; every other is junk alone."""
PART = "part"
"""Label of a sentence that would be good with those before it in the same turn."""


class Judged(NamedTuple):
    """A statement as it would be shown, and what was said of it: a place in ``VERDICTS``."""

    statement: str
    place: str
    verdict: int
    weight: float
    memory: str


def statements(copies: Path, locomo: Path, model: Path) -> Iterator[Judged]:
    """The labels that have their text, as the program would show it today."""
    words = StaticVectors.open(model).mean_vectors
    read: dict[str, list[tuple[Turn, ScoredUnit]]] = {}
    for name, count in FILES.items():
        for label in joined(name, copies, locomo):
            repo, file = label["repo"], label["file"]
            if repo == CHAT:
                if "start" in label:  # others are of whole turns
                    speaker = turns_of(locomo / file)[label["turn"]].partition(": ")[0]
                    text = f"{speaker}: {plain(label['text'])}"
                    yield Judged(text, LOCOMO, _verdict(label), count, f"{repo}/{file}")
                continue
            if (key := f"{repo}/{file}") not in read:
                read[key] = _units(copies, repo, file, words)
            found = _nearest(read[key], label)
            if found is not None:
                turn, unit = found
                # Any folder, while the program names few: what a store lies in is not known here.
                place = " › ".join(["/".join(file.split("/")[-2:]), *turn.heading])
                yield Judged(unit.statement, place, _verdict(label), count, repo)


def told_statements(*, held: bool) -> Iterator[Judged]:
    """What people say in invented memories, each sentence alone and with those before it in the turn.

    Args:
        held: Those of the memories that nothing is fitted on, or those of the others.
    """
    labels = {
        (row["world"], row["line"], row["sentence"]): row["judged"]
        for row in _rows("told_statements")
    }
    for place, world in enumerate(worlds.told()):
        if worlds.is_held(place) is not held:
            continue
        for row, line in enumerate(world["lines"]):
            speaker = line.get("who", "user")
            if speaker != "assistant":
                spans = spans_of(line["text"])
                keys = [(world["world"], row, sentence) for sentence in range(len(spans))]
                judged = [labels[key] for key in keys if key in labels]
                if len(judged) == len(spans):
                    yield from _told(line["text"], spans, judged, _prefix(speaker), world["world"])


def _told(
    text: str, spans: Sequence[tuple[int, int]], judged: Sequence[str], prefix: str, memory: str
) -> Iterator[Judged]:
    for place, ((start, end), label) in enumerate(zip(spans, judged, strict=True)):
        yield Judged(prefix + plain(text[start:end]), TALK, TOLD.get(label, 2), 1.0, memory)
        if place and label != "good":
            both = prefix + plain(text[spans[place - 1][0] : end])
            is_junk = label != "middling" and judged[place - 1] not in ("good", "middling")
            verdict = 0 if label == PART else 2 if is_junk else 1
            yield Judged(both, TALK, verdict, JOINED, memory)


def _prefix(speaker: str) -> str:
    return "" if speaker in statement_selection.ROLE_NAMES | {""} else f"{speaker}: "


def _rows(name: str) -> Iterator[dict[str, Any]]:
    return map(json.loads, (LABELS / f"{name}.jsonl").read_text("utf-8").splitlines())


def note_statements(*, held: bool) -> Iterator[Judged]:
    """Lines of invented notes, under their headings; ``held`` as in ``told_statements``."""
    places = {world["world"]: place for place, world in enumerate(worlds.told())}
    for row in _rows("told_notes"):
        if worlds.is_held(places[row["world"]]) is held:
            place = place_of(row["file"], row["heading"])
            yield Judged(row["text"], place, VERDICTS.index(row["judged"]), 1.0, row["world"])


def talk_statements() -> Iterator[Judged]:
    """Sentences of talks that were written as a whole, plain sentences, questions and small talk."""
    for row in _rows("told_talks"):
        if "keep" in row and row["speaker"] != "assistant":
            text = _prefix(row["speaker"]) + plain(row["text"])
            yield Judged(text, TALK, 2 - row["keep"], SIDE, row["talk"])
    for number, each in enumerate(plain_sentences()):
        is_noise = each.targets[0] == 1.0
        name = "Ann: " if number % 3 == 0 and not is_noise else ""
        yield Judged(name + each.text, TALK, 2 if is_noise else 0, PLAIN, each.group)


def _units(copies: Path, repo: str, file: str, words: Meanings) -> list[tuple[Turn, ScoredUnit]]:
    turns = turns_of_document(copies, repo, file)
    about = judge.about_document(turns) if turns else None
    return list(statement_selection.scored_units(turns, about, words))


def _nearest(
    units: Sequence[tuple[Turn, ScoredUnit]], label: Mapping[str, Any]
) -> tuple[Turn, ScoredUnit] | None:
    """The unit that shares most words with a label, at least half of all."""
    wanted = set(label["text"].split())
    best, found = 0.5, None
    for turn, unit in units:
        if turn.line_start <= label["line"] <= turn.line_end:
            words = set(turn.text[unit.start : unit.end].split())
            share = len(wanted & words) / max(1, len(wanted | words))
            if share > best:
                best, found = share, (turn, unit)
    return found


def _verdict(label: Mapping[str, Any]) -> int:
    if "judged" in label:
        return VERDICTS.index(label["judged"])
    if label["keep"] == 2 and label["alone"] > 0:
        return 0
    return 2 if label["keep"] == 0 or label["alone"] == 0 else 1


def examples(model: Minilm, told: Sequence[Judged], vocabulary: Path) -> Examples:
    """The statements as the model reads them."""
    cut = WordPieces.open(vocabulary)
    packed = [read_by(cut, each.statement, each.place) for each in told]
    labels = np.array([each.verdict for each in told])
    counts = np.array([each.weight for each in told], np.float32)
    return Examples(packed, model.embedded(packed), labels, counts)


def fitted(model: Minilm, data: Examples, rows: Any, start: Path | None) -> Network:
    """A network that has seen some of the statements, after earlier weights or none."""
    torch.manual_seed(0)
    network = Network(model, len(VERDICTS))
    if start is None:
        fit(network, data, rows, RATE)
        return network
    network.go_on_from(start)
    fit(network, data, rows, *ONWARD)
    return network


def figures(chances: Any, verdicts: Any) -> dict[str, float]:
    """How well the good, and the junk, are told from the rest."""
    good, junk = (verdicts == VERDICTS.index(name) for name in ("good", "junk"))
    found = {
        "statements": len(verdicts),
        "good": float(good.mean()),
        "junk": float(junk.mean()),
        "good AUROC": auroc(chances[:, 0], good),
        "junk AUROC": auroc(chances[:, 2], junk),
    }
    order = np.argsort(-chances[:, 0], kind="stable")
    for share in SHARES:
        best = order[: int(share * len(order))]
        found[f"good of the best {share:.0%}"] = float(good[best].mean())
        found[f"junk of the best {share:.0%}"] = float(junk[best].mean())
    return {name: round(value, 3) for name, value in found.items()}


def main() -> None:
    """Fit, then measure on memories left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "copies", "locomo"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--start", type=Path, help="weights (statement.onnx) to go on from")
    parser.add_argument(
        "--mean", type=Path, help="weights whose mean with the fitted ones is written"
    )
    given = parser.parse_args()
    read = list(statements(given.copies, given.locomo, given.model))
    left = every_eighth(each.memory for each in read)
    judged = [each for each in read if each.memory in left and each.weight == 1]
    seen = [each for each in read if each.memory not in left]
    told = [*told_statements(held=False), *note_statements(held=False), *talk_statements()]
    told += [
        each._replace(place=TALK, weight=each.weight * CHATS)
        for each in seen
        if each.place == LOCOMO
    ]
    random.Random(0).shuffle(seen)
    told += seen[: REPLAYED if given.start else None]
    model, vocabulary = Minilm(given.model / WEIGHTS.name), given.model / VOCABULARY.name
    network = fitted(model, examples(model, told, vocabulary), np.arange(len(told)), given.start)
    if given.mean:
        network.go_on_from(given.mean, KEPT)
    network.write("statement", given.model / WEIGHTS.name)

    def measured(some: Sequence[Judged]) -> dict[str, float]:
        data = examples(model, some, vocabulary)
        return figures(probabilities(network, data, np.arange(len(some))), data.labels)

    alone = [each for each in told_statements(held=True) if each.weight == 1]
    notes = list(note_statements(held=True))
    good = {"figures": measured(judged), "of talks": measured(alone), "of notes": measured(notes)}
    print(json.dumps(good, indent=1))
    files = (*FILES, *TOLD_FILES)
    labels = b"".join((LABELS / f"{name}.jsonl").read_bytes() for name in files)
    about = {"labels": hashlib.sha256(labels).hexdigest()[:16], **good}
    WEIGHED.write_text(json.dumps(about, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
