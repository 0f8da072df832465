"""How faded a store is: its traces with their uses, and whether the clock can be believed."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from clsm_cli.forgetting import clock, fading, folding, heard
from clsm_cli.records import NamedTuple
from clsm_cli.store import archive, ledger, logs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime

    from clsm_cli.forgetting.clock import Clock
    from clsm_cli.forgetting.fading import Trace, UsedOn
    from clsm_cli.forgetting.folding import Folded
    from clsm_cli.forgetting.heard import Heard
    from clsm_cli.model.codec import Record
    from clsm_cli.model.graph import Statement
    from clsm_cli.store.archive import Archived
    from clsm_cli.store.layout import Store
    from clsm_cli.store.problems import LineProblem


class Survey(NamedTuple):
    """A store as decay sees it.

    Attributes:
        before: What this machine's last run found archived.
        folded: This machine's log of recalls.
        used: Days of use by id, of all machines.
        heard: Turns of episodes by key.
        traces: Turns and statements, by id.
        problems: Files and lines that could not be read.
        behind: Days that a clock gave which was behind → the day that it was at least.
    """

    clock: Clock
    before: Archived
    folded: Folded
    used: UsedOn
    heard: dict[str, Heard]
    traces: list[Trace]
    problems: tuple[LineProblem, ...]
    behind: Mapping[date, date]


def look(
    store: Store,
    records: Mapping[str, Record],
    statements: Mapping[str, Statement],
    now: datetime,
    *,
    is_told: bool,
) -> Survey:
    """Read episodes and logs; nothing is written, and neither model nor index is asked.

    Args:
        store: Where.
        records: Of live and compacted shards, joined.
        statements: With their texts.
        now: With offset.
        is_told: The user named ``now``.
    """
    forgotten = logs.forgotten(store)
    today = now.astimezone(UTC).date()
    before = archive.read(store.flow)
    folded = folding.fold(store, forgotten)
    used, torn = _used(store, folded, forgotten)
    told, unread = heard.turns(store, records, forgotten)
    recalled = folded.stamps.union(*used.values())
    stamps = heard.stamps(store, records.values(), told.values(), recalled)
    behind = _behind(store, today)
    told = {
        key: each._replace(recorded=behind.get(each.recorded, each.recorded))
        for key, each in told.items()
    }
    return Survey(
        clock.judge(today, stamps, before.as_of, is_told=is_told),
        before,
        folded,
        used,
        told,
        fading.traces(told, statements.values(), records.values(), used, today, behind),
        (*before.problems, *folded.problems, *torn, *unread),
        behind,
    )


def _behind(store: Store, today: date) -> dict[date, date]:
    """Days of clocks that were behind, of all machines; where two give one, the later least day."""
    found: dict[date, date] = {}
    for flow in store.flows():
        days = [day for run in ledger.entries(flow) if (day := heard.day(run.at)) is not None]
        for wrong, least in clock.behind(days, today).items():
            found[wrong] = max(least, found.get(wrong, least))
    return found


def _used(store: Store, own: Folded, forgotten: frozenset[str]) -> tuple[UsedOn, list[LineProblem]]:
    """Days of use by id: what other machines have folded, and all that this one will have."""
    uses, problems = [own.uses], []
    for flow in store.flows():
        if flow != store.flow:
            found, torn, _ = folding.known(flow, forgotten)
            uses.append(found)
            problems += torn
    days: dict[str, set[date]] = {}
    for each in uses:
        for name, on in each:
            days.setdefault(name, set()).add(on)
    return {name: tuple(sorted(found)) for name, found in days.items()}, problems
