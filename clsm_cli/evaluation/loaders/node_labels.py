"""LoCoMo with concept labels: its conversations with a graph of 132 nodes.

CLS-M measures its retrieval by the nodes of a graph that a query activates (§5.3), on 45 queries
that are not published. Here the nodes are found by count alone (``planted.choose_concepts``), and gold are
those in a question's evidence and in its answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import Chat
from clsm_cli.evaluation.loaders import locomo, parsing
from clsm_cli.evaluation.loaders.parsing import Faults
from clsm_cli.evaluation.nodes.planted import LEAST_GOLD, SIZE, choose_concepts, label_queries

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.dataset import Case, Dataset

KIND = "nodes"
HEADLINE = "f1"


def matches(path: Path) -> bool:  # noqa: ARG001 - as all loaders have it
    """Never: such a folder is LoCoMo first; ``nodes=PATH`` asks for this reading."""
    return False


def load(path: Path) -> Dataset:
    """Read LoCoMo and label its questions with concepts.

    Questions without an answer are left out.

    Raises:
        BadInputError: The set cannot be read, or no question has two gold concepts.
    """
    read = locomo.load(path)
    found = Faults()
    cases = []
    for case in map(_case, read.cases):
        if case.queries:
            cases.append(case)
        else:
            found.add(parsing.NO_QUERIES, case.name)
    kept = sum(len(case.queries) for case in cases)
    if not kept:
        raise BadInputError(str(path), "has no question with two gold concepts", "give all of it")
    answered = sum(not query.negative for case in read.cases for query in case.queries)
    gold = (
        f"the concepts of a conversation are its {SIZE} most bursty stems and pairs of stems; gold are"
        " those in the turns that answer a query and in its answer"
    )
    few = (
        f"{answered - kept} queries with fewer than {LEAST_GOLD} gold concepts are left out, and all"
        " without an answer"
    )
    mended = (note for note in read.notes if note != locomo.SAID)
    notes = (*mended, *found.sentences(), gold, few)
    return read._replace(kind=KIND, headline=HEADLINE, cases=tuple(cases), notes=notes)


def _case(case: Case) -> Case:
    if not isinstance(case.source, Chat):
        raise TypeError(f"{case.name} is no conversation")
    queries = [query for query in case.queries if not query.negative]
    return case._replace(queries=label_queries(queries, choose_concepts(case.source)))
