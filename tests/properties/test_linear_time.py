"""No text makes a reader slow: whatever is repeated, its time is linear in the length.

The limit leaves room for a busy machine: a reader takes hundredths of a second, and one that looked
at every beginning again would take minutes.
"""

import contextlib
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from clsm_cli.evaluation.formulas import question_parts
from clsm_cli.heads import definition_head
from clsm_cli.ingestion.blocks import conflict_marks, scan
from clsm_cli.ingestion.messages import runs_clsm
from clsm_cli.store import front_matter, jsonlines, shards, topics, yaml_text
from clsm_cli.text.aliases import stated_aliases
from clsm_cli.text.cues import find_decisions, find_questions, key_phrases
from clsm_cli.text.dumps import find_dumps
from clsm_cli.text.fence_lines import find_blocks
from clsm_cli.text.language_data import compiled
from clsm_cli.text.mentions import find_mentions
from clsm_cli.text.noun_phrases import noun_phrases
from clsm_cli.text.ordinals import read_reference
from clsm_cli.text.plain import to_plain
from clsm_cli.text.route import choose_route
from clsm_cli.text.secrets import mask
from clsm_cli.text.sentences import split
from clsm_cli.text.time import bounds, forms
from clsm_cli.text.todo import todos
from clsm_cli.text.tokens import count_tokens, stems

MONDAY = date(2026, 2, 23)
SIZE = 20_000
"""Characters of a text."""
SECONDS = 4
_BEGIN = '<clsm-recall id="r-1f" fence="' + "0" * 32 + '">'
WORDS = ("a", "1", ".", " ", "\n", "A ", "a. ", "? ", "'s ", "-", "(", '"', "[[", "**", "`", "東")
"""What every reader gets."""


def _dates(text: str) -> None:
    for pattern in (
        *(rule.pattern for rule in forms.rules(is_question=True)),
        forms.part_pattern(),
    ):
        for _ in compiled(pattern).finditer(text):
            pass


def _blocks(text: str) -> None:
    lines = [*text.split("\n"), "x --> x"]
    conflict_marks(lines)
    scan(lines)


_JSON = ('"\\"', '\\"', "[", "{", '{"a":', "[[]],", '["a",', "\\", '"a":1,', "]")
READERS: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "a block of recalled text": (lambda t: [*find_blocks(f"{_BEGIN}\n{t}", bytes(32))], (_BEGIN, f"{_BEGIN}\n", f"{_BEGIN}\n| x\n", f"| {_BEGIN}\n", f"> {_BEGIN}\n> | {_BEGIN}\n", f"{_BEGIN}\n|</clsm-recall>\n", ">", " >", "| ", "\t")),
    "a shard": (lambda t: shards.parse((shards.HEADER + "- {}\n" + t).encode(), Path("0.yaml")), ("- {x\n", "- a\n", "- {", "#\n", " x\n", "=======\n")),
    "a topic": (lambda t: topics.parse(b"- x" + t.encode(), Path("a.md")), ("- ", "- a\n", "^", " ^", "a ^a", "\t", "  a\n", "- [ ] ")),
    "aliases": (stated_aliases, ("[[a|", "(AB", "Ab Cd (", "a, ", "known as ")),
    "blocks of Markdown": (_blocks, ("<!--\n", "-->\n", "- a\n", "> " * 500, "- " * 500, "```\n", "|\n", "| a\n|-\n", "# \n", "  " * 40 + "- a\n", "a\n\n", "<<<<<<<\n", "=======\n", "* * x\n", "-" * 1000 + "x\n", "1. \n")),
    "commands": (lambda t: runs_clsm("clsm_ " + t), ('\\"', "'", "$(", "a=b ", "env ", "\\", '"$(')),
    "compound": (question_parts, ("and ", "Mara and ", "why ", "tea or ", "vs ", "' and ")),
    "cues": (lambda t: (find_questions(t), find_decisions(t)), ("we ", "how are you ", "decision:\n", ", is it")),
    "dates": (_dates, ("in ", "last ", "May 1 ", "2023-", "one day ", "a few ", "Q1 ", "Easter ", "the end of ")),
    "dumps": (find_dumps, ("```\n", "a\n\n", "2026-02-24 08:00:00 INFO disk 97 % full\n")),
    "front matter": (lambda t: front_matter.split("---\n" + t), ("---\n", "--- ", "---\t\t", "a: 1\n", "a: ")),
    "JSON": (jsonlines.load, _JSON),
    "JSON, an object": (lambda t: jsonlines.load("{" + t), _JSON),
    "JSON, much nested": (lambda t: jsonlines.load("[]" * 65 + '"' + t), _JSON),
    "mentions": (find_mentions, ("[[a|", "#a", "*A", "_A_", "A.", "Aa", "```\n", "a@", "](", "<!--", "https://")),
    "noun phrases": (noun_phrases, ("ab ", "Ab and ", "old ", "A's ", "```\n", "the ab-")),
    "ordinals": (lambda t: read_reference(t[:10_000]), ("first ", "before the ", "between x and ", "the last time we talked about ", "when x ")),
    "phrases": (lambda t: key_phrases([t], 3), ("valve chatter ",)),
    "plain": (to_plain, ("~~", "#a ", "<!--", "https://", "_a")),
    "questions of days": (lambda t: bounds.read_times(t[:10_000], MONDAY), ("since ", "between 1 and ", "May and ", "from May to ")),
    "routes": (partial(choose_route, has_current=True), ("good ", "when was the A ", "a: ", "how many ")),
    "secrets": (mask, ("A1", "://a:b", "key=", "the token of Mara: a1B2c3 password https://x.org/ key=")),
    "sentences": (split, ("`a` ", "`a`. ", "```\n", "1. ", '?" ', "。", "a" * 99 + ". ")),
    "definitions": (lambda text: definition_head.judge(text, text, "Rosa", is_dated=True), ("Rosa, the ", "Rosa (", "Rosa is ")),
    "tasks": (lambda t: todos(t, None), ("- [ ] a\n", "blocked ", "I need to call a ", "TODO: ", "  x\n", "- ")),
    "YAML": (lambda t: yaml_text.load(t[: 1 << 14], 1 << 20), ("[", "{a: ", "- ", "a: b\n", "- a\n", '"\\"', "'", "a,", "- [", "|\n", "#")),
    "tokens": (lambda t: (stems(t), count_tokens(t)), ("a_", "é")),
}  # fmt: skip
"""By what they find: the reader, and what is repeated besides."""


@pytest.mark.parametrize("name", READERS)
def test_no_text_makes_a_reader_slow(name: str) -> None:
    read_text, fillers = READERS[name]
    for filler in (*WORDS, *fillers):
        text = (filler * SIZE)[:SIZE]
        began = time.process_time()
        with contextlib.suppress(jsonlines.LineError):
            read_text(text)
        assert time.process_time() - began < SECONDS, filler
