"""Run all checks on a store; with ``--fix``, repair it and run them again.

Checks take no lock and write nothing. If another process writes meanwhile, files may be read at
different states, so the checks run again.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from clsm_cli.config import Settings
from clsm_cli.errors import ClsmError, DamagedStoreError, ModelDigestError, ModelMissingError
from clsm_cli.health import repair, store_checks, store_snapshot, surroundings
from clsm_cli.health.findings import MODEL, SEVERITIES, Finding, make_finding
from clsm_cli.health.store_snapshot import CheckContext, Snapshot
from clsm_cli.store import layout, ledger
from clsm_cli.store.device import device_name
from clsm_cli.store.index import database
from clsm_cli.store.index.indexed_files import Progress
from clsm_cli.store.index.opening import Embedder, bring_up_to_date
from clsm_cli.store.index.vector_files import VectorFiles
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

Check = Callable[["Snapshot"], "Iterable[Finding]"]

CHECKS: Mapping[str, Check] = {
    name.removeprefix("check_").replace("_", " "): check
    for module in (store_checks, surroundings)
    for name, check in vars(module).items()
    if name.startswith("check_") and check.__module__ == module.__name__
}
"""Name → each ``check_…`` function of the two modules; order does not matter."""


_COMPLETE = "run first: clsm doctor --fix, which completes the interrupted command"


def diagnose(
    store: Store, context: CheckContext, checks: Mapping[str, Check] = CHECKS
) -> list[Finding]:
    """All findings, most severe first, then by path; takes no lock, writes nothing."""
    snapshot = store_snapshot.take_snapshot(store, context)
    findings: list[Finding] = []
    for name, check in checks.items():
        try:
            findings += check(snapshot)
        except (ClsmError, OSError, sqlite3.Error) as error:  # one bad file hides no other
            findings.append(make_finding("check-failed", "", f"{name}: {error}"))
    is_begun = any(each.code == "begun-run" for each in findings)
    if is_begun:  # what it has not yet written is not gone
        findings = [each if each.mends else each._replace(next_step=_COMPLETE) for each in findings]
    return sorted(
        dict.fromkeys(findings),
        key=lambda f: (SEVERITIES.index(f.severity), f.path, f.line or 0, f.code, f.reason),
    )


DAMAGED, BAD_MODEL = 13, 15  # exit codes: damage remains in the store, or in the model alone
_MAX_ATTEMPTS = 3  # attempts on a store that another process writes to
_NEEDS_REBUILD = frozenset({"index-damaged", "index-differs"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings, and the repairs that were made."""

    root: str
    findings: tuple[Finding, ...]
    mended: tuple[Finding, ...] = ()
    done: tuple[str, ...] = ()
    run: str | None = None
    is_fix: bool = False

    @property
    def exit_code(self) -> int:
        """0 where nothing is damaged."""
        damaged = {each.code for each in self.findings if each.severity == "damage"}
        if not damaged:
            return 0
        return BAD_MODEL if damaged <= MODEL else DAMAGED


def open_any_store(root: Path, environment: dict[str, str]) -> tuple[Store, list[Finding]]:
    """Open a store; with an unusable ``clsm.yaml``, use the defaults and return a finding."""
    try:
        return layout.open_store(root, environment), []
    except DamagedStoreError as error:
        name = device_name(root, environment)
        store = layout.Store(root, "", "UTC", Settings(), name)
        path = layout.CONFIG_NAME
        return store, [make_finding("settings-unusable", path, error.reason, line=error.line)]


def examine(store: Store, context: CheckContext, also: list[Finding] | None = None) -> Diagnosis:
    """Run all checks; if damage is found while the store changes, run them again."""
    findings: list[Finding] = []
    for _ in range(_MAX_ATTEMPTS):
        before = _signature(store)
        findings = diagnose(store, context)
        if before == _signature(store) or not any(f.severity == "damage" for f in findings):
            break
    return Diagnosis(str(store.root), (*(also or ()), *findings))


def _signature(store: Store) -> tuple[tuple[str, int, int], ...]:
    """Size and mtime of the ledgers, which every writing command appends to."""
    paths = [flow / ledger.FILE for flow in store.flows()]
    stats = [(path, path.stat()) for path in paths if path.is_file()]
    return tuple((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in stats)


def fix(
    store: Store,
    context: CheckContext,
    embedder: Embedder | None,
    progress: Progress,
    *,
    rebuild: bool = False,
    only_index: bool = False,
) -> Diagnosis:
    """Repair what is safe, under the store's lock, and run the checks again."""
    with locked(store.root, store.settings.store.lock_wait):
        before = diagnose(store, context)
        run, done = (None, []) if only_index else repair.mend(store, before, context)
        codes = {each.code for each in before}
        if rebuild or done or any(code.startswith(("index-", "vectors-")) for code in codes):
            anew = rebuild or bool(codes & _NEEDS_REBUILD)
            done += _update_index(store, embedder, progress, anew=anew)
        after = diagnose(store, context)
    left = {(each.code, each.path, each.reason) for each in after}  # a line may have moved
    mended = tuple(each for each in before if (each.code, each.path, each.reason) not in left)
    return Diagnosis(str(store.root), tuple(after), mended, tuple(done), run, is_fix=True)


def _update_index(
    store: Store, embedder: Embedder | None, progress: Progress, *, anew: bool
) -> list[str]:
    """Update the index, or rebuild it; without the model, by words only."""
    if anew:
        database.discard(store.derived)
    messages = ["the index was made anew"] if anew else []
    with (
        database.index_errors(store.derived),
        contextlib.closing(database.open_to_write(store.derived)) as connection,
    ):
        VectorFiles(connection, store.derived).drop_damaged()
        try:
            bring_up_to_date(store, connection, embedder, progress)
        except (ModelMissingError, ModelDigestError) as error:
            messages.append(f"by words only: {error}")
    return messages
