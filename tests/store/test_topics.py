from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_store import page
from strategies import examples

from clsm_cli.model.graph import Statement
from clsm_cli.store import topics
from clsm_cli.store.topics import NewItem, Topic

PATH = Path("projects/memory.md")


def parse(text: str, name: str = "memory") -> Topic:
    return topics.parse(text.encode(), PATH.with_name(f"{name}.md"))


def shown(text: str) -> list[tuple[str | None, str, int, str | None]]:
    return [(item.id, item.text, item.line, item.state) for item in parse(text).items]


def test_one_statement_per_list_item() -> None:
    text = (
        "---\ntitle: Memory\nstream: projects\n---\n\n# Rules\n\nProse is no statement.\n"
        "- Mara wants the recommendation first.  ^f-3a9c12d08e41\n"
        "* A new one\n"
        "+ [ ] Call Brian. ^f-2\n"
        "- [x] Paid\t^f-3  \n"
        "- [!] Waiting for the key. ^f-4\n"
    )
    assert shown(text) == [
        ("f-3a9c12d08e41", "Mara wants the recommendation first.", 9, None),
        (None, "A new one", 10, None),
        ("f-2", "Call Brian.", 11, "open"),
        ("f-3", "Paid", 12, "done"),
        ("f-4", "Waiting for the key.", 13, "blocked"),
    ]


def test_a_text_may_go_on_in_indented_lines() -> None:
    assert shown("- One\n  and two\n  - and three ^f-1\n\n  not this\n- Four\nnor this\n") == [
        ("f-1", "One and two - and three", 1, None),
        (None, "Four", 6, None),
    ]
    assert shown("- One  ^f-1\n  more ^f-2") == [("f-1", "One more", 1, None)]


def test_code_is_no_statement() -> None:
    code = "~~~\n```\n- in code\n## Call\n~~~~\n"
    text = f"## Mara\n{code}- One\n```sh\n- not closed\n"
    assert shown(text) == [(None, "One", 7, None), (None, "not closed", 9, None)]
    assert topics.heading_of(parse(text), parse(text).items[0]) == "Mara"
    call = Statement(id="f-1", rev=(1, "pi"), text="Call Brian.")
    added = topics.apply_edits(parse(text), fresh=[NewItem("Call", call)])
    assert added.decode() == f"{text}\n## Call\n\n- Call Brian.  ^f-1\n"


@pytest.mark.parametrize(
    "line", ["* * *", "- - -", "---", "-", "- ", "- ^f-1", "-   ^f-1", "-x", "1. x", "- [ ] "]
)
def test_what_is_no_statement(line: str) -> None:
    assert shown(line) == []


@pytest.mark.parametrize("tail", ["^", "^F-1", "x^f-1", "^-f", "^f 1", "^../x", "^" + "a" * 81])
def test_what_is_no_id_belongs_to_the_text(tail: str) -> None:
    assert shown(f"- Text {tail}") == [(None, f"Text {tail}", 1, None)]


def test_bad_front_matter_and_bytes_are_reported_and_items_read() -> None:
    topic = parse("---\ntitle: [x\n---\n- One ^f-1\n")
    assert [item.line for item in topic.items] == [4]
    assert len(topic.problems) == 1
    topic = topics.parse(b"- One\n- T\xffwo ^f-2\n", PATH)
    (problem,) = topic.problems
    assert (problem.line, problem.reason) == (2, "is not UTF-8 (bad bytes were replaced)")
    assert [item.text for item in topic.items] == ["One", "T\ufffdwo"]


words = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]), min_size=1)
sentences = st.lists(words, min_size=1, max_size=4).map(lambda found: "A" + " ".join(found))


@examples(100)
@given(st.lists(sentences, max_size=5))
def test_what_is_rendered_reads_back(texts: list[str]) -> None:
    statements = [
        Statement(id=f"f-{n}", rev=(1, "pi"), text=text, state="open" if n % 2 else None)
        for n, text in enumerate(texts)
    ]
    data = page("T: [x]", "projects", "memory", statements)
    topic = topics.parse(data, PATH)
    assert topic.problems == ()
    assert [(i.id, i.text, i.state) for i in topic.items] == [
        (s.id, " ".join(s.text.split()), s.state) for s in statements
    ]


def test_ids_are_put_behind_their_lines_and_nothing_else_changes() -> None:
    data = b"\xef\xbb\xbf# Mine\r\n\r\n- One \r\n  more\r\n- Two ^f-2\r\nend \xff"
    topic = topics.parse(data, PATH)
    assert topics.apply_edits(topic, ids={3: "f-1"}) == data.replace(b"- One \r", b"- One  ^f-1\r")


def test_only_markdown_files_are_read_and_strange_ones_are_problems(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", ".hidden.md", ".tmp-a.md", "notes.txt"):
        (tmp_path / name).write_text("- x")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "large.md").write_bytes(b"x" * ((8 << 20) + 1))
    found = topics.read_topics(tmp_path)
    assert [topic.path.name for topic in found] == ["a.md", "b.md", "large.md", "link.md"]
    assert [p.reason for topic in found for p in topic.problems] == [
        "is larger than 8 MiB",
        "is a symbolic link",
    ]
    assert topics.read_topics(tmp_path / "missing") == []


# A topic file keeps every line that a person wrote; only what changed is another.
PEOPLE = Path("identity/people.md")
FILE = Path(__file__).with_suffix(".md").read_text("utf-8")


def statement(record: str, text: str, **fields: object) -> Statement:
    return Statement(id=record, rev=(1, "pi"), text=text, topic="people", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edits", "old", "new"),
    [
        ({"drop": {"f-1"}}, "- Mara likes rye.  ^f-1\n  It must be dark.\n", ""),
        (
            {"change": {"f-2": statement("f-2", "Mara is tall.")}},
            "Mara has a boat.",
            "Mara is tall.",
        ),
        ({"fresh": [NewItem("Mara", statement("f-4", "It."))]}, "^f-2\n", "^f-2\n- It.  ^f-4\n"),
    ],
    ids=["goes with its continuation", "stays in its place", "stands at the end of its section"],
)
def test_an_item(edits: dict[str, Any], old: str, new: str) -> None:
    found = topics.apply_edits(topics.parse(FILE.encode(), PEOPLE), **edits)
    assert found.decode() == FILE.replace(old, new)


def test_a_new_section_comes_last_and_what_has_none_first() -> None:
    fresh = [
        NewItem("Yusuf", statement("f-5", "Yusuf has a barge.")),
        NewItem("", statement("f-6", "The house has four floors.")),
        NewItem("Yusuf", statement("f-7", "Yusuf sings.")),
    ]
    data = topics.apply_edits(topics.parse(FILE.encode(), PEOPLE), fresh=fresh)
    text = data.decode()
    assert text.endswith("\n\n## Yusuf\n\n- Yusuf has a barge.  ^f-5\n- Yusuf sings.  ^f-7\n")
    assert text.index("- The house has four floors.  ^f-6\n") < text.index("## Mara")
    found = {item.id for item in topics.parse(data, PEOPLE).items}
    assert found == {f"f-{n}" for n in (1, 2, 3, 5, 6, 7)}


def test_a_new_file_reads_as_a_page(tmp_path: Path) -> None:
    topic = topics.new_topic(tmp_path / "people.md", "identity")
    assert topic.sha256 is None
    data = topics.apply_edits(topic, fresh=[NewItem("Mara", statement("f-1", "Mara likes rye."))])
    assert data.decode().endswith("# People\n\n## Mara\n\n- Mara likes rye.  ^f-1\n")


def test_crlf_and_broken_bytes_stay() -> None:
    raw = FILE.replace("\n", "\r\n").encode() + b"- caf\xe9  ^f-9\r\n"
    found = topics.apply_edits(topics.parse(raw, PEOPLE), drop={"f-3"})
    assert found == raw.replace(b"- Brian is 71.  ^f-3\r\n", b"")
