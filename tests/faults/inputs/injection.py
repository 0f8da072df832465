"""Text that wants to be obeyed, in what a model reads (promise 16).

What ``recall --format prompt`` and ``context --format prompt`` print must stay one block of data: no
text, label, path, conversation or speaker's name can end it, begin another, make a line that stands
outside it, or pose as the head of an item; each item tells its trust, and each line of what a tool
or a page said is quoted. Seeded texts, glued together from the marks of clsm, of prompts and of
terminals, go through the renderers; a hundred texts (``injection_texts``) go through the program.

Not shown: whether a model obeys what stands in the block. Marking makes that rarer, nothing ends it.
Lines in the imperative are not told from others: every line of a stranger's is quoted instead.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from faults.inputs.injection_blocks import HEAD, KEY, NOW, answer, briefing, read, recalled
from faults.inputs.injection_texts import TEXTS
from faults.rig import Outcome, Rig
from ingesting import new_store, scratch

from clsm_cli.commands import render_context, render_prompt, render_recall
from clsm_cli.retrieval.answer import Answer
from clsm_cli.retrieval.briefing import Briefing
from clsm_cli.text.fence_lines import seal
from clsm_cli.text.terminal import safe

SEED = 16
FEW, MANY = 500, 10_000
"""Texts of the short and the long form."""
QUESTION = "what do the ferry pages say?"
_NUMBER = re.compile(r"\(ferry page (\d{3})\)")


def _rendered(count: int, recall_lines: Callable[[Answer, bytes | None], list[str]]) -> Outcome:
    rng = random.Random(SEED)
    outcome = Outcome("recall blocks", "seeded texts in every field", planned=count)
    begun = time.perf_counter()
    replayed = "\n".join(seal("r-0123456789ab", ["the ferry is free"], KEY))
    for number in range(count):
        given = answer(rng, replayed)
        lines = recall_lines(given, KEY)
        outcome.fired += 1
        outcome.violations += [f"text {number}: {each}" for each in recalled(given, lines)[:1]]
    outcome.seconds = time.perf_counter() - begun
    return outcome


def _briefed(count: int, lines_of: Callable[[Briefing, bytes | None], list[str]]) -> Outcome:
    rng = random.Random(SEED)
    outcome = Outcome("context blocks", "seeded texts in every field", planned=count)
    begun = time.perf_counter()
    replayed = "\n".join(seal("r-0123456789ab", ["the ferry is free"], KEY))
    for number in range(count):
        told = briefing(rng, replayed)
        lines = lines_of(told, KEY)
        outcome.fired += 1
        if not told.is_empty:
            outcome.violations += [f"text {number}: {each}" for each in read(told, lines)[:1]]
    outcome.seconds = time.perf_counter() - begun
    return outcome


def _write(folder: Path) -> tuple[list[Path], dict[int, str]]:
    """The hundred texts as pages, results of tools and messages; the trust that each must have."""
    paths, trusts = [], {}
    rows = []
    for number, text in enumerate(TEXTS, 1):
        name = "".join(c for c in text[:40] if c not in "/\0").encode()[:80].decode(errors="ignore")
        if number % 3 == 0:
            path = folder / f"{number} {name}.md"
            path.write_text(f"---\ntrust: web\n---\n{text}\n", encoding="utf-8")
            paths.append(path)
            trusts[number] = "web"
            continue
        row: dict[str, Any] = {"text": text, "session": f"s{number} {name}"}
        row["time"] = f"2026-03-01T08:{number % 60:02}:{number // 60:02}+01:00"
        if number % 3 == 1:
            tool = ("web_fetch", "exec")[number % 2]
            row |= {"role": "tool", "tool": {"name": tool, "input": "x"}, "speaker": text[:40]}
            trusts[number] = ("web", "tool")[number % 2]
        else:
            row |= {"role": "user", "speaker": text[:40]}
            trusts[number] = "user"
        rows.append(row)
    chat = folder / "chat.jsonl"
    chat.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [chat, *paths], trusts


def _program() -> Iterator[Outcome]:
    """The hundred texts through ``clsm ingest``, ``recall`` and ``context``, as processes."""
    with scratch() as folder:
        store = new_store(folder / "memory")
        home = folder / "home"
        home.mkdir()
        sources = folder / "found"
        sources.mkdir()
        paths, trusts = _write(sources)
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "CLSM_STORE": str(store.root),
            "CLSM_DEVICE": "test",
            "CLSM_MODEL_DIR": str(folder / "none"),  # words find them all, and fast
            "TZ": "Europe/Amsterdam",
            "PYTHONPATH": str(Path(render_recall.__file__).parents[2]),
        }

        def clsm(*words: str) -> str:
            command = [sys.executable, "-m", "clsm_cli", *words, "--now", NOW]
            done = subprocess.run(command, env=variables, capture_output=True, check=True)
            return done.stdout.decode()

        clsm("ingest", "--quiet", *map(str, paths))
        asked = ("recall", "--no-touch", "--min-score", "0", "-k", "900", "--budget", "900000")
        yield _in_prompt(clsm(*asked, "--format", "prompt", QUESTION), trusts)
        yield _in_json(json.loads(clsm(*asked, "--json", QUESTION)), trusts)
        yield _in_context(clsm("context", "--format", "prompt", "--budget", "90000"), trusts)


def _in_prompt(out: str, trusts: dict[int, str]) -> Outcome:
    outcome = Outcome("clsm recall --format prompt", "a hundred injections", len(trusts))
    lines = out.removesuffix("\n").split("\n")
    outcome.violations += _of_program(out, lines)
    trust = ""
    seen = set()
    for line in lines:
        if head := HEAD.match(line):
            trust = head[2]
        elif (number := _NUMBER.search(line)) and line.startswith("|  "):
            seen.add(number[1])
            if trust != trusts[int(number[1])]:
                outcome.violations.append(f"text {number[1]} is shown as {trust}")
            if trust in ("tool", "web") and not line.startswith("|    > "):
                outcome.violations.append(f"text {number[1]} is not quoted")
    outcome.fired = len(seen)
    outcome.missed += [] if outcome.fired == len(trusts) else [f"only {outcome.fired} were found"]
    return outcome


def _in_json(given: dict[str, Any], trusts: dict[int, str]) -> Outcome:
    outcome = Outcome("clsm recall --json", "a hundred injections", len(trusts))
    for memory in given["memories"]:
        for number in map(int, _NUMBER.findall(memory["text"])):
            outcome.fired += 1
            if memory["trust"] != trusts[number]:
                outcome.violations.append(f"text {number} is given as {memory['trust']}")
    outcome.missed += [] if outcome.fired == len(trusts) else [f"only {outcome.fired} were found"]
    return outcome


def _in_context(out: str, trusts: dict[int, str]) -> Outcome:
    planned = sum(trust == "user" for trust in trusts.values())
    outcome = Outcome("clsm context --format prompt", "a hundred injections", planned)
    lines = out.removesuffix("\n").split("\n")
    outcome.violations += _of_program(out, lines)
    for number in {*map(int, _NUMBER.findall(out))}:
        outcome.fired += 1
        if trusts[number] != "user":  # nobody asked for what a stranger wrote
            outcome.violations.append(f"text {number}, trust {trusts[number]}, is in the briefing")
    return outcome


def _of_program(out: str, lines: Sequence[str]) -> list[str]:
    """What is wrong with a block that the program printed, with a key of its own."""
    found = []
    if out.splitlines() != list(lines) or safe(out) != out:
        found.append("a line or an unsafe character came through")
    if not lines[0].startswith("<clsm-recall id=") or lines[-1] != "</clsm-recall>":
        found.append("the block does not begin or end as it should")
    if not all(line == "|" or line.startswith("| ") for line in lines[1:-1]):
        found.append("a line stands outside")
    return found


def _short() -> Iterator[Outcome]:
    yield _rendered(FEW, render_prompt.prompt_lines)
    yield _briefed(FEW, render_context.prompt_lines)
    yield from _program()


def _long() -> Iterator[Outcome]:
    yield _rendered(MANY, render_prompt.prompt_lines)
    yield _briefed(MANY, render_context.prompt_lines)
    yield from _program()


def _bare(given: Answer, _: bytes | None) -> list[str]:
    """A renderer that joins what it was given: nothing is prefixed, quoted or filtered."""
    told = [
        f"{n}. trust {m.trust}, undated, {m.session}\n{m.text}"
        for n, m in enumerate(given.memories)
    ]
    return ["<clsm-recall>", *told, "</clsm-recall>"]


def _unquoted(given: Answer, key: bytes | None) -> list[str]:
    """A renderer that seals but does not set an item's own text off from its head."""
    told = [f"{n}. trust {m.trust}, undated, x\n{m.text}" for n, m in enumerate(given.memories, 1)]
    return seal(given.recall_id, told, key)


def _loose(told: Briefing, key: bytes | None) -> list[str]:
    """A briefing whose further lines are not indented."""
    lines = [f"- (trust {i.trust}) {i.text}" for s in told.sections for i in s.items]
    return seal(told.context_id, lines, key)


def _control() -> Iterator[Outcome]:
    yield _rendered(50, _bare)
    yield _rendered(50, _unquoted)
    yield _briefed(50, _loose)


RIG = Rig(name="injection", promises=(16,), short=_short, long=_long, control=_control)
