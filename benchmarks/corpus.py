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


_NOUNS = """
water time house door day letter key table morning garden river bread light book window kitchen road
money night paper week stove bridge phone box boat report list number sensor meeting pump train cup
battery cable shelf budget coffee question shop office chapter note picture bed ticket map plan roof
shoe form coat file page answer song wall bag lamp stone tree bicycle bill station film card reason
rain screw street dog lock hour pipe printer server backup script log branch query index test parser
release folder queue token error server password account update schedule draft review deadline
contract invoice lease tax receipt salary bank loan rent deposit insurance claim permit visa passport
doctor dentist nurse clinic medicine tablet fever tooth knee shoulder blood sleep dream breath cough
allergy diet pulse therapy appointment mother father sister brother uncle aunt cousin neighbour friend
teacher pupil class lesson exam thesis lecture library museum concert theatre ticket festival wedding
birthday funeral party guest gift candle cake dinner lunch breakfast soup salad cheese butter egg flour
sugar salt pepper garlic onion tomato potato carrot bean apple pear plum cherry lemon grape honey jam
tea kettle pan pot bowl plate fork knife spoon glass bottle jar oven fridge freezer sink tap bath towel
soap mirror comb brush carpet curtain chair sofa desk drawer cupboard ladder bucket broom hammer nail
saw drill wire fuse switch plug socket bulb motor wheel tyre brake chain saddle engine clutch gear valve
hose tank gauge meter scale clock watch alarm bell whistle camera lens tripod screen keyboard mouse
speaker microphone radio antenna router modem disk driver kernel compiler module package library table
column row record field cache thread process signal buffer socket stream packet port address domain
certificate cluster container image volume network firewall proxy gateway endpoint request response
header payload schema migration rollback deploy patch commit merge conflict issue ticket milestone
roadmap sprint backlog demo prototype sketch diagram chart graph figure model weight vector matrix
sample label score threshold metric baseline experiment result trend average median variance outlier
noise filter curve slope peak valley hill mountain lake pond marsh meadow field forest path gate fence
hedge ditch canal dike sluice harbour quay pier anchor mast sail rope knot net oar ferry tide wave storm
wind cloud fog frost snow ice thaw flood drought heat sun moon star sky horizon dawn dusk season spring
autumn winter summer calendar month year century history archive ledger diary journal notebook pencil
pen ink stamp envelope parcel postcard newspaper article column editor author poem novel essay proof
theorem lemma axiom argument premise fallacy paradox theory doctrine virtue duty promise trust debt
stake steward council mayor vote ballot party law court judge witness verdict statute treaty border
war peace soldier uniform medal flag anthem temple church monk prayer bell choir organ violin cello
piano flute drum guitar melody chord rhythm tempo rehearsal stage actor script mask puppet circus
carnival game chess puzzle dice card ball racket goal match league referee coach runner race finish
lap pool lane rower paddle canoe tent stove lantern compass trail summit cabin hut campfire picnic
bird heron swallow sparrow crow gull owl goose duck swan cat kitten puppy horse goat sheep cow pig hen
fish eel trout carp bee wasp ant moth spider snail frog toad newt hedgehog fox deer hare mole seed bulb
root stem leaf bud petal thorn moss fern ivy willow oak birch elm pine compost soil spade rake shears
greenhouse trellis orchard vineyard barn stable mill bakery brewery dairy market stall counter till
customer supplier courier driver passenger conductor pilot captain sailor mechanic plumber electrician
carpenter mason painter tailor cobbler baker butcher grocer barber gardener librarian archivist curator
"""
_VERBS = """
moved checked opened finished asked wanted used needed started changed called helped answered closed
fixed cleaned watched cooked carried painted planted measured counted ordered returned borrowed dropped
repaired replaced printed posted signed filed sorted tested logged copied renamed deleted restored
deployed merged reviewed rejected approved delayed cancelled booked planned scheduled postponed promised
explained mentioned described compared doubted trusted blamed praised thanked invited visited followed
passed crossed reached entered missed saved wasted earned spent collected delivered packed wrapped
labelled stored emptied filled washed dried ironed mended patched stitched glued nailed screwed drilled
sanded polished oiled charged plugged unplugged switched tuned calibrated sampled recorded plotted
averaged estimated predicted guessed corrected rewrote shortened translated quoted cited summarised
discussed argued denied admitted noticed ignored remembered recalled recognised regretted enjoyed
dreaded avoided attempted repeated practised rehearsed performed attended applauded photographed
sketched carved folded unfolded stacked balanced weighed sliced chopped peeled boiled baked roasted
grilled salted tasted poured stirred mixed kneaded watered weeded pruned harvested raked dug fenced
locked unlocked knocked blocked cleared swept shovelled heated cooled ventilated insulated sealed
drained flooded leaked soaked pumped lifted lowered pulled pushed dragged rolled tied untied anchored
steered rowed sailed towed parked reversed overtook inspected audited invoiced refunded insured
"""
_ADJECTIVES = """
good new old small long late early open warm cold dry wet quiet loud heavy light short broken clean
dirty empty full cheap expensive slow quick strong weak soft hard bright dark blue green red yellow
white black grey brown wooden rusty leaky noisy narrow wide deep shallow steep flat round square sharp
blunt thick thin tight loose fresh stale sweet sour bitter salty ripe raw frozen hot mild damp foggy
windy sunny cloudy stormy calm busy idle tired awake hungry thirsty ill healthy nervous patient careful
careless honest stubborn generous polite rude curious bored proud shy brave afraid lonely famous strange
familiar foreign local public private secret legal annual weekly daily monthly final recent ancient
modern temporary permanent partial complete missing spare double single second third last next main
minor major critical urgent optional mandatory manual automatic digital analogue wireless solar electric
hydraulic magnetic acoustic optical nautical botanical medical financial historical theoretical
practical statistical logical musical literary municipal regional coastal rural urban northern southern
eastern western
"""
_ADVERBS = """
again twice slowly quickly quietly carefully finally already usually rarely often yesterday today
tonight tomorrow early late together alone outside inside upstairs downstairs abroad online properly
badly almost nearly hardly clearly apparently probably certainly suddenly gradually eventually briefly
"""
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
    nouns, verbs = _shuffled(_NOUNS, rng), _shuffled(_VERBS, rng)
    adjectives, adverbs = _shuffled(_ADJECTIVES, rng), _shuffled(_ADVERBS, rng)
    short = [noun for noun in nouns if len(noun) <= 6]
    compounds = [a + b for a in short[:260] for b in short[:160] if a != b]
    rng.shuffle(compounds)
    marked = [verb_prefix + verb for verb_prefix in ("re", "over", "out", "mis") for verb in verbs]
    shaded = [noun + ending for noun in short for ending in ("less", "like", "bound", "proof")]
    rng.shuffle(marked)
    rng.shuffle(shaded)
    return Vocabulary(
        ranked(nouns + compounds, _OFFSET),
        ranked(verbs + marked, _OFFSET),
        ranked(adjectives + shaded, _OFFSET),
        ranked(adverbs, _OFFSET),
    )


def _shuffled(text: str, rng: random.Random) -> list[str]:
    words = sorted(set(text.split()))
    rng.shuffle(words)
    return words


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
