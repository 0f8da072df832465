"""Fit the weights by which a value in running text is told to be a secret (``text/secrets/contextual.py``).

Run ``PYTHONPATH=tests python -m scripts.fit_secrets COPIES`` with the checkouts of the public workspaces
(``scripts/join_labels.py``); it needs the extra ``fit``. It writes ``clsm_cli/text/secrets/contextual.bin``
and beside it ``contextual.json`` with the digest of the labels and the figures.

Six writers, who had not seen the program, wrote lines with and without secrets
(``fixtures/labels/told_secrets.tsv``), the last three of them about secrets made of plain words; its last 402, of our
own, and the samples of the tests are examples, too. What words a phrase is made of should not matter, so each is
also learnt with other words, drawn by lot.
Values in the notes of public workspaces and of the sample, and in sentences of invented memories that have no label,
are none: the few secrets there are too rare to matter. Each figure is of a writer, and of every other workspace, that was left
out of its fit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from faults.inputs import secrets_found

from clsm_cli.text.secrets import cells, contextual, issued, mask
from clsm_cli.text.secrets.labels import fold, labels_in
from clsm_cli.text.secrets.values import Value, values
from scripts.join_labels import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TOLD = LABELS / "told_secrets.tsv"
TESTS = LABELS.parents[1] / "tests" / "text"
SAMPLE = LABELS.parent / "sample"
ROUNDS, RATE, SIZE, DECAY = 24, 0.02, 1024, 1e-5
"""Rounds over all examples, the rate at first (it falls to nothing), examples of a step, weight of Σ w²."""
AGAIN = 12
"""Times that the samples of the tests count: what was masked once must stay masked."""
WRITERS = "abcdef"
SAME, SAME_PHRASE = 0.6, 0.9
"""Share of a value and a secret together that they have in common, from which the value is the secret."""
DRAWS, COMMON = 3, 40
"""Times that a phrase is learnt with other words; uses in invented memories from which a word is not drawn."""
MAX_BLOCK, MAX_WORKSPACE = 3000, 60_000
"""Characters of a block of notes, and of a workspace's blocks, that are read."""


class Line(NamedTuple):
    """A text with its secrets; ``writer`` is who wrote it."""

    writer: str
    text: str
    secrets: tuple[str, ...]


class Example(NamedTuple):
    """A value: the places of its weights, and whether it is a secret."""

    slots: Any
    is_secret: bool


def told() -> list[Line]:
    """The lines of the writers, put together."""
    rows = (row.split("\t") for row in TOLD.read_text("utf-8").split("\n") if row and row[0] != "#")
    return [
        Line(writer, _whole(text), tuple(map(_whole, secrets.split("⁞") if secrets else ())))
        for writer, _, _, text, secrets in rows
    ]


def _whole(text: str) -> str:
    return text.replace("¦", "").replace("⏎", "\n")


def tested() -> Iterator[Line]:
    """The samples of the tests, with what is masked in them, and their harmless lines."""
    for row in (TESTS / "test_secrets.tsv").read_text("utf-8").splitlines():
        kind, _, text = row.partition("\t")
        if text and kind[0] != "#":
            whole = _whole(text)
            yield Line("tests", whole, tuple(_halved(text)))
    for text in (TESTS / "harmless.txt").read_text("utf-8").splitlines():
        yield Line("tests", text, ())


def drawn() -> Iterator[Line]:
    """Keys of the forms that the masks were made for, as settings and sentences give them."""
    for vector in secrets_found.load():
        if not vector.is_held:
            yield Line("tests", vector.text, (vector.secret,))


def _halved(text: str) -> Iterator[str]:
    """The words with a bar in them; those side by side are one secret."""
    word = r"[^\s\"'`|,;]*¦[^\s\"'`|,;]*"
    for words in re.findall(rf"{word}(?:[ ,]{{1,2}}{word})*", text):
        yield words.replace("¦", "").strip(".:()")


def plainly_told() -> Iterator[Line]:
    """Sentences of invented memories without a label; hardly one has a secret."""
    texts = secrets_found.sentences(LABELS / "told_asked.jsonl")
    yield from (Line("told", text, ()) for text in dict.fromkeys(texts))


def blocks(copies: Path) -> Iterator[tuple[str, str]]:
    """Blocks of the notes of each workspace, by lot."""
    for folder in sorted(each for each in copies.iterdir() if each.is_dir()):
        files = sorted(
            each for each in folder.rglob("*.md") if ".git" not in each.parts and each.is_file()
        )
        random.Random(folder.name).shuffle(files)
        left = MAX_WORKSPACE
        for file in files:
            for block in re.split(r"\n\s*\n", file.read_text("utf-8", errors="replace")):
                if left > 0 and len(block) <= MAX_BLOCK:
                    left -= len(block)
                    yield folder.name, block


def with_other_words(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines with a secret of plain words, each several times with other words in their place."""
    counts = Counter(
        word for line in plainly_told() for word in re.findall(r"[^\W\d_]{3,}", line.text.lower())
    )
    known = sorted(word for word, count in counts.items() if count <= COMMON)
    draw = random.Random(0)
    for line in lines:
        if len(line.secrets) == 1 and re.fullmatch(r"[^\W\d_]+([ -][^\W\d_]+)+", line.secrets[0]):
            for _ in range(DRAWS):
                words = [
                    draw.choice(known) if len(each) > 3 else each
                    for each in re.split(r"([ -])", line.secrets[0])
                ]
                secret = "".join(words)
                yield Line(line.writer, line.text.replace(line.secrets[0], secret), (secret,))


def examples(line: Line) -> Iterator[Example]:
    """The values of a text and of its cells, without what is neither a secret nor apart from one."""
    masked = _without_issued(line.text)
    for text in (masked, *(cell.line for cell in cells.cells(masked))):
        for paragraph in text.split("\n\n"):
            yield from _examples(paragraph, line.secrets)


def learnt(lines: Sequence[Line]) -> Iterator[Example]:
    """The values of lines, and the secrets among those of the same lines with other words."""
    yield from chain.from_iterable(map(examples, lines))
    for line in with_other_words(lines):
        yield from (each for each in examples(line) if each.is_secret)


def _without_issued(text: str) -> str:
    """A text without keys of a known form, which are masked before its values are read."""
    for secret in issued.find(text):
        text = text[: secret.start] + "\x00" * (secret.end - secret.start) + text[secret.end :]
    return text


def _examples(text: str, secrets: Sequence[str]) -> Iterator[Example]:
    spans = [m.span() for each in secrets for m in re.finditer(re.escape(each), text)]
    folded = fold(text)
    labels = contextual.Labels(labels_in(folded))
    for value in dict.fromkeys(values(text, labels.all)):
        shared = max((_share(value, span) for span in spans), default=0.0)
        is_within = value.form in ("mixed", "digits") and any(
            start <= value.start and value.end <= end for start, end in spans
        )
        if shared == 0 or shared >= (SAME_PHRASE if value.form == "phrase" else SAME) or is_within:
            names = contextual.value_features(text, folded, value, labels)
            slots = np.array(sorted({contextual.slot(each) for each in names}))
            yield Example(slots, shared > 0)


def _share(value: Value, span: tuple[int, int]) -> float:
    common = min(value.end, span[1]) - max(value.start, span[0])
    return max(0, common) / (max(value.end, span[1]) - min(value.start, span[0]))


def fitted(given: Sequence[Example]) -> Any:
    """The weights [SLOTS] of a logistic regression, by Adam."""
    torch.set_num_threads(1)  # sums in one order
    torch.manual_seed(0)
    weights = torch.zeros(contextual.SLOTS, requires_grad=True)
    optimiser = torch.optim.Adam([weights], lr=RATE)
    lengths = np.array([len(each.slots) for each in given])
    wanted = torch.tensor([float(each.is_secret) for each in given])
    draw = np.random.default_rng(0)
    for turn in range(ROUNDS):
        optimiser.param_groups[0]["lr"] = RATE * (1 - turn / ROUNDS)
        order = draw.permutation(len(given))
        for rows in (order[start : start + SIZE] for start in range(0, len(order), SIZE)):
            slots = torch.from_numpy(np.concatenate([given[row].slots for row in rows]))
            owner = torch.from_numpy(np.repeat(np.arange(len(rows)), lengths[rows]))
            scores = torch.zeros(len(rows)).index_add(0, owner, weights[slots])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted[rows])
            optimiser.zero_grad()
            (loss + DECAY * (weights**2).sum()).backward()
            optimiser.step()
    return weights.detach().numpy()


def as_bytes(weights: Any) -> bytes:
    """The weights in whole sixteenths, one signed byte each."""
    limits = np.iinfo(np.int8)
    whole = np.rint(weights * contextual.SCALE).clip(limits.min, limits.max)
    return bytes(whole.astype(np.int8).tobytes())


def use(weights: Any) -> None:
    """Let the program read these weights."""
    Path(contextual.WEIGHTS).write_bytes(as_bytes(weights))
    contextual.stored_weights.cache_clear()
    mask.cache_clear()


def figures(lines: Sequence[Line], notes: Sequence[str]) -> dict[str, Any]:
    """Share of lines whose secrets are all masked; of lines without one that change; masks in 1,000 lines of notes."""
    with_secret = [each for each in lines if each.secrets]
    without = [each for each in lines if not each.secrets]
    whole = sum(
        not any(secret in mask(each.text).text for secret in each.secrets) for each in with_secret
    )
    changed = sum(mask(each.text).text != each.text for each in without)
    masks = sum(sum(mask(each).counts.values()) for each in notes)
    count = sum(bool(row.strip()) for each in notes for row in each.split("\n"))
    return {
        "lines with a secret": len(with_secret),
        "masked": round(whole / len(with_secret), 3),
        "lines without": len(without),
        "masked wrongly": round(changed / len(without), 4),
        "lines of notes": count,
        "masks in 1,000 of them": round(1000 * masks / count, 2),
    }


def main() -> None:
    """Measure with each writer and every other workspace left out, then fit on all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("copies", type=Path)
    lines, read = told(), [*blocks(parser.parse_args().copies), *blocks(SAMPLE)]
    names = sorted({name for name, _ in read})
    seen = {writer: [each for each in lines if each.writer == writer] for writer in WRITERS}
    made = {writer: list(learnt(each)) for writer, each in seen.items()}
    tests = list(chain.from_iterable(map(examples, tested())))
    own = learnt([line for line in lines if line.writer == "own"])
    others = chain(own, *map(examples, [*drawn(), *plainly_told()]))
    made["tests"] = [*tests * AGAIN, *others]
    plain = {
        name: [each for one, text in read if one == name for each in examples(Line("", text, ()))]
        for name in names
    }
    told_figures = {}
    for writer, theirs in seen.items():
        left = names[::2]
        rest = [each for name in names if name not in left for each in plain[name]]
        use(fitted([*rest, *(e for one, some in made.items() if one != writer for e in some)]))
        told_figures[writer] = figures(theirs, [text for name, text in read if name in left])
        print(writer, told_figures[writer], flush=True)
    use(fitted([each for some in (*made.values(), *plain.values()) for each in some]))
    about = {"labels": hashlib.sha256(TOLD.read_bytes()).hexdigest()[:16], "left out": told_figures}
    text = json.dumps(about, indent=1) + "\n"
    Path(contextual.WEIGHTS).with_suffix(".json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
