"""What a hook puts before a message: nothing for small talk, something for what needs memory.

The lists (``fixtures/hook``) were written before the phrases of ``text/small_talk.txt``; their even
lines were not looked at while those were. The limits are those of the promise, not what was measured.
"""

import json

import pytest
from processes import Cli
from sample_store import NOW, SAMPLE

LISTS = SAMPLE.parent / "hook"


@pytest.fixture
def taught(cli: Cli) -> Cli:
    """A store that holds three notes."""
    for said in (
        "We use slog in sluice, not zerolog, and no handler may print meter ids.",
        "Retry only the failed rows after a flush timeout, with a backoff.",
        "Tom waters the ferns on the landing.",
    ):
        cli.ok("note", said, "--now", NOW)
    return cli


def gated(cli: Cli, said: str) -> list[float]:
    answer = json.loads(cli.ok("recall", "--gate", "--json", "--now", NOW, "-k", "8", said).out)
    return [each["confidence"] for each in answer["memories"]]


@pytest.mark.parametrize(
    ("said", "is_given"),
    [
        ("Write a retry loop for the flush", True),
        ("write a slog handler for sluice", True),
        ("Write me a slog handler that keeps meter ids out", True),
        ("write a limerick about a frog", False),
        ("thanks, ship it", False),
    ],
)
def test_what_memory_surely_holds_comes_always(taught: Cli, said: str, *, is_given: bool) -> None:
    assert bool(gated(taught, said)) == is_given


def test_nothing_unsure_comes_before_a_message(slept_cli: Cli) -> None:
    for said in ("make the second gauge's permit ready", "prepare the note for Priya"):
        found = gated(slept_cli, said)
        assert found
        assert min(found) >= 0.1


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
