"""Forget: plan and apply the removal of something for good (CMA's unlearning; docs/format.md §8).

The stages: ``selection`` says what is meant, ``purge`` takes it out of a copy of the store, a
consolidation of the copy works out anew what rested on it, and the files that differ are written whole
(``clean_writing``). So a plan can be read to the last line before anything happens. Then every file
that could still hold a trace is destroyed or compacted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.consolidation import rehearsal
from clsm_cli.consolidation.consolidation_report import Request
from clsm_cli.consolidation.consolidation_run import consolidate
from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.forgetting import (
    clean_writing,
    external_copies,
    label_erasure,
    purge,
    receipt,
    references,
    selection,
    store_contents,
    undo_selection,
)
from clsm_cli.forgetting.clean_writing import CleanWrites
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.model.ids import file_name_of
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, conflict_copies, logs, shards
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.consolidation.consolidation_report import Progress
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
    """What a forget would write."""

    receipt: Receipt
    writes: CleanWrites

    @property
    def is_mass_loss(self) -> bool:
        """Whether so many turns would be removed that somebody should confirm it."""
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
    with rehearsal.copy_store(store) as copy:
        before = {name: atomic.digest_of(path) for name, path in purge.compared_files(copy)}
        warnings += conflict_copies.join(copy, utc_text(now), everywhere=True)
        contents = store_contents.read_store(copy, utc_text(now))
        if _is_known(store, contents, wanted):
            return None
        chosen = selection.choose(contents, wanted, store.zone)
        labels = label_erasure.read_labels(copy)
        purged = purge.purge(copy, contents, chosen, utc_text(now))
        review = _review(copy)
        # Without a language model: what it once said of the rest stays, and nothing is sent anywhere.
        request = Request(now=now, only=purged.again, allow_loss=True)
        report = consolidate(copy, request, embedder, progress)
        folders = [*copy.graphs(), *copy.archives()]
        after = shards.load_graph(folders, logs.load_tombstones(copy)).records
        gone = purged.forgotten | (contents.records.keys() - after.keys())
        purge.clean_quarantine(copy, gone, purged.texts)
        unlabelled = label_erasure.clean_labels(
            copy, labels, label_erasure.ForgottenTerms(contents, after, gone)
        )
        asked = _review(copy).removeprefix(review).strip(b"\n")
        puts, removes = purge.file_differences(copy, before)
        done = receipt.Receipt(
            gone=(*receipt.list_removed(contents, after, chosen, purged), *unlabelled),
            stays=receipt.list_kept(contents, after, chosen, purged),
            remade=purged.remade,
            turns=len(chosen.turns),
            all_turns=len(contents.turns),
            files=tuple(sorted({*puts, *removes})),
            beyond=external_copies.find_copies(
                store, contents, chosen, sorted({*puts, *removes}), is_purged=purge_history
            ),
            refers=references.find_references(contents, chosen, wanted, store.zone),
            undoable=tuple(
                receipt.Run(e.id, e.command, e.at) for e in undo_selection.undoable(store)
            ),
            warnings=(*warnings, *report.warnings),
        )
    texts = (*purged.texts, *(each.text for each in done.gone if each.kind in _SAYING))
    names = _inbox_names(contents, chosen)
    return Plan(done, CleanWrites(puts, removes, frozenset(gone), texts, names, asked))


def apply(store: Store, planned: Plan, now: datetime, embedder: Embedder | None) -> Receipt:
    """Do it, whole, and leave nothing behind.

    Raises:
        RefusedError: The store changed since it was planned.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused; the next command ends what was begun.
    """
    run, warnings = clean_writing.write_clean(store, planned.writes, now, embedder)
    done = planned.receipt._replace(run=run)
    return done._replace(warnings=(*done.warnings, *warnings))


def _usable(embedder: Embedder | None) -> tuple[Embedder | None, list[str]]:
    """The engine if it can be used, opened once; else what to tell: it works without."""
    if embedder is None:
        return None, []
    try:
        embed = embedder.embed()
    except (ModelMissingError, ModelDigestError) as error:
        return None, [f"{error} (until then what is made anew is found by its words)"]
    return embedder._replace(embed=lambda: embed), []


def _is_known(store: Store, contents: store_contents.StoreContents, wanted: Wanted) -> bool:
    """Whether all ids were forgotten before."""
    forgotten = logs.load_tombstones(store)
    known = {
        *contents.turns,
        *contents.statements,
        *(episode.id for _, episode in contents.episodes),
    }
    return bool(wanted.ids) and all(
        each not in known and logs.is_forgotten(each, forgotten) for each in wanted.ids
    )


def _inbox_names(
    contents: store_contents.StoreContents, chosen: selection.Chosen
) -> frozenset[str]:
    """Of conversations that go whole: the name of the file holds the name of the conversation."""
    left = {told.session for key, told in contents.turns.items() if key not in chosen.turns}
    sessions = {contents.turns[key].session for key in chosen.turns} - left
    return frozenset(f"{file_name_of(session)}.jsonl" for session in sessions)


def _review(store: Store) -> bytes:
    return atomic.read(store.flow / "review.jsonl", logs.MAX_LOG) or b""
