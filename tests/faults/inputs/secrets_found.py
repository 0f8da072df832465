"""Secrets are masked before anything is written, and ordinary text is not (promise 17).

The vectors of ``secret_kinds.tsv`` are strings that rules of four public scanners are meant to catch, and
what people write of passwords, PINs, cards and accounts in 22 languages. Prose is the text of this
project: documents, manual pages, the sample. End to end, one vector a kind is told by every way in
(a note, a transcript, a hook, what a tool was given and printed, a name, a heading), and no file of
the store and nothing that a command prints may hold it.

Strings are drawn at run time, each character from the class that the format allows there, with a
fixed seed: none was ever a key of anybody, and no file holds one. Numbers with check digits are
drawn until python-stdnum accepts them.
"""

import importlib
import json
import random
import re
import string
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from faults.inputs.hostile_inputs import FILLERS
from faults.rig import Outcome, Rig
from faults.running.laying import NOW
from faults.running.warm import Stage, stage

from clsm_cli.text import secrets
from clsm_cli.text.secrets import issued, labels

FILE = Path(__file__).with_name("secret_kinds.tsv")
EACH = 4
"""Strings a kind."""
_ALPHABET = string.ascii_letters + string.digits + "-_.+/="
_SECRET_PART = "value"
_WRITTEN = {
    "@key": ("{0}_API_KEY={1}", "{0} api key: {1}", '{0}_key: "{1}"', "the {0} API key is {1}"),
    "@token": ("{0}_TOKEN={1}", "{0} token: {1}", '"{0}_token": "{1}"', "the {0} token is {1}"),
    "@secret": ("{0}_SECRET={1}", "{0} secret: {1}", "{0}_secret = '{1}'", "{0} client secret: {1}"),
}  # fmt: skip
"""How the key of a service is written down."""


class Vector(NamedTuple):
    """A secret in its context.

    Attributes:
        is_held: Whether its kind was written down before the masks, and only reported.
        source: The scanner that has a rule for it, a language, or "prose".
    """

    is_held: bool
    source: str
    kind: str
    secret: str
    text: str


@cache
def load() -> list[Vector]:
    found = []
    for line in FILE.read_text("utf-8").splitlines():
        if line and line[0] != "#":
            half, source, kind, context, form = line.split("\t")
            found += [
                Vector(half == "held", source, kind, secret, _within(context, secret, number))
                for number, secret in enumerate(_drawn(form, f"{source} {kind} {form}"))
            ]
    return found


def _within(context: str, secret: str, number: int) -> str:
    way, _, service = context.partition(" ")
    if way in _WRITTEN:
        return _WRITTEN[way][number % 4].format(service, secret)
    return context.replace("{}", secret).replace("⏎", "\n")


def _drawn(form: str, seed: str) -> list[str]:
    how, found = re.match(r"(?:([a-z-]+):(?!/))?(.*)", form, re.DOTALL), []
    assert how is not None
    draw = _SPECIAL.get(how.group(1) or "")
    for number in range(40 * EACH):
        source = random.Random(f"{seed} {number}")
        text = draw(how.group(2), source) if draw else _matching(form, source)
        if text and text not in found:
            found.append(text)
        if len(found) == EACH:
            break
    return found


def _matching(pattern: str, source: random.Random) -> str:
    """A string that a pattern matches: its secret part, where it names one."""
    text = _Maker(source).of(re._parser.parse(pattern))  # type: ignore[attr-defined]
    match = re.search(pattern, text)
    if match is None:
        return ""
    names = match.groupdict()
    if _SECRET_PART in names and "variable" not in names:
        text = names[_SECRET_PART] or text
    return text.strip()


def _luhn(pattern: str, source: random.Random) -> str:
    from stdnum import luhn

    text = _matching(pattern, source)
    return text[:-1] + luhn.calc_check_digit(text[:-1])


def _grouped(text: str, mark: str = " ") -> str:
    return mark.join(text[place : place + 4] for place in range(0, len(text), 4))


def _halved(text: str, mark: str, place: int = 9) -> str:
    return f"{text[:place].rstrip()}{mark}{text[place:].lstrip()}"


def _iban(country: str, source: random.Random) -> str:
    from stdnum import iban

    forms = {"DE": r"\d{18}", "NL": r"[A-Z]{4}\d{10}", "GB": r"[A-Z]{4}\d{14}", "ES": r"\d{20}"}
    body = _matching(forms.get(country, r"\d{23}"), source)
    return country + iban.calc_check_digits(f"{country}00{body}") + body


def _stdnum(what: str, source: random.Random) -> str:
    name, _, pattern = what.partition(" ")
    text = _matching(pattern, source)
    return text if importlib.import_module(f"stdnum.{name}").is_valid(text) else ""


def _formatted(what: str, source: random.Random) -> str:
    text = _stdnum(what, source)
    name = what.partition(" ")[0]
    return importlib.import_module(f"stdnum.{name}").format(text) if text else ""


def _fiscale(_: str, source: random.Random) -> str:
    from stdnum.it import codicefiscale

    form = r"[BCDFGLMNPRSTVZ]{6}[5-9]\d[ABCDEHLMPRST](0[1-9]|1\d|2[0-8])H501"
    body = _matching(form, source)
    return body + codicefiscale.calc_check_digit(body)


def _words(count: str, source: random.Random) -> str:
    return _matching(" ".join(["[a-z]{4,7}"] * int(count)), source)


def _torn(mark: str, pattern: str, source: random.Random) -> str:
    text = _matching(pattern, source)
    place = source.randint(8, len(text) - 8)
    return text[:place] + mark + text[place:]


_SPECIAL: dict[str, Callable[[str, random.Random], str]] = {
    "luhn": _luhn,
    "luhn-groups": lambda form, source: _grouped(_luhn(form, source)),
    "luhn-dashes": lambda form, source: _grouped(_luhn(form, source), "-"),
    "luhn-dots": lambda form, source: _grouped(_luhn(form, source), "."),
    "luhn-lines": lambda form, source: _halved(_grouped(_luhn(form, source)), "\n"),
    "iban": _iban,
    "iban-groups": lambda form, source: _grouped(_iban(form, source)),
    "iban-small": lambda form, source: _grouped(_iban(form, source)).lower(),
    "iban-dashes": lambda form, source: _grouped(_iban(form, source), "-"),
    "iban-half": lambda form, source: _halved(_iban(form, source), " ", 4),
    "stdnum": _stdnum,
    "stdnum-fmt": _formatted,
    "fiscale": _fiscale,
    "words": _words,
    "zero": lambda form, source: _torn("\u200b", form, source),
    "soft": lambda form, source: _torn("\u00ad", form, source),
    "broken": lambda form, source: _torn("\n", form, source),
}


class _Maker:
    """Strings that match a pattern; of an open end as few characters as it asks for, and some."""

    def __init__(self, source: random.Random) -> None:
        self._random = source
        self._groups: dict[int, str] = {}

    def of(self, parsed: Any) -> str:
        return "".join(self._one(str(name), value) for name, value in parsed)

    def _one(self, name: str, value: Any) -> str:  # noqa: C901, PLR0911  # one case a kind of node
        if name == "LITERAL":
            return chr(value)
        if name == "NOT_LITERAL":
            return self._random.choice([c for c in _ALPHABET if c != chr(value)])
        if name == "ANY":
            return self._random.choice(_ALPHABET)
        if name == "IN":
            return self._random.choice(_members(value))
        if name == "BRANCH":
            return self.of(self._random.choice(value[1]))
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeated(*value)
        if name == "SUBPATTERN":
            text = self.of(value[3])
            if value[0] is not None:
                self._groups[value[0]] = text
            return text
        if name == "GROUPREF":
            return self._groups.get(value, "")
        if name == "GROUPREF_EXISTS":
            return self.of(value[1] if self._groups.get(value[0]) else value[2] or [])
        return ""  # places, looks ahead and back

    def _repeated(self, low: Any, high: Any, inner: Any) -> str:
        most = min(int(high), max(int(low), 80))
        if "SPACE" in str(inner) and "NEGATE" not in str(inner):
            most = max(int(low), 1)
        if int(low) == 0:  # what is optional adds nothing to a key
            return ""
        return "".join(self.of(inner) for _ in range(self._random.randint(int(low), most)))


def _members(items: Any) -> str:
    chosen = "".join(_of_class(str(name), value) for name, value in items)
    if str(items[0][0]) == "NEGATE":
        return "".join(c for c in _ALPHABET if c not in chosen)
    return "".join(c for c in chosen if c.isprintable()) or chosen


def _of_class(name: str, value: Any) -> str:
    if name == "LITERAL":
        return chr(value)
    if name == "RANGE":
        return "".join(map(chr, range(value[0], min(value[1], 126) + 1)))
    if name == "CATEGORY":
        plain = string.ascii_letters + string.digits
        return {"CATEGORY_DIGIT": string.digits, "CATEGORY_SPACE": " "}.get(str(value), plain)
    return ""


FOUND = 0.95
"""Share of the vectors that must be found."""
FALSE_ALARMS = 1.0
"""Lines of a thousand of prose that may be masked."""
LINE = 0.001
"""Seconds that a line may take, in the mean."""
SLOWEST = 5.0
"""Seconds that 100 kB may take."""
_ROOT = Path(__file__).parents[3]
_PROSE = ("*.md", "docs/*.md", "man/*.1", "fixtures/**/*.md", "fixtures/**/*.jsonl")


def _found(mask: Callable[[str], secrets.MaskedText]) -> Iterator[Outcome]:
    """Kinds of which all is masked; those that were written down first and those that were not."""
    for is_held, name in ((False, "kinds of secrets"), (True, "kinds written before the masks")):
        outcome = Outcome(name, "in a sentence, a setting, a cell")
        left: Counter[str] = Counter()
        for vector in (each for each in load() if each.is_held == is_held):
            masked = mask(vector.text)
            outcome.tried()
            is_left = vector.secret in masked.text or not masked.counts
            left[f"{vector.source} {vector.kind}"] += is_left
        lost = sorted(kind for kind, n in left.items() if n)
        share = 1 - len(lost) / len(left)
        outcome.more = f"{share:.1%} of {len(left)} kinds; not always: {', '.join(lost) or 'none'}"
        if share < FOUND:
            outcome.violations.append(f"only {outcome.more}")
        yield outcome


def prose() -> list[str]:
    """The lines of text that this project has; of its records the sentences without a label."""
    files = sorted({path for pattern in _PROSE for path in _ROOT.glob(pattern)})
    lines: list[str] = []
    for path in files:
        is_set = path.suffix == ".jsonl"
        lines += sentences(path) if is_set else path.read_text("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip()]


def sentences(path: Path) -> Iterator[str]:
    """The texts of several words in JSON lines; people of invented memories tell codes after a label."""
    for row in path.read_text("utf-8", "replace").split("\n"):
        try:
            told = json.loads(row)
        except (ValueError, RecursionError):  # some sets have such rows, to be refused
            told = row
        yield from (text for text in _texts(told) if " " in text and not labels.has_label(text))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.splitlines()
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _alarms(mask: Callable[[str], secrets.MaskedText], every: int) -> Outcome:
    lines = prose()[::every]
    outcome = Outcome("prose of this project", "no secret in it", len(lines), len(lines))
    begin = time.process_time()
    alarms = [line for line in lines if mask(line).counts]
    cost = (time.process_time() - begin) / len(lines)
    rate = 1000 * len(alarms) / len(lines)
    outcome.more = f"{rate:.2f} false alarms in 1,000 lines; {1000 * cost:.2f} ms a line"
    if len(lines) < 2000:
        outcome.violations.append(f"only {len(lines)} lines of prose")
    if rate > FALSE_ALARMS:
        outcome.violations += [f"false alarm: {line[:120]}" for line in alarms]
    if cost > LINE:
        outcome.violations.append(f"takes {1000 * cost:.2f} ms a line")
    return outcome


def _chosen(every: int) -> list[Vector]:
    """The first vector of some kinds whose form alone tells it, as it does in a name."""
    found: dict[str, Vector] = {}
    for vector in load():
        is_told = vector.text == f"I noted {vector.secret} for later."
        if is_told and issued.find(vector.secret):
            found.setdefault(vector.kind, vector)
    return list(found.values())[::every]


def _core(text: str) -> str:
    """What is masked of a vector, where it stands as it does here."""
    masked = secrets.mask(text).text
    head, _, rest = masked.partition("[masked:")
    tail = rest.partition("]")[2].partition("[masked:")[0]
    end = text.find(tail, len(head)) if tail else len(text)
    return text[len(head) : end]


def _told(told: Sequence[Vector], folder: Path) -> None:
    """Every way in, each with every vector."""
    rows: list[dict[str, object]] = []
    note = ["# Keys\n"]
    for number, vector in enumerate(told):
        said = f"The key is {vector.secret} and no other."
        at = f"2026-02-24T{8 + number % 12:02}:{number // 12:02}:00Z"
        common = {"session": "main", "timestamp": at}
        tool, part = {"name": "sh", "input": f"echo {said}"}, {"type": "text", "text": said}
        rows += [
            {**common, "speaker": "Mara", "content": said},
            {**common, "role": "tool", "tool": tool, "content": said},
            {**common, "role": "assistant", "content": [part], "id": f"m{number}"},
        ]
        note.append(f"## Of {said}\n\n- {said}\n")
    (folder / "chat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "MEMORY.md").write_text("\n".join(note))


def _names(vector: Vector) -> list[dict[str, object]]:
    """A vector as a name: of a speaker, a session, a tool, a message."""
    row = {"content": "Good morning to all of you.", "timestamp": "2026-02-25T08:00:00Z"}
    return [{**row, name: vector.secret} for name in ("speaker", "session", "id", "tool")]


def _end_to_end(every: int, *, model: bool) -> Iterator[Outcome]:
    with stage(Stage, model=model) as clsm:
        outcome = Outcome("note, ingest, hook, consolidate, recall", "a key in every way in")
        told, folder = _chosen(every), clsm.cwd
        _told(told, folder)
        shown = b""
        hook = "".join(json.dumps(row) + "\n" for vector in told for row in _names(vector)).encode()
        for words in (
            ("ingest", folder / "chat.jsonl", "--now", NOW, "-v"),
            ("ingest", folder / "MEMORY.md", "--now", NOW, "-v"),
            ("ingest", "-", "--capture", "--json"),
            *(("note", f"The key is {vector.secret} and no other.") for vector in told[:3]),
            ("consolidate", "--now", NOW, "-v"),
            ("recall", "-k", "1000", "--budget", "200000", "--min-score", "0", "key"),
            ("context",), ("graph", "--format", "json"), ("status", "-v"),
        ):  # fmt: skip
            ended = clsm(*words, stdin=hook if "-" in words else b"")
            outcome.violations += [f"{words[0]}: {t}" for t in ended.faults(frozenset({0, 15}))]
            shown += ended.out + ended.err
        files = {path.relative_to(clsm.store): path for path in clsm.store.rglob("*")}
        held = {str(name): path.read_bytes() for name, path in files.items() if path.is_file()}
        for vector in told:
            core = _core(vector.secret).encode()
            leaks = [name for name, data in held.items() if core in data]
            leaks += ["what was printed"] if core in shown else []
            outcome.tried(f"{vector.kind}: {core!r} is in {leak}" for leak in leaks)
        if b"[masked:" not in b"".join(held.values()):
            outcome.violations.append("nothing was masked: nothing was told")
        outcome.more = f"{len(held)} files looked through"
        yield outcome


def _slow(mask: Callable[[str], object], fillers: Sequence[str], most: float = SLOWEST) -> Outcome:
    """That no text of 100 kB takes long."""
    outcome = Outcome("the mask", "100 kB of fillers")
    for filler in fillers:
        began = time.process_time()
        mask(filler * (100_000 // len(filler)))
        took = time.process_time() - began
        outcome.tried([f"{took:.2f} s on {filler!r}"] if took > most else [])
    return outcome


def _all(every: int, fillers: Sequence[str], *, model: bool) -> Iterator[Outcome]:
    """All vectors; some lines of prose, and some kinds end to end."""
    yield from _found(secrets.mask)
    yield _alarms(secrets.mask, every)
    yield from _end_to_end(every, model=model)
    yield _slow(secrets.mask, fillers)


def _by_entropy(text: str) -> secrets.MaskedText:
    """Every long word with a digit is a secret, and nothing else is."""
    long_words = [w for w in text.split() if len(w) > 7 and any(c.isdigit() for c in w)]
    return secrets.MaskedText(text, {"secret": len(long_words)} if long_words else {})


def _one_prefix(text: str) -> secrets.MaskedText:
    return secrets.MaskedText(text, {"secret": 1} if "ghp_" in text else {})


def _control() -> Iterator[Outcome]:
    """A mask that knows one prefix, one that goes by looks, and one that takes its time."""
    yield from _found(_one_prefix)
    yield _alarms(_by_entropy, 8)
    yield _slow(lambda text: [text.count(c) for c in text[:2000]], ("a",), most=0.02)


RIG = Rig(
    "secrets",
    promises=(17,),
    short=lambda: _all(8, ("a", "A1", "-", "eyJ", "password=", "://a:"), model=False),
    long=lambda: _all(1, [*FILLERS, *(vector.secret for vector in load()[::29])], model=True),
    control=_control,
)
