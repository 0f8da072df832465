"""A small store in which there is a file of every kind: what the rig ``mutate`` damages."""

import contextlib
import shutil
from datetime import datetime
from pathlib import Path

from ingesting import embedder, new_store, take
from sleeping import sleep, told

from clsm_cli.curation.correction import correct
from clsm_cli.forgetting import archiving, clean_writing, erasure, selection
from clsm_cli.forgetting.selection import ForgetRequest
from clsm_cli.health.store_snapshot import CheckContext
from clsm_cli.ingestion.capture import write_note
from clsm_cli.retrieval.briefing import prepare
from clsm_cli.store import atomic, logs, runs
from clsm_cli.store.index import database, opening
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import Store

NOW = "2036-06-20T12:00:00+01:00"
"""When the store is looked at."""
AROUND = CheckContext(datetime.fromisoformat(NOW), {"CLSM_DEVICE": "pi"}, has_model=False)
"""And by whom."""
_TALK = (
    ("user", "2026-02-24T08:00:00+01:00", "I live in Haarlem with my sister Ilse."),
    ("assistant", "2026-02-24T08:01:00+01:00", "Noted. Shall I call the boatyard tomorrow?"),
    ("user", "2026-02-24T08:02:00+01:00", "Yes. Always answer in short sentences, please."),
    ("user", "2026-02-24T08:03:00+01:00", "My favourite tea is Earl Grey."),
    ("user", "2026-02-24T08:04:00+01:00", "We decided to paint the boathouse green."),
    ("user", "2026-02-24T08:05:00+01:00", "Remind me to order beech wood on 3 March 2026."),
)
_LATER = (
    ("user", "2026-03-01T19:00:00+01:00", "Brian mends the crane of the Harbour Project."),
    ("assistant", "2026-03-01T19:01:00+01:00", "Does Brian need the spare key of the shed?"),
    ("user", "2026-03-01T19:02:00+01:00", "He does. The key hangs behind the clock."),
    ("user", "2026-03-01T19:03:00+01:00", "The Harbour Project: Brian and Lotte meet in Haarlem."),
)
_NOTES = """# Notes

## People

- Tomas lost the bet about the eel.
- Lotte tunes the piano twice a year.
- Brian wrote the plan of the Harbour Project with Lotte.

## Project

Brian and Lotte met at the Harbour Project in Haarlem. Brian knows Tomas well.

## Harbour

The ferry to Texel leaves every half hour. The mast is fourteen metres tall.
"""

FORGOTTEN = "Earl Grey"
"""Stands in the turns of which one is forgotten."""


def make(root: Path) -> Store:
    """The store, after some years of every command that writes."""
    sources = root.parent / "sources"
    sources.mkdir()
    store = new_store(root)
    told(store, sources, "morning", *_TALK)
    told(store, sources, "evening", *_LATER)
    notes = sources / "MEMORY.md"
    notes.write_text(_NOTES, encoding="utf-8")
    take(store, notes)
    sleep(store, "2026-03-02T03:00:00+01:00")
    _use(store)
    _forget(store)
    notes.write_text(_NOTES.replace("every half hour", "every hour"), encoding="utf-8")
    take(store, notes, now="2026-03-04T12:00:00+01:00")
    sleep(store, "2026-03-05T03:00:00+01:00")
    held = selection.read_store(store, NOW)
    home = next(r for r in held.statements.values() if "Haarlem" in r.text)
    moment = datetime.fromisoformat("2026-03-06T12:00:00+01:00")
    correct(store, home.id, "Mara lives in York.", moment, lambda _: None)
    at = datetime.fromisoformat("2036-06-10T03:00:00+02:00")
    archiving.decay(store, at, explicit=True)
    _open(store)
    _undone(store)
    shutil.rmtree(sources)
    prepare(store)
    with contextlib.closing(database.open_to_write(store.derived)) as connection:
        opening.bring_up_to_date(store, connection, embedder(), None)
    return store


def _use(store: Store) -> None:
    """Recalls, what was thought of them, and a question for a person."""
    turns = selection.read_store(store, NOW).turns.items()
    # What is forgotten below takes its lines with it.
    keys = sorted(key for key, each in turns if FORGOTTEN not in each.turn.text)
    for n, key in enumerate(keys[:8]):
        line = logs.Activation(f"r-{n}", f"2026-03-02T0{n}:00:00Z", (key,), ("",))
        atomic.append(store.flow / "activation.jsonl", line.render())
    at, why = "2026-03-02T10:00:00Z", "two texts under one id"
    feedback = logs.Feedback("r-1", at, (keys[1],), (keys[2],))
    review = logs.ReviewItem("v-0123456789ab", at, (keys[1],), why, "a", "b")
    writes = [
        runs.Append(store.flow / "feedback.jsonl", logs.render(feedback)),
        runs.Append(store.flow / "review.jsonl", logs.render(review)),
    ]
    runs.apply(store, "feedback", at, writes)


def _forget(store: Store) -> None:
    held = selection.read_store(store, NOW)
    key = min(key for key, each in held.turns.items() if FORGOTTEN in each.turn.text)
    now = datetime.fromisoformat("2026-03-03T12:00:00+01:00")
    planned = erasure.plan(store, ForgetRequest(ids=(key,)), now, embedder(), lambda *_: None)
    assert planned is not None
    clean_writing.apply(store, planned, now, embedder())


def _open(store: Store) -> None:
    """A conversation that goes on, and recalls that are not folded."""
    rows = [
        dump({"role": "user", "content": text, "timestamp": f"2036-06-19T08:0{n}:00+01:00"})
        for n, text in enumerate(("Is the stove lit?", "The grate needs blacking.", "And oil."))
    ]
    take(store, stdin="\n".join(rows).encode(), session="open", now="2036-06-19T09:00:00+01:00")
    line = dump({"recall": "r-9", "at": "2036-06-19T10:00:00Z", "ids": ["f-1"]})
    atomic.append(store.flow / "activation.jsonl", line.encode())


def _undone(store: Store) -> None:
    """A note."""
    write_note(store, "The gate code changes in May.", datetime.fromisoformat(NOW))


def largest(store: Store, pattern: str) -> Path:
    """The largest file with such a path."""
    return max(store.root.glob(pattern), key=lambda path: path.stat().st_size)
