"""Off-topic queries of a set of conversations: what the others were asked, without their names."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import Case, Chat, Dataset, Query
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

OFF_TOPIC = 50
"""Off-topic queries to each conversation, at most."""
SAID = (
    f"off-topic queries of a conversation are {OFF_TOPIC} questions to the others, without the"
    " names of the people there, drawn by a hash of their text"
)


def without_names(text: str, names: Sequence[str]) -> str:
    """A question without some people's names.

    >>> without_names("When did Caroline's cat meet Mel?", ["Caroline", "Mel"])
    'When did cat meet ?'
    """
    words = "|".join(re.escape(word) for name in names for word in name.split())
    if words:
        text = re.sub(rf"\b(?:{words})\b(?:['’]s)?", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def with_off_topic(dataset: Dataset) -> Dataset:
    """A set whose conversations each get questions that were put to the other ones.

    What reads the same as a question to this one, names left out, is none of them. The draw is
    the same whatever the order of the conversations.
    """
    bare = [_bare(case) for case in dataset.cases]
    made = []
    for place, case in enumerate(dataset.cases):
        others = {text for at, texts in enumerate(bare) if at != place for text in texts}
        drawn = sorted(others - bare[place] - {""}, key=partial(_hash, case.name))
        strange = (
            Query(id=f"{case.name}-off-{number}", text=text, negative="off topic")
            for number, text in enumerate(drawn[:OFF_TOPIC], 1)
        )
        made.append(case._replace(queries=(*case.queries, *strange)))
    said = (SAID,) if len(made) > 1 else ()
    return dataset._replace(cases=tuple(made), notes=(*dataset.notes, *said))


def _bare(case: Case) -> set[str]:
    """The questions to a conversation without the names of its people."""
    names = case.source.participants if isinstance(case.source, Chat) else ()
    return {without_names(query.text, names) for query in case.queries}


def _hash(name: str, text: str) -> str:
    return atomic.sha256(f"{name}\n{text}".encode())
