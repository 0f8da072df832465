"""Whether an answer is right on its day: its facts and its first memory against a labelled value.

An item is one of the answer's facts, or its first memory. A fact *states* a value that is the same
as its own, as facts are compared (``slot_questions.same_value``: normalised, with numbers and
units), or whose date or words it has; where the quote of a label does not have the label's words
("two espressos" for coffee), it states the value if all its words stand in the quote. A memory
states a value if it holds the label's quote, or all words of the value; where it has the words of
several values, without the quote of the right one, it says nothing.

    right  ⇔  some item states the value, and none states only others of the slot
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import single_blanks
from clsm_cli.evaluation.studies.memory_match import says
from clsm_cli.retrieval.facts import UNKNOWN
from clsm_cli.text import slot_questions, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.studies.memory_labels import Value
    from clsm_cli.retrieval.answer import Answer, Known

NO_ITEM, OTHER_FACT, OTHER_MEMORY = (
    "nothing states it",
    "a fact states another value",
    "the first memory states another value",
)


def fault(answer: Answer, value: str, quotes: Sequence[str], others: Sequence[Value] = ()) -> str:
    """Why an answer is not right; empty where it is.

    Args:
        answer: What recall gave.
        value: The labelled one.
        quotes: Its evidence, with single blanks; any is enough.
        others: The other values of its slot.
    """
    stated = [_is_stated(fact, value, quotes) for fact in answer.facts]
    for fact, is_right in zip(answer.facts, stated, strict=True):
        if not is_right and any(_is_stated(fact, each.text, (each.quote,)) for each in others):
            return OTHER_FACT
    text = single_blanks(answer.memories[0].text) if answer.memories else ""
    says_other = any(each.quote in text or says(each.text, text) for each in others)
    is_quoted, says_it = any(quote in text for quote in quotes), says(value, text)
    if says_other and not (is_quoted or says_it):
        return OTHER_MEMORY
    is_told = is_quoted or (says_it and not says_other)
    return "" if is_told or any(stated) else NO_ITEM


def fault_of_silence(answer: Answer) -> str:
    """Why an answer to what the memory does not know is not right: it is neither empty nor "not known"."""
    if not answer.memories or answer.verdict == UNKNOWN:
        return ""
    return "it is answered"


def _is_stated(fact: Known, value: str, quotes: Sequence[str]) -> bool:
    if slot_questions.same_value(fact.slot, value, fact.value) or says(value, fact.value):
        return True
    words = set(tokens.stems(fact.value))
    return bool(words) and any(
        not says(value, quote) and words <= set(tokens.stems(quote)) for quote in quotes
    )
