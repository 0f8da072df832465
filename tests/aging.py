"""Small stores of which every date is known, for what fades: episodes, statements and uses, as files."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import ingesting

from clsm_cli.forgetting.archiving import DecayReport, decay
from clsm_cli.model.episodes import Block, Document, Episode, EpisodeRecord, Turn
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import digest, statement_id
from clsm_cli.model.tombstones import episode_ids
from clsm_cli.store import atomic, episode_files, logs, record_files, runs
from clsm_cli.store.layout import Store

BORN = date(2026, 1, 1)
"""Day on which everything was recorded, unless it says otherwise."""


def at(day: date, hour: int = 12) -> str:
    """An instant of a day, as the store writes it."""
    return datetime.combine(day, time(hour), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def age(store: Store, days: int | date, *, believed: bool = True, **options: Any) -> DecayReport:
    """``clsm decay`` so many days after ``BORN``; the clock is believed as with ``--now``."""
    day = days if isinstance(days, date) else BORN + timedelta(days)
    moment = datetime.combine(day, time(12), UTC)
    return decay(store, moment, explicit=believed, **options)


def say(
    store: Store, *texts: str, day: date = BORN, session: str = "main", **fields: Any
) -> list[str]:
    """An episode that was consolidated; returns the keys of its turns.

    ``fields`` are those of the record, or ``document`` and ``trust`` of the episode.
    """
    document, trust = fields.pop("document", None), fields.pop("trust", "user")
    dated = fields.pop("dated", True)
    turns = tuple(
        Turn(
            key=digest(session, str(day), text),
            speaker="" if document else "Mara",
            role="user",
            text=text,
            time=at(day) if dated else None,
            trust=trust,
        )
        for text in texts
    )
    episode = Episode(
        id=next(episode_ids(turns[0].key)),
        session=session,
        turns=turns,
        recorded_at=at(day),
        start=at(day) if dated else None,
        trust=trust,
        document=document,
    )
    data = episode_files.render(episode)
    known: dict[str, Any] = {"stage": "consolidated", "digest": atomic.sha256(data)[:12], **fields}
    record = EpisodeRecord(id=episode.id, rev=(1, "pi"), **known)
    path = episode_files.file_of(episode, store.flow)
    write(store, [runs.Put(path, data), *record_files.plan_records(store, "flow", [record])])
    return [turn.key for turn in turns]


def living(store: Store, keys: Iterable[str], **fields: Any) -> None:
    blocks = tuple(Block(key=key, line_start=1, line_end=1) for key in keys)
    document = Document(id="d-note", rev=(1, "pi"), blocks=blocks, recorded_at=at(BORN), **fields)
    write(store, record_files.plan_records(store, "flow", [document]))


def state(store: Store, text: str, day: date = BORN, **fields: Any) -> str:
    """A statement, in Markdown where its stream has any; returns its id."""
    row = Statement(
        id=statement_id(text), rev=(1, "pi"), text=text, recorded_at=at(day), topic="facts"
    )
    row = replace(row, **fields)
    write(
        store,
        [
            *record_files.plan_records(store, row.stream, [record_files.as_stored(row)]),
            *record_files.plan_topics(store, [row], lambda _: ""),
        ],
    )
    return row.id


def write(store: Store, writes: Sequence[runs.Write]) -> None:
    for each in writes:
        assert isinstance(each, runs.Put)
        atomic.put(each.path, each.data)


def recall(store: Store, day: date, *ids: str, name: str = "r-1", hour: int = 12) -> None:
    line = logs.Activation(name, at(day, hour), ids)
    atomic.append(store.flow / "activation.jsonl", line.render())


def archived(store: Store) -> dict[str, str]:
    """What this machine's last run found archived: id → since when."""
    return {name: str(day) for name, day in logs.read_archived(store.flow).since.items()}


def uses(store: Store) -> set[tuple[str, str, int]]:
    """The folded uses of this machine."""
    found, problems = logs.rows(store.flow / "uses.jsonl")
    assert not problems
    return {(row["id"], row["day"], row["n"]) for _, row in found}


def tree(store: Store) -> dict[str, bytes]:
    """Every file of a store but its index; what a second run must not change."""
    files = ingesting.tree(store.root, derived=True)
    return {name: data for name, data in files.items() if "/index/" not in name}


def later(days: int) -> date:
    return BORN + timedelta(days)
