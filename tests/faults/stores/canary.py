"""What is forgotten is gone: from every file, and for good (promise 12).

A word that stands nowhere else is told in twelve places, the store sleeps over it, is asked, judged,
corrected and edited, and every step is a commit. Then all that holds the word is forgotten.
Afterwards the word is in no file of the store, its derived ones included, and in no temp file; and
when all files of an old clone are put back, no memory holds it again and no answer shows it. Not shown: that the clone's logs, the name
of a conversation's file and what undo keeps of the clean-up are rid of it too; they are listed.

The word is forgotten by what it was told in: turns, blocks, a conversation, a person. What the
owner wrote by hand into files that hold no memory (``clsm.yaml``, labels) is looked for too.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faults.rig import Outcome, Rig
from faults.running.laying import NOW
from faults.running.warm import Stage, Warm, stage
from forking import Ended
from ingesting import opened
from using_git import git_says

from clsm_cli.forgetting import selection

WORD = "Zanzibarquay"
_DAY = "2026-02-24"
PLACES = (
    "note", "memory block", "heading", "transcript", "tool result", "tool call", "hook", "speaker",
    "conversation", "file name", "label", "correction",
)  # fmt: skip
"""Where the word is told."""
_BESIDE = ("activation.jsonl", "runs.jsonl")
"""Logs of what was done, which an old clone brings back; no recall reads a text from them."""


class Ground(Stage):
    """A store in git that was told the word."""

    def __init__(self, folder: Path, clsm: Warm) -> None:
        super().__init__(folder, clsm)
        _tell(self)

    def run(self, *words: str | Path, stdin: bytes = b"", **more: Any) -> Ended:
        """A command; it must not end in a traceback."""
        done = self(*words, "--now", NOW, stdin=stdin, **more)
        assert not done.has_traceback, (words, done.err[-500:])
        return done

    def commit(self) -> None:
        git_says(self.store, "add", "-A")
        git_says(self.store, "commit", "-q", "--allow-empty", "-m", "x")


def _rows() -> list[dict[str, object]]:
    said = {"session": "main", "speaker": "Mara"}
    at = [f"{_DAY}T08:{n:02}:00Z" for n in range(9)]
    return [
        {**said, "content": f"I moved to {WORD} in March.", "timestamp": at[0]},
        {**said, "content": "I prefer tea to coffee.", "timestamp": at[1]},
        {**said, "role": "tool", "tool": {"name": "sh", "input": "ls"}, "content": f"{WORD}.txt lies there", "timestamp": at[2]},
        {**said, "role": "tool", "tool": {"name": "sh", "input": f"grep {WORD} x"}, "content": "found it", "timestamp": at[3]},
        {**said, "speaker": f"{WORD} Smith", "content": "I have a boat.", "timestamp": at[4]},
        {**said, "session": f"talk of {WORD}", "content": "We spoke of the weather.", "timestamp": at[5]},
        {**said, "content": "The harbour opens at nine.", "timestamp": at[6]},
    ]  # fmt: skip


def _tell(at: Ground) -> None:
    """The word in every place, each step a commit."""
    git_says(at.store, "init", "-q", "-b", "main")
    (at.cwd / "chat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _rows()))
    (at.cwd / "MEMORY.md").write_text(
        f"# House\n\n- The key is in {WORD}.\n\n## {WORD} plans\n\n- Buy a rope.\n"
    )
    (at.cwd / f"{WORD}.md").write_text("# Boats\n\n- The mast is of pine.\n")
    hook = {"session": "hook", "content": f"Ask about {WORD}.", "timestamp": f"{_DAY}T09:00:00Z"}
    for words, given in (
        (("ingest", at.cwd / "chat.jsonl"), b""),
        (("ingest", at.cwd / "MEMORY.md", at.cwd / f"{WORD}.md"), b""),
        (("note", f"{WORD} is a quay."), b""),
        (("ingest", "-", "--capture"), json.dumps(hook).encode()),
        (("ingest",), b""), (("consolidate",), b""),
        (("correct", "Mara", f"Mara lives in {WORD}."), b""),
        (("decay",), b""), (("recall", f"where is {WORD}"), b""), (("context",), b""),
    ):  # fmt: skip
        at.run(*words, stdin=given)
        at.commit()
    asked = json.loads(at.run("recall", "--json", f"who lives in {WORD}").out)
    for memory in asked["memories"][:1]:
        at.run("feedback", asked["recall_id"], "--good", memory["id"])
        at.run("edit", memory["id"], EDITOR="false")
    at.commit()


def _hits(at: Ground) -> dict[str, int]:
    """Files of the store, objects of git and temp files that hold the word."""
    mark = WORD.lower()
    files = {p.relative_to(at.store): p for p in at.store.rglob("*") if p.is_file()}
    files = {name: path for name, path in files.items() if name.parts[0] != ".git"}
    found = {str(n): 1 for n, p in files.items() if mark.encode() in p.read_bytes().lower()}
    found |= {f"name of {name.name}": 1 for name in files if mark in name.name.lower()}
    count = git_says(at.store, "cat-file", "--batch-all-objects", "--batch").lower().count(mark)
    return found | ({"objects of git": count} if count else {})


def _forget(at: Ground) -> list[str]:
    """Forget all that holds the word, by every way there is; what was said last."""
    told = []
    for words in (
        ("--person", f"{WORD} Smith"), ("--person", WORD), ("--session", f"talk of {WORD}"),
        ("--source", str(at.cwd / f"{WORD}.md")),
    ):  # fmt: skip
        done = at.run("forget", *words, "--yes", "--force")
        told.append(f"{words[0]}: {done.code} {done.err[-160:].decode()}")
    for _ in range(4):
        held = selection.read_store(opened(at.store), NOW)
        rows = held.turns | held.statements
        if keys := sorted(key for key, row in rows.items() if WORD in repr(row)):
            done = at.run("forget", *keys, "--yes", "--force")
            told.append(f"{len(keys)} turns: {done.code} {done.err[-160:].decode()}")
    return told


def _forgotten() -> Iterator[Outcome]:
    with stage(Ground, model=True) as at:
        told = _hits(at)
        outcome = Outcome("forget", "a word in twelve places", len(PLACES))
        outcome.fired = len(PLACES) if len(told) > len(PLACES) else 0
        shutil.copytree(at.store, at.cwd / "clone", symlinks=True)
        said = _forget(at)
        at.commit()
        found = {place: n for place, n in _hits(at).items() if place != "objects of git"}
        outcome.violations += [f"{place} still holds it ({n})" for place, n in found.items()]
        outcome.violations += said if found else []
        yield _merged(at)
        outcome.more = f"{len(told)} files and objects held it"
        yield outcome


def _sort_of(place: str) -> str:
    """A place without the ids in it."""
    if place.startswith("name of"):
        return "the name of a file"
    return "/".join(place.split("/")[:2]) if place.startswith(".clsm/") else place


def _merged(at: Ground) -> Outcome:
    """The files of an old clone come back, as the worst merge brings them: the word must not."""
    outcome = Outcome("consolidate, ingest", "an old clone's files are back", planned=1)
    at.commit()
    clone = at.cwd / "clone"
    for path in sorted(clone.rglob("*")):
        inside = path.relative_to(clone)
        if path.is_file() and inside.parts[0] not in (".git", ".clsm", "tombstones"):
            (at.store / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, at.store / inside)
    at.commit()
    outcome.fired = int(any(place != "objects of git" for place in _hits(at)))
    all_of_it = ("-k", "1000", "--budget", "200000", "--min-score", "0")
    for words in (("consolidate",), ("ingest",), ("consolidate",), ("context",),
                  ("recall", *all_of_it, "quay boat key moved")):  # fmt: skip
        if WORD.encode() in at.run(*words).out:
            outcome.violations.append(f"{words[0]} shows it again")
    left = [p for p in _hits(at) if p != "objects of git"]
    beside = [p for p in left if p.startswith((".clsm/", "name of")) or p.endswith(_BESIDE)]
    outcome.violations += [f"{place} holds it again" for place in left if place not in beside]
    places = ", ".join(dict.fromkeys(_sort_of(place) for place in beside))
    outcome.more = f"no memory, but still holding it: {places or 'none'}"
    return outcome


def _control() -> Iterator[Outcome]:
    """A forget that removes the files and knows nothing of git, logs and what is derived."""
    with stage(Ground) as at:
        outcome = Outcome("rm", "the files that hold it")
        for path in at.store.rglob("*.md"):
            if WORD in path.read_text():
                path.unlink()
        at.commit()
        outcome.tried([f"{place} still holds it" for place in _hits(at)])
        yield outcome


RIG = Rig("canary", (12,), _forgotten, _forgotten, _control, needs=("git",))
