"""An agent's memory of any size, generated: conversations as JSON Lines, notes as Markdown.

One command: ``python -m benchmarks.corpus FOLDER --passages 1000``. The same seed writes the same
bytes. A passage is a turn or a block of a note, about 30 word pieces, and no two are alike. There
are 60 files per 1,000 passages, and 130 · (passages / 1000)^0.6 named things that recur.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.vocabulary import Vocabulary, Words, ranked, vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def _of(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_GIVEN = _of("""Mara Ben Chen Ana Ilse Brian Noor Tomas Corrie Henk Mei Joost Priya Omar Lena Viktor Rosa
Yusuf Greta Pavel Aiko Dmitri Fatima Hugo Ingrid Jamal Katya Luis Nadia Oskar Petra Quentin Ruth Sven
Tariq Ursula Wanda Xavier Yara Zoltan""")
_FAMILY = _of("""Hardin Okafor Zhao Meadows Kowalski Visser Lindqvist Farrow Ibarra Novak Petrov Tanaka
Haddad Bergman Castell Dvorak Eklund Fontaine Grewal Holloway Iversen Jansen Keller Lombardi Moreau
Nakamura Oduya Pereira Quist Rossi Sandoval Thorne Ulrich Vargas Weiss Yilmaz Zeller Abara Brandt
Cormack""")
_HEADS = _of("""Har Mel Ost Zar Lin Bor Kel Dov Pim Rus Tam Wes Yar Alk Brim Cal Dun Elm Fen Gras Hol Ips
Kirk Lang Mar Nord Over Pel Rad Sten Til Ulm Vor Wil""")
_TAILS = _of("""wick brook ford mere stead burg haven dale gate holm bury ness wold combe""")
_PROJECTS = _of("""Tide Ledger Lantern Heron Signal Copper Marble Willow Harbour Paper Amber Cedar Falcon
Granite Indigo Juniper Kestrel Magnet Nimbus Orchid Pebble Quartz Raven Saffron Thistle Umber Violet
Walnut Anchor Beacon Comet Delta Ember Fable""")
_KINDS = _of(
    """Watch Bridge Keeper Works Line Trace Mill Graph Base Loop Cast Yard Forge Path Grid"""
)
_TITLES = _of("""Patient Silent Second Hidden Northern Borrowed Crooked Final Common Distant Hollow Quiet
Restless Salted Uneven Painted Narrow Broken Faithful Sunken Wandering Thirteenth""")
_SUBJECTS = _of("""Gauge Steward River Letter Harbour Ledger Winter Garden Promise Machine Archive Lamp
Border Witness Clock Orchard Island Map Engine Choir""")

_CLAUSES = """
the {n} of the {a} {n} {v} the {n}
{p} {v} the {n} {w}
I {v} the {a} {n} because the {n} was too {a}
we {v} it {d} and the {n} {v} the {n} as well
{p} says that the {n} near {l} is {a}, so we {v} the {n} {d}
there is no {n} in {l} {w}
the {n} for {j} was {v} by {p} and costs {k}
can you tell {p} that the {n} is {a} and the {n} has to be {v}
{j} needs a {a} {n}, and nobody has {v} the {n} yet
in {b} there is a {n} about a {a} {n} that nobody {v}
it took {k} until the {n} was {v}
she {v} my {n} and I {v} hers, which was {a} of us
if the {n} is not {v} {w} we lose the {n}
what happened to the {a} {n} that {p} {v} in {l}
the {n} went from {k} to {k} after the {n} was {v}
I would rather have the {n} {v} {d} than a {a} {n}
they {v} {d} without the {n}, although the {a} {n} was in the {n}
he has {v} the {n} {d} and will not do it for {j}
you were right about the {n}; it is the {n} that was {a}
for the {n} I have {v} a {n} from {l}
our {n} with {p} is {w}, and the {n} should be {v} by then
not one {n} in {b} is as {a} as the {n} we {v}
""".strip().splitlines()
_JOINS = (" and ", ", but ", ". ", ". ", ". ", "; ", " while ", " since ")
_OPENINGS = ("", "", "", "", "Yes, ", "No, ", "Well, ", "I think ", "As far as I know, ")
_UNITS = _of("cm euros minutes hours pages litres degrees percent metres rows")


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
        """A text unlike all before.

        Args:
            day: Dates in it are near this one.
            topic: Words it uses more than others.
            marked: Names stand in double brackets half of the time, as in notes.
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
            return f"{rng.randint(2, 999)} {rng.choice(_UNITS)}"
        if kind in self.names:
            name = self.names[kind].pick(rng)
            if kind == "b":
                return f"*{name}*"
            return f"[[{name}]]" if marked and rng.random() < 0.5 else name
        return {"v": words.verbs, "a": words.adjectives, "d": words.adverbs}[kind].pick(rng)


def named_things(count: int, rng: random.Random) -> dict[str, Words]:
    """People, places, projects and books, ``count`` in all; fewer are the first of more."""
    shares = {
        "p": (0.36, [f"{a} {b}" for b in _FAMILY for a in _GIVEN]),
        "l": (0.20, [a + b for b in _TAILS for a in _HEADS]),
        "j": (0.24, [a + b for b in _KINDS for a in _PROJECTS]),
        "b": (0.20, [f"The {a} {b}" for b in _SUBJECTS for a in _TITLES]),
    }
    found = {}
    for kind, (share, names) in shares.items():
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
