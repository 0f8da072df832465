"""What a hook puts before a message: nothing for small talk, something for what needs memory.

The lists (``fixtures/hook``) were written before the phrases of ``text/small_talk.txt``; their even
lines were not looked at while those were. The limits are those of the promise, not what was measured.
"""

from __future__ import annotations

import json

import pytest
from processes import Cli
from sample_store import NOW, SAMPLE

LISTS = SAMPLE.parent / "hook"


def empty(cli: Cli, name: str, half: int) -> float:
    """The share of one half of a list for which nothing is put before the message."""
    lines = (LISTS / f"{name}.txt").read_text("utf-8").splitlines()[half::2]
    rows = "".join(json.dumps({"id": n, "query": text}) + "\n" for n, text in enumerate(lines))
    options = ("--gate", "--batch", "-", "--now", NOW)
    found = cli.ok("recall", *options, stdin=rows.encode()).out.splitlines()
    answers = [json.loads(line) for line in found]
    assert len(answers) == len(lines)
    return sum(not (a["memories"] or a["concepts"]) for a in answers) / len(lines)


@pytest.mark.parametrize("half", [0, 1], ids=["tuned on", "held out"])
def test_small_talk_brings_nothing_and_a_question_something(slept_cli: Cli, half: int) -> None:
    assert empty(slept_cli, "small_talk", half) >= 0.80
    assert empty(slept_cli, "memory_questions", half) <= 0.05
