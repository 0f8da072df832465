"""A topic file keeps every line that a person wrote; only what changed is another."""

from __future__ import annotations

from pathlib import Path

from clsm_cli.model.graph import Statement
from clsm_cli.store import topics
from clsm_cli.store.topics import NewItem

PATH = Path("identity/people.md")
FILE = """---
title: "People"
stream: "identity"
topic: "people"
---

# People

A word by hand.

## Mara

- Mara likes rye.  ^f-1
  It must be dark.
- Mara has a boat.  ^f-2

## Brian

1. not an item of ours
- Brian is 71.  ^f-3
"""


def statement(record: str, text: str, **fields: object) -> Statement:
    return Statement(id=record, rev=(1, "pi"), text=text, topic="people", **fields)  # type: ignore[arg-type]


def lines(data: bytes) -> list[str]:
    return data.decode().split("\n")


def test_an_item_goes_with_its_continuation() -> None:
    found = topics.apply_edits(topics.parse(FILE.encode(), PATH), drop={"f-1"})
    assert found.decode() == FILE.replace("- Mara likes rye.  ^f-1\n  It must be dark.\n", "")


def test_a_changed_item_stays_in_its_place() -> None:
    change = {"f-2": statement("f-2", "Mara sold the boat.")}
    found = topics.apply_edits(topics.parse(FILE.encode(), PATH), change=change)
    assert found.decode() == FILE.replace("Mara has a boat.", "Mara sold the boat.")


def test_a_new_one_stands_at_the_end_of_its_section() -> None:
    fresh = [NewItem("Mara", statement("f-4", "Mara is from Lund."))]
    found = lines(topics.apply_edits(topics.parse(FILE.encode(), PATH), fresh=fresh))
    at = found.index("- Mara is from Lund.  ^f-4")
    assert found[at - 1 : at + 3] == [
        "- Mara has a boat.  ^f-2",
        "- Mara is from Lund.  ^f-4",
        "",
        "## Brian",
    ]


def test_a_new_section_comes_last_and_what_has_none_first() -> None:
    fresh = [
        NewItem("Yusuf", statement("f-5", "Yusuf has a barge.")),
        NewItem("", statement("f-6", "The house has four floors.")),
        NewItem("Yusuf", statement("f-7", "Yusuf sings.")),
    ]
    data = topics.apply_edits(topics.parse(FILE.encode(), PATH), fresh=fresh)
    found = lines(data)
    assert found[-6:] == [
        "",
        "## Yusuf",
        "",
        "- Yusuf has a barge.  ^f-5",
        "- Yusuf sings.  ^f-7",
        "",
    ]
    assert found.index("- The house has four floors.  ^f-6") < found.index("## Mara")
    assert {item.id for item in topics.parse(data, PATH).items} == {
        f"f-{n}" for n in (1, 2, 3, 5, 6, 7)
    }


def test_a_new_file_reads_as_a_page(tmp_path: Path) -> None:
    topic = topics.new_topic(tmp_path / "people.md", "identity")
    assert topic.sha256 is None
    data = topics.apply_edits(topic, fresh=[NewItem("Mara", statement("f-1", "Mara likes rye."))])
    assert data.decode().endswith("# People\n\n## Mara\n\n- Mara likes rye.  ^f-1\n")


def test_crlf_and_broken_bytes_stay() -> None:
    raw = FILE.replace("\n", "\r\n").encode() + b"- caf\xe9  ^f-9\r\n"
    found = topics.apply_edits(topics.parse(raw, PATH), drop={"f-3"})
    assert found == raw.replace(b"- Brian is 71.  ^f-3\r\n", b"")
