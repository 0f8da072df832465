"""docs/promises.md shows the figures that are kept, and each promise has a rig that holds it."""

from __future__ import annotations

import re

from faults import figures
from faults.registry import rigs

PROMISES = range(1, 19)


def test_the_page_shows_the_figures() -> None:
    page = figures.PAGE.read_text()
    assert figures.filled(page, figures.load()) == page


def test_every_promise_stands_in_the_page_once() -> None:
    page = figures.PAGE.read_text()
    for kind in (r"^### (\d+)\. ", r"<!-- figures of (\d+) -->"):
        assert [int(n) for n in re.findall(kind, page, re.MULTILINE)] == list(PROMISES)


def test_every_promise_has_a_rig() -> None:
    assert {promise for rig in rigs() for promise in rig.promises} == set(PROMISES)
    assert {rig.name for rig in rigs()} == set(figures.load())
    known = {rig.name: list(rig.promises) for rig in rigs()}
    for name, found in figures.load().items():
        assert found["promises"] == known[name]


def test_no_figure_hides_a_violation() -> None:
    """What a rig found stands in the page until it is mended and run again."""
    for name, found in figures.load().items():
        for outcome in found["outcomes"]:
            assert (name, outcome["what"], outcome["violations"]) == (name, outcome["what"], 0)
            assert outcome["fired"] > 0
        assert found["control"]["caught"] == found["control"]["tried"] > 0
