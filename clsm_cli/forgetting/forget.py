"""Forget: the only way to remove something for good (CMA's unlearning; docs/format.md §8).

Read in this order: ``selection`` what is meant, ``purge`` (``support``, ``remaking``) takes it out of
a copy of the store, a consolidation of the copy works out anew what rested on it, and what differs
is written whole. So a plan can be read to the last line before anything happens. Then every file
that could still hold a trace is destroyed or compacted.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from clsm_cli.consolidation import rehearsal
from clsm_cli.consolidation.consolidate import consolidate
from clsm_cli.consolidation.report import Request
from clsm_cli.errors import LockedError, ModelDigestError, ModelMissingError
from clsm_cli.forgetting import (
    beyond,
    choosing,
    labelled,
    memory,
    purge,
    receipt,
    refers,
    selection,
    traces,
)
from clsm_cli.forgetting.past import Traces
from clsm_cli.ingestion.ingest import end_begun_run
from clsm_cli.ingestion.report import utc
from clsm_cli.model.ids import file_name_of
from clsm_cli.records import NamedTuple
from clsm_cli.store import atomic, conflict_copies, inbox, logs, runs, shards, wiping
from clsm_cli.store.index import compaction, database
from clsm_cli.store.index.opening import bring_up_to_date
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.consolidation.report import Progress
    from clsm_cli.forgetting.receipt import Receipt
    from clsm_cli.forgetting.selection import Wanted
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store

MASS_LOSS = 0.2
"""Share of all turns that may not go without being asked for as such."""
FEW = 20
"""Turns that may always go."""
_SAYING = ("statement", "gist")


class Plan(NamedTuple):
    """What a forget would write.

    Attributes:
        receipt: What it would do.
        puts: New bytes of files by path relative to the store, and the digest of what was there.
        removes: Files that go, and the digest of each.
        gone: Ids that no log may name any more.
        asked: Lines that the consolidation adds to the list for review.
        names: Names of inbox files that no conversation has any more; a ledger may still tell them.
        texts: What the turns and statements that go said.
    """

    receipt: Receipt
    puts: dict[str, tuple[bytes, str | None]]
    removes: dict[str, str]
    gone: frozenset[str]
    asked: bytes
    names: frozenset[str]
    texts: tuple[str, ...]

    @property
    def is_mass_loss(self) -> bool:
        """Whether a large share of all turns would go."""
        return self.receipt.turns > FEW and self.receipt.share > MASS_LOSS


def plan(
    store: Store,
    wanted: Wanted,
    now: datetime,
    embedder: Embedder | None,
    progress: Progress,
    *,
    purge_history: bool = False,
) -> Plan | None:
    """Work out what goes with what is wanted, to the byte; only a copy is written to.

    Args:
        store: Where.
        wanted: What is to be forgotten.
        now: Time of the run, with offset.
        embedder: For what is made anew; None on a machine without the model.
        progress: Told how far the consolidation of the copy is.
        purge_history: It will go from git's past too, see ``past``.

    Returns:
        None when all of it was forgotten before.

    Raises:
        BadInputError: Nothing is meant, or it is not certain what.
        LockedError: Another clsm kept the lock.
        DiskError: There is no room for the copy.
    """
    with locked(store.root, store.settings.store.lock_wait):
        warnings = end_begun_run(store)
    embedder, missing = _usable(embedder)
    warnings += missing
    with rehearsal.copied(store) as copy:
        before = {name: atomic.digest_of(path) for name, path in purge.files(copy)}
        warnings += conflict_copies.join(copy, utc(now), everywhere=True)
        held = memory.read(copy, utc(now))
        if _is_known(store, held, wanted):
            return None
        chosen = selection.choose(held, wanted, store.zone)
        labels = labelled.read(copy)
        purged = purge.purge(copy, held, chosen, utc(now))
        review = _bytes(copy.flow / "review.jsonl")
        # Without a language model: what it once said of the rest stays, and nothing is sent anywhere.
        request = Request(now=now, only=purged.again, allow_loss=True)
        report = consolidate(copy, request, embedder, progress)
        folders = [*copy.graphs(), *copy.archives()]
        after = shards.load_graph(folders, logs.forgotten(copy)).records
        gone = purged.dead | (held.records.keys() - after.keys())
        purge.clean_quarantine(copy, gone, purged.texts)
        unlabelled = labelled.clean(copy, labels, labelled.Lost(held, after, gone))
        asked = _bytes(copy.flow / "review.jsonl").removeprefix(review).strip(b"\n")
        puts, removes = purge.differences(copy, before)
        done = receipt.Receipt(
            gone=(*receipt.gone(held, after, chosen, purged), *unlabelled),
            stays=receipt.stays(held, after, chosen, purged),
            remade=purged.remade,
            turns=len(chosen.turns),
            all_turns=len(held.told),
            files=tuple(sorted({*puts, *removes})),
            beyond=beyond.find(
                store, held, chosen, sorted({*puts, *removes}), is_purged=purge_history
            ),
            refers=refers.find(held, chosen, wanted, store.zone),
            undoable=tuple(receipt.Run(e.id, e.command, e.at) for e in choosing.undoable(store)),
            warnings=(*warnings, *report.warnings),
        )
    texts = (*purged.texts, *(each.text for each in done.gone if each.kind in _SAYING))
    return Plan(done, puts, removes, frozenset(gone), asked, _inbox_names(held, chosen), texts)


def apply(store: Store, planned: Plan, now: datetime, embedder: Embedder | None) -> Receipt:
    """Do it, whole, and leave nothing behind.

    Raises:
        RefusedError: The store changed since it was planned.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused; the next command ends what was begun.
    """
    with locked(store.root, store.settings.store.lock_wait):
        end_begun_run(store)
        for name, digest in planned.removes.items():
            if atomic.digest_of(store.root / name) != digest:
                raise atomic.changed_meanwhile(store.root / name)
        writes: list[runs.Write] = [runs.Put(wiping.mark(store), b"")]
        writes += [
            runs.Put(store.root / name, data, read_as=digest)
            for name, (data, digest) in sorted(planned.puts.items(), key=_tombstones_first)
        ]
        writes += [_removal(store, store.root / name) for name in sorted(planned.removes)]
        writes += _logs(store, planned)
        line = runs.apply(store, "forget", utc(now), writes, whole=True, keep=False)
        _refresh(store, embedder)
        warnings = _sweep(store)
    done = planned.receipt._replace(run=line.id if line else None)
    return done._replace(warnings=(*done.warnings, *warnings))


def traces_of(store: Store, planned: Plan | None = None) -> Traces:
    """What tells, in git's past, of all that was ever forgotten, and of what a plan took out."""
    forgotten = logs.forgotten(store)
    if planned is None:
        return Traces(tombstones=forgotten)
    removes = frozenset(planned.removes)
    return Traces(forgotten, planned.gone, planned.texts, removes, planned.names)


def _refresh(store: Store, embedder: Embedder | None) -> None:
    """Bring the index up to date; that there is no model was told when this was planned."""
    with (
        database.disk_errors(store.derived),
        contextlib.closing(database.open_to_write(store.derived)) as connection,
        contextlib.suppress(ModelMissingError, ModelDigestError),
    ):
        bring_up_to_date(store, connection, embedder, None)


def _sweep(store: Store) -> list[str]:
    """Leave no trace in what is derived; what a reader holds up, the next command does."""
    try:
        compaction.compact(store)
    except LockedError:
        return ["a recall is still reading the old index; the next command that writes ends this"]
    wiping.finish(store)
    return []


def _usable(embedder: Embedder | None) -> tuple[Embedder | None, list[str]]:
    """The engine if it can be used, opened once; else what to tell: it works without."""
    if embedder is None:
        return None, []
    try:
        embed = embedder.embed()
    except (ModelMissingError, ModelDigestError) as error:
        return None, [f"{error} (until then what is made anew is found by its words)"]
    return embedder._replace(embed=lambda: embed), []


def _is_known(store: Store, held: memory.Memory, wanted: Wanted) -> bool:
    """Whether all ids were forgotten before."""
    forgotten = logs.forgotten(store)
    known = {*held.told, *held.statements, *(episode.id for _, episode in held.episodes)}
    return bool(wanted.ids) and all(
        each not in known and logs.is_forgotten(each, forgotten) for each in wanted.ids
    )


def _inbox_names(held: memory.Memory, chosen: selection.Chosen) -> frozenset[str]:
    """Of conversations that go whole: the name of the file holds the name of the conversation."""
    left = {told.session for key, told in held.told.items() if key not in chosen.turns}
    sessions = {held.told[key].session for key in chosen.turns} - left
    return frozenset(f"{file_name_of(session)}.jsonl" for session in sessions)


def _tombstones_first(put: tuple[str, object]) -> tuple[bool, str]:
    return (not put[0].startswith("tombstones/"), put[0])


def _logs(store: Store, planned: Plan) -> Iterator[runs.Write]:
    """Logs of all machines without what went, as they are now: a recall writes without the lock."""
    for flow in store.flows():
        for name in traces.logs_of(flow):
            yield from _changed(flow / name, planned, store.flow)
        ledger = flow / "runs.jsonl"
        data = _bytes(ledger)
        left = traces.without_paths(data, planned.removes.keys(), planned.names)
        if left != data:
            yield runs.Put(ledger, left, read_as=atomic.sha256(data))
    left = traces.clean(planned.asked, planned.gone).strip(b"\n")
    if left:
        yield runs.Append(store.flow / "review.jsonl", left)


def _removal(store: Store, path: Path) -> runs.Write:
    """What takes a file out; an inbox file of another machine, which may be adding to it, stays."""
    is_inbox = path.parent.name == "inbox" and path.parent.parent.parent == store.root / "flow"
    if is_inbox and not path.is_relative_to(store.flow):
        return inbox.emptied(path, store.root)
    return runs.Remove(path)


def _changed(path: Path, planned: Plan, flow: Path) -> Iterator[runs.Write]:
    data = _bytes(path)
    left = traces.clean(data, planned.gone)
    if left == data:
        return
    if left.strip():
        yield runs.Put(path, left, read_as=atomic.sha256(data))
    elif path.is_relative_to(flow):
        yield runs.Remove(path)
    else:  # its own machine may be adding to it
        yield runs.Put(path, b"", read_as=atomic.sha256(data))


def _bytes(path: Path) -> bytes:
    return atomic.read(path, _LARGEST) or b""


_LARGEST = 1 << 30
"""Bytes of a file of the store."""
