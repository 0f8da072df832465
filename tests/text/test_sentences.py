from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from tables import table

from clsm_cli.text.sentences import sentences, split

NOTE = Path(__file__).with_suffix(".md").read_text("utf-8")


def test_a_markdown_note() -> None:
    assert sentences(NOTE) == [
        "# Notes of 24 February. Late.", "Met Dr. Hardin at 9 a.m. today.",
        "We use v1.2. of the\nvalve firmware, e.g. on SL-12; see https://x.org/a.b?c=1.",
        "Is it `a.b. c`?", "Yes!", "1. First item.", "With two sentences.",
        "2. Second item\n   goes on here.", "- [ ] task",
        '```python\nprint("a. b"). No split here. None.\n\nx = 1\n```', "| a. b | c. D |",
        "Last line... and so on.", '"Really?" she asked.', "OK",
    ]  # fmt: skip


@pytest.mark.parametrize(("count", "text"), [("0", " \n\t\n "), *table(__file__, "counts")])
def test_a_text_has_so_many(count: str, text: str) -> None:
    found = sentences(text)
    assert len(found) == int(count), found


PARTS = [*"aB1.!?`~-#*|\n\n  \t>", "\u3002", "\u2026", "```", "Dr.", "e.g. ", '"', "1. "]
MARKDOWN = st.lists(st.sampled_from(PARTS)).map("".join)


@given(MARKDOWN | st.text(max_size=60))
@examples(300)
def test_each_visible_character_lies_in_one_span(text: str) -> None:
    spans = split(text)

    covered = 0
    for start, end in spans:
        assert covered <= start < end
        assert text[start:end] == text[start:end].strip()
        assert not text[covered:start].strip()
        covered = end
    assert not text[covered:].strip()
