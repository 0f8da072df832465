"""Every question of a set put to the store of its conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.ranking import runs
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clsm_cli.evaluation.loaders.cases import Conversation, Question
    from clsm_cli.evaluation.ranking.runs import Run
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.index.passages import Passage

OFF_TOPIC = 50
"""Questions about other people that each store is asked, to see whether it stays silent."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A question and what retrieval found for it.

    Attributes:
        gold: Places of its units, as in ``Run.units``; -1 for one that is not in the store.
        whole: Tokens of the whole conversation.
    """

    conversation: str
    question: Question
    gold: tuple[int, ...]
    run: Run
    whole: int


@dataclass(frozen=True, eq=False)
class Answers:
    """A whole set, asked.

    Attributes:
        off_topic: Confidence of the answers to questions about other conversations.
        lost: Units that no passage of the stores stands for.
        weights: The shipped weights, in the order of ``runs.SIGNALS``.
        floor: The shipped floor of confidence.
    """

    asked: tuple[Asked, ...]
    off_topic: tuple[float, ...]
    lost: int
    weights: tuple[float, ...]
    floor: float


def ask_all(
    conversations: Sequence[Conversation],
    shop: Workshop,
    engine: Engine,
    seed: int,
    *,
    strangers: int,
) -> Answers:
    """Make the stores and ask every question, one conversation after the other.

    Args:
        conversations: Each with its own store.
        shop: Where the stores are made.
        engine: Makes the vectors of questions.
        seed: Of the draw of off-topic questions.
        strangers: Off-topic questions to each store.
    """
    import numpy as np

    asked: list[Asked] = []
    off_topic: list[float] = []
    lost = 0
    settings = None
    generator = np.random.default_rng(seed)
    for number, conversation in enumerate(conversations):
        shop.progress("conversations", number, len(conversations))
        store, now = stores.of_conversation(shop, conversation)
        settings = store.settings.recall
        units = {turn.unit for turn in conversation.turns}
        whole = sum(tokens.count_tokens(turn.text) for turn in conversation.turns)
        with runs.asking(store, _units(conversation), shop.embedder, engine, now) as asker:
            lost += len(units) - len(asker.units)
            for place, question in enumerate(conversation.questions):
                shop.progress(
                    f"questions to {conversation.name}", place, len(conversation.questions)
                )
                gold = tuple(asker.units.get(unit, -1) for unit in question.gold)
                run = asker.ask(question.text)
                asked.append(Asked(conversation.name, question, gold, run, whole))
            strange = _off_topic(conversations, conversation.name)
            drawn = generator.permutation(len(strange))[:strangers]
            off_topic += [asker.ask(strange[at]).confidence for at in sorted(drawn.tolist())]
    if settings is None:
        raise ValueError("there is no conversation")
    return Answers(
        tuple(asked), tuple(off_topic), lost, runs.weights(settings), runs.floor(settings)
    )


def _units(conversation: Conversation) -> Callable[[Passage], str | None]:
    """How a passage of the conversation's store is known to its labels."""
    units = {turn.id: turn.unit for turn in conversation.turns}
    return lambda passage: units.get(passage.foreign_id or "")


def _off_topic(conversations: Sequence[Conversation], here: str) -> list[str]:
    """Questions of the other conversations, without the names that would give them away."""
    return [
        runs.without_names(question.text, conversation.participants)
        for conversation in conversations
        if conversation.name != here
        for question in conversation.questions
    ]
