"""Decay: recalls are folded, what was not used for long is archived, old rows move out of the way.

Read in this order: ``survey`` what there is, ``withdrawing`` which rules nobody shows any more,
``fading`` what is archived, ``compaction`` which rows go, and here what of it is written. Nothing is
deleted. What follows does not depend on how often it is run, and a second run changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.consolidation.desk import at_desk
from clsm_cli.consolidation.writes import FEW
from clsm_cli.errors import RefusedError
from clsm_cli.forgetting import compaction, fading, folding, items, preimages, survey, withdrawing
from clsm_cli.forgetting.report import Report, Request
from clsm_cli.model.graph import Statement
from clsm_cli.model.streams import STREAMS
from clsm_cli.records import NamedTuple
from clsm_cli.store import archive, atomic, graph, runs, settle, statements
from clsm_cli.store.index.files import ARCHIVED
from clsm_cli.store.index.opening import published

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from clsm_cli.consolidation.desk import Desk
    from clsm_cli.forgetting.compaction import Moved
    from clsm_cli.forgetting.fading import Share
    from clsm_cli.forgetting.survey import Survey
    from clsm_cli.forgetting.withdrawing import Withdrawn
    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store

__all__ = ["Report", "Request", "decay"]


class Plan(NamedTuple):
    """What a decay is about to do.

    Attributes:
        rules: How many stand.
        shares: What is archived of each stream.
        old: Folders of preimages that go.
    """

    survey: Survey
    rules: int
    withdrawn: tuple[Withdrawn, ...]
    shares: dict[Stream, Share]
    moved: tuple[Moved, ...]
    old: tuple[Path, ...]

    def needs_yes(self, mass_loss: float) -> bool:
        """Whether so many rules would be withdrawn that somebody should know."""
        return len(self.withdrawn) > min(settle.MOST, max(FEW, mass_loss * self.rules))


def decay(store: Store, request: Request) -> Report:
    """Let a store's memories fade, as far as its clock can be believed.

    Raises:
        LockedError: Another clsm kept the lock.
        RefusedError: Many rules would be withdrawn at once.
        DiskError: The disk refused; what was written is whole, and the next run goes on.
    """
    warnings: list[str] = []
    with at_desk(store, "decay", request.now, warnings.append, dry_run=request.dry_run) as desk:
        plan = _plan(desk, request)
        needs_yes = plan.needs_yes(store.settings.consolidation.mass_loss)
        run = None
        if not request.dry_run:
            if needs_yes and not request.yes:
                raise _refusal(plan)
            run = _apply(desk, plan, warnings)
    found = plan.survey
    told = items.Teller(found, desk.label, store.settings.graph.retention)
    warnings += [
        f"{p.path}{f', line {p.line}' if p.line else ''}: {p.reason}" for p in found.problems
    ]
    return Report(
        dry_run=request.dry_run,
        run=run,
        clock=found.clock,
        recalls=found.folded.recalls,
        days=found.folded.days,
        streams={stream: items.state(stream, plan.shares[stream]) for stream in plan.shares},
        archive=told.archived(plan.shares.values()),
        revive=told.revived(plan.shares.values()) if found.clock.is_believed else (),
        withdraw=tuple(map(told.withdrawn, plan.withdrawn)),
        compact=tuple(map(told.moved, plan.moved)),
        rules=plan.rules,
        preimages=len(plan.old),
        needs_yes=needs_yes,
        warnings=(*warnings, *items.about_clock(found.clock)),
    )


def _plan(desk: Desk, request: Request) -> Plan:
    store, curve = desk.store, desk.store.settings.graph.retention
    rows = desk.statements
    found = survey.look(store, desk.records, rows, request.now, is_told=request.explicit)
    rules = len(withdrawing.rules(rows.values()))
    if not found.clock.is_believed:
        return Plan(found, rules, (), {}, (), ())
    today = found.clock.today
    settings = store.settings.consolidation
    withdrawn = withdrawing.faded(
        rows.values(), desk.records.values(), found.heard, found.used, today, settings, found.behind
    )
    after = {each.row.id: each.closed(store.device) for each in withdrawn}
    standing = [trace for trace in found.traces if trace.id not in after]
    gone = [t._replace(kept="no longer current") for t in found.traces if t.id in after]
    return Plan(
        found,
        rules,
        tuple(withdrawn),
        fading.archived([*standing, *gone], today, curve),
        tuple(compaction.compactable(store, desk.records | rows | after, today, found.behind)),
        tuple(preimages.old(store, today, found.behind)),
    )


def _refusal(plan: Plan) -> RefusedError:
    return RefusedError(
        "decay",
        f"{len(plan.withdrawn)} of {plan.rules} rules would be withdrawn, as nothing shows them any"
        " more",
        "look at them with --dry-run, pin what should stay (clsm pin ID), then run it with --yes",
    )


def _apply(desk: Desk, plan: Plan, warnings: list[str]) -> str | None:
    """Write it, whole or not at all; the id of the run, if there was anything to write.

    The log of recalls is looked after before: whatever happens then, its lines are folded again.
    """
    store, found = desk.store, plan.survey
    writes = folding.plan(store, found.folded)
    if found.clock.is_believed:
        month = found.clock.today.replace(day=1)
        if found.before.as_of != month:
            folding.rotate(store, found.folded, found.clock.today)
        writes += _rows(desk, plan, warnings)
        if found.clock.newest is not None:
            writes += _list(store, month, plan)
    with published(store):
        run = desk.run.apply(writes, whole=True)
    for folder in plan.old:
        atomic.remove_folder(folder)
    return run


def _list(store: Store, month: date, plan: Plan) -> list[runs.Write]:
    """What is archived now, in place of what was."""
    since = {each.trace.id: each.since for s in plan.shares.values() for each in s.faded}
    path, data = store.flow / ARCHIVED, archive.render(month, since)
    read_as = atomic.digest_of(path)
    return [] if atomic.sha256(data) == read_as else [runs.Put(path, data, read_as=read_as)]


def _rows(desk: Desk, plan: Plan, warnings: list[str]) -> list[runs.Write]:
    """Rules as they are withdrawn, and rows that move: their shards and topic files."""
    store = desk.store
    closed = {each.row.id: each.closed(store.device) for each in plan.withdrawn}
    writes: list[runs.Write] = []
    for stream in STREAMS:
        moved = [each.row for each in plan.moved if each.stream == stream]
        stored = [statements.stored(r) if isinstance(r, Statement) else r for r in moved]
        added, problems = archive.plan(store, stream, stored) if stored else ([], [])
        warnings += [
            f"{path}: nothing is moved there until all of its lines can be read"
            for path in sorted({problem.path for problem in problems})
        ]
        gone = set() if problems else {row.id for row in moved}
        changed: list[Record] = [
            statements.stored(row)
            for row in closed.values()
            if row.stream == stream and row.id not in gone
        ]
        writes += [*graph.plan(store, stream, changed, gone), *added]
    writes += statements.plan_topics(store, closed.values(), lambda _: "", lambda _, stem: stem)
    return writes
