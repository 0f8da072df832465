"""Answers by the day, in reading order: one consolidated memory, its probes, its facts that changed.

What is asked goes through ``recall`` as any other question does, as of the day of its label.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import single_blanks
from clsm_cli.evaluation.loaders import memory
from clsm_cli.evaluation.studies import (
    interval_labels,
    interval_match,
    memory_contents,
    memory_labels,
)
from clsm_cli.retrieval.facts import UNKNOWN
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.text import slot_questions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.evaluation.studies.interval_labels import Probe, Wording
    from clsm_cli.evaluation.studies.memory_labels import Fact
    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.meaning import Engine

    Ask = Callable[[Sequence[tuple[str, str]]], list[Answer]]
    """Questions, each with the day on which it is asked."""

_SHOWN = 100
"""Characters of a first memory that a report shows."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and what came of it.

    Attributes:
        of: Id of the probe or the fact, with the value.
        kind: Of the probe; ``value`` or ``claim`` of a fact.
        expected: The value, or the verdict of a claim; empty where there is no answer.
        why: Why it is not right; empty where it is.
        facts: As the answer has them.
        first: The beginning of its first memory.
    """

    of: str
    kind: str
    query: str
    as_of: str
    expected: str
    is_read: bool
    why: str
    verdict: str | None
    facts: tuple[str, ...]
    first: str

    @property
    def is_right(self) -> bool:
        """Whether the answer is right."""
        return not self.why


@dataclass(frozen=True, slots=True)
class IntervalsReport:
    """The result, question by question.

    Attributes:
        queries: Labelled queries that the memory answers.
        unknown: Those of them to which the facts say "not known".
    """

    probes: tuple[Asked, ...]
    facts: dict[str, tuple[Asked, ...]]
    queries: int
    unknown: tuple[str, ...]


def run_intervals(path: Path, shop: Workshop, engine: Engine) -> IntervalsReport:
    """Ask the probes of a labelled memory, and the values of its facts day by day.

    Args:
        path: Folder with ``workspace``, ``sessions`` and ``labels``.
        shop: Where the store is made.
        engine: Makes the vectors of questions; open.

    Raises:
        BadInputError: Labels or notes cannot be read.
        RefusedError: A run would withdraw much at once.
    """
    facts = memory_labels.load(path).facts
    probes = interval_labels.load_probes(path, facts)
    wordings = interval_labels.load_wordings(path, facts)
    queries = [each.text for each in memory.load(path).cases[0].queries if not each.negative]
    made = stores.of_folders(shop, path, memory.FOLDERS)
    store = stores.consolidated(shop, made)
    turns = memory_contents.read(store).turns.values()
    began = date.fromisoformat(min(turn.time for turn in turns if turn.time)[:10])
    last = made.now.date()

    def ask(asked: Sequence[tuple[str, str]]) -> list[Answer]:
        limits = store.settings.recall
        questions = [
            Query(text, made.now.isoformat(), limits.k, limits.budget, as_of=day)
            for text, day in asked
        ]
        return list(recall(store, questions, engine, shop.embedder))

    today = last.isoformat()
    plain = ask([(text, today) for text in queries])
    return IntervalsReport(
        probes=tuple(map(_probed, probes, ask([(each.query, each.as_of) for each in probes]))),
        facts={
            fact.id: (
                *_valued(fact, wordings[fact.id], last, ask),
                *_claimed(fact, wordings[fact.id], began, last, ask),
            )
            for fact in facts
        },
        queries=len(queries),
        unknown=tuple(answer.query for answer in plain if answer.verdict == UNKNOWN),
    )


def _probed(probe: Probe, answer: Answer) -> Asked:
    if probe.answer is None:
        why = interval_match.fault_of_silence(answer)
    else:
        why = interval_match.fault(answer, probe.answer, probe.quotes, probe.others)
    return _asked(probe.id, probe.kind, probe.answer or "", why, answer)


def _valued(fact: Fact, wording: Wording, last: date, ask: Ask) -> list[Asked]:
    """Every value asked for on the first, the middle and the last day of its interval."""
    wanted = [(value, day) for value in fact.values for day in interval_labels.days(value, last)]
    answers = ask([(wording.asks, day) for _, day in wanted])
    found: list[Asked] = []
    for (value, _), answer in zip(wanted, answers, strict=True):
        others = [each for each in fact.values if each is not value]
        why = interval_match.fault(answer, value.text, (value.quote,), others)
        found.append(_asked(fact.id, "value", value.text, why, answer))
    return found


def _claimed(fact: Fact, wording: Wording, began: date, last: date, ask: Ask) -> list[Asked]:
    """Every value claimed inside and outside its interval."""
    wanted = list(interval_labels.claims(fact, began, last))
    answers = ask([(wording.claims.format(value=value.text), day) for value, day, _ in wanted])
    found: list[Asked] = []
    for (_, _, expected), answer in zip(wanted, answers, strict=True):
        why = "" if answer.verdict == expected else f"{answer.verdict or 'no verdict'}"
        found.append(_asked(fact.id, "claim", expected, why, answer))
    return found


def _asked(of: str, kind: str, expected: str, why: str, answer: Answer) -> Asked:
    return Asked(
        of=of,
        kind=kind,
        query=answer.query,
        as_of=answer.as_of or "",
        expected=expected,
        is_read=slot_questions.asked(answer.query) is not None,
        why=why,
        verdict=answer.verdict,
        facts=tuple(
            f"{fact.subject} {fact.slot} {fact.value}, {fact.valid_from or ''} to"
            f" {fact.valid_until or ''}".rstrip()
            for fact in answer.facts
        ),
        first=single_blanks(answer.memories[0].text)[:_SHOWN] if answer.memories else "",
    )
