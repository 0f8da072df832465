"""Filters of ``clsm recall`` let through what they name, and nothing else."""

import shlex

import pytest
from processes import Cli
from small_store import row
from tables import mapping, table

NOW = ("--now", "2026-02-26T08:00:00+01:00")  # a Thursday
EVERYTHING = ("--min-score", "0", "-k", "100", "--budget", "100000", "--no-touch", "--json")

TEXTS = mapping(__file__, "texts")


@pytest.fixture(scope="module")
def told(shared: Cli) -> Cli:
    """Three turns of two conversations, a note, and a statement in each stream that has them."""
    rows = [
        row(TEXTS[name], session=session, timestamp=f"{day}T07:00:00+01:00")
        for name, session, day in table(__file__, "turns")
    ]
    shared.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())
    (shared.folder / "fares.md").write_text(f"{TEXTS['note']}\n")
    shared.ok("ingest", "-q", "fares.md", *NOW)
    for path, line in table(__file__, "pages"):
        (shared.store / path).write_text(line.format(**TEXTS) + "\n")
    return shared


def found(cli: Cli, *words: str) -> set[str]:
    answer = cli.ok("recall", *EVERYTHING, *NOW, *words, "ferry").json
    return {memory["text"] for memory in answer["memories"]}


@pytest.mark.parametrize(("words", "names"), table(__file__, "filters"))
def test_each_filter(told: Cli, words: str, names: str) -> None:
    assert found(told, *shlex.split(words)) == {TEXTS[name] for name in names.split()}


def test_today(told: Cli) -> None:
    assert TEXTS["today"] in found(told, "--since", "today")


def test_yesterday_is_that_of_the_store_in_whatever_zone_now_is_told(told: Cli) -> None:
    words = ("--now", "2026-02-26T23:30:00Z", "--since", "yesterday", "--until", "yesterday")
    answer = told.ok("recall", *EVERYTHING, *words, "ferry").json
    assert [memory["text"] for memory in answer["memories"]] == [TEXTS["today"]]
