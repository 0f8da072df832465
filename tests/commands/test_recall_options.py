"""How much ``clsm recall`` returns and in which form: each option, through real processes."""

import json
import re
import shlex
from typing import Any

import pytest
from processes import Cli
from small_store import row
from tables import table

NOW = ("--now", "2026-02-26T08:00:00+01:00")
NOTHING = "clsm: nothing relevant was found\n"
TEXTS = [f"The ferry number {n} leaves the harbour at {n} sharp." for n in range(1, 13)]


@pytest.fixture(scope="module")
def told(shared: Cli) -> Cli:
    """What most tests ask; each leaves it as it is."""
    rows = [row(text, session=f"s{n}") for n, text in enumerate(TEXTS)]
    rows.append(row("Juno the cat sleeps in the boiler room.", session="cat", speaker="Ilse"))
    shared.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())
    return shared


def test_a_query_comes_on_standard_input(told: Cli) -> None:
    """Where nobody else on the machine sees it, as they see arguments."""
    asked = ("recall", "-k", "1", "--no-touch", *NOW)
    question = "Where does Juno sleep?"
    assert told.ok(*asked, "-", stdin=f"{question}\n".encode()).out == told.ok(*asked, question).out
    for nothing in (b"", b" \n"):
        done = told(*asked, "-", stdin=nothing)
        assert (done.code, "the query is empty" in done.err) == (2, True)
    done = told(*asked, "--since", "some day", "-", stdin=question.encode())
    assert (done.code, "--since" in done.err) == (2, True)
    done = told(*asked, "--context", "-", "-", stdin=question.encode())
    assert (done.code, "name a file" in done.err) == (2, True)
    done = told(*asked, "-", stdin=b"x " * (1 << 19) + b"x")
    assert (done.code, "ask with some words of it" in done.err) == (12, True)


def test_limits(told: Cli) -> None:
    """``-k`` and ``--budget``: tokens, characters, and what was left out is named."""
    asked = ("recall", "--json", "--no-touch", "--min-score", "0", *NOW, "ferry harbour")
    assert len(told.ok(*asked).json["memories"]) == 10
    assert len(told.ok(*asked, "-k", "3").json["memories"]) == 3
    whole = told.ok(*asked, "--budget", "2000").json
    assert len(whole["memories"]) == len(TEXTS) + 1
    assert whole["budget"]["dropped"] == []
    characters = told.ok(*asked, "--budget", "120c").json
    lengths = [len(memory["text"]) for memory in characters["memories"]]
    assert (len(lengths), sum(lengths)) == (2, characters["budget"]["used"])
    assert characters["budget"]["unit"] == "characters"
    tokens = told.ok(*asked, "--budget", "40").json
    assert sum(m["tokens"] for m in tokens["memories"]) == tokens["budget"]["used"] <= 40
    assert tokens["budget"]["unit"] == "tokens"
    kept = {memory["id"] for memory in tokens["memories"]}
    dropped = {item["id"] for item in tokens["budget"]["dropped"]}
    assert not kept & dropped
    assert kept | dropped == {memory["id"] for memory in whole["memories"]}
    none = told.ok("recall", "--budget", "0", *NOW, "ferry harbour")
    assert "more did not fit the budget" in none.out
    assert "1. " not in none.out
    assert none.err == "clsm: nothing that was found fits the budget\n"


STRANGE = "how long should I boil an egg"


def test_silence_says_how_to_see_what_is_nearest(told: Cli) -> None:
    """Where something was found and is too far; not where nothing was, or the floor was given."""
    asked = ("recall", "--no-touch", *NOW)
    done = told.ok(*asked, STRANGE)
    assert not re.search("^1[.] ", done.out, re.MULTILINE)
    assert done.err == NOTHING.replace("\n", "; --min-score 0 shows what is nearest\n")
    assert re.search("^1[.] ", told.ok(*asked, "--min-score", "0", STRANGE).out, re.MULTILINE)
    assert told.ok(*asked, "--min-score", "0.9", STRANGE).err == NOTHING
    for form in ("json", "prompt"):
        silent = told.ok(*asked, "--format", form, STRANGE)
        assert silent.err == done.err, form
        assert form == "json" or silent.out == ""


@pytest.mark.parametrize("form", ["text", "prompt", "json"])
def test_nothing_is_called_certain(told: Cli, form: str) -> None:
    """Not even what is asked for in its own words, in any form."""
    done = told.ok("recall", "--no-touch", "--format", form, *NOW, TEXTS[6])
    if form == "json":
        sure = [100 * m["confidence"] for m in done.json["memories"]]
        sure.append(100 * done.json["confidence"])
    else:
        sure = [float(each) for each in re.findall(r"(\d+) % sure", done.out)]
    assert 85 < max(sure) <= 99


def test_nothing_is_remembered_of_an_empty_answer_or_with_no_touch(bare: Cli, told: Cli) -> None:
    told = bare.holding(told.store)
    told.ok("recall", "--min-score", "1", *NOW, "ferry")
    told.ok("recall", "--no-touch", *NOW, "ferry")
    assert not (told.store / "flow" / "test" / "activation.jsonl").exists()


def test_explain(told: Cli) -> None:
    question = "Where did Ilse say on 24 February 2026 that Juno sleeps?"
    asked = ("recall", "-k", "1", "--no-touch", *NOW, question)
    plain = told.ok(*asked).out
    assert "because" not in plain
    *_, reason, judge = told.ok(*asked, "--explain").out.splitlines()
    assert ", because: " in reason
    assert judge.startswith("(was it good? clsm feedback r-")
    for part in ("the same words", "of like meaning", "the person asked", "the time asked"):
        assert part in reason
    assert re.search(r" · \d+ % sure$", plain, re.MULTILINE)


def batch(cli: Cli, *lines: object) -> tuple[list[dict[str, Any]], str]:
    """Answers to the lines of a file, and what was said beside them."""
    path = cli.folder / "queries.jsonl"
    rows = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"".join(row + b"\n" for row in rows))
    done = cli.ok("recall", "--batch", path, "--no-touch", *NOW)
    return [json.loads(line) for line in done.out.splitlines()], done.err


def test_a_bad_line_of_a_batch_is_said_in_its_place(told: Cli) -> None:
    lines = [
        {"query": "ferry"}, b"{not json", b"", [1, 2], {"id": "five", "query": "   "},
        {"id": None, "query": "ferry"}, {"id": 7, "query": 3},
        {"id": "eight", "query": "ferry", "as_of": "some day"}, b"\xff\xfe", b"[" * 100_000,
        {"id": "x", "query": "the " * 300_000},
        {"id": "last", "query": "Where does Juno sleep?", "more": "is ignored"},
    ]  # fmt: skip
    found, said = batch(told, *lines)
    assert len(found) == len(lines) - 1
    ids = [found[place]["id"] for place in (0, 3, 5, 6, -1)]
    assert ids == [1, "five", 7, "eight", "last"]
    assert [bool(answer.get("error")) for answer in found] == [False, *[True] * 9, False]
    assert all("memories" in answer for answer in (found[0], found[-1]))
    assert len(said.splitlines()) == 9
    assert "queries.jsonl, line 2: is no JSON; the others were answered" in said
    assert "Traceback" not in said


def test_as_of_is_when_a_question_is_asked(bare: Cli, told: Cli) -> None:
    told = bare.holding(told.store)
    rows = [
        row(f"We walked to the mill, {day}.", session=day, timestamp=f"{day}T07:00:00+01:00")
        for day in ("2025-05-04", "2025-06-04")
    ]
    told.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())
    question = "Where did we walk yesterday?"
    found, _ = batch(
        told,
        *({"query": question, "as_of": f"2025-0{month}-05"} for month in (5, 6)),
        {"query": question, "as_of": "2025-05-05T22:00:00+01:00"},
        {"query": question, "as_of": "2025-05-05T23:00"},  # by the clock of the store
    )
    first = [answer["memories"][0]["session"] for answer in found]
    assert first == ["2025-05-04", "2025-06-04", "2025-05-04", "2025-05-04"]
    told_at = [answer["as_of"] for answer in found]
    assert told_at == ["2025-05-05", "2025-06-05", *["2025-05-05T23:00:00+02:00"] * 2]


@pytest.mark.parametrize(("code", "line", "said"), table(__file__, "cannot be meant"))
def test_what_cannot_be_meant(told: Cli, code: str, line: str, said: str) -> None:
    done = told("recall", *shlex.split(line), COLUMNS="200")
    assert (done.code, done.out) == (int(code), "")
    assert said in done.err
