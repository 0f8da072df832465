from __future__ import annotations

import pytest

from clsm_cli.text.labels import heading_subject, is_asking, is_meta, is_rule_heading, label_of


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("- **Ann Hart**: keeps bees.", "Ann Hart"),
        ("- **Ann Hart:** keeps bees.", "Ann Hart"),
        ("**Otter**, the new index", "Otter"),
        ("- **Otter** (March): the new index", "Otter"),
        ("- **Rest**, **sleep**: no work", "Rest, sleep"),
        ("- *The kettle*: a state of mind", "The kettle"),
        ("- [[Otter]]: the new index", "Otter"),
        ("Decision: we stay.", "Decision"),
    ],
)
def test_labels(raw: str, name: str) -> None:
    found = label_of(raw, is_item=raw.startswith("-"))
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "raw",
    [
        "- **It was late.** Nobody came.",
        "*Dune*, chapter two.",
        "Ann said: no.",
        "- plain text",
        "",
    ],
)
def test_no_labels(raw: str) -> None:
    assert label_of(raw, is_item=raw.startswith("-")) is None


def test_kinds_of_labels() -> None:
    assert is_meta("Decision")
    assert is_meta("From the storm")
    assert not is_meta("Otter")
    assert is_asking("Open question")


def test_headings() -> None:
    assert heading_subject(("USER", "Ann Hart")) == "Ann Hart"
    assert heading_subject(("People", "Ann Hart", "Family")) == "Ann Hart"
    assert heading_subject(("Plans for the year",)) == ""
    assert heading_subject(("2026-02-10, Tuesday",)) == ""
    assert heading_subject(()) == ""
    assert is_rule_heading(("USER", "How she likes to be helped"))
    assert not is_rule_heading(())
