"""Nothing that is remembered, named or asked can steer the terminal that shows it (promise 15).

A store whose every text and name holds every control character but newline and tab, every mark that
turns the direction of writing, what has no width, and tags; a configuration, labels and logs with
the same; and all commands, as text, as JSON, with details, and at a terminal. Not one of those
characters may come out, on standard output or standard error. So with their arguments: a query, an
id, a path, the value of an option that is refused.

At a terminal ``TERM`` is ``dumb`` and ``NO_COLOR`` is set, so that what clsm itself would draw there
does not hide what others wrote.
"""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from faults.rig import Outcome, Rig
from faults.running.scenarios import NOW, environment
from faults.running.warm import Ended, Warm
from ingesting import new_store, scratch, take
from sleeping import sleep

from clsm_cli.embedding import weights
from clsm_cli.model.graph import Edge, Node
from clsm_cli.store import atomic, shards

_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_HIDDEN = (*range(0x200B, 0x2010), *range(0x2060, 0x2065), 0xFEFF, 0xAD, 0x061C, 0x2028, 0x2029)


def _bad() -> str:
    controls = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"]
    turning = [
        chr(code) for code in range(0x3000) if unicodedata.bidirectional(chr(code)) in _TURNING
    ]
    return "".join([*controls, *turning, *map(chr, (*_HIDDEN, *range(0xE0000, 0xE0080)))])


BAD = _bad()
"""What may not come out."""
_SET = frozenset(BAD)
EVIL = f"red \x1b[31m\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07 \x9b2J all {BAD} end"
NAME = "Mallory \x1b[2J\u202egnp\x9b31m\u200b\U000e0041"
_ARGUMENT = EVIL.replace("\0", "")


def _told(store: Path, folder: Path) -> None:
    """A store of such texts: told, slept over, and written into its files by hand."""
    made = new_store(store)
    rows: list[dict[str, object]] = [
        {"speaker": NAME, "session": NAME, "content": text, "timestamp": f"2026-02-24T08:0{n}:00Z", "id": NAME + str(n)}
        for n, text in enumerate((f"{NAME} moved to Leeds. {EVIL}", "I prefer tea.", EVIL, "Call the harbour."))
    ]  # fmt: skip
    rows.append({**rows[0], "role": "tool", "tool": {"name": NAME, "input": EVIL}, "content": EVIL})
    take(made, stdin="".join(json.dumps(row) + "\n" for row in rows).encode())
    note = folder / "evil \x1b[2J\u202e.md"
    note.write_text(f"---\ntitle: x\n---\n# {NAME}\n\n- [ ] call {NAME}\n\n{EVIL}\n")
    take(made, note)
    sleep(made, NOW)
    node = Node(id="evil", rev=(9, "pi"), label=NAME, aliases=(EVIL,), summary=EVIL, kind="person")
    twin = Node(id="evil2", rev=(9, "pi"), label=EVIL, kind="project")
    edge = Edge(
        id="g-0f3a9c12d08e", rev=(9, "pi"), source="evil", type="knows", target="evil2", n=3
    )
    for record in (node, twin, edge):
        path = made.graph("projects") / shards.shard_name(record.id, 1)
        atomic.make_folder(path.parent)
        old = shards.read(path).records
        path.write_bytes(shards.render([*(r for r in old if r.id != record.id), record]))
    (made.root / "identity" / "evil.md").write_text(f"---\ntitle: x\n---\n\n- {NAME} likes eels.\n")
    (made.root / "projects" / "broken.md").write_text(f"---\n{NAME}: [\n---\n\n- {EVIL}\n")
    row = {"id": "v-0f3a9c12d08e", "at": "2026-02-28T00:00:00Z", "about": "evil", "reason": EVIL}
    _add(made.flow / "review.jsonl", {**row, "kept": EVIL, "other": NAME, "state": "open"})
    _add(
        made.flow / "runs.jsonl",
        {"id": "run-0f3a9c12d08e", "command": NAME, "at": NOW, "changes": []},
    )
    (made.root / "eval").mkdir()
    (made.root / "eval" / "queries.yaml").write_text(
        f"queries:\n- query: {json.dumps(EVIL)}\n  evidence: [{json.dumps(NAME)}]\n"
    )


def _add(path: Path, row: dict[str, object]) -> None:
    with path.open("ab") as file:
        file.write(b"\n" + json.dumps(row).encode() + b"\n")


_ALL = ("-k", "1000", "--budget", "200000", "--min-score", "0", "--no-touch")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("recall", *_ALL, "--explain", "tea Leeds Mallory"),
    ("recall", *_ALL, "--format", "prompt", "red title end"),
    ("recall", "--no-touch", _ARGUMENT),
    ("status",), ("context",), ("context", "--format", "prompt"), ("graph",), ("graph", "evil"),
    ("graph", "--format", "dot"), ("graph", "--format", "json"), ("show", "evil"), ("show", "e-"),
    ("history", "evil"), ("history", NAME), ("review", "--all"), ("decay", "--dry-run", "--now", NOW),
    ("consolidate", "--dry-run", "--now", NOW), ("forget", "the Mallory matter", "--dry-run"), ("undo", "--dry-run"),
    ("forget", "--person", NAME, "--dry-run", "--now", NOW), ("pin", NAME, "--dry-run"),
    ("correct", "evil", _ARGUMENT, "--dry-run"), ("feedback", NAME, "--good", NAME),
    ("note", _ARGUMENT, "--dry-run"), ("ingest", NAME), ("ingest", "{note}", "--dry-run"),
    ("eval", "label"), ("eval", "run", NAME), ("doctor",), ("backup", "{folder}/" + NAME), ("restore", NAME),
    ("model", "status"), ("show", NAME), ("eval", "shadow", "report"), ("edit", NAME),
)  # fmt: skip
WRONG: tuple[tuple[str, ...], ...] = (
    ("recall", "--kind", NAME, "x"), ("recall", "--since", NAME, "x"), ("recall", "-k", NAME, "x"),
    ("recall", "--" + NAME, "x"), (NAME,), ("recall", "--format", NAME, "x"), ("graph", "--format", NAME),
    ("decay", "--now", NAME), ("init", "{store}", "--time-zone", NAME), ("eval", NAME),
    ("recall", "--batch", NAME), ("ingest", "--format", NAME, "x"),
    ("recall", "--store", NAME, "x"), ("undo", NAME), ("review", "--accept", NAME),
)  # fmt: skip
"""Words that are refused, and told."""
CONFIGS = (
    f"settings:\n  {json.dumps(NAME)}: 1\n",
    f"time_zone: {json.dumps(NAME)}\n",
    f"{NAME}\n",
    "format: 9\n",
)


def _leaks(ended: Ended, words: Sequence[str]) -> list[str]:
    """The characters that came out, a sentence a stream."""
    found = []
    for name, data in (("standard output", ended.out), ("standard error", ended.err)):
        bad = sorted(_SET & set(data.decode(errors="replace").replace("\r\n", "\n")))
        if bad:
            found.append(f"{' '.join(words)[:60]!r}: {len(bad)} kinds on {name}: {bad[:4]}")
    if ended.has_traceback:
        found.append(f"{' '.join(words)[:60]!r}: traceback {ended.err[-200:]!r}")
    return found


def _shown(every: int, *, model: bool) -> Iterator[Outcome]:
    weights.install(weights.default_folder())
    quiet = {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "80", "EDITOR": "true"}
    with scratch() as folder, Warm({**environment(folder, model=model), **quiet}) as clsm:
        store = folder / "memory"
        _told(store, folder)
        names = {
            "store": str(store),
            "folder": str(folder),
            "note": str(next(folder.glob("evil*.md"))),
        }

        def run(words: Sequence[str], *, terminal: bool = False) -> list[str]:
            named = [word.format(**names) if word.startswith("{") else word for word in words]
            where = [] if "--store" in words else ["--store", str(store)]
            ended = clsm(*named, *where, cwd=folder, terminal=terminal, seconds=120, stdin=b"q\n")
            return _leaks(ended, words)

        for title, forms in (
            ("text", [(words, False) for words in COMMANDS]),
            ("details", [((*words, "-v"), False) for words in COMMANDS]),
            ("JSON", [((*words, "--json"), False) for words in COMMANDS]),
            ("at a terminal", [(words, True) for words in COMMANDS]),
            ("wrong use", [(words, False) for words in WRONG]),
        ):
            outcome = Outcome("every command", title)
            begin = time.monotonic()
            for words, terminal in forms[len(title) % every :: every]:
                outcome.violations += run(words, terminal=terminal)
                outcome.planned += 1
                outcome.fired += 1
            outcome.seconds = time.monotonic() - begin
            yield outcome
        outcome = Outcome("clsm.yaml", "its error", planned=len(CONFIGS), fired=len(CONFIGS))
        config = (store / "clsm.yaml").read_text()
        for text in CONFIGS:
            (store / "clsm.yaml").write_text(text if "format" in text else config + text)
            outcome.violations += run(("status",))
        yield outcome


def short() -> Iterator[Outcome]:
    """Each command in one form or another."""
    yield from _shown(5, model=False)


def long() -> Iterator[Outcome]:
    """Each command in every form, with the model."""
    yield from _shown(1, model=True)


def control() -> Iterator[Outcome]:
    """What is remembered, printed as it is."""
    outcome = Outcome("print", "as it is", planned=1, fired=1)
    from faults.running.warm import Ended

    plain = Ended(0, EVIL.encode(errors="surrogatepass"), b"", 0.0, 0, False, frozenset())
    outcome.violations = _leaks(plain, ("print",))
    yield outcome


RIG = Rig("terminal", (15,), short, long, control)
