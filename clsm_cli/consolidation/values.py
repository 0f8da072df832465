"""Values, times and words of statements, as ``calibrate`` compares them."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from clsm_cli.text import timex
from clsm_cli.text.names import NO_NAMES
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.model.graph import Statement

STATES = ("open", "blocked", "done")
"""A task only goes forward."""
NEW_WORDS = 4
"""Content stems by which a sentence says more than the one that holds its value already."""


_DEFINED = re.compile(r"([^\W_][^:.!?]{1,60}): ")
_NAMED = re.compile(
    r"((?:[A-Z][\w-]*|\w*[a-z]\w*[_\d]\w*)(?:\s(?:[A-Z][\w-]*|van|von|der|den|de|of))*)(?:['’]s)?\s(?=[a-z])"
)
"""What a sentence begins with: a name and a colon, or a run of capitalised words."""


def since(row: Statement) -> str:
    """Since when a row holds; of one without a time all that is known is when it was recorded.

    One that is over held before that; where its first day is not known, it sorts before all others.
    """
    return row.valid_from or ("" if row.valid_until else row.recorded_at or "")


def is_same_value(a: str | None, b: str | None) -> bool:
    """Whether two values are one: equal, or one says less of the same ("shed", "signal shed").

    >>> is_same_value("signal shed", "Shed"), is_same_value("10 minutes", "minutes")
    (True, False)
    """
    one, other = set(value_of(a).split()), set(value_of(b).split())
    if one == other:
        return True
    has_number = any(map(str.isdigit, "".join(one ^ other)))
    return bool(one and other) and not has_number and (one <= other or other <= one)


def value_of(value: str | None) -> str:
    """A value to compare: without case, single blanks."""
    return " ".join((value or "").casefold().split())


def with_reason(text: str, reason: str) -> str:
    """A task and why it is blocked; a newer reason takes the place of an older one.

    >>> with_reason("Tax return (blocked: no form)", "until the bank writes")
    'Tax return (blocked: until the bank writes)'
    """
    task = text.partition(" (blocked: ")[0]
    return f"{task} (blocked: {reason})" if reason else task


def news(text: str, known: str) -> set[str]:
    """The content stems that a text has and another does not."""
    return set(stems(text)) - set(stems(known))


def holds(row: Statement, at: str | None) -> bool:
    """Whether a row's interval holds a time; a current one also what is before it."""
    if at is None or row.valid_until is None:
        return True
    return (row.valid_from or "") <= at < row.valid_until


def leading_name(text: str) -> str | None:
    """Id of the name that a sentence begins with, which it is about; None for none.

    >>> leading_name("The Slow Lane: a book."), leading_name("Mara Lind has a boat.")
    ('the-slow-lane', 'mara-lind')
    >>> leading_name("By noon Mara had left."), leading_name("I keep bees.")
    (None, None)
    """
    named = _DEFINED.match(text) or _NAMED.match(text)
    if named is None or named.group(1).split()[0] in NO_NAMES - {"The"}:
        return None
    return node_id(named.group(1))


def is_same_day(claim: Claim, row: Statement) -> bool:
    """Whether a claim and a statement in the same words mean the same day by "yesterday".

    One that is read again does.
    """
    then = row.valid_from or row.recorded_at
    if not (claim.observed and then) or {*claim.turns} <= {*row.sources}:
        return True
    at, before = (date.fromisoformat(time[:10]) for time in (claim.observed, then))
    return at == before or timex.same_days(claim.text, at, row.text, before)
