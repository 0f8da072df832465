"""How likely it is that a statement or sentence says how things are done, whatever kind it is kept as."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.errors import HeadMissingError
from clsm_cli.heads import classifier, statement_head
from clsm_cli.heads.meanings import installed_meanings, sentence_vectors
from clsm_cli.model.episodes import Turn
from clsm_cli.store.index.passages import HEADING_SEPARATOR
from clsm_cli.text.plain import plain_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.heads.judge import Meanings
    from clsm_cli.model.graph import Statement
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

MIN_RULE_P = 0.36
"""Probability from which a statement stands among the rules. Lower than that of its kind: here it takes a line
of many, and nothing else changes."""
MIN_MEANT_P = 0.1
"""Probability by its meaning below which the sentence is not read where it was told: few rules have less."""


def rule_chances(statements: Iterable[Statement], index: Index) -> dict[str, float]:
    """Id of a statement → probability that it is a preference or rule; none without the model.

    It is the mean of two heads (``scripts/fit_kinds.py``): one has the statement's vector, the other the words
    and form of its sentence where it was told.
    """
    words = installed_meanings()
    if words is None:
        return {}
    judged = cache(lambda passage: _units(passage, words))
    asked = {statement.id: statement for statement in statements if statement.kind != "task"}
    vectors = index.vectors_of([*asked])
    chances = {}
    meant = classifier.load("rule").probabilities([*vectors.values()])
    for key, row in zip(vectors, meant, strict=True):
        text = f" {plain_words(asked[key].text)}"
        if row["rule"] < MIN_MEANT_P:
            continue
        judged_passages = (
            judged(passage) for source in asked[key].sources for passage in index.by_key(source)
        )
        ends = (
            p for units in judged_passages for unit, p in units.items() if text.endswith(f" {unit}")
        )
        chances[key] = (row["rule"] + max(ends, default=row["rule"])) / 2
    return chances


def sentence_rule_chances(sentences: Sequence[str]) -> list[float]:
    """How likely it is that each sentence of a talk is a rule, and is understood alone; 0 without the model.

    It is p(rule) · √p(good): the head of meaning was fitted on statements, and takes "I have not decided" for a
    rule; the statement head knows no orders ("never 'dear sir'") and gives them less than they are worth.
    """
    chances = [0.0] * len(sentences)
    if not sentences or installed_meanings() is None:
        return chances
    meant = classifier.load("rule").probabilities(sentence_vectors(sentences))
    likely = {n: row["rule"] for n, row in enumerate(meant) if row["rule"] >= MIN_RULE_P}
    try:
        read = statement_head.verdicts([(sentences[n], statement_head.TALK) for n in likely])
    except HeadMissingError:  # a session starts all the same
        return chances
    for (n, chance), verdict in zip(likely.items(), read, strict=True):
        chances[n] = chance * verdict.good**0.5
    return chances


def _units(passage: Passage, words: Meanings) -> dict[str, float]:
    """The sentences of a passage, and the probability of each that it is a preference or rule."""
    from clsm_cli.heads.judge import judge_units

    heading = tuple(filter(None, passage.heading.split(HEADING_SEPARATOR)))
    turn = Turn(
        passage.key, passage.speaker, "user", passage.text, path=passage.path, heading=heading
    )
    return {
        plain_words(
            passage.text[judged_unit.unit.start : judged_unit.unit.end]
        ): judged_unit.chances["preference"]
        for judged_unit in judge_units([turn], None, words)
    }
