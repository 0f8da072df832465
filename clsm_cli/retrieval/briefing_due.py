"""Which days ahead are perhaps no longer right, since something later names another day for the same.

Few of the sentences that move an appointment are worth keeping as statements, so the night does not compare
them; a reminder of a day that was moved does harm.
"""

from __future__ import annotations

from datetime import date
from itertools import islice
from typing import TYPE_CHECKING

from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.heads import pair_head
from clsm_cli.text.time import expressions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.retrieval.briefing_items import BriefingItem, RankedItem
    from clsm_cli.text.time.expressions import TimeExpression

SHARED = 2
"""Content words besides those of time that two lines about one thing share, at least."""
MOST = 4
"""Later lines that are compared with one that is due, at most: those that share the most."""
_ASKED = "When?"


def with_doubts(lines: Sequence[RankedItem]) -> list[RankedItem]:
    """The lines; one that is due is worth less and marked where a later one probably moved it.

    Without the model, they stay as they are.
    """
    last = max((line.item.told_on for line in lines), default="")
    words = [(pair_head.content(pair_head.sentence(line.item.text)), line.item) for line in lines]
    try:
        return [
            _marked(line, max(_moves(line.item, words), default=None))
            if (line.item.due or "") >= last and line.item.told_on
            else line
            for line in lines
        ]
    except (ModelMissingError, ModelDigestError):
        return [*lines]


def _marked(line: RankedItem, move: tuple[float, str] | None) -> RankedItem:
    if move is None:
        return line
    item = line.item._replace(perhaps_until=line.item.perhaps_until or move[1])
    item = item.with_location(item.file, item.file_line)
    return line._replace(item=item, worth=round((1 - move[0]) * line.worth, 4))


def _moves(
    due: BriefingItem, others: Sequence[tuple[set[str], BriefingItem]]
) -> Iterator[tuple[float, str]]:
    """The probability of each later line that moves what is due, and its day."""
    own = pair_head.content(pair_head.sentence(due.text))
    own -= {key for day in _days(due) for key in pair_head.sentence(day.text).keys}
    later = [
        (len(own & words), item)
        for words, item in others
        if item.told_on > due.told_on and len(own & words) >= SHARED
    ]
    later.sort(key=lambda pair: (-pair[0], pair[1].id))
    moving = (
        new for _, new in later if any(day.first.isoformat() != due.due for day in _days(new))
    )
    for new in islice(moving, MOST):
        before, after = (pair_head.joined(item.text, item.about) for item in (due, new))
        chance = pair_head.relation(before, after, _ASKED).update
        if chance >= pair_head.ASKED_P:
            yield chance, new.told_on


def _days(line: BriefingItem) -> list[TimeExpression]:
    """The days that a line names, whether or not its words place them."""
    time_expressions = expressions.find_expressions(line.text, date.fromisoformat(line.told_on))
    return [
        expression
        for expression in time_expressions
        if (expression.until - expression.first).days == 1
    ]
