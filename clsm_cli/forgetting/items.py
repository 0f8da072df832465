"""What a decay tells of each thing that changes: what it is, since when, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.forgetting.report import Item, StreamState
from clsm_cli.model.graph import Edge
from clsm_cli.scoring import retention
from clsm_cli.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from clsm_cli.forgetting.clock import Clock
    from clsm_cli.forgetting.compaction import Moved
    from clsm_cli.forgetting.fading import Faded, Share, Trace
    from clsm_cli.forgetting.survey import Survey
    from clsm_cli.forgetting.withdrawing import Withdrawn
    from clsm_cli.model.streams import Stream


class Teller:
    """Tells of the items of one survey.

    Args:
        survey: What was found.
        label: What a person calls a node.
        curve: The law of retention.
    """

    def __init__(self, survey: Survey, label: Callable[[str], str], curve: str) -> None:
        self._today = survey.clock.today
        self._before = survey.before.since
        self._traces = {trace.id: trace for trace in survey.traces}
        self._label = label
        self._curve = curve

    def archived(self, shares: Iterable[Share]) -> tuple[Item, ...]:
        """What is archived now and was not before, by stream and since when."""
        fresh = [f for share in shares for f in share.faded if f.trace.id not in self._before]
        return tuple(self._archived(each) for each in fresh)

    def _archived(self, faded: Faded) -> Item:
        why = f"not used for {_days(faded.trace.last, self._today)}"
        return self._item(faded.trace, faded.since, why)

    def revived(self, shares: Iterable[Share]) -> tuple[Item, ...]:
        """What was archived before and is no more, as far as it is still there, by id."""
        still = {each.trace.id for share in shares for each in share.faded}
        found = [
            self._traces[i] for i in sorted(self._before) if i not in still and i in self._traces
        ]
        return tuple(self._revived(trace) for trace in found)

    def _revived(self, trace: Trace) -> Item:
        if trace.last > self._before[trace.id]:
            since, why = trace.last, f"used on {trace.last}"
        elif trace.kept:
            since, why = self._today, trace.kept
        elif trace.since(self._curve) > self._today:
            since, why = self._today, "not faded as far as is known now"
        else:
            since, why = self._today, "its stream has lost its share already"
        return self._item(trace, since, why)

    def _item(self, trace: Trace, since: date, why: str) -> Item:
        left = round(trace.left(self._today, self._curve), 4)
        last = str(trace.last)
        return Item(
            trace.id,
            trace.kind,
            trace.stream,
            str(since),
            last,
            left,
            trace.tokens,
            why,
            trace.text,
        )

    def withdrawn(self, each: Withdrawn) -> Item:
        """A rule that is not believed any more."""
        row, why = each.row, f"not shown for {_days(each.shown, self._today)}"
        size = count_tokens(row.text)
        sure = round(each.sure, 4)
        since, shown = str(each.since), str(each.shown)
        return Item(row.id, row.kind, row.stream, since, shown, sure, size, why, row.text)

    def moved(self, each: Moved) -> Item:
        """A row that goes to the archive."""
        row, ended = each.row, str(each.ended)
        if isinstance(row, Edge):
            kind, text = "edge", f"{self._name(row.source)} {row.type} {self._name(row.target)}"
        else:
            kind, text = row.kind, row.text
        why = f"superseded {_days(each.ended, self._today)} ago"
        size = count_tokens(text)
        return Item(row.id, kind, each.stream, str(each.since), ended, None, size, why, text)

    def _name(self, node: str) -> str:
        return self._label(node) or node


def state(stream: Stream, share: Share) -> StreamState:
    """How much of a stream is archived."""
    return StreamState(
        items=share.items,
        archived=len(share.faded),
        tokens=share.total,
        archived_tokens=share.tokens,
        most=round(1 - retention.SURVIVAL[stream], 4),
        kept=share.kept,
    )


def about_clock(clock: Clock) -> list[str]:
    """What a person should hear of the clock, and of stamps that lie ahead."""
    told = []
    if not clock.is_believed:
        told.append(
            f"the clock says {clock.today}, the newest entry of the store is of {clock.newest}:"
            " nothing was archived, revived, withdrawn or compacted. If the clock is right, say so"
            f" once with: clsm decay --now {clock.today}"
        )
    if clock.future:
        told.append(
            f"entries of {len(clock.future)} days lie ahead, up to {clock.future[-1]}; they count as"
            " of today"
        )
    return told


def _days(since: date, today: date) -> str:
    count = (today - since).days
    return f"{count} day" if count == 1 else f"{count} days"
