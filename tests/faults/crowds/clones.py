"""One of several machines with one memory: what its owner and their agent do to it, and what they were told.

Every command is the real one, in a process of its own (``warm``); git is real too, without a line
of set-up in the clone. A machine remembers each text that a command acknowledged, until an act of
somebody takes it away again.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.running.warm import Warm
from forking import Ended
from using_git import git

from clsm_cli.forgetting import selection
from clsm_cli.store import layout, logs

PEOPLE = ("Mara", "Brian", "Jonas", "Lena")
FACTS = (
    "{who} lives in {place}.",
    "{who} works as a {job}.",
    "{who} takes the coffee {way}.",
    "{who} is {number} years old.",
    "I always write to {who} on {day}.",
    "Remember: never call {who} on {day}.",
    "We decided to use {tool} for the archive.",
    "The archive uses {tool}.",
    "Please remind me to call {who} on {day}.",
    "{who} and {other} met in {place}.",
    "I moved to {place}.",
)
WORDS: Mapping[str, tuple[str, ...]] = {
    "who": PEOPLE,
    "other": PEOPLE,
    "place": ("York", "Ghent", "Porto", "Malmö"),
    "job": ("pilot", "nurse", "carpenter"),
    "way": ("black", "with milk", "sweet"),
    "number": ("31", "42", "57"),
    "day": ("Monday", "Friday", "Sunday"),
    "tool": ("SQLite", "Postgres", "plain files"),
}
REFUSALS = {
    "undo": (0, 17),
    "correct": (0, 2, 12, 17),
    "forget": (0, 12, 17),
    "edit": (0, 12, 17),
    "pin": (0, 12),
    "unpin": (0, 12),
}
"""Exit codes of commands that may find nothing to do, or more than they dare."""


@dataclass
class Clone:
    """A machine.

    Attributes:
        told: Texts that were acknowledged here and that nobody took away, and by what.
        thinned: Conversations that some machine forgot a turn of since all met.
    """

    root: Path
    device: str
    warm: Warm
    rng: random.Random
    thinned: set[str]
    number: int = 0
    now: str = ""
    told: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    violations: list[str] = field(default_factory=list)
    done: dict[str, int] = field(default_factory=dict)
    judged: list[tuple[str, str]] = field(default_factory=list)
    took: list[str] = field(default_factory=list)

    @property
    def store(self) -> layout.Store:
        return layout.open_store(self.root, {"CLSM_DEVICE": self.device})

    def act(self) -> None:
        """Do something at random."""
        acts: list[tuple[int, Callable[[], Any]]] = [
            (6, self.note), (6, self.speak), (5, self.write_document),
            (6, lambda: self.answer("ingest")),
            (6, self.sleep), (3, self.correct), (3, self.pin), (4, self.edit_by_hand),
            (2, self.edit), (2, self.judge), (2, self.decide), (2, self.forget), (3, self.undo),
            (2, lambda: self.answer("decay")),
        ]  # fmt: skip
        self.rng.choices([each for _, each in acts], [weight for weight, _ in acts])[0]()

    def clsm(self, *words: str, stdin: str = "", editor: str = "") -> Ended:
        """Run a command; one that ends as it must not is a violation."""
        self.done[words[0]] = self.done.get(words[0], 0) + 1
        ended = self.warm(
            *words, "--now", self.now, "--json",
            stdin=stdin.encode(), cwd=self.root.parent,
            HOME=str(self.root.parent), CLSM_DEVICE=self.device, CLSM_STORE=str(self.root),
            EDITOR=editor,
        )  # fmt: skip
        codes = frozenset(REFUSALS.get(words[0], (0,)))
        self.violations += [
            f"{self.device}: {' '.join(words)}: {text}" for text in ended.faults(codes)
        ]
        return ended

    def answer(self, *words: str, **more: Any) -> dict[str, Any]:
        """The same; what it printed, {} when it failed."""
        ended = self.clsm(*words, **more)
        return dict(json.loads(ended.out)) if ended.code == 0 else {}

    def sentence(self) -> str:
        """Something that may be said, never the same twice."""
        self.number += 1
        words = {name: self.rng.choice(choices) for name, choices in WORDS.items()}
        mark = f"{self.device}{self.number}"
        return f"{self.rng.choice(FACTS).format(**words)} Ticket {mark} is open."

    def note(self) -> None:
        text = self.sentence()
        if self.answer("note", text):
            self.told[text] = "note"

    def speak(self) -> None:
        """A hook writes down some turns of a conversation that may go on on every machine."""
        session = self.rng.choice(["main", f"own-{self.device}"])
        texts = [self.sentence() for _ in range(self.rng.randrange(1, 4))]
        said = {"session": session, "timestamp": self.now}
        rows = [{**said, "role": "user", "speaker": "Ann", "content": text} for text in texts]
        rows += [{**said, "type": "end"}] if self.rng.random() < 0.3 else []
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        if self.answer("ingest", "-", "--capture", stdin=lines):
            self.told |= dict.fromkeys(texts, "ingest --capture")

    def write_document(self) -> None:
        """A living document of one name on every machine changes, and is ingested."""
        path = self.root.parent / "MEMORY.md"
        lines = path.read_text().splitlines() if path.exists() else ["# Memory", ""]
        for _ in range(self.rng.randrange(1, 4)):
            lines.append(f"- {self.sentence()}")
        if len(lines) > 6 and self.rng.random() < 0.4:
            del lines[self.rng.randrange(2, len(lines))]
        path.write_text("\n".join(lines) + "\n")
        if self.answer("ingest", str(path)):
            self.told |= {line[2:]: "ingest" for line in lines if line.startswith("- ")}

    def sleep(self) -> None:
        how = self.rng.choice([(), (), ("--limit", "2"), ("--rebuild",)])
        self.answer("consolidate", "--yes", *how)

    def held(self) -> selection.StoreContents:
        """All that this machine's files hold."""
        return selection.read_store(self.store, "2026-01-01T00:00:00Z")

    def some_statement(self) -> Any:
        """A current statement that stands in Markdown; None where there is none."""
        rows = [r for r in self.held().statements.values() if r.is_current and r.stream != "flow"]
        return self.rng.choice(rows) if rows else None

    def correct(self) -> None:
        row = self.some_statement()
        if row is not None:
            self.number += 1
            text = f"Since {self.device}{self.number} {row.subject or 'it'} is another matter."
            if self.answer("correct", row.id, text, *self.rng.choice([(), ("--never",)])):
                self.told[text] = "correct"

    def pin(self) -> None:
        rows = sorted(self.held().records)
        if rows:
            self.clsm(self.rng.choice(["pin", "pin", "unpin"]), self.rng.choice(rows))

    def edit(self) -> None:
        """A person changes the text of a statement in an editor."""
        row = self.some_statement()
        if row is not None:
            self.number += 1
            text = f"Edited {self.device}{self.number} by hand."
            script = "import re,sys; p=sys.argv[1]; s=open(p).read(); open(p,'w').write(re.sub(r'(?m)^text:.*(\\n .*)*$', 'text: %s', s))"
            editor = f'{sys.executable} -c "{script % text}"'
            if self.answer("edit", row.id, editor=editor):
                self.told[text] = "edit"
                self.took.append(row.text)

    def edit_by_hand(self) -> None:
        """A person opens a topic file and adds, changes, ticks, moves or removes a line."""
        paths = sorted(
            p for s in ("identity", "projects", "tasks") for p in (self.root / s).glob("*.md")
        )
        if not paths or self.rng.random() < 0.15:
            paths = [self.root / "projects" / "own.md"]
        path = self.rng.choice(paths)
        lines = path.read_text().split("\n") if path.exists() else ["# Own", "", ""]
        items = [n for n, line in enumerate(lines) if line.startswith("- ")]
        self.number += 1
        text = f"By hand {self.device}{self.number} this is so."
        what = self.rng.choice(["add", "add", "change", "remove", "move"]) if items else "add"
        at = self.rng.choice(items) if items else len(lines)
        old = lines[at].split("  ^")[0].removeprefix("- ") if items else ""
        if what == "add":
            lines.insert(at, f"- {text}")
        elif what == "change":
            _, mark, item = lines[at].rpartition("  ^")
            lines[at] = f"- {text}{mark}{item if mark else ''}"
        elif what == "remove":
            del lines[at]
        else:
            lines.append(lines.pop(at))
        if what in ("add", "change"):
            self.told[text] = "an edit by hand"
        if what in ("change", "remove"):
            self.took.append(old.removeprefix("[ ] ").removeprefix("[x] "))
        path.parent.mkdir(exist_ok=True)  # git knows no empty folders
        path.write_text("\n".join(lines))

    def judge(self) -> None:
        """A recall, and what its user says about it."""
        answer = self.answer("recall", self.rng.choice(PEOPLE), "-k", "4")
        ids = [each["id"] for each in answer.get("memories", [])]
        if ids:
            good = self.rng.choice(ids)
            if self.clsm("feedback", answer["recall_id"], "--good", good).code == 0:
                self.judged.append((answer["recall_id"], good))

    def decide(self) -> None:
        items = self.answer("review").get("items", [])
        if items:
            how, item = self.rng.choice(["--accept", "--reject"]), self.rng.choice(items)
            self.clsm("review", how, item["id"])

    def forget(self) -> None:
        """Some turn goes for good; what it said must never come back."""
        before = self.held()
        keys = sorted(k for k, each in before.turns.items() if each.session not in self.thinned)
        if len(keys) < 6:
            return
        key = self.rng.choice(keys)
        if self.answer("forget", key, "--yes"):
            self.thinned.add(before.turns[key].session)
            self.forgotten.add(before.turns[key].turn.text)
            self._withdraw_what_went(before)

    def undo(self) -> None:
        before = self.held()
        self.clsm("undo", *self.rng.choice([(), (), ("--redo",)]))
        self._withdraw_what_went(before)

    def _withdraw_what_went(self, before: selection.StoreContents) -> None:
        self.took += sorted(texts_of(before) - texts_of(self.held()))
        judged = judgements(self.store)
        self.judged = [each for each in self.judged if each in judged]

    def commit(self) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", "as it is")

    def pull(self) -> bool:
        """Fetch, join, publish; False for a conflict."""
        done = git(self.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        if done.returncode:
            status = git(self.root, "status", "--short").stdout
            self.violations.append(
                f"{self.device}: conflict at a pull: {done.stdout} {done.stderr} {status}"
            )
            return False
        git(self.root, "push", "-q", "origin", "HEAD:main")
        return True


def texts_of(held: selection.StoreContents) -> set[str]:
    """Everything that a store tells, in the words in which it was told."""
    found = {each.turn.text for each in held.turns.values()}
    return found | {row.text for row in held.statements.values()}


def judgements(store: layout.Store) -> set[tuple[str, str]]:
    """Recalls and the items of them that somebody called good."""
    rows = rows_of(store, "feedback.jsonl")
    return {(row["recall"], each) for row in rows for each in row["good"]}


def rows_of(store: layout.Store, name: str) -> list[dict[str, Any]]:
    """The lines of a log of all machines."""
    return [row for flow in store.flows() for _, row in logs.rows(flow / name)[0]]
