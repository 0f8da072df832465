"""A store with one word in every kind of place that a memory can be in, and where it still is."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ingesting import embedder, made_once, new_store, place, take
from sample_store import ask
from sleeping import chat, rows, sleep, talked
from tables import column

from clsm_cli.forgetting import clean_writing, erasure
from clsm_cli.forgetting.clean_writing import ErasurePlan
from clsm_cli.forgetting.receipt import Receipt
from clsm_cli.forgetting.selection import ForgetRequest
from clsm_cli.ingestion.capture import write_note
from clsm_cli.retrieval import briefing
from clsm_cli.store import atomic, shards
from clsm_cli.store.layout import Store

NOW = datetime.fromisoformat("2026-03-02T09:00:00+01:00")
CANARY = "quaggamire"


def plan(store: Store, **wanted: Any) -> ErasurePlan:
    found = erasure.plan(store, ForgetRequest(**wanted), NOW, embedder(), lambda *_: None)
    assert found is not None
    return found


def lose(store: Store, **wanted: Any) -> Receipt:
    receipt: Receipt = clean_writing.apply(store, plan(store, **wanted), NOW, embedder())
    return receipt


def holding(root: Path, text: str = CANARY) -> list[str]:
    """Files under a folder that hold a text in whatever case, in their name or their bytes."""
    return sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if text in path.name.lower()
        or (path.is_file() and text.encode() in path.read_bytes().lower())
    )


@made_once
def planted(folder: Path) -> Store:
    """A store in which the canary is everywhere that a memory can be."""
    store = new_store(folder / "memory")
    # The name of the last conversation holds it, and so that of its file in the inbox.
    for name, day in (("harbour", "10"), ("crane", "12"), (f"about-{CANARY}", "11")):
        talked(store, folder, name, f"2026-02-{day}", *column(__file__, name))
    notes = folder / "notes"
    notes.mkdir()
    (notes / f"{CANARY}.md").write_text("# Quaggamire\n\n- The Quaggamire costs 4 pounds a day.\n")
    take(store, notes)
    sleep(store)
    opened = chat(folder, "open", [("Sami", "2026-03-01T11:59:00+01:00", "Is Quaggamire open?")])
    take(store, opened, capture_only=True)  # in the inbox
    write_note(store, "The Quaggamire has a green door.", NOW)
    sleep(store, "2026-03-01T23:00:00+01:00")
    _record(store)
    answer = ask(store, "quaggamire")
    line = {"recall": "r-1", "at": "2026-03-01T22:00:00Z", "ids": [m.id for m in answer.memories]}
    atomic.append(store.flow / "activation.jsonl", json.dumps(line).encode())
    aside = "3: - My address is Quaggamire Lane 4 in Leeds.\n4: - unrelated\n"
    place(store.quarantine, **{"x.txt": aside.encode()})
    briefing.prepare(store)
    return store


def _record(store: Store) -> None:
    """An archived row that rests on what is to go."""
    row = next(r for r in rows(store).values() if CANARY in r.text.lower() and r.kind != "gist")
    at = row.recorded_at
    old = replace(row, id="f-0123456789ab", text="Quaggamire closed.", superseded_at=at)
    folder = store.graph(row.stream).relative_to(store.root).parent
    atomic.put(store.root / "archive" / folder / "a.yaml", shards.render([old]))
