"""What was promised of ingest and a first recall, as a user sees it: real text, real model."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ingesting import embedder, new_store, state_of, take
from one_topic import APPLES, BRAKES, ORCHARD
from sample_store import SAMPLE
from using_git import git_says

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.scoring import modularity
from clsm_cli.store import layout
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from processes import Cli

    from clsm_cli.model.episodes import Episode
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store

EVENING = datetime.fromisoformat("2026-02-24T20:00:00+01:00")
DELEGATION = """The delegation defect is back, and Hardin saw the valve chatter yesterday.
Which valve causes the delegation defect, the inlet valve?
The outlet valve causes it. We decided to replace the outlet valve tomorrow.
Great, thanks. Who informs the harbour office about the delay?""".splitlines()


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


def set_to(store: Store, **changes: float) -> Store:
    """The store with settings in its ``clsm.yaml``."""
    named = {name.replace("_", ".", 1): value for name, value in changes.items()}
    with (store.root / "clsm.yaml").open("a") as file:
        file.write(f"settings: {json.dumps(named)}\n")
    return layout.open_store(store.root, {"CLSM_DEVICE": "pi"})


def episodes_of(store: Store) -> list[Episode]:
    found = state_of(store).episodes.values()
    return sorted(found, key=lambda each: each.start or "")


def lengths(store: Store) -> list[int]:
    return [len(each.turns) for each in episodes_of(store)]


def record_of(store: Store, episode: Episode) -> EpisodeRecord:
    record = state_of(store).records[episode.id]
    assert isinstance(record, EpisodeRecord)
    return record


def test_ingest_twice_and_git_sees_nothing(cli: Cli) -> None:
    git_says(cli.store, "init", "-q")
    cli.ok("ingest", SAMPLE / "workspace", SAMPLE / "sessions")
    git_says(cli.store, "add", "-A")
    git_says(cli.store, "commit", "-qm", "first")
    cli.ok("ingest", SAMPLE / "workspace", SAMPLE / "sessions")
    assert git_says(cli.store, "status", "--porcelain") == ""
    assert git_says(cli.store, "diff") == ""


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


DATED = """# MEMORY

- **2026-02-16** The alignment connection: the defect is the alignment problem.
- The power cut (2026-02-13): the stupid thing held.
- [x] 2026-02-14 Post-mortem of memory_v2.
- Ilse wants nothing before eight.
"""


def test_every_dated_bullet_has_its_date(store: Store, tmp_path: Path) -> None:
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    (tmp_path / "ws" / "MEMORY.md").write_text(DATED)
    (tmp_path / "ws" / "memory" / "2026-02-15.md").write_text(
        "# Sunday\n\n- 14:30 I run from the drive.\n- Juno ate.\n"
    )
    take(store, tmp_path / "ws")
    found = {p.text.split(" ", 2)[-1][:12]: p.time for p in passages_of(store)}
    assert sorted(str(time) for time in found.values()) == [
        "2026-02-13",
        "2026-02-14",
        "2026-02-15",
        "2026-02-15T14:30:00+01:00",
        "2026-02-16",
        "None",
    ]


def test_the_delegation_example_fills_every_field(store: Store) -> None:
    rows = talk([*APPLES, "Bye."], EVENING - timedelta(days=1)) + talk(DELEGATION)
    take(store, stdin=b"".join([*rows, END]))
    record = record_of(store, episodes_of(store)[-1])
    assert "elegation defect" in record.title
    assert record.topic
    assert "hardin" in record.mentions
    assert -1 <= record.valence <= 1
    assert record.valence > 0
    assert 0 < record.novelty <= 1
    assert record.surprise > 0
    assert record.decisions == ("We decided to replace the outlet valve tomorrow (2026-02-25).",)
    asked = {question.text: question.answered_by for question in record.open_questions}
    assert asked["Who informs the harbour office about the delay?"] is None
    assert asked["Which valve causes the delegation defect, the inlet valve?"] is not None
    assert record.stage == "pending"


def test_apples_and_good_morning_on_the_next_day_are_two_episodes(store: Store) -> None:
    morning = talk(["Good morning", "Good morning!"], EVENING.replace(hour=8) + timedelta(days=1))
    take(store, stdin=b"".join([*talk(APPLES), *morning, END]))
    assert lengths(store) == [10, 2]


def test_thirty_turns_of_one_subject_are_25_and_5(store: Store) -> None:
    take(store, stdin=b"".join([*talk(ORCHARD), END]))
    assert lengths(store) == [25, 5]


def test_one_change_of_subject_is_found_exactly(store: Store) -> None:
    take(store, stdin=b"".join([*talk(APPLES + BRAKES), END]))
    assert lengths(store) == [10, 6]


def test_gamma_3_removes_it(store: Store) -> None:
    take(set_to(store, boundary_gamma=3), stdin=b"".join([*talk(APPLES + BRAKES), END]))
    assert lengths(store) == [16]


LATE = [*APPLES, "Something is wrong with it, I hear it every morning.", *BRAKES]
"""The first words of the new subject name nothing: surprise comes one turn late."""


def test_a_boundary_one_turn_late_is_moved_and_q_does_not_fall(tmp_path: Path) -> None:
    found = []
    for refine in (0, 3):
        store = set_to(new_store(tmp_path / str(refine)), boundary_refine=refine)
        take(store, stdin=b"".join([*talk(LATE), END]))
        found.append(lengths(store)[0])
    assert found == [11, 10]
    affinity = modularity.affinity([each.sentence for each in embedder().embed()(LATE)])
    late, right = (modularity.split_quality(affinity, place) for place in found)
    assert right >= late


def test_episodes_and_inbox_together_are_the_transcripts(store: Store) -> None:
    """On the sample; on random conversations in tests/properties/test_nothing_lost.py."""
    report = take(store, SAMPLE / "sessions")
    keys = state_of(store).keys()
    assert len(keys) == len(set(keys)) == sum(s.tally.added for s in report.sources)


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


def test_yesterday_becomes_a_date(store: Store) -> None:
    start = datetime.fromisoformat("2023-06-16T10:00:00+02:00")
    lines = ["I met Caroline at the museum yesterday.", "Lovely, how is she?"]
    take(store, stdin=b"".join([*talk(lines, start), END]))
    (episode,) = episodes_of(store)
    assert "yesterday (2023-06-15)" in record_of(store, episode).narrative
    assert "yesterday." in episode.turns[0].text
