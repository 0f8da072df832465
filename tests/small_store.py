"""Tiny stores for tests that must know every passage of one."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import aging
from ingesting import take
from sample_store import ask

from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import normalise_text, statement_id
from clsm_cli.model.streams import Stream
from clsm_cli.retrieval.answer import Memory
from clsm_cli.store import topics
from clsm_cli.store.layout import Store

DAY = "2026-02-24"


def row(text: str, **fields: object) -> str:
    """One message as a line of JSON; said by Mara at eight, unless the fields say otherwise."""
    said = {"speaker": "Mara", "session": "main", "timestamp": f"{DAY}T08:00:00+01:00"}
    return json.dumps({**said, "content": text, **fields}) + "\n"


def tell(store: Store, *rows: str) -> None:
    take(store, stdin="".join(rows).encode())


def talk(session: str, *texts: str, speaker: str = "Mara") -> list[str]:
    """Messages of one conversation, a minute apart."""
    return [
        row(text, session=session, speaker=speaker, timestamp=f"{DAY}T08:{minute:02}:00+01:00")
        for minute, text in enumerate(texts)
    ]


def note(store: Store, path: Path, text: str, **options: Any) -> None:
    path.write_text(text, encoding="utf-8")
    take(store, path, **options)


def state(store: Store, stream: Stream, topic: str, text: str, sources: tuple[str, ...]) -> str:
    """Write a statement that rests on some turns, as consolidation will; returns its id."""
    fields = {"id": statement_id(normalise_text(text)), "sources": sources}
    return aging.state(store, text, date.fromisoformat(DAY), stream=stream, topic=topic, **fields)


def page(title: str, stream: Stream, topic: str, statements: Sequence[Statement]) -> bytes:
    """A topic file with some statements."""
    head = f"---\ntitle: {json.dumps(title)}\nstream: {stream}\ntopic: {topic}\n---\n\n"
    return (head + "".join(f"{topics.render_item(each)}\n" for each in statements)).encode()


def found(store: Store, question: str, **options: object) -> list[Memory]:
    """All that a question brings, best first, however unsure."""
    asked = {"k": 1000, "budget": 1_000_000, "min_score": 0.0, **options}
    return list(ask(store, question, **asked).memories)  # type: ignore[arg-type]
