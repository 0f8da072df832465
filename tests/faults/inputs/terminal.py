"""Nothing that is remembered, named or asked can steer the terminal that shows it (promise 15).

A store whose every text and name holds every control character but newline and tab, every mark that
turns the direction of writing, what has no width, and tags; a configuration, labels and logs with
the same; and all commands, as text, as JSON, with details, and at a terminal. Not one of those
characters may come out, on standard output or standard error. So with their arguments: a query, an
id, a path, the value of an option that is refused.

At a terminal ``TERM`` is ``dumb`` and ``NO_COLOR`` is set, so that what clsm itself would draw there
does not hide what others wrote.
"""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from aging import write
from faults.rig import Outcome, Rig
from faults.running.laying import NOW
from faults.running.warm import Stage, stage
from forking import Ended
from ingesting import opened, take
from sleeping import sleep

from clsm_cli.model.graph import Edge, Node
from clsm_cli.store import record_files

_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_HIDDEN = (*range(0x200B, 0x2010), *range(0x2060, 0x2065), 0xFEFF, 0xAD, 0x061C, 0x2028, 0x2029)

BAD = "".join(
    [
        *(c for c in map(chr, range(0x20)) if c not in "\n\t"),
        *map(chr, range(0x7F, 0xA0)),
        *(c for c in map(chr, range(0x3000)) if unicodedata.bidirectional(c) in _TURNING),
        *map(chr, (*_HIDDEN, *range(0xE0000, 0xE0080))),
    ]
)
"""What may not come out."""
EVIL = f"red \x1b[31m\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07 \x9b2J all {BAD} end"
NAME = "Mallory \x1b[2J\u202egnp\x9b31m\u200b\U000e0041"
_ARGUMENT = EVIL.replace("\0", "")


def _told(store: Path, folder: Path) -> None:
    """A store of such texts: told, slept over, and written into its files by hand."""
    made = opened(store)
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
    rev = (9, "pi")
    records = (
        Node(id="evil", rev=rev, label=NAME, aliases=(EVIL,), summary=EVIL, kind="person"),
        Node(id="evil2", rev=rev, label=EVIL, kind="project"),
        Edge(id="g-0f3a9c12d08e", rev=rev, source="evil", type="knows", target="evil2", n=3),
    )
    write(made, record_files.plan_records(made, "projects", records))
    row = {"id": "v-0f3a9c12d08e", "at": "2026-02-28T00:00:00Z", "about": "evil", "reason": EVIL}
    review = json.dumps({**row, "kept": EVIL, "other": NAME, "state": "open"})
    run = json.dumps({"id": "run-0f3a9c12d08e", "command": NAME, "at": NOW, "changes": []})
    for name, text in (
        ("identity/evil.md", f"---\ntitle: x\n---\n\n- {NAME} likes eels.\n"),
        ("projects/broken.md", f"---\n{NAME}: [\n---\n\n- {EVIL}\n"),
        ("flow/pi/review.jsonl", f"\n{review}\n"),
        ("flow/pi/runs.jsonl", f"\n{run}\n"),
    ):
        path = store / name
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            file.write(text)


_ALL = ("-k", "1000", "--budget", "200000", "--min-score", "0", "--no-touch")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("recall", *_ALL, "--explain", "tea Leeds Mallory"),
    ("recall", *_ALL, "--format", "prompt", "red title end"),
    ("recall", "--no-touch", _ARGUMENT),
    ("status",), ("context",), ("context", "--format", "prompt"), ("graph",), ("graph", "evil"),
    ("graph", "--format", "graphml"), ("graph", "--format", "json"), ("show", "evil"), ("show", "e-"),
    ("history", "evil"), ("history", NAME), ("review", "--all"), ("decay", "--dry-run", "--now", NOW),
    ("consolidate", "--dry-run", "--now", NOW), ("forget", "the Mallory matter", "--dry-run"), ("undo", "--dry-run"),
    ("forget", "--person", NAME, "--dry-run", "--now", NOW), ("pin", NAME, "--dry-run"),
    ("correct", "evil", _ARGUMENT, "--dry-run"), ("feedback", NAME, "--good", NAME),
    ("note", _ARGUMENT, "--dry-run"), ("ingest", NAME), ("ingest", "{note}", "--dry-run"),
    ("eval", "run", NAME), ("doctor",), ("backup", "{folder}/" + NAME), ("restore", NAME),
    ("model", "status"), ("show", NAME), ("eval", "shadow"), ("edit", NAME),
)  # fmt: skip
WRONG: tuple[tuple[str, ...], ...] = (
    ("recall", "--kind", NAME, "x"), ("recall", "--since", NAME, "x"), ("recall", "-k", NAME, "x"),
    ("recall", "--" + NAME, "x"), (NAME,), ("--" + NAME,), ("recall", "--format", NAME, "x"), ("graph", "--format", NAME),
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
        bad = sorted({*BAD} & set(data.decode(errors="replace").replace("\r\n", "\n")))
        if bad:
            found.append(f"{' '.join(words)[:60]!r}: {len(bad)} kinds on {name}: {bad[:4]}")
    if ended.has_traceback:
        found.append(f"{' '.join(words)[:60]!r}: traceback {ended.err[-200:]!r}")
    return found


def _shown(every: int, *, model: bool) -> Iterator[Outcome]:
    quiet = {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "80", "EDITOR": "true"}
    with stage(Stage, model=model, **quiet) as clsm:
        store, folder = clsm.store, clsm.folder
        _told(store, folder)
        note = str(next(folder.glob("evil*.md")))
        names = {"store": str(store), "folder": str(folder), "note": note}

        def run(words: Sequence[str], *, terminal: bool = False) -> list[str]:
            named = [word.format(**names) if word.startswith("{") else word for word in words]
            where = [] if "--store" in words else ["--store", str(store)]
            more: dict[str, Any] = {"terminal": terminal, "seconds": 120.0, "stdin": b"q\n"}
            return _leaks(clsm.clsm(*named, *where, cwd=folder, **more), words)

        forms = {
            "text": COMMANDS,
            "details": [(*words, "-v") for words in COMMANDS],
            "JSON": [(*words, "--json") for words in COMMANDS],
            "at a terminal": COMMANDS,
            "wrong use": WRONG,
        }
        for title, asked in forms.items():
            outcome = Outcome("every command", title)
            for words in asked if asked is WRONG else asked[len(title) % every :: every]:
                outcome.tried(run(words, terminal=title == "at a terminal"))
            yield outcome
        outcome = Outcome("clsm.yaml", "its error")
        config = (store / "clsm.yaml").read_text()
        for text in CONFIGS:
            (store / "clsm.yaml").write_text(text if "format" in text else config + text)
            outcome.tried(run(("status",)))
        yield outcome


def _control() -> Iterator[Outcome]:
    """What is remembered, printed as it is."""
    outcome = Outcome("print", "as it is")
    outcome.tried(_leaks(Ended(0, EVIL.encode(errors="surrogatepass"), b""), ("print",)))
    yield outcome


RIG = Rig(
    "terminal",
    promises=(15,),
    short=lambda: _shown(5, model=False),
    long=lambda: _shown(1, model=True),
    control=_control,
)
