"""The sample memory after its first night, every writing command on it, and what a store then is."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from faults.running.laying import ITEM as REVIEW
from faults.running.laying import write_sources
from ingesting import NOW, new_store, opened, take
from sleeping import rows, sleep

from clsm_cli.curation import record_edit, review_queue
from clsm_cli.curation.correction import correct
from clsm_cli.forgetting import run_reversal
from clsm_cli.forgetting.archiving import decay
from clsm_cli.forgetting.run_reversal import UndoReport
from clsm_cli.ingestion.capture import write_note
from clsm_cli.model.graph import Statement
from clsm_cli.retrieval.learned_weights import record_feedback
from clsm_cli.store import atomic, ledger, logs
from clsm_cli.store.layout import Store

AT = datetime.fromisoformat(NOW)
NOON = "2026-03-01T11:00:00Z"
LATER = "2026-03-02T08:00:00+01:00"
RECALL = "r-0123456789ab"


def heard(text: str) -> None:
    """What a command warns of is not the question here."""


@cache
def base() -> Store:
    """A part of the sample memory, consolidated, with a recall and something for review.

    Beside it lies what comes the day after: notes that changed, a conversation that went on.
    """
    folder = Path(tempfile.mkdtemp(prefix="clsm-"))
    atexit.register(shutil.rmtree, folder)
    store = new_store(folder / "memory")
    take(store, write_sources(folder / "sources", 1), now="2026-02-28T20:00:00+01:00")
    sleep(store, "2026-02-28T23:00:00+01:00")
    recalled = logs.Activation(RECALL, "2026-03-01T09:00:00Z", (any_fact(store).id,), ("",))
    atomic.append(store.flow / "activation.jsonl", recalled.render())
    atomic.append(store.flow / "review.jsonl", logs.render(REVIEW))
    write_sources(folder / "sources", 2)
    return store


def copied(folder: Path) -> Store:
    return opened(shutil.copytree(base().root, folder))


def facts(store: Store) -> list[Statement]:
    """Current statements of the user's and the projects' pages, in a fixed order."""
    found = [row for row in rows(store).values() if row.is_current and row.stream != "flow"]
    return sorted((row for row in found if row.kind == "fact"), key=lambda row: row.id)


def any_fact(store: Store) -> Statement:
    return facts(store)[0]


def ingested(store: Store) -> None:
    take(store, base().root.parent / "sources")


def captured(store: Store) -> None:
    take(store, base().root.parent / "sources" / "chat.jsonl", capture_only=True)


def noted(store: Store, text: str = "The stove needs a new grate.") -> None:
    write_note(store, text, AT)


def consolidated(store: Store) -> None:
    ingested(store)
    sleep(store, LATER)


def corrected(store: Store) -> None:
    correct(store, any_fact(store).id, "The heron is gone for good.", AT, heard)


def edited(store: Store) -> None:
    draft = record_edit.draft(store, any_fact(store).id, AT, heard)
    lines = [line for line in draft.text.splitlines() if not line.startswith("value:")]
    record_edit.save(store, draft, "\n".join([*lines, "value: heron", ""]), AT, heard)


def pinned(store: Store) -> None:
    record_edit.pin(store, [any_fact(store).id], AT, heard)


def reviewed(store: Store) -> None:
    outcome = review_queue.decide(store, [(REVIEW.id, "accepted")], AT, heard)
    assert not outcome.problems


def judged(store: Store) -> None:
    record_feedback(store, RECALL, [any_fact(base()).id], [], AT)


def decayed(store: Store) -> None:
    decay(store, datetime.fromisoformat("2027-06-01T08:00:00+02:00"), explicit=True)


COMMANDS: dict[str, Callable[[Store], None]] = {
    "note": noted, "ingest --capture": captured, "ingest": ingested, "consolidate": consolidated,
    "pin": pinned, "correct": corrected, "edit": edited, "review": reviewed, "feedback": judged,
    "decay": decayed,
}  # fmt: skip


def undo(store: Store, wanted: str | None = None, **options: Any) -> UndoReport:
    now = datetime.fromisoformat(options.pop("now", "2026-03-02T20:00:00+01:00"))
    return run_reversal.undo(store, wanted, now, options.pop("warn", heard), **options)


def newest(store: Store) -> ledger.LedgerRun:
    return ledger.entries(store.flow)[-1]


def content(store: Store) -> dict[str, bytes]:
    """Every folder and every file with its bytes; ledger, log of recalls and derived files aside."""
    found: dict[str, bytes] = {}
    aside = (ledger.FILE, *logs.ACTIVATIONS)
    for path in sorted(store.root.rglob("*")):
        name = path.relative_to(store.root).as_posix()
        if not name.startswith((".clsm", ".git/")) and path.name not in aside:
            found[name] = b"" if path.is_dir() else path.read_bytes()
    return found
