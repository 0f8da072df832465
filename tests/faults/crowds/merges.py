"""Three machines with one memory, synchronised by real git: no conflict, nothing lost, one truth.

A round: each machine does one or two acts at random (``clones``: notes, hooks, documents, nights,
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
who deletes a file that another machine changed; changes of clsm.yaml or ontology.yaml on both sides.
And: a rebase, which merges commit by commit, also what a later commit took back.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from faults.crowds.clones import PEOPLE, Clone, judgements, rows_of, texts_of
from faults.rig import Outcome, Rig
from faults.running.laying import environment
from faults.running.warm import Warm
from ingesting import scratch, tree
from using_git import git

from clsm_cli.inspection.overview import overview
from clsm_cli.store import git_setup, layout, logs

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
        git(first, "add", "-A")
        git(first, "commit", "-qm", "empty")
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
                clone.commit()
            for clone in self.rng.sample(self.clones, self.rng.randrange(1, 3)):
                if not self._pull(clone):
                    return
            if self.rounds % EVERY == 0 or self.rounds == rounds:
                self._gather()
            if self.told:
                return

    @property
    def told(self) -> list[str]:
        """All that was wrong."""
        return [*self.violations, *(text for clone in self.clones for text in clone.violations)]

    def _time(self) -> str:
        begin = datetime.fromisoformat("2026-03-01T08:00:00+01:00")
        after = timedelta(hours=5 * self.rounds, minutes=self.rng.randrange(200))
        return (begin + after).isoformat()

    def _pull(self, clone: Clone) -> bool:
        self.pulls += 1
        return clone.pull()

    def _together(self) -> bool:
        """All pull until they are equal."""
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
            clone.commit()
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
        self._look_for_judgements()

    def _look_for_judgements(self) -> None:
        judged = judgements(self.clones[0].store)
        forgotten = logs.load_tombstones(self.clones[0].store)
        for clone in self.clones:
            lost = [
                each
                for each in clone.judged
                if each not in judged and not logs.is_forgotten(each[1], forgotten)
            ]
            self.violations += [f"lost: {clone.device}: judgement {each}" for each in lost]

    def _ask(self) -> None:
        """The same questions everywhere."""
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
        with scratch() as folder, Warm(_environment(folder), None) as warm:
            game = Game(folder, warm, seed + number, union=union, driver=driver)
            game.play(min(each, rounds - number))
        outcome.fired += game.rounds
        pulls += game.pulls
        commands += sum(sum(clone.done.values()) for clone in game.clones)
        outcome.violations += [f"seed {seed + number}: {text}" for text in game.told]
    outcome.more = f"{commands:,} commands; {pulls:,} pulls"
    return outcome


def _environment(folder: Path) -> dict[str, str]:
    return environment(folder, model=True) | {"PATH": os.environ["PATH"], "HOME": str(folder)}


RIG = Rig(
    "merges",
    promises=(7,),
    short=lambda: [_games(4)],
    long=lambda: (_games(350), _games(150, driver=True, seed=1000)),
    control=lambda: [_games(4, union=False)],
    needs=("git",),
)
