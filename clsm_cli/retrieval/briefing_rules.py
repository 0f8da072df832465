"""What is to be kept for every session: rules, and what an agent confirmed that a person told it.

How likely it is that a statement or sentence says how things are done, whatever kind it is kept as;
and how far the agent's answer repeats a sentence: whoever answers shows by the words repeated what
was understood, and what is to be remembered (grounding: Clark and Schaefer, Contributing to
discourse, 1989).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice

from clsm_cli.errors import HeadMissingError
from clsm_cli.heads import classifier, statement_head
from clsm_cli.heads.judge import Meanings, UnitProbabilities, judge_units
from clsm_cli.heads.meanings import fingerprint, installed_meanings, sentence_vectors
from clsm_cli.model.episodes import Turn
from clsm_cli.model.graph import Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.memo import Memo
from clsm_cli.store.index.passages import HEADING_SEPARATOR, Passage
from clsm_cli.text.plain import plain_words
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

MIN_RULE_P = 0.36
"""Probability from which a statement stands among the rules. Lower than that of its kind: here it
takes a line of many, and nothing else changes."""
READ = 300
"""Last sentences of people in a conversation that are read for rules, at most."""
_CONFIRMING = 3
"""First sentences of an answer that may confirm what was said before it."""
_FEWEST = 2
"""Search terms of a sentence that confirms, at least."""
MIN_MEANT_P = 0.1
"""Probability by its meaning below which the sentence is not read where it was told: few rules have less."""


def rule_chances(statements: Iterable[Statement], index: Index, memo: Memo) -> dict[str, float]:
    """Id of a statement → probability that it is a preference or rule; none without the model.

    It is the mean of two heads (``scripts/fit_kinds.py``): one has the statement's vector, the
    other the words and form of its sentence where it was told.
    """
    words = installed_meanings()
    if words is None:
        return {}
    judged = cache(
        lambda passage: memo.value(
            ("rules", fingerprint(), passage.speaker, passage.heading, passage.path, passage.text),
            lambda: _units(passage, words),
        )
    )
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


def sentence_rule_chances(texts: Sequence[str]) -> list[float]:
    """How likely it is that each sentence of a talk is a rule, and is understood alone; 0 without the model.

    It is p(rule) · √p(good): the head of meaning was fitted on statements, and takes "I have not
    decided" for a rule; the statement head knows no orders ("never 'dear sir'") and gives them less
    than they are worth.
    """
    chances = [0.0] * len(texts)
    if not texts or installed_meanings() is None:
        return chances
    meant = classifier.load("rule").probabilities(sentence_vectors(texts))
    likely = {n: row["rule"] for n, row in enumerate(meant) if row["rule"] >= MIN_RULE_P}
    try:
        read = statement_head.verdicts([(texts[n], statement_head.TALK) for n in likely])
    except HeadMissingError:  # a session starts all the same
        return chances
    for (n, chance), verdict in zip(likely.items(), read, strict=True):
        chances[n] = chance * verdict.good**0.5
    return chances


def _units(passage: Passage, words: Meanings) -> dict[str, float]:
    """The sentences of a passage, and the probability of each that it is a preference or rule."""
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


class Grounding(NamedTuple):
    """How a sentence was told to the agent; both 0 for any other.

    Attributes:
        confirmed: See ``confirmed``.
        rule: Probability that it says how things are done.
    """

    confirmed: float = 0.0
    rule: float = 0.0


def confirmed(text: str, answer: str) -> float:
    """How far an answer repeats a sentence: of one of its first sentences, the share of terms that are in both.

    >>> confirmed("oh, and the briefing at eight please", "Briefing at eight from Monday. Sleep well!")
    0.6666666666666666
    >>> confirmed("which day is it?", "It is Wednesday, the market is on the square.")
    0.0
    """
    terms = {*stems(text)}
    answer_sentences = (
        frozenset(stems(sentence)) for sentence in islice(sentences(answer), _CONFIRMING)
    )
    return max(
        (
            len(answer_terms & terms) / len(answer_terms)
            for answer_terms in answer_sentences
            if len(answer_terms) >= _FEWEST
        ),
        default=0.0,
    )


def grounding_by_place(
    turns: Sequence[Turn],
    units: Iterable[UnitProbabilities],
    rules_of: Callable[[Sequence[str]], Sequence[float]],
) -> dict[int, Grounding]:
    """Place of a sentence of a person in a conversation with an agent → how it was told.

    Args:
        turns: All turns of the conversation.
        units: Its sentences.
        rules_of: Returns the probability of each sentence that it says how things are done.
    """
    if not any(turn.role == "assistant" for turn in turns):
        return {}
    agent_texts = [turn.text if turn.role == "assistant" else "" for turn in turns]
    answers = [*agent_texts[1:], ""]
    texts = {
        place: (turns[unit.turn].text[unit.start : unit.end], answers[unit.turn])
        for place, unit in enumerate(judged_unit.unit for judged_unit in units)
        if turns[unit.turn].role == "user"
    }
    last = [*texts][-READ:]
    rules = dict(zip(last, rules_of([texts[place][0] for place in last]), strict=True))
    return {
        place: Grounding(confirmed(*pair), rules.get(place, 0.0)) for place, pair in texts.items()
    }
