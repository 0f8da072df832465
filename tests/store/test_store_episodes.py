import importlib
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from strategies import episodes as some_episodes
from strategies import examples

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.episodes import Episode, Turn
from clsm_cli.store import atomic, episode_files

PATH = Path("e.md")
KEY = "0123456789ab"
AT = "2026-02-10T09:30:00+01:00"
TURN = Turn(KEY, "Mara", "user", "The recommendation first.", AT, "a.jsonl", 3, 3)
TURNS = (TURN, replace(TURN, key="f" * 12, speaker="clsm", role="assistant"))
EPISODE = Episode(
    "e-1", "agent:main", TURNS, "2026-02-24T22:00:00Z", AT, participants=("Mara", "clsm")
)


@examples(200)
@given(some_episodes())
def test_an_episode_survives_its_file(episode: Episode) -> None:
    data = episode_files.render(episode)
    assert episode_files.parse(data, PATH) == episode
    assert episode_files.render(episode_files.parse(data, PATH)) == data


def test_a_file_is_readable() -> None:
    assert episode_files.render(EPISODE).decode() == (
        '---\nid: "e-1"\nsession: "agent:main"\nstart: "2026-02-10T09:30:00+01:00"\n'
        'recorded_at: "2026-02-24T22:00:00Z"\nparticipants: ["Mara", "clsm"]\ntrust: "user"\n'
        'each: {"time": "2026-02-10T09:30:00+01:00", "path": "a.jsonl", "lines": [3, 3], '
        '"trust": "user"}\n'
        "turns:\n"
        '- {"key": "0123456789ab", "speaker": "Mara", "role": "user"}\n'
        '- {"key": "ffffffffffff", "speaker": "clsm", "role": "assistant"}\n'
        "---\n\n### Mara · 2026-02-10 09:30 ^0123456789ab\nThe recommendation first.\n"
        "\n### clsm · 2026-02-10 09:30 ^ffffffffffff\nThe recommendation first.\n"
    )


def test_text_mended_by_hand_counts() -> None:
    text = episode_files.render(EPISODE).decode()
    mended = text.replace("The recommendation first.", "The **reason** first.\n\nThen more.", 1)
    turns = episode_files.parse(mended.encode(), PATH).turns
    assert turns[0].text == "The **reason** first.\n\nThen more."
    assert turns[1] == EPISODE.turns[1]
    heading = "### Mara · 2026-02-10 09:30"
    for same in (
        "\ufeff" + text,
        text.replace("\n", "\r\n"),
        text.replace(heading, "### she said"),
    ):
        assert episode_files.parse(same.encode(), PATH) == EPISODE


@pytest.mark.parametrize("flow", [True, False])
def test_front_matter_that_a_yaml_tool_rewrote_is_read(flow: bool) -> None:
    yaml = importlib.import_module("ruamel.yaml").YAML()
    yaml.default_flow_style = flow
    yaml.width = 40
    _, raw, body = episode_files.render(EPISODE).decode().split("---\n", 2)
    out = io.StringIO()
    yaml.dump(yaml.load(raw), out)
    assert episode_files.parse(f"---\n{out.getvalue()}---\n{body}".encode(), PATH) == EPISODE


GOOD = episode_files.render(EPISODE).decode()
DAMAGED = {
    "empty": ("", "has no front matter"),
    "no front matter": ("# Notes\n", "has no front matter"),
    "unclosed": (GOOD[:60], "not closed"),
    "no turns": (GOOD.partition("turns:")[0] + "---\n", "without a list of turns"),
    "empty turns": (GOOD.partition("turns:")[0] + "turns: []\n---\n", "has no turns"),
    "no id": (GOOD.replace('id: "e-1"\n', ""), "front matter lacks 'id'"),
    "no session": (GOOD.replace('session: "agent:main"\n', ""), "lacks 'session'"),
    "an id that leaves the folder": (GOOD.replace('"e-1"', '"../../x"'), "an id that is none"),
    "an id that is a number": (GOOD.replace('"e-1"', "7"), "an id that is none"),
    "a start that is a list": (GOOD.replace('start: "', 'start: ["').replace('01:00"\nrec', '01:00"]\nrec'), "start must be text"),
    "participants": (GOOD.replace('["Mara", "clsm"]', '"Mara"'), "participants"),
    "torn turn": (GOOD.replace('"role": "user"}', '"role'), "is not JSON"),
    "a turn without key": (GOOD.replace(f'"key": "{KEY}", ', ""), "describes no turn"),
    "a turn with a strange key": (GOOD.replace(KEY, "../../etc/pa"), "not 12 hex digits"),
    "unknown role": (GOOD.replace('"role": "user"', '"role": "god"'), "unknown role"),
    "a role that is a list": (GOOD.replace('"role": "user"', '"role": ["user"]'), "unknown role"),
    "each": (GOOD.replace("each: {", "each: 7\nrest: {"), "'each' that is no mapping"),
    "lines": (GOOD.replace("[3, 3]", '"x"'), "describes no turn"),
    "a time that is a list": (GOOD.replace('"time": "2026-02-10T09:30:00+01:00"', '"time": [1]'), "time must be text"),
    "not a mapping": ("---\n- a\n---\n", "is not a mapping"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*DAMAGED])
def test_what_is_no_episode_is_named(name: str) -> None:
    text, reason = DAMAGED[name]
    with pytest.raises(DamagedStoreError, match=reason) as caught:
        episode_files.parse(text.encode(), PATH)
    assert caught.value.exit_code == 13
    assert str(PATH) in str(caught.value)


def test_files_are_named_by_time_and_listed_in_order(tmp_path: Path) -> None:
    times = [
        "2026-02-10T00:30:00+01:00", "2025-12-31T23:59:59Z", None, "2026-02-10",
        "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00",
    ]  # fmt: skip
    for n, start in enumerate(times):
        episode = replace(EPISODE, id=f"e-{n}", start=start)
        atomic.put(episode_files.file_of(episode, tmp_path), episode_files.render(episode))
    (tmp_path / "episodes" / "2026" / ".tmp-x.md").write_text("x")
    (tmp_path / "episodes" / "notes.txt").write_text("x")
    found = list(episode_files.files(tmp_path))
    assert [episode_files.read(path).id for path in found][1:-1] == ["e-1", "e-0", "e-3", "e-2"]
    assert len(found) == len(times)
    assert found[2] == tmp_path / "episodes/2026/02/20260209T233000Z-e-0.md"
    assert found[0] == tmp_path / "episodes/0001/01/00010101T000000Z-e-4.md"
    assert list(episode_files.files(tmp_path / "none")) == []
