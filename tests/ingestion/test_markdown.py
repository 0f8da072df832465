import itertools
from datetime import date

import pytest
from reading import HOME
from reading import note as read
from tables import table

from clsm_cli.ingestion import markdown
from clsm_cli.ingestion.jsonl_rows import Problem, RawDocument


def told(document: RawDocument) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.reason) for problem in document.problems]


def test_a_document() -> None:
    text = "---\ntitle: Meta\ndate: 2026-02-01\n---\n# Pets\n\n- Juno  \n\n  a cat\n\n## Food\n\nFish.\n"
    document = read(text)
    assert (document.trust, document.problems) == ("user", ())
    assert [
        (block.text, block.line_start, block.line_end, block.heading, block.time)
        for block in document.blocks
    ] == [
        ("- Juno  \n\n  a cat", 7, 9, ("Pets",), "2026-02-01"),
        ("Fish.", 13, 13, ("Pets", "Food"), "2026-02-01"),
    ]


def test_a_carriage_return_ends_a_line_where_nothing_else_does() -> None:
    found = read("# Pets\r\rJuno.\r").blocks
    assert [(block.text, block.line_start, block.heading) for block in found] == [
        ("Juno.", 3, ("Pets",))
    ]


@pytest.mark.parametrize(("first_line", "expected"), table(__file__, "times of blocks"))
def test_time_of_a_block_in_a_daily_note(first_line: str, expected: str) -> None:
    (block,) = read(first_line, "memory/2026-02-24-pets.md").blocks
    assert block.time == expected


@pytest.mark.parametrize(("path", "expected"), table(__file__, "names with a day"))
def test_a_name_with_a_day_in_it_dates_a_note(path: str, expected: str) -> None:
    assert [block.time or "-" for block in read("Fish.", path).blocks] == [expected]
    (block,) = read("---\ndate: 2026-02-01\n---\nFish.", path).blocks
    assert block.time == "2026-02-01", "what a note says of itself goes before"
    (block,) = read("---\ncreated: February 5, 2026 (draft)\n---\nFish.", path).blocks
    assert block.time == "2026-02-05"
    (block,) = read("---\ntitle: Meeting 1 March 2026\n---\nFish.", path).blocks
    assert block.time == "2026-03-01", "so does its title, before its name inside"
    (block,) = read("# Review of 20260301\n\nFish.", path).blocks
    assert block.time == "2026-03-01"


@pytest.mark.parametrize(("text", "expected"), table(__file__, "lines below the title"))
def test_a_line_below_the_title_dates_a_note(text: str, expected: str) -> None:
    assert (read(text, today=date(2026, 11, 28)).header_day or "-") == expected


def test_a_heading_tells_the_day_of_its_blocks() -> None:
    text = "# Log 2026-01-01\n## 2026-01-02\na\n- 08:15 b\n### Deep\nc\n## Other\nd\n"
    document = read(text, "2026-02-24.md")
    assert [block.time for block in document.blocks] == [
        "2026-01-02",
        "2026-01-02T08:15:00+01:00",
        "2026-01-02",
        "2026-01-01",
    ]
    assert [block.time for block in read("08:15 a\n").blocks] == [None]
    (block,) = read("# Garden\n## 2 January - frost\na\n", "diary/2026-12.md").blocks
    assert block.time == "2027-01-02", "its year is in the name of the file"
    (block,) = read("# Diary 2026\n## 29 February\na\n").blocks
    assert block.time is None, "no year near has that day"


@pytest.mark.parametrize(("path", "front", "in_workspace", "trust"), table(__file__, "whose words"))
def test_whose_words_they_are(path: str, front: str, in_workspace: str, trust: str) -> None:
    assert read(f"{front}a", path, is_agents=in_workspace == "yes").trust == trust


@pytest.mark.parametrize(
    ("front", "line", "reason"),
    [("- " * 5000 + "x", "", "has front matter that is nested"), *table(__file__, "unusable")],
)
def test_unusable_front_matter_is_text(front: str, line: str, reason: str) -> None:
    document = read(f"---\n{front}\n---\nBody.\n")
    ((where, said),) = told(document)
    assert said.startswith(reason)
    assert said.endswith("read as text")
    assert not line or where == int(line)
    texts = [block.text for block in document.blocks]
    assert texts[-1] == "Body."
    assert "\n".join(texts[:-1]).strip() == front.strip()
    assert document.blocks[-1].line_start == front.count("\n") + 4


def test_a_note_beyond_the_limit_is_refused_whole() -> None:
    found = markdown.read(b"x" * ((8 << 20) + 1), path="big.md", zone=HOME)
    assert found == Problem("big.md", None, "larger than 8 MiB")


def test_a_note_of_too_many_blocks_is_refused_whole() -> None:
    most = "- a\n" * 32_768
    assert len(read(most).blocks) == 32_768
    found = markdown.read(f"{most}- b\n".encode(), path="log.md", zone=HOME)
    assert found == Problem("log.md", None, "more than 32,768 blocks, split it up")


@pytest.mark.parametrize(
    "text", ["```\n```", "~~~py\n\n~~~", "```", "````\n```\n````", "-", "- [ ]", "- [x] ", "1."]
)
def test_what_holds_nothing_is_no_block(text: str) -> None:
    assert [block.text for block in read(f"a\n\n{text}\n").blocks] == ["a"]


@pytest.mark.parametrize("text", ["```\nx\n```", "```\nx", "-\n  x", "- [ ] x", "- ```\n  ```"])
def test_what_holds_something_is_a_block(text: str) -> None:
    assert [block.text for block in read(f"a\n\n{text}\n").blocks] == ["a", text]


def test_a_large_block_comes_in_pieces() -> None:
    line = "word " * 200
    many = "\n".join([line.rstrip()] * 1500)
    document = read("# T\n\n" + many + "\n\nend\n")
    *pieces, end = document.blocks
    assert end.text == "end"
    assert len(pieces) > 1
    assert "\n".join(piece.text for piece in pieces) == many
    assert [pieces[0].line_start, pieces[-1].line_end] == [3, 1502]
    assert all(a.line_end + 1 == b.line_start for a, b in itertools.pairwise(pieces))
    assert told(document) == []
