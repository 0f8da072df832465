from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.text.sentences import sentences, split

NOTE = """# Notes of 24 February. Late.

Met Dr. Hardin at 9 a.m. today. We use v1.2. of the
valve firmware, e.g. on SL-12; see https://x.org/a.b?c=1. Is it `a.b. c`? Yes!

1. First item. With two sentences.
2. Second item
   goes on here.
- [ ] task

```python
print("a. b"). No split here. None.

x = 1
```
| a. b | c. D |
Last line... and so on. "Really?" she asked. OK
"""


def test_a_markdown_note() -> None:
    assert sentences(NOTE) == [
        "# Notes of 24 February. Late.",
        "Met Dr. Hardin at 9 a.m. today.",
        "We use v1.2. of the\nvalve firmware, e.g. on SL-12; see https://x.org/a.b?c=1.",
        "Is it `a.b. c`?",
        "Yes!",
        "1. First item.",
        "With two sentences.",
        "2. Second item\n   goes on here.",
        "- [ ] task",
        '```python\nprint("a. b"). No split here. None.\n\nx = 1\n```',
        "| a. b | c. D |",
        "Last line... and so on.",
        '"Really?" she asked.',
        "OK",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\n ", []),
        ("Hey Mel! Good to see you! How have you been?", 3),
        ("i went home. it was late", 2),
        ("J. R. Smith met Mrs. Lee of Acme Inc. in the U.S. embassy.", 1),
        ("It costs 3.50 at No. 5. Cheap.", 2),
        ("I said no. Then we left.", 2),
        ("So did I. Then she did.", 2),
        ("We bought pens, ink etc. Then we wrote.", 2),
        ("Wait... I think so", 1),
        ("Wait... What", 2),
        ("Hm\u2026 maybe", 1),
        ("(It rained.) We stayed.", 2),
        ("**Bold end.** Next.", 2),
        ("今日は雨です。家にいます\uff01「本当\uff1f」と聞いた。", 4),
        ("Look at ./a.py and .env now", 1),
        ("It is 5 p.m. She left.", 2),
        ("~~~\nunclosed. fence. here", 1),
        ("> quoted. Line\n> two.", 2),
    ],
)
def test_cases(text: str, expected: list[str] | int) -> None:
    found = sentences(text)
    assert found == expected or len(found) == expected, found


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
