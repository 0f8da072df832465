from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from clsm_cli.text.route import RouteDecision, choose_route

CASES: list[dict[str, Any]] = YAML(typ="safe").load(Path(__file__).with_name("route_cases.yaml"))
HALVES = {"development": CASES[0::2], "kept": CASES[1::2]}


def _routed(case: dict[str, Any]) -> RouteDecision:
    current, known = case.get("current", False), case.get("known", False)
    return choose_route(case["text"], has_current=current, known=known)


@pytest.mark.parametrize("half", HALVES)
def test_nearly_every_message_gets_its_route(half: str) -> None:
    cases = HALVES[half]
    wrong = [case["text"] for case in cases if _routed(case).route != case["route"]]
    assert len(cases) >= 60
    assert len(wrong) <= 0.05 * len(cases), wrong


def test_no_message_that_needs_memory_is_told_that_none_is_needed() -> None:
    needed = [case for case in CASES if case["route"] != "none"]
    assert [case["text"] for case in needed if _routed(case).route == "none"] == []


@pytest.mark.parametrize(
    "text", ["What is Hardin?", "Explain Hardin", "Who wrote Hardin?", "capital of Hardin"]
)
def test_what_the_store_knows_is_never_general_knowledge(text: str) -> None:
    assert choose_route(text, has_current=False).route == "none"
    assert choose_route(text, has_current=False, known=True) == RouteDecision("ltm", ("known",))


def test_a_question_without_cues_asks_the_memory() -> None:
    assert choose_route("status of the roof", has_current=False) == RouteDecision("ltm", ())


def test_the_current_conversation_counts_only_when_there_is_one() -> None:
    assert choose_route("and the second one?", has_current=True).route == "stm"
    assert choose_route("and the second one?", has_current=False).route == "ltm"


def test_both_ends_of_a_long_message_are_read() -> None:
    log = "error 404 at line 7\n" * 2000
    assert "past" in choose_route(f"{log}What did I say about this?", has_current=False).cues


def test_who_writes_for_something_shared_needs_the_memory_of_it() -> None:
    asked = ("Write a retry loop for the flush", "generate a migration for the refund model")
    assert {choose_route(text, has_current=False).route for text in asked} == {"ltm"}
    for text in ("write a haiku about rain", "write me a handler"):
        decided = choose_route(text, has_current=False)
        assert (decided.route, decided.is_doubtful) == ("none", True), text


def test_what_only_points_back_needs_no_memory() -> None:
    assert choose_route("no, the other one", has_current=False) == RouteDecision(
        "none", ("goes on",)
    )
    assert not choose_route("no, the other one", has_current=False).is_doubtful
    assert choose_route("no, the other gauge", has_current=False).route == "ltm"
