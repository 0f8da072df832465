"""Secrets are masked before anything is written, and ordinary text is not (promise 17).

The vectors of ``secret_kinds`` are strings that rules of four public scanners are meant to catch, and
what people write of passwords, PINs, cards and accounts in 22 languages. Prose is the text of this
project: documents, manual pages, the sample. End to end, one vector a kind is told by every way in
(a note, a transcript, a hook, what a tool was given and printed, a name, a heading), and no file of
the store and nothing that a command prints may hold it.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from faults.inputs.hostile_inputs import FILLERS
from faults.inputs.secret_kinds import Vector, load
from faults.rig import Outcome, Rig
from faults.running.laying import NOW
from faults.running.warm import stage

from clsm_cli.text import secrets

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
    """The lines of text that this project has."""
    files = sorted({path for pattern in _PROSE for path in _ROOT.glob(pattern)})
    texts = (path.read_text("utf-8", "replace") for path in files)
    return [line for text in texts for line in text.splitlines() if line.strip()]


def _alarms(mask: Callable[[str], secrets.MaskedText]) -> Outcome:
    lines = prose()
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
        if is_told and secrets.mask(vector.secret).counts:
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
    with stage(model=model) as clsm:
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


def _slow(mask: Callable[[str], object], fillers: Sequence[str]) -> Outcome:
    """That no text of 100 kB takes long."""
    outcome = Outcome("the mask", "100 kB of fillers")
    for filler in fillers:
        began = time.process_time()
        mask(filler * (100_000 // len(filler)))
        took = time.process_time() - began
        outcome.tried([f"{took:.2f} s on {filler!r}"] if took > SLOWEST else [])
    return outcome


def _all(every: int, fillers: Sequence[str], *, model: bool) -> Iterator[Outcome]:
    """All vectors and prose; some kinds end to end."""
    yield from _found(secrets.mask)
    yield _alarms(secrets.mask)
    yield from _end_to_end(every, model=model)
    yield _slow(secrets.mask, fillers)


def _by_entropy(text: str) -> secrets.MaskedText:
    """Every long word with a digit is a secret, and nothing else is."""
    long_words = [w for w in text.split() if len(w) > 7 and any(c.isdigit() for c in w)]
    return secrets.MaskedText(text, {"secret": len(long_words)} if long_words else {})


def _one_prefix(text: str) -> secrets.MaskedText:
    return secrets.MaskedText(text, {"secret": 1} if "ghp_" in text else {})


def _control() -> Iterator[Outcome]:
    """A mask that knows one prefix, one that goes by looks, and a pattern that takes for ever."""
    yield from _found(_one_prefix)
    yield _alarms(_by_entropy)
    yield _slow(lambda text: [text.count(c) for c in text for _ in range(9)], ("a",))


RIG = Rig(
    "secrets",
    promises=(17,),
    short=lambda: _all(8, ("a", "A1", "-", "eyJ", "password=", "://a:"), model=False),
    long=lambda: _all(1, [*FILLERS, *(vector.secret for vector in load()[::29])], model=True),
    control=_control,
)
