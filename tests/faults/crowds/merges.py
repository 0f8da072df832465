"""Three machines with one memory, synchronised by real git: no conflict, nothing lost, one truth.

A round: each machine does one or two acts at random (notes, hooks, documents, nights,
corrections, edits by hand, pins, forgets, undos, recalls …) and commits; one or two of them pull and
push. Every ten rounds all of them pull until they are equal, and then:

- no pull had a conflict, and the files of all are the same to the byte;
- the same questions have the same answers everywhere;
- every text that a command acknowledged is there, unless somebody took it away, and every judgement;
- nothing that was forgotten is seen again, and after a night on each machine no file holds it;
- no file has lines that cannot be read.

No clone has any git configuration; in the second series two of three have the merge driver, and in
the control there are no attributes, so git merges as it likes.

Not shown, as git then stops and a person has to decide (``clsm doctor`` says how): two machines that
forget parts of one conversation before they meet, for git sees one file with two new names; a person
who deletes a file that another machine changed; changes of clsm.yaml on both sides.
And: a rebase, which merges commit by commit, also what a later commit took back.
"""

import contextlib
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from faults.rig import Outcome, Rig
from faults.running.laying import environment
from faults.running.warm import Warm
from forking import Ended
from ingesting import opened, scratch, tree
from using_git import commit, git

from clsm_cli.forgetting import selection
from clsm_cli.inspection.overview import overview
from clsm_cli.store import git_setup, layout, logs

PEOPLE = ("Mara", "Brian", "Jonas", "Lena")
FACTS = (
    "{who} lives in {place}.", "{who} works as a {job}.", "{who} takes the coffee {way}.",
    "{who} is {number} years old.", "I always write to {who} on {day}.",
    "Remember: never call {who} on {day}.", "We decided to use {tool} for the archive.",
    "The archive uses {tool}.", "Please remind me to call {who} on {day}.",
    "{who} and {other} met in {place}.", "I moved to {place}.",
)  # fmt: skip
WORDS: Mapping[str, tuple[str, ...]] = {
    "who": PEOPLE, "other": PEOPLE, "place": ("York", "Ghent", "Porto", "Malmö"),
    "job": ("pilot", "nurse", "carpenter"), "way": ("black", "with milk", "sweet"),
    "number": ("31", "42", "57"), "day": ("Monday", "Friday", "Sunday"),
    "tool": ("SQLite", "Postgres", "plain files"),
}  # fmt: skip
REFUSALS = {
    "undo": (0, 17), "correct": (0, 2, 12, 17), "forget": (0, 12, 17), "edit": (0, 12, 17),
    "pin": (0, 12), "unpin": (0, 12),
}  # fmt: skip
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
    commands: int = 0
    judged: list[tuple[str, str]] = field(default_factory=list)
    took: list[str] = field(default_factory=list)

    @property
    def store(self) -> layout.Store:
        return opened(self.root, self.device)

    def act(self) -> None:
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
        self.commands += 1
        ended = self.warm(
            *words, "--now", self.now, "--json",
            stdin=stdin.encode(), cwd=self.root.parent,
            HOME=str(self.root.parent), CLSM_DEVICE=self.device, CLSM_STORE=str(self.root),
            EDITOR=editor,
        )  # fmt: skip
        wrong = ended.faults(frozenset(REFUSALS.get(words[0], (0,))))
        self.violations += [f"{self.device}: {' '.join(words)}: {text}" for text in wrong]
        return ended

    def answer(self, *words: str, **more: Any) -> dict[str, Any]:
        """The same; what it printed, {} when it failed."""
        ended = self.clsm(*words, **more)
        return dict(json.loads(ended.out)) if ended.code == 0 else {}

    def sentence(self) -> str:
        """Something that may be said, never the same twice."""
        words = {name: self.rng.choice(choices) for name, choices in WORDS.items()}
        return f"{self.rng.choice(FACTS).format(**words)} Ticket {self.mark()} is open."

    def mark(self) -> str:
        """A word that was never used before."""
        self.number += 1
        return f"{self.device}{self.number}"

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
            text = f"Since {self.mark()} {row.subject or 'it'} is another matter."
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
            text = f"Edited {self.mark()} by hand."
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
        text = f"By hand {self.mark()} this is so."
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

    def pull(self) -> bool:
        """Fetch, join, publish; False for a conflict."""
        done = git(self.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        if done.returncode:
            said = f"{done.stdout} {done.stderr} {git(self.root, 'status', '--short').stdout}"
            self.violations.append(f"{self.device}: conflict at a pull: {said}")
            return False
        git(self.root, "push", "-q", "origin", "HEAD:main")
        return True


def texts_of(held: selection.StoreContents) -> set[str]:
    """Everything that a store tells, in the words in which it was told."""
    found = {each.turn.text for each in held.turns.values()}
    return found | {row.text for row in held.statements.values()}


def judgements(store: layout.Store) -> set[tuple[str, str]]:
    rows = rows_of(store, "feedback.jsonl")
    return {(row["recall"], each) for row in rows for each in row["good"]}


def rows_of(store: layout.Store, name: str) -> list[dict[str, Any]]:
    """The lines of a log of all machines."""
    return [row for flow in store.flows() for _, row in logs.rows(flow / name)[0]]


DEVICES = ("pi", "pc", "laptop")
EVERY = 10
"""Rounds after which all machines are brought together."""


class Game:
    """Three clones and a bare repository between them."""

    def __init__(
        self, folder: Path, warm: Warm, seed: int, *, union: bool = True, driver: bool = False
    ) -> None:
        self.rng = random.Random(seed)
        self.rounds = self.pulls = 0
        self.violations: list[str] = []
        first = folder / DEVICES[0] / "memory"
        layout.create(first, "Europe/Amsterdam")
        if not union:
            (first / ".gitattributes").write_text("")
        git(folder, "init", "-q", "--bare", "-b", "main", "origin.git")
        git(first, "init", "-q", "-b", "main")
        git(first, "remote", "add", "origin", str(folder / "origin.git"))
        commit(first)
        git(first, "push", "-q", "origin", "main")
        self.clones = []
        self.thinned: set[str] = set()
        for number, device in enumerate(DEVICES):
            root = folder / device / "memory"
            if number:
                git(folder, "clone", "-q", str(folder / "origin.git"), str(root))
            if driver and number < 2:
                git_setup.set_up(root)
            rng = random.Random(f"{seed} {device}")
            self.clones.append(Clone(root, device, warm, rng, self.thinned))

    def play(self, rounds: int) -> None:
        """Play some rounds, until something cannot be joined."""
        for _ in range(rounds):
            self.rounds += 1
            for clone in self.clones:
                for _ in range(self.rng.randrange(1, 3)):
                    clone.now = self._time()
                    clone.act()
                commit(clone.root)
            for clone in self.rng.sample(self.clones, self.rng.randrange(1, 3)):
                if not self._pull(clone):
                    return
            if self.rounds % EVERY == 0 or self.rounds == rounds:
                self._gather()
            if self.told:
                return

    @property
    def told(self) -> list[str]:
        return [*self.violations, *(text for clone in self.clones for text in clone.violations)]

    def _time(self) -> str:
        begin = datetime.fromisoformat("2026-03-01T08:00:00+01:00")
        after = timedelta(hours=5 * self.rounds, minutes=self.rng.randrange(200))
        return (begin + after).isoformat()

    def _pull(self, clone: Clone) -> bool:
        self.pulls += 1
        return clone.pull()

    def _together(self) -> bool:
        order = self.rng.sample(self.clones, len(self.clones))
        return all(self._pull(clone) for clone in [*order, *order])

    def _gather(self) -> None:
        """Bring all together and look; then a night on each, and look again."""
        if not self._together():
            return
        self.thinned.clear()
        self._look()
        for clone in self.rng.sample(self.clones, len(self.clones)):
            clone.now = self._time()
            clone.sleep()
            commit(clone.root)
        if self._together():
            self._look()
            self._look_for_what_was_forgotten()

    def _look(self) -> None:
        """What must hold of equal clones."""
        files = [tracked(clone.root) for clone in self.clones]
        for clone, found in zip(self.clones[1:], files[1:], strict=True):
            different = sorted(n for n in {*files[0], *found} if files[0].get(n) != found.get(n))
            if different:
                self.violations.append(f"diverged: {clone.device}: {different[:5]}")
        self._ask()
        held = self.clones[0].held()
        reviews = rows_of(self.clones[0].store, "review.jsonl")
        there = texts_of(held) | {row[name] for row in reviews for name in ("kept", "other")}
        there |= {text for other in there for text in _quoted(other)}
        folded = "\n".join(_folded(text) for text in there)
        took = {_folded(text) for clone in self.clones for text in clone.took}
        for clone in self.clones:
            lost = {text: by for text, by in clone.told.items() if _folded(text) not in folded}
            clone.told = {text: by for text, by in clone.told.items() if text not in lost}
            self.violations += [
                f"lost: {clone.device}: {text!r} of {by}"
                for text, by in lost.items()
                if not any(_folded(text) in each for each in took)
            ]
            back = clone.forgotten & {each.turn.text for each in held.turns.values()}
            self.violations += [f"came back: {text!r}" for text in sorted(back)]
        problems = overview(self.clones[0].store).problems
        self.violations += [f"cannot be read: {problem}" for problem in problems]
        judged = judgements(self.clones[0].store)
        forgotten = logs.load_tombstones(self.clones[0].store)
        self.violations += [
            f"lost: {clone.device}: judgement {each}"
            for clone in self.clones
            for each in clone.judged
            if each not in judged and not logs.is_forgotten(each[1], forgotten)
        ]

    def _ask(self) -> None:
        asked = [*PEOPLE, "Where does Mara live?", "archive", "What did I decide?"]
        lines = "".join(
            json.dumps({"id": n, "query": query}) + "\n" for n, query in enumerate(asked)
        )
        now = self._time()
        answers = []
        for clone in self.clones:
            clone.now = now
            told = clone.clsm("recall", "--batch", "-", stdin=lines).out.decode()
            # Where a file lies on this machine differs, and nothing else may.
            answers.append(re.sub(r'"file": "[^"]*", "line": \d+', "", told).splitlines())
        for clone, found in zip(self.clones[1:], answers[1:], strict=True):
            different = [q for q, a, b in zip(asked, answers[0], found, strict=False) if a != b]
            if different or len(found) != len(asked):
                self.violations.append(f"other answers: {clone.device}: {different}")

    def _look_for_what_was_forgotten(self) -> None:
        forgotten = {text for clone in self.clones for text in clone.forgotten}
        for name, data in tracked(self.clones[0].root).items():
            text = data.decode("utf-8", "replace")
            self.violations += [
                f"is still in {name}: {each!r}" for each in sorted(forgotten) if each in text
            ]


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _quoted(line: str) -> Iterator[str]:
    """The text in a record that review quotes."""
    with contextlib.suppress(ValueError, AttributeError):
        yield str(json.loads(line).get("text", ""))


def tracked(root: Path) -> dict[str, bytes]:
    """Every file of a clone but git's own and the derived ones."""
    return {name: data for name, data in tree(root).items() if not name.startswith(".git/")}


def _games(
    rounds: int, *, each: int = 25, union: bool = True, driver: bool = False, seed: int = 0
) -> Outcome:
    """Some games one after the other, each with new clones."""
    what = "two of three clones with the driver" if driver else "three clones"
    outcome = Outcome(what, "git pull" if union else "git pull, no attributes", planned=rounds)
    pulls = commands = 0
    for number in range(0, rounds, each):
        with scratch() as folder, Warm(environment(folder, model=True)) as warm:
            game = Game(folder, warm, seed + number, union=union, driver=driver)
            game.play(min(each, rounds - number))
        outcome.fired += game.rounds
        pulls += game.pulls
        commands += sum(clone.commands for clone in game.clones)
        outcome.violations += [f"seed {seed + number}: {text}" for text in game.told]
    outcome.more = f"{commands:,} commands; {pulls:,} pulls"
    return outcome


RIG = Rig(
    "merges",
    promises=(7,),
    short=lambda: [_games(4)],
    long=lambda: (_games(350), _games(150, driver=True, seed=1000)),
    control=lambda: [_games(4, union=False)],
    needs=("git",),
)
