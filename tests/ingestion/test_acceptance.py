"""What was promised of ingest and a first recall, as a user sees it: real text, real model."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from ingesting import state_of, take
from one_topic import APPLES
from sample_store import SAMPLE

from clsm_cli.model.episodes import Episode, EpisodeRecord
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.passages import Passage
from clsm_cli.store.layout import Store

EVENING = datetime.fromisoformat("2026-02-24T20:00:00+01:00")


def talk(lines: Sequence[str], start: datetime = EVENING) -> list[bytes]:
    found = []
    for number, line in enumerate(lines):
        row = {
            "role": ("user", "assistant")[number % 2],
            "speaker": ("Mara", "Sedge")[number % 2],
            "content": line,
            "timestamp": (start + timedelta(minutes=number)).isoformat(),
            "session": "main",
        }
        found.append(json.dumps(row).encode() + b"\n")
    return found


END = b'{"type": "end", "session": "main"}\n'


def episodes_of(store: Store) -> list[Episode]:
    found = state_of(store).episodes.values()
    return sorted(found, key=lambda each: each.start or "")


def lengths(store: Store) -> list[int]:
    return [len(each.turns) for each in episodes_of(store)]


def record_of(store: Store, episode: Episode) -> EpisodeRecord:
    record = state_of(store).records[episode.id]
    assert isinstance(record, EpisodeRecord)
    return record


def passages_of(store: Store) -> list[Passage]:
    with open_index(store, None) as opened:
        rows = [row for (row,) in opened.index.connection.execute("SELECT id FROM passages")]
        return list(opened.index.passages(rows).values())


def test_every_line_of_a_daily_note_has_its_date(store: Store) -> None:
    take(store, SAMPLE / "workspace")
    daily = [p for p in passages_of(store) if re.search(r"/memory/\d{4}-\d\d-\d\d\.md$", p.path)]
    assert len({p.path for p in daily}) == 15
    assert len(daily) > 200
    for passage in daily:
        assert passage.time is not None
        assert passage.time[:10] == Path(passage.path).stem


def test_apples_and_good_morning_on_the_next_day_are_two_episodes(store: Store) -> None:
    morning = talk(["Good morning", "Good morning!"], EVENING.replace(hour=8) + timedelta(days=1))
    take(store, stdin=b"".join([*talk(APPLES), *morning, END]))
    assert lengths(store) == [10, 2]


def test_every_episode_has_title_times_and_participants(store: Store) -> None:
    take(store, SAMPLE / "sessions")
    episodes = episodes_of(store)
    assert len(episodes) > 5
    for episode in episodes:
        assert episode.start is not None
        assert episode.end is not None
        start, end = map(datetime.fromisoformat, (episode.start, episode.end))
        assert start <= end
        assert start.tzinfo is not None
        assert episode.participants
        record = record_of(store, episode)
        assert record.title.startswith(episode.start[:10])
        assert len(record.title) > 13
        assert record.narrative.startswith("On ")
