"""Answers of a language model, judged: a server on this machine stands for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_locomo
from integrations.endpoint import Endpoint, running

from clsm_cli.evaluation import benches
from clsm_cli.evaluation.answers import prompts
from clsm_cli.evaluation.answers.answering import UNANSWERABLE, answered
from clsm_cli.evaluation.answers.calls import Calls
from clsm_cli.evaluation.dataset import Query
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.retrieved import Item
from clsm_cli.evaluation.systems.recall import Recall

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with running() as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setenv("NO_PROXY", "*")
    return server


@pytest.fixture
def made(shop: Workshop, engine: Engine, tmp_path: Path) -> list[Bench]:
    data = locomo.load(write_locomo(tmp_path / "locomo"))
    case = data.cases[0]
    queries = tuple(
        query._replace(answer="a cat" if "adopt" in query.text else "") for query in case.queries
    )
    return benches.make(data._replace(cases=(case._replace(queries=queries),)), shop, engine)


def calls(endpoint: Endpoint, kind: str, work: Path, *, fresh: bool = False) -> Calls:
    return Calls(endpoint.llm(kind), kind, work, fresh=fresh)


def say(endpoint: Endpoint, answer: str, verdict: str) -> None:
    endpoint.answers({"by_schema": {"answer": {"answer": answer}, "verdict": {"verdict": verdict}}})


def test_answers_are_judged_and_scored(
    made: list[Bench], endpoint: Endpoint, tmp_path: Path
) -> None:
    say(endpoint, "the cat", "right")
    rows = {
        row.group: row
        for row in answered(made, [Recall("clsm")], calls(endpoint, "good", tmp_path))
    }
    assert rows["temporal"].judged == 1.0
    assert rows["temporal"].f1 == 1.0
    assert rows["temporal"].bleu == 0.5
    assert rows[UNANSWERABLE].f1 is None
    sent = endpoint.requests[0]["body"]["messages"][1]["content"]
    assert "adopted a cat" in sent
    assert "Question: " in sent


def test_the_same_question_is_put_once(
    made: list[Bench], endpoint: Endpoint, tmp_path: Path
) -> None:
    say(endpoint, "a dog", "wrong")
    first = calls(endpoint, "good", tmp_path)
    rows = answered(made, [Recall("clsm")], first)
    asked = len(endpoint.requests)
    again = calls(endpoint, "good", tmp_path)
    assert answered(made, [Recall("clsm")], again) == rows
    assert len(endpoint.requests) == asked
    assert (again.sent, again.found) == (0, first.sent)
    answered(made, [Recall("clsm")], calls(endpoint, "good", tmp_path, fresh=True))
    assert len(endpoint.requests) == 2 * asked


def test_a_judge_that_answers_nonsense_is_counted_apart(
    made: list[Bench], endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.answers(
        {"by_schema": {"answer": {"answer": "a cat"}, "verdict": {"verdict": "perhaps"}}}
    )
    rows = {
        row.group: row
        for row in answered(made, [Recall("clsm")], calls(endpoint, "good", tmp_path))
    }
    assert rows["temporal"].judged is None
    assert rows["temporal"].unread == rows["temporal"].queries == 1
    assert rows["temporal"].f1 == 1.0


def test_a_dead_endpoint_gives_no_score_and_is_asked_again(
    made: list[Bench], endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.answers({})
    dead = calls(endpoint, "401", tmp_path)
    rows = answered(made, [Recall("clsm")], dead)
    assert all(row.judged is None and row.unread == row.queries for row in rows)
    say(endpoint, "a cat", "right")
    rows = answered(made, [Recall("clsm")], calls(endpoint, "good", tmp_path))
    assert all(row.unread == 0 for row in rows)


def test_prompts_name_the_day_and_judge_what_must_be_declined() -> None:
    query = Query("q", "Where is the boat?", answer="In the harbour")
    item = Item("m", "The boat lies in the harbour.", 8, ("t",), "2024-05-02")
    _, user = prompts.answering(query, "2024-06-01T10:00:00+00:00", [item])
    assert "Today is 2024-06-01." in user
    assert "- [2024-05-02] The boat lies in the harbour." in user
    assert "In the harbour" in prompts.judging(query, "at sea")[1]
    declined = query._replace(negative="near topic", answer="")
    assert prompts.judging(declined, "at sea")[0] == prompts.DECLINING


def test_a_work_folder_that_cannot_be_read_is_no_answer(
    made: list[Bench], endpoint: Endpoint, tmp_path: Path
) -> None:
    say(endpoint, "a cat", "right")
    answered(made, [Recall("clsm")], calls(endpoint, "good", tmp_path))
    for file in sorted((tmp_path / "calls").rglob("*.json")):
        file.write_text("{")
    found = calls(endpoint, "good", tmp_path)
    answered(made, [Recall("clsm")], found)
    assert found.found == 0
