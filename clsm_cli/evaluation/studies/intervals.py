"""What notes held on a day: labels, questions and how answers are judged.

An item is one of the answer's facts, or its first memory. A fact *states* a value that is the same
as its own, as facts are compared (``slot_questions.same_value``: normalised, with numbers and
units), or whose date or words it has; where the quote of a label does not have the label's words
("two espressos" for coffee), it states the value if all its words stand in the quote. A memory
states a value if it holds the label's quote, or all words of the value; where it has the words of
several values, without the quote of the right one, it says nothing.

    right  ⇔  some item states the value, and none states only others of the slot

What is asked goes through ``recall`` as any other question does, as of the day of its label.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import single_blanks
from clsm_cli.evaluation.loaders import memory
from clsm_cli.evaluation.loaders.parsing import malformed
from clsm_cli.evaluation.studies import labelled
from clsm_cli.evaluation.studies.matching import says
from clsm_cli.retrieval.facts import NO, UNKNOWN, YES
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError
from clsm_cli.text import slot_questions, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.evaluation.studies.labelled import Fact, Value
    from clsm_cli.retrieval.answer import Answer, Known
    from clsm_cli.retrieval.meaning import Engine

    Ask = Callable[[Sequence[tuple[str, str]]], list[Answer]]
    """Questions, each with the day on which it is asked."""

DATED = ("as-of", "changed-fact")
"""Kinds of probes whose slot had other values at other times."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Probe:
    """A question with the day on which it is asked.

    Attributes:
        answer: None where the memory holds none.
        quotes: Evidence of the answer, with single blanks; any is enough.
        others: What the slot was at other times.
    """

    id: str
    kind: str
    query: str
    as_of: str
    answer: str | None
    quotes: tuple[str, ...]
    others: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a fact is asked for.

    Attributes:
        asks: A question for the value.
        claims: A yes-or-no question with ``{value}`` in it.
    """

    asks: str
    claims: str


def load_probes(path: Path, facts: Sequence[Fact]) -> tuple[Probe, ...]:
    """Read ``labels/probes.yaml`` of a labelled memory.

    Args:
        path: The memory.
        facts: Its facts that changed; one of them may be what a probe asks for.

    Raises:
        BadInputError: The file is missing or not what it must be.
    """
    file = path / "labels" / "probes.yaml"
    return tuple(_read(file, lambda rows: [_probe(row, facts) for row in rows]))


def load_wordings(path: Path, facts: Sequence[Fact]) -> dict[str, Wording]:
    """How each fact is asked for: as ``labels/questions.yaml`` says, else from subject and slot.

    Raises:
        BadInputError: The file is not what it must be.
    """
    made = {
        fact.id: Wording(
            f"What was the {fact.slot} of {fact.subject}?",
            f"Is {fact.subject}'s {fact.slot} {{value}}?",
        )
        for fact in facts
    }
    file = path / "labels" / "questions.yaml"
    if not file.exists():
        return made
    given = _read(
        file, lambda rows: [(row["fact"], Wording(row["asks"], row["claims"])) for row in rows]
    )
    return made | dict(given)


def days_asked(value: Value, last: date) -> list[str]:
    """The first, the middle and the last day of a value's interval.

    Args:
        value: Of a fact.
        last: The last day that counts for what still holds.

    >>> from clsm_cli.evaluation.studies.labelled import Value
    >>> days_asked(Value("tea", "2026-02-10", "2026-02-15", ""), date(2026, 2, 25))
    ['2026-02-10', '2026-02-12', '2026-02-14']
    >>> days_asked(Value("tea", "2026-02-24", None, ""), date(2026, 2, 25))
    ['2026-02-24', '2026-02-25']
    """
    first = date.fromisoformat(value.valid_from)
    final = date.fromisoformat(value.valid_until) - _DAY if value.valid_until else max(first, last)
    middle = first + (final - first) // 2
    return sorted({day.isoformat() for day in (first, middle, final)})


def claims(fact: Fact, began: date, last: date) -> Iterator[tuple[Value, str, str]]:
    """Each value claimed at the middle of every value's interval, and before all that is known.

    Args:
        fact: A fact that changed.
        began: The first day of the store.
        last: The last day that counts for what still holds.

    Yields:
        The value, the day, and the right verdict: yes inside its interval, no outside, and not
        known on the day before the store and the fact began.
    """
    before = min(began, date.fromisoformat(fact.values[0].valid_from)) - _DAY
    for value in fact.values:
        yield value, before.isoformat(), UNKNOWN
        for held in fact.values:
            inside = days_asked(held, last)
            yield value, inside[len(inside) // 2], YES if held is value else NO


def _probe(row: Mapping[str, Any], facts: Sequence[Fact]) -> Probe:
    kind, answer = str(row["kind"]), row["answer"]
    quotes = tuple(" ".join(str(each["quote"]).split()) for each in row["evidence"])
    if (answer is None) is not (kind == "unanswerable"):
        raise TypeError(f"{row['id']} has no answer, or should have none")
    dated = kind in DATED
    return Probe(
        id=str(row["id"]),
        kind=kind,
        query=row["query"],
        as_of=date.fromisoformat(row["as_of"]).isoformat(),
        answer=None if answer is None else str(answer),
        quotes=quotes,
        others=tuple(_others(str(answer), quotes, facts)) if dated else (),
    )


def _others(answer: str, quotes: Sequence[str], facts: Sequence[Fact]) -> Iterator[Value]:
    """The other values of the fact of which one value is the answer, and shares its evidence."""
    for fact in facts:
        for value in fact.values:
            is_evidence = any(_overlap(value.quote, quote) for quote in quotes)
            if is_evidence and slot_questions.same_value(fact.slot, answer, value.text):
                yield from (each for each in fact.values if each is not value)
                return


def _overlap(one: str, other: str) -> bool:
    """Whether two quotes have half of the words of the shorter in common."""
    words, others = set(tokens.stems(one)), set(tokens.stems(other))
    return 2 * len(words & others) >= max(1, min(len(words), len(others)))


def _read(file: Path, made: Callable[[Any], list[Any]]) -> list[Any]:
    data = atomic.read(file, MAX_FILE)
    if data is None:
        raise BadInputError(str(file), "is missing", "see docs/evaluation.md for the layout")
    try:
        return made(yaml_text.load(data.decode("utf-8"), MAX_FILE, values=None))
    except (LineError, UnicodeDecodeError) as error:
        raise BadInputError(str(file), str(error), "mend it") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise malformed(file, repr(error)) from error


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
    facts = labelled.load(path).facts
    probes = load_probes(path, facts)
    wordings = load_wordings(path, facts)
    queries = [each.text for each in memory.load(path).cases[0].queries if not each.negative]
    made = stores.of_folders(shop, path, memory.FOLDERS)
    store = stores.consolidated(shop, made)
    turns = labelled.read(store).turns.values()
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
        why = fault_of_silence(answer)
    else:
        why = fault(answer, probe.answer, probe.quotes, probe.others)
    return _asked(probe.id, probe.kind, probe.answer or "", why, answer)


def _valued(fact: Fact, wording: Wording, last: date, ask: Ask) -> list[Asked]:
    """Every value asked for on the first, the middle and the last day of its interval."""
    wanted = [(value, day) for value in fact.values for day in days_asked(value, last)]
    answers = ask([(wording.asks, day) for _, day in wanted])
    found: list[Asked] = []
    for (value, _), answer in zip(wanted, answers, strict=True):
        others = [each for each in fact.values if each is not value]
        why = fault(answer, value.text, (value.quote,), others)
        found.append(_asked(fact.id, "value", value.text, why, answer))
    return found


def _claimed(fact: Fact, wording: Wording, began: date, last: date, ask: Ask) -> list[Asked]:
    """Every value claimed inside and outside its interval."""
    wanted = list(claims(fact, began, last))
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
