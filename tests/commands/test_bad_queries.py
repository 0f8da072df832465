"""Whatever is asked, recall ends well: an answer or none, and never a traceback."""

import json
from typing import Any

import pytest
from processes import Cli
from small_store import row, talk
from tables import mapping

NOW = ("--now", "2026-02-26T08:00:00+01:00")
NOTHING = "clsm: nothing relevant was found"

QUERIES: dict[str, str | bytes] = {
    **mapping(__file__, "queries"),
    "20 KB of text": "the heron stood on the gauge by the lock and " * 455,
    "20 KB without a blank": "heron" * 4096,
    "20 KB of Chinese": "苍鹭站在水位计上" * 2500,
    "joined emoji": "👩‍👩‍👧‍👦🏳️‍🌈",
    "combining marks": "e" + "\u0301" * 500,
    "a lone surrogate": b"heron \xed\xa0\x80 gauge",
    "a byte that is no UTF-8": b"\xff",
    "a NUL's neighbours": "\x01\x02\x1b[31m heron",
    "a number": "9" * 400,
    "lines": "heron\r\n\r\n\tgauge\n",
}


@pytest.fixture(scope="module")
def told(shared: Cli) -> Cli:
    """One store for all; nothing that is asked changes it."""
    rows = [
        *talk("a", "The heron stood on the gauge.", "Did Brian see it?"),
        *talk("b", "Good morning.", "I fed the cat.", speaker="Brian"),
        row("Hello.", speaker="Ann Lee", session="c"),
        row("Hello!", speaker="Ann Ray", session="d"),
    ]
    shared.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())
    return shared


def alone(told: Cli, query: str | bytes) -> Any:
    return told.ok("recall", "--json", "--no-touch", *NOW, "--", query).json


@pytest.fixture(scope="module")
def answers(told: Cli) -> dict[str | bytes, Any]:
    """What each query is answered, the texts in one batch."""
    texts = [query for query in QUERIES.values() if isinstance(query, str)]
    lines = "".join(json.dumps({"query": text}) + "\n" for text in texts)
    done = told.ok("recall", "--batch", "-", *NOW, stdin=lines.encode())
    found: dict[str | bytes, Any] = {
        query: alone(told, query) for query in QUERIES.values() if isinstance(query, bytes)
    }
    return found | dict(zip(texts, map(json.loads, done.out.splitlines()), strict=True))


@pytest.mark.parametrize("query", QUERIES.values(), ids=list(QUERIES))
def test_every_query_ends_well(
    told: Cli, answers: dict[str | bytes, Any], query: str | bytes
) -> None:
    done = told.ok("recall", "--no-touch", *NOW, "--", query)
    assert done.err.startswith(NOTHING) != ("\n1. " in f"\n{done.out}")
    assert "\x1b" not in done.out
    answer = answers[query]
    assert answer["answered"] == bool(answer["memories"]) == (not done.err)
    assert 0 <= answer["confidence"] <= 1
    assert all(0 <= m["score"] <= 1 and 0 <= m["confidence"] <= 1 for m in answer["memories"])
    if isinstance(query, str):
        assert answer["query"] == query.strip()


@pytest.mark.parametrize("name", ["20 KB of text", "a stop word", "names only"])
def test_a_batch_answers_as_if_nothing_was_asked_before(
    told: Cli, answers: dict[str | bytes, Any], name: str
) -> None:
    found = answers[QUERIES[name]]
    assert {"id": found["id"], **alone(told, QUERIES[name])} == found
