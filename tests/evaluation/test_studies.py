"""Studies: a labelled memory against its labels, on records by hand and for real; time expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.small_sets import DAYS, write_memory
from ingesting import tree

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.studies import memory, times
from clsm_cli.evaluation.studies.memory import (
    Concept,
    Contents,
    Fact,
    Labels,
    Value,
    Wording,
    normal_names,
)
from clsm_cli.model.episodes import Turn
from clsm_cli.model.graph import Node, Statement

REV = (1, "pi")
OLD = Statement(
    id="f-1",
    rev=REV,
    text="The pump runs every 20 minutes.",
    subject="pump",
    value="20 minutes",
    sources=("t1",),
    valid_from="2026-03-02T08:00:00+01:00",
    valid_until="2026-03-03",
)
NEW = replace(
    OLD,
    id="f-2",
    text="From today the pump runs every 40 minutes.",
    value="40 minutes",
    sources=("t2",),
    valid_from="2026-03-03",
    valid_until=None,
)
FACT = Fact(
    "pump",
    "the pump",
    (
        Value("20 minutes", "2026-03-02", "2026-03-03", "every 20 minutes"),
        Value("40 minutes", "2026-03-03", None, "every 40 minutes"),
    ),
)


def holding(*rows: Statement, nodes: Sequence[Node] = ()) -> Contents:
    texts = {
        "t1": "It is mended. The pump runs\nevery 20 minutes.",
        "t2": "The pump runs every 40 minutes.",
        "t3": "Nothing before eight, she said.",
    }
    turns = {key: Turn(key, "", "user", text) for key, text in texts.items()}
    by_id = {row.id: row for row in rows}
    return Contents({node.id: node for node in nodes}, {}, by_id, turns, 1, 0)


def node(label: str, *aliases: str, kind: str = "concept") -> Node:
    return Node(id=label.lower(), rev=REV, label=label, aliases=aliases, kind=kind)


def concept(label: str, *aliases: str, kind: str | None = None) -> Concept:
    return Concept(label, normal_names((label, *aliases)), kind)


def test_concepts() -> None:
    labels = [
        concept("Brian", "Brian Hale", kind="person"),
        concept("the moon", "crescent"),
        concept("heron", kind="animal"),
        concept("Leiden"),
    ]
    nodes = [
        node("Brian Hale", kind="person"),
        node("crescents"),
        node("moon", "Heron"),
        node("tide"),
    ]
    found = memory.match_concepts(labels, holding(nodes=nodes))
    assert found.counts["labels found"] == (3, 4)
    assert found.counts["nodes that no label names"] == (1, 4)
    assert found.counts["kinds right"] == (1, 2)
    assert found.lists["labels without a node"] == ("Leiden",)
    assert found.lists["labels with several nodes"] == ("the moon: crescents, moon",)
    assert found.lists["wrong merges"] == ("moon: heron, the moon",)


def test_statements() -> None:
    keep = (
        Wording("It runs.", "projects", (("pump",), ("40", "forty"))),
        Wording("It ran.", "flow", (("pump",), ("20",))),
        Wording("It stood.", "flow", (("stood",),)),
        Wording("Not before eight.", "identity", (("eight",),)),
    )
    junk = (Wording("from today", "", (("today",),)), Wording("lol", "", (("lol",),)))
    rows = (
        NEW,
        OLD,
        replace(NEW, id="f-3", text="It stood.", superseded_at="2026-03-04T00:00:00Z"),
        replace(NEW, id="f-4", text="Before eight, nothing.", withdrawn=True),
        replace(NEW, id="f-5", text="It stood till eight.", kind="gist", stream="flow"),
    )
    found = memory.match_statements(Labels((), keep, junk, ()), holding(*rows))
    assert found.counts == {"kept": (2, 4), "stream right": (1, 2), "junk promoted": (1, 2)}
    assert found.lists == {
        "not kept": ("It stood.", "Not before eight."),
        "in another stream": ("It ran. (projects, not flow)",),
        "junk promoted": (f"from today -> {NEW.text}",),
    }


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("2026-03-02", "due on Mar. 2", True),
        ("2026-03-02", "due on March 2nd (a Monday)", True),
        ("2026-03-02", "due (2026-03-02)", True),
        ("2026-03-02", "due on 22 March", False),
        ("2026-03-02", "due on 2 May", False),
        ("2.5 mg twice a day", "It gets 2.5 mg, twice each day.", True),
        ("2.5 mg twice a day", "It gets 25 mg twice a day.", False),
        ("Tuesday and Thursday", "Tuesdays and Thursdays are her days", True),
        ("SD card", "the card", False),
    ],
)
def test_a_text_says_a_value(value: str, text: str, expected: bool) -> None:
    assert memory.says_value(value, text) is expected


@pytest.mark.parametrize(
    ("rows", "stated", "right", "closed", "current"),
    [
        ((OLD, NEW), 2, 2, 1, 1),
        ((NEW,), 1, 1, 0, 1),
        ((NEW, replace(OLD, valid_until=None)), 2, 1, 0, 0),
        ((NEW, replace(OLD, valid_until="2026-03-09")), 2, 1, 0, 1),
        ((NEW, replace(OLD, valid_from=None)), 2, 1, 1, 1),
        ((NEW, replace(OLD, text="It is mended.", value=None)), 1, 1, 0, 1),
        ((OLD, replace(NEW, valid_until="2026-03-09")), 2, 1, 1, 0),
        ((NEW, replace(OLD, superseded_at="2026-03-04T00:00:00Z")), 1, 1, 0, 1),
    ],
)
def test_a_fact(
    rows: tuple[Statement, ...], stated: int, right: int, closed: int, current: int
) -> None:
    found = memory.match_facts([FACT], holding(*rows))
    assert found.counts == {
        "values with both dates right": (right, 2),
        "values stated": (stated, 2),
        "old values closed at the right date": (closed, 1),
        "current value right": (current, 1),
    }
    assert bool(found.lists["facts that fail"]) == (right < 2 or not current)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_memory(tmp_path / "set")


def test_from_files_to_figures(root: Path, factory: StoreFactory) -> None:
    before = tree(root, derived=True)
    found = memory.run_memory(root, factory)
    assert tree(root, derived=True) == before
    assert found["memory"].counts["turns"][0] > 0
    assert found["concepts"].lists["labels without a node"] == ("the moon",)
    assert found["statements"].counts["kept"] == (1, 2)  # the task; nobody spoke of the moon
    assert found["statements"].lists["not kept"] == ("The moon is full.",)
    assert found["facts that changed"].counts["values stated"] == (0, 2)  # in passing


def test_plain_notes_have_no_markup(root: Path, factory: StoreFactory) -> None:
    assert list(memory.run_memory(root, factory, is_plain=True)) == ["memory", "concepts"]
    (copy,) = factory.folder.glob("*-rewritten")
    text = (copy / "workspace" / "memory" / "2026-03-03.md").read_text()
    assert "- [ ] Ask Brian for the invoice of the pump" in text
    assert "pump --status says so. cellar" in text
    assert "[[Brian]]" in DAYS["2026-03-03"]


SMALL = """
store:
- {id: a, time: "2025-09-02T18:10:00+02:00", about: [tea], text: ["user: Tea?", "assistant: Yes: tea."]}
- {id: b, time: "2025-09-03T18:10:00+02:00", about: [soup], text: ["user: Soup."]}
expressions:
- {id: x1, now: "2025-09-10T10:00:00+02:00", query: "our first chat", store: true, answer: [a]}
- {id: x2, now: "2025-09-10T10:00:00+02:00", query: "our last chat", store: true, answer: [a], or: [{answer: [b]}]}
- {id: x3, now: "2025-09-10T10:00:00+02:00", query: "our last chat", store: true, answer: [a]}
- {id: x4, now: "2025-09-10T10:00:00+02:00", query: "before 2024", first: null, until: "2024-01-01", hard: true}
- {id: x5, now: "2025-09-10T10:00:00+02:00", query: "recently", first: "2025-09-01", until: "2025-09-11", hard: true}
"""


def put(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / times.FILE).write_text(text, encoding="utf-8")
    return folder


def test_times(factory: StoreFactory, tmp_path: Path) -> None:
    (found,) = times.run_times(put(tmp_path / "set", SMALL), factory).values()
    assert found.counts == {
        "right, all": (3, 5),
        "right, calendar": (1, 2),
        "right, store": (2, 3),
        "of these, hard or soft right too": (3, 3),
        "conversations of the store": (2, 0),
    }
    first, _ = found.lists["read otherwise"]
    assert first == "x3 our last chat: is b, not a"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "store: 3\nexpressions: 4",
        "expressions: [{id: x}]\nstore: []",
        SMALL.replace("2025-09-10T10:00:00+02:00", "noon"),
        SMALL.replace('until: "2024-01-01"', 'until: "2024-13-01"'),
        "[",
    ],
)
def test_a_file_that_is_not_of_this_set(factory: StoreFactory, tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInputError):
        times.run_times(put(tmp_path / "set", text), factory)
