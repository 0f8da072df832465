"""What a person told the agent, as opposed to what is only said: the agent confirmed it, or it is a rule.

Whoever answers shows by the words repeated what was understood, and what is to be remembered (Clark and
Schaefer, Contributing to discourse, 1989).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from clsm_cli.heads.judge import UnitProbabilities
    from clsm_cli.model.episodes import Turn

READ = 300
"""Last sentences of people in a conversation that are read for rules, at most."""
_CONFIRMING = 3
"""First sentences of an answer that may confirm what was said before it."""
_FEWEST = 2
"""Search terms of a sentence that confirms, at least."""


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
