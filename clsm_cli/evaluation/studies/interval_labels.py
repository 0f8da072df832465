"""Labels with a day: probes, and facts that changed, asked inside and outside their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders.cases import malformed
from clsm_cli.retrieval.facts import NO, UNKNOWN, YES
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError
from clsm_cli.text import slot_questions, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.studies.memory_labels import Fact, Value

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


def days(value: Value, last: date) -> list[str]:
    """The first, the middle and the last day of a value's interval.

    Args:
        value: Of a fact.
        last: The last day that counts for what still holds.

    >>> from clsm_cli.evaluation.studies.memory_labels import Value
    >>> days(Value("tea", "2026-02-10", "2026-02-15", ""), date(2026, 2, 25))
    ['2026-02-10', '2026-02-12', '2026-02-14']
    >>> days(Value("tea", "2026-02-24", None, ""), date(2026, 2, 25))
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
            inside = days(held, last)
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
