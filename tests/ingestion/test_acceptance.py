"""What was promised of ingest and a first recall, as a user sees it: real text, real model."""

import re
from datetime import datetime
from pathlib import Path

from ingesting import passages, pipe, row, state_of
from tables import column

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.store import layout
from clsm_cli.store.layout import Store

APPLES = column(__file__, "apples")


def test_every_line_of_a_daily_note_has_its_date(sample: Store) -> None:
    daily = [p for p in passages(sample) if re.search(r"/memory/\d{4}-\d\d-\d\d\.md$", p.path)]
    assert len({p.path for p in daily}) == 15
    assert len(daily) > 200
    for passage in daily:
        assert passage.time is not None
        assert passage.time[:10] == Path(passage.path).stem


def test_apples_and_good_morning_on_the_next_day_are_two_episodes(store: Store) -> None:
    said = [*enumerate(APPLES, 720), (1440, "Good morning"), (1441, "Good morning!")]
    rows = [row(text, minute, ("user", "assistant")[minute % 2]) for minute, text in said]
    pipe(store, *rows, row("", type="end"))
    assert sorted(len(each.turns) for each in state_of(store).episodes.values()) == [2, 10]


def test_every_episode_has_title_times_and_participants(made_store: Path) -> None:
    state = state_of(layout.open_store(made_store, {"CLSM_DEVICE": "pi"}))
    episodes = [each for each in state.episodes.values() if each.document is None]
    assert len(episodes) > 5
    for episode in episodes:
        assert episode.start is not None
        assert episode.end is not None
        start, end = map(datetime.fromisoformat, (episode.start, episode.end))
        assert start <= end
        assert start.tzinfo is not None
        assert episode.participants
        record = state.records[episode.id]
        assert isinstance(record, EpisodeRecord)
        assert record.title.startswith(episode.start[:10])
        assert len(record.title) > 13
        assert record.narrative.startswith("On ")
