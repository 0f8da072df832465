"""Queries that a memory cannot answer, from elsewhere: from the other conversations of a set, or a file."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Case, Chat, Dataset, Query
from clsm_cli.evaluation.loaders import files
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.evaluation.dataset import Negative

OFF_TOPIC = 50
"""Off-topic queries to each conversation, at most."""
SAID = (
    f"off-topic queries of a conversation are {OFF_TOPIC} questions to the others, without the"
    " names of the people there, drawn by a hash of their text"
)

MOST = 1 << 20
"""Characters of a file of questions, at most."""
ADVICE = "write it like fixtures/questions/chats.yaml"


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


def with_unanswerable(dataset: Dataset, path: Path) -> Dataset:
    """A set whose memories are asked the questions of a file too, to which they have no answer.

    Args:
        dataset: The set.
        path: YAML: lists of questions, by memory (``NAME``, or ``KIND/NAME``) those near its topic,
            and under ``off topic`` those that belong to no memory and are put to each.

    Raises:
        BadInputError: The file cannot be read or is laid out otherwise.
    """
    found = _questions(path)
    cases = []
    for case in dataset.cases:
        near = (*found.get(case.name, ()), *found.get(f"{dataset.kind}/{case.name}", ()))
        asked: tuple[tuple[Negative, Sequence[str]], ...] = (
            ("near topic", near),
            ("everyday", found.get("off topic", ())),
        )
        more = (
            Query(id=f"{path.stem}-{negative}-{number}", text=text, negative=negative)
            for negative, texts in asked
            for number, text in enumerate(texts, 1)
        )
        cases.append(case._replace(queries=(*case.queries, *more)))
    digest = atomic.sha256(f"{dataset.digest} {atomic.sha256(files.read(path))}".encode())
    return dataset._replace(cases=tuple(cases), digest=digest)


def _questions(path: Path) -> dict[str, list[str]]:
    try:
        found = yaml_text.load(files.read(path).decode("utf-8"), MOST)
    except UnicodeDecodeError as error:
        raise BadInputError(str(path), "is not UTF-8 text", ADVICE) from error
    except LineError as error:
        raise BadInputError(str(path), str(error), ADVICE) from error
    lists = found.values() if isinstance(found, dict) else [None]
    if not all(isinstance(each, list) and all(isinstance(q, str) for q in each) for each in lists):
        raise BadInputError(str(path), "is no list of questions by memory", ADVICE)
    questions: dict[str, list[str]] = found
    return questions


def _bare(case: Case) -> set[str]:
    """The questions to a conversation without the names of its people."""
    names = case.source.participants if isinstance(case.source, Chat) else ()
    return {without_names(query.text, names) for query in case.queries}


def _hash(name: str, text: str) -> str:
    return atomic.sha256(f"{name}\n{text}".encode())
