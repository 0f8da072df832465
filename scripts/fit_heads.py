"""Fit the heads: small classifiers of documents and units, on the labels of ``fixtures/labels``.

Run ``python -m scripts.fit_heads COPIES --locomo FOLDER`` (see ``scripts.join_labels``). It writes
``clsm_cli/heads/weights/document.json``, ``unit.json`` and ``talk.json``, the unit head for
conversations: the same labels give the same bytes. Each
has its figures on workspaces and conversations that were left out, one at a time, and the digest of
the labels. A unit is what ``heads.units`` cuts; a label is of the unit that shares most words with it.
What the document is enters a unit's inputs as probabilities of heads that have not seen its workspace.
Labelled conversations have hardly any short plain statements ("I live in Leeds now."), so ``talk.json``
also sees some that were written (``plain_sentences``), in invented talks (``talks``), and talks that were
written as a whole (``written_talks``). In notes the plain sentences would let more noise pass (5.7 instead
of 2.2 in a hundred sentences that are kept).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast
from zoneinfo import ZoneInfo

import numpy as np

from clsm_cli.embedding.weights import default_folder
from clsm_cli.embedding.wordpiece import StaticVectors
from clsm_cli.evaluation.compare import auroc
from clsm_cli.heads import judge, unit_features
from clsm_cli.heads.classifier import CLIP, Classifier
from clsm_cli.heads.judge import DIMENSIONS, DOCUMENT_LABELS, UNKNOWN, unit_inputs
from clsm_cli.heads.unit_features import Unit
from clsm_cli.heads.units import units
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.ingestion.markdown import read
from clsm_cli.ingestion.turns import turn_from_block
from clsm_cli.model.episodes import Turn
from scripts.fitting import layers, pack, scale, shares
from scripts.join_labels import CHAT, LABELS, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clsm_cli.ingestion.turns import Masker

WEIGHTS = Path(__file__).parents[1] / "clsm_cli" / "heads" / "weights"
ROLES = ("log", "living", "instruction", "reference", "list")
KINDS = ("fact", "decision", "preference", "task", "event", "lesson", "state", "other")
"""Fitted beside the other outputs of units, and not written: what tells kinds is ``scripts.fit_kinds``."""
NO_KIND = (np.nan,) * len(KINDS)
DOCUMENT = {"role": ROLES, "owner": ("owner",), "template": ("template",)}
SMALL_TALK = LABELS.parent / "hook" / "small_talk.txt"
LONGEST_TALK = 12
UNIT = {
    "noise": ("noise",),
    "keep": ("keep",),
    "alone": ("alone",),
    "with headings": ("with headings",),
    "kind": KINDS,  # last: its columns are cut off
}
_WORD = re.compile(r"\w+")


class Settings(NamedTuple):
    """How a classifier is fitted: units in its hidden layer (0: none), decay of weights, rounds.

    With ``directions`` the last ``DIMENSIONS`` inputs enter by so many of their principal directions; with
    ``slots`` so do as many ``DIMENSIONS`` before them, each by its own.
    """

    hidden: int
    decay: float
    rounds: int = 150
    rate: float = 0.02
    dropped: float = 0.2
    directions: int = 0
    slots: int = 1


class Examples(NamedTuple):
    """Inputs [n, d], targets [n, k] with NaN where nothing is known, and the group of each row."""

    inputs: Any
    targets: Any
    groups: list[str]


INPUTS = (
    *unit_features.NAMES,
    *DOCUMENT_LABELS,
    *(f"word {number}" for number in range(DIMENSIONS)),
)
"""Names of what ``judge.unit_inputs`` gives."""
OF_DOCUMENTS = Settings(16, 0.03)
OF_UNITS = {
    "unit": Settings(24, 0.02, directions=64),
    "talk": Settings(32, 0.01, rounds=200, directions=128),
}
"""Fewer directions find less in chats: what is forbidden, and fragments, differ from small talk in rare words."""


def fit(
    inputs: Any, targets: Any, groups: Mapping[str, Sequence[str]], settings: Settings
) -> tuple[Any, Any, list[Any]]:
    """Mean and scale of the inputs, and the layers, by Adam over all rows with dropout."""
    mean, spread = inputs.mean(0), scale(inputs)
    rows = np.clip((inputs - mean) / spread, -CLIP, CLIP)
    if settings.directions:
        rows, folds = _by_directions(rows, settings.directions, settings.slots)
    found = layers(
        rows,
        targets.shape[1],
        lambda scores: _errors(scores, targets, groups) / len(rows),
        hidden=settings.hidden,
        decay=settings.decay,
        rounds=settings.rounds,
        rate=settings.rate,
        dropped=settings.dropped,
    )
    if settings.directions:
        shape = rows.shape[1] - settings.directions * settings.slots
        parts = np.split(found[0][shape:], settings.slots)
        folded = [fold @ part for fold, part in zip(folds, parts, strict=True)]
        found[0] = np.vstack([found[0][:shape], *folded])
    return mean, spread, found


def _by_directions(rows: Any, count: int, slots: int) -> tuple[Any, list[Any]]:
    """Rows with the principal directions of their words, and what leads from words to them."""
    shapes, words = np.split(rows, [rows.shape[1] - DIMENSIONS * slots], 1)
    folds = []
    for part in np.split(words, slots, 1):
        directions = np.linalg.eigh(part.T @ part)[1][:, : -count - 1 : -1]
        folds.append(directions / np.maximum(1e-6, (part @ directions).std(0)))
    parts = zip(np.split(words, slots, 1), folds, strict=True)
    return np.hstack([shapes, *(part @ fold for part, fold in parts)]), folds


def _parts(groups: Mapping[str, Sequence[str]]) -> Iterator[slice]:
    start = 0
    for names in groups.values():
        yield slice(start, start + len(names))
        start += len(names)


def _chances(scores: Any, groups: Mapping[str, Sequence[str]]) -> Any:
    found = np.empty_like(scores)
    for part in _parts(groups):
        some = scores[:, part]
        if some.shape[1] == 1:
            found[:, part] = 1 / (1 + np.exp(-some))
        else:
            found[:, part] = shares(some)
    return found


def _errors(scores: Any, targets: Any, groups: Mapping[str, Sequence[str]]) -> Any:
    return np.nan_to_num(_chances(scores, groups) - targets, nan=0.0)


def classify(
    inputs: Any, fitted: tuple[Any, Any, list[Any]], groups: Mapping[str, Sequence[str]]
) -> Any:
    """Probabilities of the rows."""
    mean, spread, found = fitted
    rows = np.clip((inputs - mean) / spread, -CLIP, CLIP)
    if len(found) == 4:
        rows = np.tanh(rows @ found[0] + found[1])
    return _chances(rows @ found[-2] + found[-1], groups)


def left_out(examples: Examples, outputs: Mapping[str, Sequence[str]], settings: Settings) -> Any:
    """Probabilities of each row by a classifier that has not seen its group."""
    found = np.zeros(examples.targets.shape)
    groups = np.array(examples.groups)
    for group in sorted({*examples.groups}):
        own = groups == group
        fitted = fit(examples.inputs[~own], examples.targets[~own], outputs, settings)
        found[own] = classify(examples.inputs[own], fitted, outputs)
    return found


def calibration_error(scores: Any, truths: Any) -> float:
    """Mean distance of probability and frequency over tenths of the rows."""
    order = np.argsort(scores, kind="stable")
    parts = np.array_split(order, 10)
    return float(np.mean([abs(scores[part].mean() - truths[part].mean()) for part in parts]))


def turns_of_document(copies: Path, repo: str, name: str) -> list[Turn]:
    """The blocks of a document; none where it cannot be read."""
    path = copies / repo.replace("/", "+", 1) / name
    raw = read(path.read_bytes(), path=name, zone=ZoneInfo("UTC"))
    if isinstance(raw, Problem):
        return []
    unmasked = cast("Masker", str)
    return [turn_from_block(block, name, name, raw.trust, unmasked) for block in raw.blocks]


@cache
def _document(
    copies: Path, repo: str, name: str
) -> tuple[list[Turn], list[Unit], list[list[float]]] | None:
    turns = turns_of_document(copies, repo, name)
    found = units(turns)
    return (turns, found, unit_features.unit_features(turns, found)) if turns else None


def of_documents(copies: Path) -> Examples:
    """What the labelled documents are."""
    rows, targets, groups = [], [], []
    for label in joined("documents", copies, None):
        found = _document(copies, label["repo"], label["file"])
        if found is None:
            continue
        rows.append(judge.document_features(found[0]))
        role = [float(label["role"] == name) for name in ROLES]
        targets.append([*role, float(label["owner"]), float(label.get("template", 0))])
        groups.append(label["repo"])
    return Examples(np.array(rows, float), np.array(targets, float), groups)


class Labelled(NamedTuple):
    """A unit with its label, its text and shape, and the features of its document."""

    label: Mapping[str, Any]
    text: str
    shape: list[float]
    document: list[float] | None
    group: str


def of_units(copies: Path, locomo: Path | None, name: str = "units") -> Iterator[Labelled]:
    """The labelled units of a file whose text the product cuts alike."""
    chats = {}
    for label in joined(name, copies, locomo):
        if label["repo"] == CHAT and locomo is not None:
            if label["file"] not in chats:
                chats[label["file"]] = dict(_turns(locomo / label["file"]))
            said = chats[label["file"]].get((label["turn"], label.get("start", -1)))
            if said is not None:
                yield Labelled(label, *said, None, f"{CHAT}/{label['file']}")
            continue
        found = _document(copies, label["repo"], label["file"])
        place = found and _nearest(found[0], found[1], label)
        if found is not None and place is not None:
            features = judge.document_features(found[0])
            unit = found[1][place]
            text = found[0][unit.turn].text[unit.start : unit.end]
            yield Labelled(label, text, found[2][place], features, label["repo"])


def _turns(path: Path) -> Iterator[tuple[tuple[str, int], tuple[str, list[float]]]]:
    """Text and shape of the sentences of a conversation, by turn and start, and of whole turns (-1)."""
    said = json.loads(path.read_text("utf-8"))
    said = said.get("conversation", said)
    for key in said:
        if re.fullmatch(r"session_\d+", key):
            turns = [
                Turn(each["dia_id"], each["speaker"], "user", each["text"]) for each in said[key]
            ]
            whole = [Unit(place, 0, len(turn.text)) for place, turn in enumerate(turns)]
            for found, is_whole in ((units(turns), False), (whole, True)):
                shapes = unit_features.unit_features(turns, found)
                for unit, shape in zip(found, shapes, strict=True):
                    turn = turns[unit.turn]
                    start = -1 if is_whole else unit.start
                    yield (turn.key, start), (turn.text[unit.start : unit.end], shape)


def _nearest(turns: list[Turn], found: list[Unit], label: Mapping[str, Any]) -> int | None:
    """Place of the unit that shares most words with a label, at least half of all."""
    wanted = {*_WORD.findall(label["text"])}
    best = (0.5, -1)
    for place, unit in enumerate(found):
        turn = turns[unit.turn]
        if turn.line_start <= label["line"] <= turn.line_end:
            words = {*_WORD.findall(turn.text[unit.start : unit.end])}
            best = max(best, (len(wanted & words) / max(1, len(wanted | words)), -place - 1))
    return -best[1] - 1 if best[1] < -1 or best[0] > 0.5 else None


def main() -> None:
    """Fit both heads and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    parser.add_argument("--locomo", type=Path)
    given = parser.parse_args()
    documents = of_documents(given.copies)
    by_form = {"logistic": Settings(0, 0.05), "hidden": OF_DOCUMENTS}
    told = {form: left_out(documents, DOCUMENT, by_form[form]) for form in by_form}
    figures = {form: document_figures(documents, found) for form, found in told.items()}
    write(
        "document", documents, DOCUMENT, OF_DOCUMENTS, judge.NAMES, figures, labels=("documents",)
    )

    labelled = list(of_units(given.copies, given.locomo))
    examples = unit_examples(labelled, documents)
    by_name = {"unit": examples, "talk": _with_talks(labelled, examples)}
    for name, some in by_name.items():
        settings = OF_UNITS[name]
        found = left_out(some, UNIT, settings)
        blind = found[len(labelled) : 2 * len(labelled)]
        told_figures: dict[str, Any] = {
            "hidden": unit_figures(labelled, found[: len(labelled)]),
            "hidden without the model": unit_figures(labelled, blind),
        }
        if name == "talk":
            told_figures["plain"] = _kept_figures(some, found, "told")
            told_figures["written talks"] = _kept_figures(some, found, "written")
        write(name, some, UNIT, settings, INPUTS, told_figures, labels=("units",))


class Told(NamedTuple):
    """A sentence of an invented talk, its targets, and the group that it is left out with."""

    text: str
    targets: Sequence[float]
    group: str


def talks(told: list[Told]) -> tuple[list[str], Examples]:
    """Sentences in talks of up to ``LONGEST_TALK`` turns, drawn by lot, without what their words mean."""
    chance = random.Random(0)
    chance.shuffle(told)
    left = iter(told)
    texts, rows, targets, groups = [], [], [], []
    while talk := [*islice(left, chance.randint(1, LONGEST_TALK))]:
        speaker = chance.choice(("user", "Ann"))
        turns = [Turn(str(place), speaker, "user", each.text) for place, each in enumerate(talk)]
        found = units(turns)
        shapes = dict(zip(found, unit_features.unit_features(turns, found), strict=True))
        for place, group in groupby(found, key=lambda unit: unit.turn):
            first = next(group)
            texts.append(turns[place].text[first.start : first.end])
            rows.append(unit_inputs(shapes[first], UNKNOWN, None))
            targets.append([*talk[place].targets])
            groups.append(talk[place].group)
    return texts, Examples(np.array(rows), np.array(targets), groups)


def written_talks() -> tuple[list[str], Examples]:
    """The sentences of ``told_talks.jsonl`` as they stand, without what their words mean.

    The talks are left out by fifths.
    """
    texts, rows, targets, groups = [], [], [], []
    for number, line, shape in lines_of_talks():
        if "keep" in line:
            is_worth = 1.0 if line["keep"] == 2 else np.nan
            texts.append(line["text"])
            rows.append(unit_inputs(shape, UNKNOWN, None))
            targets.append([line["keep"] == 0, line["keep"] == 2, is_worth, is_worth, *NO_KIND])
            groups.append(f"written {number % 5}")
    return texts, Examples(np.array(rows), np.array(targets, float), groups)


def lines_of_talks() -> Iterator[tuple[int, Mapping[str, Any], list[float]]]:
    """The lines of ``told_talks.jsonl``, each with the number of its talk and its shape."""
    lines = [json.loads(line) for line in (LABELS / "told_talks.jsonl").open(encoding="utf-8")]
    for number, (_, talk) in enumerate(groupby(lines, key=lambda line: line["talk"])):
        said = [*talk]
        turns = [_turn(each) for _, each in groupby(said, key=lambda line: line["turn"])]
        shapes = unit_features.unit_features(turns, units(turns))
        for line, shape in zip(said, shapes, strict=True):
            yield number, line, shape


def _turn(lines: Iterator[Mapping[str, Any]]) -> Turn:
    said = [*lines]
    speaker = said[0]["speaker"]
    role: Literal["assistant", "user"] = "assistant" if speaker == "assistant" else "user"
    return Turn(str(said[0]["turn"]), speaker, role, " ".join(line["text"] for line in said))


def plain_sentences() -> Iterator[Told]:
    """Sentences as somebody tells them, worth keeping and clear alone; questions and small talk, noise.

    One of every tenth pair of ``told_asked.jsonl``, the questions of every thirtieth, and the small talk of
    ``fixtures/hook``. They are left out by fifths.
    """
    pairs = [json.loads(line) for line in (LABELS / "told_asked.jsonl").open(encoding="utf-8")][
        ::10
    ]
    for number, pair in enumerate(pairs):
        text = pair["a" if number % 2 else "b"]
        yield Told(text, [0.0, 1.0, 1.0, 1.0, *NO_KIND], f"told {number % 5}")
    noise = [f"{pair['ask']}?" for pair in pairs[::3]]
    noise += filter(None, map(str.strip, SMALL_TALK.open(encoding="utf-8")))
    for number, text in enumerate(noise):
        yield Told(text, [1.0, 0.0, np.nan, np.nan, *NO_KIND], f"told {number % 5}")


def unit_examples(labelled: Sequence[Labelled], documents: Examples) -> Examples:
    """The labelled units with what their words mean, then all again as without the model."""
    words = StaticVectors.open(default_folder()).mean_vectors([each.text for each in labelled])
    groups = np.array(documents.groups)
    rows, targets = [], []
    heads = {
        group: fit(
            documents.inputs[groups != group],
            documents.targets[groups != group],
            DOCUMENT,
            OF_DOCUMENTS,
        )
        for group in sorted({each.group for each in labelled if each.document})
    }
    names = [name for group in DOCUMENT.values() for name in group]
    for each in labelled:
        about = None
        if each.document:
            chances = classify(np.array([each.document]), heads[each.group], DOCUMENT)[0]
            about = dict(zip(names, chances.tolist(), strict=True))
        rows.append(unit_inputs(each.shape, UNKNOWN, about))
        label = each.label
        kinds = [float(label["kind"] == kind) for kind in KINDS]
        values = [label["keep"] == 0, label["keep"] == 2, label["alone"] == 1, label["alone"] > 0]
        targets.append([*map(float, values), *(kinds if sum(kinds) else [np.nan] * len(KINDS))])
    told = np.array(rows)
    told[:, -DIMENSIONS:] = words
    return Examples(
        np.vstack([told, np.array(rows)]),
        np.array(targets * 2),
        [each.group for each in labelled] * 2,
    )


def _with_talks(labelled: Sequence[Labelled], examples: Examples) -> Examples:
    """The same with invented talks of plain sentences and labelled ones, with what their words mean.

    By themselves plain sentences would teach that what stands alone is worth keeping; without their words,
    that whatever is short is.
    """
    told = [*plain_sentences()]
    for each, targets in zip(labelled, examples.targets, strict=False):
        if each.document is None and len(units([Turn("", "user", "user", each.text)])) == 1:
            told.append(Told(each.text, targets, each.group))
    words = StaticVectors.open(default_folder())
    for texts, talk in (talks(told), written_talks()):
        talk.inputs[:, -DIMENSIONS:] = words.mean_vectors(texts)
        examples = Examples(
            np.vstack([examples.inputs, talk.inputs]),
            np.vstack([examples.targets, talk.targets]),
            [*examples.groups, *talk.groups],
        )
    return examples


def document_figures(examples: Examples, found: Any) -> dict[str, float]:
    """How well roles, the owner's documents and templates are told."""
    roles = examples.targets[:, : len(ROLES)].argmax(1)
    return {
        "documents": len(roles),
        "role accuracy": round(float((found[:, : len(ROLES)].argmax(1) == roles).mean()), 3),
        "owner AUROC": round(auroc(found[:, 5], examples.targets[:, 5] == 1), 3),
        "template AUROC": round(auroc(found[:, 6], examples.targets[:, 6] == 1), 3),
    }


def unit_figures(labelled: Sequence[Labelled], found: Any) -> dict[str, dict[str, float]]:
    """How well noise, what is worth keeping and what stands alone are told: in all, notes, conversations."""
    chat = np.array([each.document is None for each in labelled])
    keep = np.array([each.label["keep"] for each in labelled])
    alone = np.array([each.label["alone"] for each in labelled])
    figures = {}
    for name, own in (("all", chat | True), ("notes", ~chat), ("chat", chat)):
        figures[name] = {
            "units": int(own.sum()),
            "noise AUROC": auroc(found[own, 0], keep[own] == 0),
            "keep AUROC": auroc(found[own, 1], keep[own] == 2),
            "alone AUROC": auroc(found[own, 2], alone[own] == 1),
            "with headings AUROC": auroc(found[own, 3], alone[own] > 0),
            "noise calibration error": calibration_error(found[own, 0], keep[own] == 0),
            "keep calibration error": calibration_error(found[own, 1], keep[own] == 2),
        }
        for share in (5, 10, 20):
            best = np.argsort(-found[own, 1], kind="stable")[: int(own.sum()) * share // 100]
            figures[name][f"good of the best {share} %"] = float((keep[own][best] == 2).mean())
            figures[name][f"noise of the best {share} %"] = float((keep[own][best] == 0).mean())
        figures[name] = {what: round(value, 3) for what, value in figures[name].items()}
    return figures


def _kept_figures(examples: Examples, found: Any, groups: str) -> dict[str, float]:
    """Shares of what is worth keeping, is trivial, or is noise, that a night would keep."""
    own = np.array([group.startswith(groups) for group in examples.groups])
    is_noise, is_worth = examples.targets[:, 0] == 1, examples.targets[:, 1] == 1
    kinds = {"statements": is_worth, "trivia": ~is_worth & ~is_noise, "noise": is_noise}
    kept = (found[:, 1] >= 0.33) & (found[:, 0] <= 0.2)
    return {
        f"{name} kept": round(float(kept[own & some].mean()), 3)
        for name, some in kinds.items()
        if (own & some).any()
    }


def write(
    name: str,
    examples: Examples,
    outputs: Mapping[str, tuple[str, ...]],
    settings: Settings,
    inputs: Sequence[str],
    figures: Mapping[str, Any],
    *,
    labels: Sequence[str],
    script: str = "fit_heads",
) -> None:
    """Fit a head on all examples, and write it without the ``KINDS`` of units."""
    mean, scale, layers = fit(examples.inputs, examples.targets, outputs, settings)
    first, bias, second, offset = layers
    told = {group: names for group, names in outputs.items() if names is not KINDS}
    count = sum(map(len, told.values()))
    cut = (first, bias, second[:, :count], offset[:count])
    whole = Classifier(tuple(inputs), told, mean, scale, cut)
    read = b"".join((LABELS / f"{each}.jsonl").read_bytes() for each in labels)
    data = {
        "about": f"Fitted by scripts/{script}.py; the figures are of groups that were left out.",
        "labels": hashlib.sha256(read).hexdigest(),
        "groups left out": len({*examples.groups}),
        "figures": figures,
        **pack(whole),
    }
    text = json.dumps(data, ensure_ascii=False, indent=1)
    (WEIGHTS / f"{name}.json").write_text(
        re.sub(r",\n\s+(?=[-\d\"][^:]*\n?)", ", ", text) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
