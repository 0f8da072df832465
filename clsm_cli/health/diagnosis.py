"""Run all checks on a store; with ``--fix``, repair it and run them again.

Looking takes no lock and writes nothing. While others write, what was read of one file may be older
than what was read of the next, so a store that changed meanwhile is looked at again.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from clsm_cli.config import Settings
from clsm_cli.errors import ClsmError, DamagedStoreError, ModelDigestError, ModelMissingError
from clsm_cli.health import repair, store_checks, store_snapshot, surroundings
from clsm_cli.health.findings import MODEL, SEVERITIES, make_finding
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import layout
from clsm_cli.store.device import device_name
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Snapshot
    from clsm_cli.store.index.indexed_files import Progress
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store


class CheckContext(NamedTuple):
    """What a check may know besides the store.

    ``fault`` is why the settings of this machine cannot be used. Hashing the model takes a tenth of a
    second.
    """

    now: datetime
    variables: Mapping[str, str]
    has_model: bool = True
    jobs: Mapping[str, Sequence[str]] = MappingProxyType({})
    fault: str = ""


Check = Callable[["Snapshot", CheckContext], "Iterable[Finding]"]

CHECKS: Mapping[str, Check] = {
    "places": lambda snapshot, _: store_checks.check_places(snapshot),
    "modes": lambda snapshot, _: store_checks.check_modes(snapshot),
    "contents": lambda snapshot, _: store_checks.check_contents(snapshot),
    "lines": lambda snapshot, _: store_checks.check_lines(snapshot),
    "order": lambda snapshot, _: store_checks.check_order(snapshot),
    "logs": lambda snapshot, _: store_checks.check_logs(snapshot),
    "episodes": lambda snapshot, _: store_checks.episode_findings(snapshot),
    "topics": lambda snapshot, _: store_checks.topic_findings(snapshot),
    "loss": lambda snapshot, around: store_checks.lost_statements(snapshot, utc_text(around.now)),
    "references": lambda snapshot, _: store_checks.check_references(snapshot),
    "episode records": lambda snapshot, _: store_checks.check_episodes(snapshot),
    "tombstones": lambda snapshot, _: store_checks.check_tombstones(snapshot),
    "ledger": lambda snapshot, _: store_checks.changed_files(snapshot),
    "begun": lambda snapshot, _: store_checks.begun_runs(snapshot),
    "preimages": lambda snapshot, _: store_checks.check_preimages(snapshot),
    "index": lambda snapshot, _: surroundings.check_index(snapshot),
    "settings": lambda snapshot, _: surroundings.check_settings(snapshot),
    "environment": lambda _, around: surroundings.check_environment(around.variables),
    "machine": lambda _, a: [make_finding("machine-settings", "", a.fault)] if a.fault else [],
    "model": lambda _, around: surroundings.check_model() if around.has_model else [],
    "disk": lambda snapshot, _: surroundings.check_disk(snapshot),
    "lock": lambda snapshot, _: surroundings.check_lock(snapshot),
    "git": lambda snapshot, around: surroundings.check_git(snapshot.store, around.now),
    "nights": lambda snapshot, around: surroundings.check_nights(snapshot, around.now),
    "schedule": lambda _, around: surroundings.check_schedule(around.jobs),
    "secrets": lambda snapshot, _: surroundings.clear_secrets(snapshot),
}


def diagnose(
    store: Store, context: CheckContext, checks: Mapping[str, Check] = CHECKS
) -> list[Finding]:
    """Everything that is to be said of a store, worst first, then by path.

    Nothing is written and no lock is taken.
    """
    snapshot = store_snapshot.take_snapshot(store)
    findings: list[Finding] = []
    for name, check in checks.items():
        try:
            findings += check(snapshot, context)
        except (ClsmError, OSError, sqlite3.Error) as error:  # one bad file hides no other
            findings.append(make_finding("check-failed", "", f"{name}: {error}"))
    return sorted(dict.fromkeys(findings), key=_order)


def _order(finding: Finding) -> tuple[int, str, int, str, str]:
    place = SEVERITIES.index(finding.severity)
    return (place, finding.path, finding.line or 0, finding.code, finding.reason)


DAMAGED, BAD_MODEL = 13, 15
"""Exit codes: damage that remains, of the store or of the model alone."""
_LOOKS = 3
_ANEW = frozenset({"index-damaged", "index-differs"})


@dataclass(frozen=True, slots=True)
class Report:
    """What was found and done."""

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
    """A store, also one whose ``clsm.yaml`` cannot be used: then with the defaults, and a finding."""
    try:
        return layout.open_store(root, environment), []
    except DamagedStoreError as error:
        name = device_name(root, environment)
        store = layout.Store(root, "", "UTC", Settings(), name)
        path = layout.CONFIG_NAME
        return store, [make_finding("settings-unusable", path, error.reason, line=error.line)]


def examine(store: Store, context: CheckContext, also: list[Finding] | None = None) -> Report:
    """Look at a store; again while somebody writes to it."""
    findings: list[Finding] = []
    for _ in range(_LOOKS):
        before = _signature(store)
        findings = diagnose(store, context)
        if before == _signature(store) or not any(f.severity == "damage" for f in findings):
            break
    return Report(str(store.root), (*(also or ()), *findings))


def _signature(store: Store) -> tuple[tuple[str, int, int], ...]:
    """How the ledgers look: every command that writes adds to one."""
    paths = [flow / "runs.jsonl" for flow in store.flows()]
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
) -> Report:
    """Mend what is safe, under the store's lock, and look again."""
    with locked(store.root, store.settings.store.lock_wait):
        before = [each for each in diagnose(store, context) if each.code != "lock-held"]
        done = repair.Mended(None, ()) if only_index else repair.mend(store, before, context.now)
        told = list(done.done)
        codes = {each.code for each in before}
        if rebuild or done.done or any(code.startswith(("index-", "vectors-")) for code in codes):
            told += _index(store, embedder, progress, anew=rebuild or bool(codes & _ANEW))
        after = [each for each in diagnose(store, context) if each.code != "lock-held"]
    left = {_mark(each) for each in after}
    mended = tuple(each for each in before if _mark(each) not in left)
    return Report(str(store.root), tuple(after), mended, tuple(told), done.run, is_fix=True)


def _mark(finding: Finding) -> tuple[str, str, str]:
    """What makes two findings one: a line may have moved."""
    return (finding.code, finding.path, finding.reason)


def _index(store: Store, embedder: Embedder | None, progress: Progress, *, anew: bool) -> list[str]:
    """Bring the index up to date, or make it anew; without the model by words."""
    from clsm_cli.store.index import database, vector_files
    from clsm_cli.store.index.opening import bring_up_to_date

    if anew:
        database.discard(store.derived)
    told = ["the index was made anew"] if anew else []
    with (
        database.disk_errors(store.derived),
        contextlib.closing(database.open_to_write(store.derived)) as connection,
    ):
        vector_files.drop_damaged(connection, store.derived)
        try:
            bring_up_to_date(store, connection, embedder, progress)
        except (ModelMissingError, ModelDigestError) as error:
            told.append(f"by words only: {error}")
    return told
