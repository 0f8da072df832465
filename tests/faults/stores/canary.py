"""What is forgotten is gone: from every file, from git's past, and for good (promise 12).

A word that stands nowhere else is told in twelve places, the store sleeps over it, is asked, judged,
corrected and edited, and every step is a commit. Then all that holds the word is forgotten, with
``--purge-history``. Afterwards the word is in no file of the store, its derived ones included, in no
object of git, and in no temp file; and when all files of an old clone are
put back, no memory holds it again and no answer shows it. Not shown: that the clone's logs, the name
of a conversation's file and what undo keeps of the clean-up are rid of it too; they are listed.

The word is forgotten by what it was told in: turns, blocks, a conversation, a person. What the
owner wrote by hand into files that hold no memory (``clsm.yaml``, labels) is looked for too.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.rig import Outcome, Rig
from faults.running.scenarios import NOW, environment
from faults.running.warm import Ended, Warm
from ingesting import new_store, scratch

from clsm_cli.embedding import weights

WORD = "Zanzibarquay"
_DAY = "2026-02-24"
PLACES = (
    "note", "memory block", "heading", "transcript", "tool result", "tool call", "hook", "speaker",
    "conversation", "file name", "label", "correction",
)  # fmt: skip
"""Where the word is told."""
_BESIDE = ("activation.jsonl", "runs.jsonl")
"""Logs of what was done, which an old clone brings back; no recall reads a text from them."""


class Ground:
    """A store in git, and commands on it."""

    def __init__(self, folder: Path, clsm: Warm) -> None:
        self.folder, self.clsm = folder, clsm
        self.store = folder / "memory"

    def run(self, *words: str | Path, stdin: bytes = b"", **more: str) -> Ended:
        """A command; it must not end in a traceback."""
        done = self.clsm(
            *words, "--store", self.store, "--now", NOW, cwd=self.folder, stdin=stdin,
            seconds=200, environment=more,
        )  # fmt: skip
        if done.has_traceback:
            raise AssertionError(f"{words}: {done.err.decode()[-500:]}")
        return done

    def git(self, *words: str, where: Path | None = None) -> bytes:
        """What git prints; it must succeed."""
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *who, *words], cwd=where or self.store, capture_output=True, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "GIT_CONFIG_SYSTEM": os.devnull},
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"git {words}: {done.stderr.decode()[-500:]}")
        return done.stdout

    def commit(self) -> None:
        """All files as they are."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")


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
    new_store(at.store)
    at.git("init", "-q", "-b", "main")
    (at.folder / "chat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _rows()))
    (at.folder / "MEMORY.md").write_text(
        f"# House\n\n- The key is in {WORD}.\n\n## {WORD} plans\n\n- Buy a rope.\n"
    )
    (at.folder / f"{WORD}.md").write_text("# Boats\n\n- The mast is of pine.\n")
    hook = {
        "session": "hook",
        "role": "user",
        "content": f"Ask about {WORD}.",
        "timestamp": f"{_DAY}T09:00:00Z",
    }
    for words, given in (
        (("ingest", at.folder / "chat.jsonl"), b""),
        (("ingest", at.folder / "MEMORY.md", at.folder / f"{WORD}.md"), b""),
        (("note", f"{WORD} is a quay."), b""),
        (("ingest", "-", "--capture"), json.dumps(hook).encode()),
        (("ingest",), b""), (("consolidate",), b""),
        (("correct", "Mara", f"Mara lives in {WORD}."), b""),
        (("decay",), b""), (("recall", f"where is {WORD}"), b""), (("context",), b""),
    ):  # fmt: skip
        at.run(*words, stdin=given)
        at.commit()
    labels = at.store / "eval" / "queries.yaml"
    labels.parent.mkdir(exist_ok=True)
    labels.write_text(
        f"queries:\n- query: where is Mara\n  evidence: ['I moved to {WORD} in March.']\n"
    )
    asked = json.loads(at.run("recall", "--json", f"who lives in {WORD}").out)
    ids = [memory["id"] for memory in asked["memories"]]
    if ids:
        at.run("feedback", asked["recall_id"], "--good", *ids[:1])
        at.run("edit", ids[0], EDITOR="false")
    at.commit()


def _hits(at: Ground) -> dict[str, int]:
    """Files of the store, objects of git and temp files that hold the word."""
    mark = WORD.lower().encode()
    files = [
        p
        for p in at.store.rglob("*")
        if p.is_file() and ".git" not in p.relative_to(at.store).parts
    ]
    found = {str(p.relative_to(at.store)): 1 for p in files if mark in p.read_bytes().lower()}
    found |= {f"name of {p.name}": 1 for p in files if mark.decode() in p.name.lower()}
    objects = at.git("cat-file", "--batch-all-objects", "--batch")
    if mark in objects.lower():
        found["objects of git"] = objects.lower().count(mark)
    return found


def _forget(at: Ground, *more: str) -> list[str]:
    """Forget all that holds the word, by every way there is; what was said last."""
    told = []
    for words in (
        ("--person", f"{WORD} Smith"), ("--person", WORD), ("--session", f"talk of {WORD}"),
        ("--source", str(at.folder / f"{WORD}.md")),
    ):  # fmt: skip
        done = at.run("forget", *words, "--yes", "--force", *more)
        told.append(f"{words[0]}: {done.code} {done.err[-160:].decode()}")
    for _ in range(4):
        rows = [
            json.loads(line)
            for path in at.store.rglob("*.jsonl")
            for line in path.read_bytes().splitlines()
            if line.startswith(b"{")
        ]
        open_keys = {str(row["key"]) for row in rows if "key" in row and WORD in json.dumps(row)}
        keys = sorted(open_keys | _turns(at))
        if not keys:
            break
        done = at.run("forget", *keys, "--yes", "--force", *more)
        told.append(f"{len(keys)} turns: {done.code} {done.err[-160:].decode()}")
    return told


def _turns(at: Ground) -> set[str]:
    """Keys of the turns of episodes that hold the word, and ids of statements in Markdown."""
    found = set()
    for path in at.store.rglob("*.md"):
        text = path.read_text()
        head, _, body = text.partition("\n---\n\n")
        for part in body.split("### ")[1:]:
            first = part.partition("\n")[0]
            if WORD in part:
                found.add(first[-12:])
        for line in head.split("\n"):
            if line.startswith("- {") and WORD in line:
                found.add(str(json.loads(line[2:])["key"]))
        found |= {
            line.rsplit("^", 1)[1]
            for line in text.split("\n")
            if line.startswith("- ") and WORD in line and "^" in line
        }
    return found


@contextmanager
def _ground() -> Iterator[Ground]:
    weights.install(weights.default_folder())
    with scratch() as folder, Warm(environment(folder, model=True)) as clsm:
        at = Ground(folder, clsm)
        _tell(at)
        yield at


def _forgotten(*, purge: bool) -> Iterator[Outcome]:
    with _ground() as at:
        begin = time.monotonic()
        told = _hits(at)
        outcome = Outcome(
            "forget --purge-history" if purge else "forget", "a word in twelve places"
        )
        outcome.planned, outcome.fired = len(PLACES), len(PLACES) if len(told) > len(PLACES) else 0
        shutil.copytree(at.store, at.folder / "clone", symlinks=True)
        said = _forget(at, *(("--purge-history",) if purge else ()))
        if not purge:
            at.commit()
        found = _hits(at)
        if not purge:
            found.pop("objects of git", None)
        outcome.violations += [f"{place} still holds it ({n})" for place, n in found.items()]
        if found:
            outcome.violations += said
        yield _merged(at)
        outcome.seconds = time.monotonic() - begin
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
    begin = time.monotonic()
    at.commit()
    clone = at.folder / "clone"
    for path in sorted(clone.rglob("*")):
        inside = path.relative_to(clone)
        if path.is_file() and inside.parts[0] not in (".git", ".clsm", "tombstones"):
            (at.store / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, at.store / inside)
    at.commit()
    held = [p for p in _hits(at) if p != "objects of git"]
    outcome.fired = int(bool(held))
    for words in (("consolidate",), ("ingest",), ("consolidate",), ("context",)):
        done = at.run(*words)
        if WORD.encode() in done.out:
            outcome.violations.append(f"{words[0]} shows it again")
    shown = at.run(
        "recall", "-k", "1000", "--budget", "200000", "--min-score", "0", "quay boat key moved"
    )
    if WORD.encode() in shown.out:
        outcome.violations.append("recall finds it again")
    left = [p for p in _hits(at) if p != "objects of git" and not p.startswith("eval/")]
    beside = [p for p in left if p.startswith((".clsm/", "name of")) or p.endswith(_BESIDE)]
    outcome.violations += [f"{place} holds it again" for place in left if place not in beside]
    places = ", ".join(dict.fromkeys(_sort_of(place) for place in beside))
    outcome.more = f"no memory, but still holding it: {places or 'none'}"
    outcome.seconds = time.monotonic() - begin
    return outcome


def short() -> Iterator[Outcome]:
    """Forgotten, and merged with an old clone."""
    yield from _forgotten(purge=False)


def long() -> Iterator[Outcome]:
    """With and without git's past."""
    yield from _forgotten(purge=False)
    yield from _forgotten(purge=True)


def control() -> Iterator[Outcome]:
    """A forget that removes the files and knows nothing of git, logs and what is derived."""
    with _ground() as at:
        outcome = Outcome("rm", "the files that hold it", planned=1, fired=1)
        for path in at.store.rglob("*.md"):
            if WORD in path.read_text():
                path.unlink()
        at.commit()
        outcome.violations = [f"{place} still holds it" for place in _hits(at)]
        yield outcome


RIG = Rig("canary", (12,), short, long, control, needs=("git",))
