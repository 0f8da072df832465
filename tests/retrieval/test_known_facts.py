"""What a hook's message is told of the people and things it names, on the sample memory."""

import re

from sample_store import ask
from sleeping import nodes

from clsm_cli.retrieval.answer import Answer
from clsm_cli.store.layout import Store

HOOK = {"k": 8, "budget": 500}
"""As the hooks ask."""


def plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def told(answer: Answer) -> str:
    return plain(" ".join([f.line for f in answer.facts] + [m.text for m in answer.memories]))


def test_a_message_learns_who_it_names_within_the_budget(slept: Store) -> None:
    told_of = [node for node in nodes(slept).values() if node.summary and node.n >= 6]
    people = [node for node in told_of if node.kind == "person"]
    found: dict[bool, int] = {False: 0, True: 0}
    for node in people:
        for with_facts in found:
            message = f"Write to {node.label} about tomorrow"
            answer = ask(slept, message, with_facts=with_facts, **HOOK)
            found[with_facts] += plain(node.summary[:24]) in told(answer)
            assert answer.budget.used <= answer.budget.limit == 500
    assert len(people) >= 10
    assert found[True] >= max(0.75 * len(people), found[False] + 3)


def test_a_fact_is_current_trusted_and_not_said_twice(slept: Store) -> None:
    message = "write to Tomas about the disk"
    answer = ask(slept, message, with_facts=True, **HOOK)
    assert answer.facts
    assert "tomas ilse s brother" in told(answer)
    assert sum(fact.tokens for fact in answer.facts) <= 100
    for fact in answer.facts:
        assert fact.trust in ("user", "agent")
        assert not any(plain(fact.text) in plain(memory.text) for memory in answer.memories)
    short = ask(slept, message, with_facts=True, k=8, budget=1500, unit="characters")
    sizes = [fact.size("characters") for fact in short.facts]
    assert sizes
    used = sum(sizes) + sum(len(memory.text) for memory in short.memories)
    assert used == short.budget.used <= 1500
    assert ask(slept, message, **HOOK).facts == ()
