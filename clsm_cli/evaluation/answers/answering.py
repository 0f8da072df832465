"""Question answering over a set, in reading order: return, answer, judge, score."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation import compare, measures
from clsm_cli.evaluation.answers import prompts, scores
from clsm_cli.evaluation.result import AnswerRow
from clsm_cli.integrations.llm import LlmError
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.answers.calls import Calls
    from clsm_cli.evaluation.bench import Bench, System
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.retrieved import Item

LISTED = "multi-hop"
"""Category whose right answers are lists (LoCoMo)."""
UNANSWERABLE = "without an answer"
"""Group of the queries that must be declined."""


class Scored(NamedTuple):
    """One answer.

    Attributes:
        group: Category, or ``UNANSWERABLE``.
        is_right: As judged; None: no verdict could be read.
        f1: Of words against the right answer; ``bleu`` BLEU-1. None where there is none.
    """

    group: str
    is_right: bool | None
    f1: float | None
    bleu: float | None


def answered(benches: Sequence[Bench], systems: Sequence[System], calls: Calls) -> list[AnswerRow]:
    """Let the model answer every query that has a right answer, or none, from what systems return.

    Args:
        benches: Of the set.
        systems: Who returns what is answered from: the default places and budget.
        calls: The model.
    """
    rows = []
    for system in systems:
        found = [each for bench in benches for each in _scored(bench, system, calls)]
        groups = {compare.ALL: list(range(len(found)))}
        groups |= compare.grouped([each.group for each in found])
        for group, places in groups.items() if found else ():
            rows.append(row(system.name, group, [found[at] for at in places]))
    return rows


def row(system: str, group: str, found: Sequence[Scored]) -> AnswerRow:
    """The figures of some answers; one without a verdict counts in no share of right ones.

    >>> row("clsm", "all", [Scored("", True, 1.0, 0.5), Scored("", None, 0.0, 0.5)])
    AnswerRow(system='clsm', group='all', queries=2, judged=1.0, f1=0.5, bleu=0.5, unread=1)
    """
    verdicts = [each.is_right for each in found if each.is_right is not None]
    return AnswerRow(
        system=system,
        group=group,
        queries=len(found),
        judged=fmean(verdicts) if verdicts else None,
        f1=_mean([each.f1 for each in found]),
        bleu=_mean([each.bleu for each in found]),
        unread=len(found) - len(verdicts),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return fmean(found) if found else None


def _scored(bench: Bench, system: System, calls: Calls) -> Iterator[Scored]:
    queries = [query for query in bench.case.queries if query.answer or query.negative]
    label = f"answers from {system.name}, {bench.case.name}"
    for at, found in enumerate(system.ask(bench, queries)):
        bench.shop.progress(label, at, len(queries))
        items = measures.delivered(found.items, bench.dataset.k)
        yield _answer(bench, queries[at], items, calls)


def _answer(bench: Bench, query: Query, items: Sequence[Item], calls: Calls) -> Scored:
    """One answer; where the endpoint gives none, the answer is empty and unread."""
    group = UNANSWERABLE if query.negative else query.category
    try:
        prompt = prompts.answering(query, bench.time_of(query), items)
        answer = calls.ask(prompt, prompts.ANSWER, "answer")["answer"]
    except LlmError:
        return Scored(group, None, *((None, None) if query.negative else (0.0, 0.0)))
    try:
        verdict = calls.ask(prompts.judging(query, answer), prompts.VERDICT, "verdict")["verdict"]
        is_right: bool | None = verdict == "right"
    except LlmError:
        is_right = None
    if query.negative:
        return Scored(group, is_right, None, None)
    is_list = query.category == LISTED
    return Scored(
        group,
        is_right,
        scores.f1(answer, query.answer, is_list=is_list),
        scores.bleu1(answer, query.answer),
    )
