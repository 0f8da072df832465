"""What was made of a memory against its labels, on records written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from clsm_cli.evaluation.studies import matching
from clsm_cli.evaluation.studies.labelled import (
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
    "interval",
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
    return Contents(
        nodes={node.id: node for node in nodes},
        edges={},
        rows={row.id: row for row in rows},
        turns={key: Turn(key, "", "user", text) for key, text in texts.items()},
        consolidated=1,
        review=0,
    )


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
    found = matching.match_concepts(labels, holding(nodes=nodes))
    assert (found.labels, found.found, found.nodes, found.unmatched) == (4, 3, 4, 1)
    assert found.missing == ("Leiden",)
    assert found.split == {"the moon": ("crescents", "moon")}
    assert found.merges == {"moon": ("heron", "the moon")}
    assert (found.kinded, found.kinds_right) == (2, 1)


def test_statements() -> None:
    keep = (
        Wording("It runs.", "projects", (("pump",), ("40", "forty")), "every 40 minutes"),
        Wording("It ran.", "flow", (("pump",), ("20",)), "every 20 minutes"),
        Wording("It stood.", "flow", (("stood",),), "every 40 minutes"),
        Wording("Not before eight.", "identity", (("eight",),), "Nothing before eight"),
    )
    junk = (Wording("from today", "", (("today",),), ""), Wording("lol", "", (("lol",),), ""))
    rows = (
        NEW,
        OLD,
        replace(NEW, id="f-3", text="It stood.", superseded_at="2026-03-04T00:00:00Z"),
        replace(NEW, id="f-4", text="Before eight, nothing.", withdrawn=True),
        replace(NEW, id="f-5", text="It stood till eight.", kind="gist", stream="flow"),
    )
    found = matching.match_statements(Labels((), keep, junk, ()), holding(*rows))
    assert (found.keep, found.present, found.stream_right) == (4, 2, 1)
    assert found.misplaced == (("It ran.", "flow", "projects"),)
    assert [(each.text, each.instead) for each in found.missing] == [
        ("It stood.", (NEW.text,)),
        ("Not before eight.", ()),
    ]
    assert (found.junk, found.promoted) == (2, (("from today", NEW.text),))
    assert found.counts == {"fact": {"projects": 2}, "gist": {"flow": 1}}


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("2026-03-02", "due on 2 March", True),
        ("2026-03-02", "due on March 2nd", True),
        ("2026-03-02", "due on Mar. 2", True),
        ("2026-03-02", "due (2026-03-02)", True),
        ("2026-03-02", "due on 22 March", False),
        ("2026-03-02", "due on 2 May", False),
        ("2.5 mg twice a day", "It gets 2.5 mg, twice each day.", True),
        ("2.5 mg twice a day", "It gets 25 mg twice a day.", False),
        ("Tuesday and Thursday", "Tuesdays and Thursdays are her days", True),
        ("1 %", "It risks 0.1 % a trade.", False),
        ("10", "Noor is ten.", True),
        ("SD card", "the card", False),
    ],
)
def test_a_text_says_a_value(value: str, text: str, expected: bool) -> None:
    assert matching.says_value(value, text) is expected


def test_a_fact_that_was_followed() -> None:
    found = matching.match_fact(FACT, holding(OLD, NEW))
    assert found.is_current_right
    assert [(v.is_right, v.ends_right, v.why, v.found) for v in found.values] == [
        (True, True, "", ()),
        (True, True, "", ()),
    ]


@pytest.mark.parametrize(
    ("rows", "why", "current"),
    [
        ((NEW,), "nothing of its turn was kept", True),
        ((NEW, replace(OLD, valid_until=None)), "is still current", False),
        ((NEW, replace(OLD, valid_until="2026-03-09")), "ends at another date", True),
        ((NEW, replace(OLD, valid_from=None)), "begins at another date", True),
        ((NEW, replace(OLD, valid_from=None, valid_until=None)), "both dates are wrong", False),
        ((NEW, replace(OLD, text="It is mended.", value=None)), "no row says it", True),
        ((OLD, replace(NEW, valid_until="2026-03-09")), "", False),
        ((NEW, replace(OLD, superseded_at="2026-03-04T00:00:00Z")), "nothing of its turn was kept", True),
    ],
)  # fmt: skip
def test_a_fact_that_was_not(rows: tuple[Statement, ...], why: str, current: bool) -> None:
    found = matching.match_fact(FACT, holding(*rows))
    assert found.values[0].why == why
    assert found.is_current_right is current
