"""What the probes tell: whole, the same for a seed, other for another, and answerable as labelled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest

from clsm_cli.evaluation.loaders.parsing import LabelledTurn
from clsm_cli.evaluation.probes import distractor, drift, material, split

CONVERSATIONS: dict[str, Callable[[int], Iterable[LabelledTurn]]] = {
    "drift": lambda seed: [turn for week in drift.make_material(seed).weeks for turn in week],
    "distractor": lambda seed: distractor.make_material(seed)[1],
    "recorded": lambda seed: material.make_material(seed).turns,
    "split": lambda seed: split.make_material(seed)[1],
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation_is_whole_and_drawn_from_its_seed(name: str) -> None:
    turns = list(CONVERSATIONS[name](3))
    assert turns == list(CONVERSATIONS[name](3))
    assert [turn.text for turn in turns] != [turn.text for turn in CONVERSATIONS[name](4)]
    assert len({turn.id for turn in turns}) == len(turns)
    assert [turn.time for turn in turns] == sorted(turn.time for turn in turns)
    for turn in turns:
        assert turn.text
        assert not re.search(r"\{\w*\}", turn.text), turn.text


def test_drift_changes_each_fact_ten_times_and_asks_early() -> None:
    made = drift.make_material(0)
    assert len(made.weeks) == drift.SESSIONS
    for fact in range(len(made.asks)):
        told = [each for each in made.tellings if each.fact == fact]
        assert len(told) == drift.TELLINGS
        assert told[0].week < drift.SESSIONS // drift.CHECKS
        assert all(a.value != b.value for a, b in pairwise(told))
        assert all(each.value in each.text for each in told)


def test_split_gold_lies_in_different_sessions_and_questions_differ() -> None:
    queries, turns = split.make_material(0)
    session = {turn.id: turn.session for turn in turns}
    assert len({query.text for query in queries}) == len(queries)
    for query in queries:
        assert len({session[id_] for id_ in query.gold}) == len(query.gold) == 2
