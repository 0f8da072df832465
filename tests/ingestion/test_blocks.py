import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from sample_store import SAMPLE
from strategies import examples
from tables import table

from clsm_cli.ingestion.blocks import conflict_marks, scan


def cut(text: str) -> list[str]:
    lines = text.split("\n")
    return ["\n".join(lines[span.start : span.end]) for span in scan(lines)]


@pytest.mark.parametrize(("text", "blocks"), table(__file__, "cuts"))
def test_cuts(text: str, blocks: str) -> None:
    assert cut(text.replace("⇥", "\t")) == blocks.replace("⇥", "\t").split("¶")


def test_only_a_new_line_cuts() -> None:
    assert (cut("a\rb"), cut("")) == (["a\rb"], [])


def test_headings_make_a_path() -> None:
    text = "Title\n=====\na\n## One ##\nb\n### Deep #1\nc\n## Two\nd\n\nUnder\n---\ne\n#\nf"
    spans = scan(text.split("\n"))
    assert [span.heading for span in spans] == [
        ("Title",), ("Title", "One"), ("Title", "One", "Deep #1"), ("Title", "Two"),
        ("Title", "Under"), (),
    ]  # fmt: skip


def test_conflict_marks_need_all_three() -> None:
    lines = ["<<<<<<< a", "x", "||||||| b", "y", "=======", "z", ">>>>>>> c"]
    assert conflict_marks(lines) == [0, 2, 4, 6]
    assert conflict_marks(["<<<<<<< a", "x", ">>>>>>> c"]) == []
    assert conflict_marks(["Title", "=======", ">>>>>>> quoted"]) == []


def token_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the same blocks by markdown-it-py."""
    spans = []
    lines = text.split("\n")
    lists = {"bullet_list_open", "ordered_list_open", "heading_open"}
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        is_item = token.type == "list_item_open" and token.level == 1
        is_block = token.level == 0 and token.type not in {*lists, "inline", "hr"}
        if token.map and (is_item or is_block):
            start, end = token.map
            while not lines[end - 1].strip():
                end -= 1
            if not lines[start].startswith("<!--"):
                spans.append((start, end))
    return spans


@pytest.mark.parametrize(
    "path", sorted(SAMPLE.glob("workspace/**/*.md")), ids=lambda path: path.stem
)
def test_cuts_as_markdown_it_does(path: Path) -> None:
    text = path.read_text()
    assert [(span.start, span.end) for span in scan(text.split("\n"))] == token_spans(text)


STARTS = ["", "- ", "* ", "1. ", "12) ", "# ", "## ", "> ", "```", "~~~", "    ", "  ", "\t", "|"]
STARTS += ["---", "===", "***", "<!--", "-->", "| a | b |", "|---|---|", "<<<<<<<", "\r", "\x0b"]
LINES = st.lists(
    st.builds("".join, st.lists(st.sampled_from([*STARTS, "word", " ", "é"]), max_size=4)),
    max_size=20,
)


@examples(1000)
@given(LINES)
def test_every_line_of_text_is_in_exactly_one_block(lines: list[str]) -> None:
    spans = scan(lines)
    covered = [number for span in spans for number in range(span.start, span.end)]
    assert covered == sorted(set(covered))
    inside_comment = False
    for number in sorted(set(range(len(lines))) - set(covered)):
        line = lines[number].strip()
        # Only these may lie outside; the lines of a comment follow its start without a gap.
        if line.startswith("<!--"):
            inside_comment = True
        if inside_comment:
            inside_comment = "-->" not in line
            continue
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        underlined = following != "" and not following.strip("=-")
        heading = line.startswith("#") or underlined
        empty = line.startswith(("```", "~~~")) or re.fullmatch(r"\d+[.)]", line)
        assert not line or heading or empty or not "".join(line.split()).strip(line[0]), line
