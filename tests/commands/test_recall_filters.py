"""Filters of ``clsm recall`` let through what they name, and nothing else."""

import pytest
from processes import Cli
from small_store import row

NOW = ("--now", "2026-02-26T08:00:00+01:00")  # a Thursday
EVERYTHING = ("--min-score", "0", "-k", "100", "--budget", "100000", "--no-touch", "--json")

TEN = "The ferry was late on the tenth."
MONDAY = "The ferry was late, says [[Harbour House]]."
TODAY = "The ferry is on time."
NOTE = "The ferry costs nine euros."
RULE = "The ferry is paid in coins."
TASTE = "Ilse loves the ferry."
TASK = "Renew the ferry card."
TURNS = {TEN, MONDAY, TODAY}
STATEMENTS = {RULE, TASTE, TASK}


@pytest.fixture(scope="module")
def told(shared: Cli) -> Cli:
    """Three turns of two conversations, a note, and a statement in each stream that has them."""
    days = (
        (TEN, "yard", "2026-02-10"),
        (MONDAY, "yard", "2026-02-16"),
        (TODAY, "boat", "2026-02-26"),
    )
    rows = [row(text, session=s, timestamp=f"{d}T07:00:00+01:00") for text, s, d in days]
    shared.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())
    (shared.folder / "fares.md").write_text(f"{NOTE}\n")
    shared.ok("ingest", "-q", "fares.md", *NOW)
    for path, text in (
        ("projects/harbour-house.md", f"- {RULE}\n"),
        ("identity/ilse.md", f"- {TASTE}\n"),
        ("tasks/cards.md", f"- [ ] {TASK}\n"),
    ):
        (shared.store / path).write_text(text)
    return shared


def found(cli: Cli, *words: str) -> set[str]:
    answer = cli.ok("recall", *EVERYTHING, *NOW, *words, "ferry").json
    return {memory["text"] for memory in answer["memories"]}


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ((), {*TURNS, NOTE, *STATEMENTS}), (("--kind", "passage"), {*TURNS, NOTE}),
        (("--kind", "statement"), STATEMENTS), (("--kind", "gist"), set()),
        (("--stream", "projects"), {RULE}), (("--stream", "identity"), {TASTE}),
        (("--stream", "tasks"), {TASK}), (("--stream", "flow"), {*TURNS, NOTE}),
        (("--project", "Harbour House"), {RULE, MONDAY}),
        (("--project", "harbour-house"), {RULE, MONDAY}), (("--project", "nowhere"), set()),
        (("--session", "yard"), {TEN, MONDAY}), (("--session", "fares.md"), {NOTE}),
        (("--session", "nowhere"), set()), (("--kind", "statement", "--session", "yard"), set()),
        (("--session", "yard", "--since", "2026-02-11"), {MONDAY}),
        (("--since", "2026-02-16", "--kind", "passage", "--session", "yard"), {MONDAY}),
        (("--until", "2026-02-16"), {TEN, MONDAY}), (("--until", "2026-02-15"), {TEN}),
        (("--since", "2026-02-11", "--until", "2026-02-16T23:00"), {MONDAY}),
        (("--since", "last week", "--until", "last week"), {MONDAY}),
        (("--until", "last week"), {TEN, MONDAY}),
        (("--since", "week 7", "--until", "2026-W08"), {TEN, MONDAY}),
        (("--since", "2026-02-17", "--until", "yesterday"), set()),
        (("--since", "2026-03-01", "--until", "2026-02-01"), set()),
    ],
)  # fmt: skip
def test_each_filter(told: Cli, words: tuple[str, ...], texts: set[str]) -> None:
    assert found(told, *words) == texts


def test_today(told: Cli) -> None:
    assert TODAY in found(told, "--since", "today")


def test_yesterday_is_that_of_the_store_in_whatever_zone_now_is_told(told: Cli) -> None:
    words = ("--now", "2026-02-26T23:30:00Z", "--since", "yesterday", "--until", "yesterday")
    answer = told.ok("recall", *EVERYTHING, *words, "ferry").json
    assert [memory["text"] for memory in answer["memories"]] == [TODAY]
