"""Dumps are told by their structure; prose, code of a few lines and lists are none."""

import base64
import random
from pathlib import Path

import pytest

from clsm_cli.text.dumps import HEAD_CHARS, find_dumps, without_dumps

ROOT = Path(__file__).parents[2]
PROSE = "\n\n".join(
    (ROOT / "docs" / f"{name}.md").read_text()
    for name in ("architecture", "promises", "openclaw", "schedule", "mcp")
)
CODE = (ROOT / "tests" / "test_structure.py").read_text()[:10_000]
PART = PROSE.replace("```", "")[4000:9000]
WORDS = ("river", "stone", "lamp", "garden", "letter", "morning", "bread", "window", "paper")


def log(lines: int) -> str:
    return "".join(
        f"2026-03-01 10:{i // 60 % 60:02}:{i % 60:02} INFO [w-{i % 7}] GET /api/{i * 7919} took {i % 97} ms\n"
        for i in range(lines)
    )


DUMPS = {
    "log": log(400),
    "base64": base64.encodebytes(random.Random(1).randbytes(20_000)).decode(),
    "hex": random.Random(1).randbytes(9_000).hex(),
    "json": "[" + ", ".join(f'{{"id": {i}, "on": true}}' for i in range(600)) + "]",
    "one line": " ".join(random.Random(2).choices(WORDS, k=14_000)),
}


@pytest.mark.parametrize("name", DUMPS)
def test_all_of_a_dump_but_its_first_words_is_one(name: str) -> None:
    text = DUMPS[name]
    ((start, end),) = find_dumps(text)
    is_wordless = name in ("base64", "hex")
    assert 0 < start <= (60 if is_wordless else HEAD_CHARS)
    assert is_wordless == (find_dumps(f"A picture:\n{text}")[0].start == len("A picture:\n"))
    assert end > 0.97 * len(text)
    assert without_dumps(text).startswith(text[:start].rstrip())
    assert len(without_dumps(text)) < HEAD_CHARS + 300


@pytest.mark.parametrize(
    "text",
    [
        "", log(60), PROSE, "\n\n".join(f"- [ ] {line}" for line in PROSE.split(". ")), CODE,
        f"{PART}\n\n```\n{PART[:4000]}\n```\n\n{PART}",
    ],
)  # fmt: skip
def test_what_people_write_is_no_dump(text: str) -> None:
    assert find_dumps(text) == []
    assert without_dumps(text) == text


def test_prose_that_comes_again_and_goes_on_is_whole() -> None:
    again = "The heron came back to the water behind the house this evening.\n" * 128
    text = again + PROSE[:9055]
    assert all(start < end for start, end in find_dumps(text))
    assert len(without_dumps(text)) <= len(text)


def test_prose_around_a_dump_stays() -> None:
    question = "What do you make of it? I think that the pump is at fault."
    text = f"{PROSE[:9000]}\n\n{log(400)}{question}"
    ((start, end),) = find_dumps(text)
    assert text[end:].strip() == question
    assert text[:start].startswith(PROSE[:5000])
    assert question in without_dumps(text)
