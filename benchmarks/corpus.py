"""An agent's memory of any size, generated: conversations as JSON Lines, notes as Markdown.

One command: ``python -m benchmarks.corpus FOLDER --passages 1000``. The same seed writes the same
bytes. A passage is a turn or a block of a note, about 30 word pieces, and no two are alike. There
are 60 files per 1,000 passages, and 130 · (passages / 1000)^0.6 named things that recur.

Words are a base of English ones, and rarer ones joined from them. Frequencies follow the law of Zipf
and Mandelbrot, p(rank) ∝ 1 / (rank + q)^s: a few words stand in several per cent of all passages, most
stand in one or two.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEED = 11
FILES_PER_1000 = 60
NAMES_PER_1000 = 130
GROWTH = 0.6
"""Exponent by which the number of named things grows with the number of passages."""
FIRST_DAY = datetime(2024, 3, 4, 8, tzinfo=UTC)
LAST_DAY = 600
"""Days after the first, however large the memory: all lies in the past."""
WORDS, SPREAD = 20, 7
"""Words of a passage, mean and standard deviation; 1.4 word pieces a word."""
NAME_OFFSET = 6
FINISHED = 0.9
"""Share of conversations that end with a mark, so that their last episode is closed."""
IN_TOPIC = 0.3
"""Share of content words that come from the few words of the stretch's subject."""


_MATERIAL: dict[str, str] = YAML(typ="safe").load(Path(__file__).with_suffix(".yaml"))
_CLAUSES = _MATERIAL["clauses"].splitlines()
_OFFSET = 18
"""q of the law: the commonest noun stands in 8 to 12 % of passages, as in conversations and notes."""
_EXPONENT = 1.2
"""s: two thirds of the nouns in a text are base words, the rest is the long tail."""


class Words(NamedTuple):
    """Words by falling frequency, with the cumulative weights that ``random.choices`` takes."""

    words: tuple[str, ...]
    cumulative: tuple[float, ...]

    def pick(self, rng: random.Random) -> str:
        """One word by its frequency."""
        return rng.choices(self.words, cum_weights=self.cumulative)[0]


def ranked(words: Sequence[str], offset: float) -> Words:
    """Give words, the commonest first, the weights of their ranks: 1 / (rank + offset)^1.2, from 1.

    Example:
        >>> [round(weight, 3) for weight in ranked(["a", "b"], 1).cumulative]
        [0.435, 0.703]
    """
    weights = ((rank + offset) ** -_EXPONENT for rank in range(1, len(words) + 1))
    return Words(tuple(words), tuple(itertools.accumulate(weights)))


class Vocabulary(NamedTuple):
    """Words by what they do in a sentence."""

    nouns: Words
    verbs: Words
    adjectives: Words
    adverbs: Words


def vocabulary(rng: random.Random) -> Vocabulary:
    """About 45,000 words: the base ones in a random order of rank, then those joined from them."""
    nouns, verbs, adjectives, adverbs = (
        _shuffled(sorted({*_listed(kind)}), rng) for kind in Vocabulary._fields
    )
    short = [noun for noun in nouns if len(noun) <= 6]
    compounds = _shuffled([a + b for a in short[:260] for b in short[:160] if a != b], rng)
    marked = [prefix + verb for prefix in ("re", "over", "out", "mis") for verb in verbs]
    shaded = [noun + ending for noun in short for ending in ("less", "like", "bound", "proof")]
    return Vocabulary(
        ranked(nouns + compounds, _OFFSET),
        ranked(verbs + _shuffled(marked, rng), _OFFSET),
        ranked(adjectives + _shuffled(shaded, rng), _OFFSET),
        ranked(adverbs, _OFFSET),
    )


def _listed(kind: str) -> list[str]:
    return _MATERIAL[kind].split()


def _shuffled(words: list[str], rng: random.Random) -> list[str]:
    rng.shuffle(words)
    return words


_JOINS = (" and ", ", but ", ". ", ". ", ". ", "; ", " while ", " since ")
_OPENINGS = ("", "", "", "", "Yes, ", "No, ", "Well, ", "I think ", "As far as I know, ")


@dataclass(slots=True)
class Memory:
    """What the text is about: words and named things, and what has been said already.

    Attributes:
        names: By kind: p people, l places, j projects, b books.
    """

    rng: random.Random
    vocabulary: Vocabulary
    names: dict[str, Words]
    said: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, passages: int, seed: int) -> Memory:
        """A memory for that many passages; the commonest words and names are the same in all."""
        rng = random.Random(seed)
        words = vocabulary(rng)
        count = round(NAMES_PER_1000 * (passages / 1000) ** GROWTH)
        return cls(rng, words, named_things(count, rng))

    def passage(self, day: datetime, topic: list[str], *, marked: bool) -> str:
        """A text unlike all before: dates near a day, words of a topic more than others.

        If it is ``marked``, names stand in double brackets half of the time, as in notes.
        """
        while True:
            text = self._sentences(day, topic, marked=marked)
            if text not in self.said:
                self.said.add(text)
                return text

    def topic(self) -> list[str]:
        """Nouns of one subject."""
        return [self.vocabulary.nouns.pick(self.rng) for _ in range(12)]

    def _sentences(self, day: datetime, topic: list[str], *, marked: bool) -> str:
        wanted = max(4, round(self.rng.gauss(WORDS, SPREAD)))
        text = self.rng.choice(_OPENINGS)
        while True:
            text += self._clause(day, topic, marked=marked)
            if len(text.split()) + 5 >= wanted:
                break
            text += self.rng.choice(_JOINS)
        sentences = (part[:1].upper() + part[1:] for part in text.split(". "))
        return ". ".join(sentences) + self.rng.choice((".", ".", ".", "?", "!"))

    def _clause(self, day: datetime, topic: list[str], *, marked: bool) -> str:
        parts = self.rng.choice(_CLAUSES).split("{")
        return parts[0] + "".join(
            self._slot(part[0], day, topic, marked=marked) + part[2:] for part in parts[1:]
        )

    def _slot(self, kind: str, day: datetime, topic: list[str], *, marked: bool) -> str:
        rng, words = self.rng, self.vocabulary
        if kind == "n":
            return rng.choice(topic) if rng.random() < IN_TOPIC else words.nouns.pick(rng)
        if kind == "w":
            return _when(rng, day)
        if kind == "k":
            return f"{rng.randint(2, 999)} {rng.choice(_listed('units'))}"
        if kind in self.names:
            name = self.names[kind].pick(rng)
            if kind == "b":
                return f"*{name}*"
            return f"[[{name}]]" if marked and rng.random() < 0.5 else name
        return {"v": words.verbs, "a": words.adjectives, "d": words.adverbs}[kind].pick(rng)


def named_things(count: int, rng: random.Random) -> dict[str, Words]:
    """People, places, projects and books, ``count`` in all; fewer are the first of more."""
    shares = {
        "p": (0.36, "{} {}", "given", "family"),
        "l": (0.20, "{}{}", "heads", "tails"),
        "j": (0.24, "{}{}", "projects", "kinds"),
        "b": (0.20, "The {} {}", "titles", "subjects"),
    }
    found = {}
    for kind, (share, form, first, second) in shares.items():
        names = [form.format(a, b) for b in _listed(second) for a in _listed(first)]
        rng.shuffle(names)  # before the cut, so that the first names are the same at every size
        found[kind] = ranked(names[: max(2, round(count * share))], NAME_OFFSET)
    return found


def _when(rng: random.Random, day: datetime) -> str:
    other = day + timedelta(days=rng.randint(-40, 40))
    forms = ("on {d:%A}", "on {d.day} {d:%B}", "in {d:%B}", "on {d:%Y-%m-%d}", "at {h}:{m:02}")
    return rng.choice(forms).format(d=other, h=rng.randint(7, 22), m=rng.randrange(0, 60, 5))


def files(passages: int, seed: int = SEED) -> Iterator[tuple[str, str, list[str]]]:
    """The files of a memory, by date: path, content, and its passages."""
    memory = Memory.of(passages, seed)
    count = max(1, passages * FILES_PER_1000 // 1000)
    days = min(LAST_DAY, round(180 * (passages / 1000) ** 0.5))
    for number in range(count):
        day = FIRST_DAY + timedelta(days=number * days // count, minutes=11 * (number % 40))
        size = passages * (number + 1) // count - passages * number // count
        write = _session if number % 3 == 0 else _note
        yield write(memory, f"{day:%Y-%m}/{day:%Y-%m-%d}-{number:04}", day, size)


def _stretches(memory: Memory, size: int) -> Iterator[list[str]]:
    """A topic for each passage of a file; it changes every five or so."""
    topic = memory.topic()
    for _ in range(size):
        if memory.rng.random() < 0.2:
            topic = memory.topic()
        yield topic


def _session(memory: Memory, name: str, day: datetime, size: int) -> tuple[str, str, list[str]]:
    """A conversation of two or three speakers."""
    people = memory.names["p"].words[: 2 if memory.rng.random() < 0.7 else 3]
    speakers = [("assistant", "assistant"), *(("user", person.split()[0]) for person in people[1:])]
    rows, texts, time = [], [], day
    for number, topic in enumerate(_stretches(memory, size)):
        time += timedelta(seconds=memory.rng.randint(20, 240))
        role, speaker = speakers[(number + 1) % len(speakers)]
        texts.append(memory.passage(day, topic, marked=False))
        row = {"id": f"{name[8:]}-{number}", "session": name[8:], "role": role, "speaker": speaker}
        rows.append(json.dumps({**row, "timestamp": time.isoformat(), "content": texts[-1]}))
    if memory.rng.random() < FINISHED:
        rows.append(json.dumps({"type": "end", "session": name[8:]}))
    return f"sessions/{name}.jsonl", "\n".join(rows) + "\n", texts


def _note(memory: Memory, name: str, day: datetime, size: int) -> tuple[str, str, list[str]]:
    """A day's page: headings, paragraphs and list items."""
    parts, texts = [f"# {day:%Y-%m-%d}, {day:%A}"], []
    topic: list[str] = []
    for wanted in _stretches(memory, size):
        if wanted is not topic:
            topic = wanted
            parts.append(f"## {topic[0].capitalize()} and {topic[1]}")
        texts.append(memory.passage(day, topic, marked=True))
        parts.append(f"- {texts[-1]}" if memory.rng.random() < 0.3 else texts[-1])
    return f"notes/{name}.md", "\n\n".join(parts) + "\n", texts


def write(folder: Path, passages: int, seed: int = SEED) -> None:
    """Write a memory under ``notes/`` and ``sessions/``, and its measures to ``corpus.json``."""
    text_bytes = words = count = 0
    for path, content, texts in files(passages, seed):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
        count += 1
        text_bytes += sum(len(text.encode()) for text in texts)
        words += sum(len(text.split()) for text in texts)
    measures = {"passages": passages, "files": count, "text_bytes": text_bytes, "words": words}
    (folder / "corpus.json").write_text(json.dumps(measures) + "\n")


def main() -> None:
    """Write one memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    write(given.folder, given.passages, given.seed)


if __name__ == "__main__":
    main()
