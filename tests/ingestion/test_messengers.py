"""Telegram's ``result.json``: who said what, and whose words they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from reading import dropped, read, turns

from clsm_cli.ingestion.sources import Skipped, SourceFile, find


def message(number: int, sender: str, text: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "type": "message",
        "date": "2026-02-24T08:15:00",
        "date_unixtime": str(1771917300 + number * 60),
        "from": sender,
        "from_id": "user7" if sender == "Tom" else "user8",
        "text": text,
        **more,
    }


CHAT = {
    "name": "Tom",
    "type": "personal_chat",
    "id": 7,
    "messages": [
        {"id": 1, "type": "service", "date": "2026-02-24T08:15:00", "action": "phone_call"},
        message(2, "Tom", "The oak is cut."),
        message(3, "Mara", ["See ", {"type": "link", "text": "https://example.org"}, "."]),
        message(4, "Tom", "", media_type="voice_message"),
        message(5, "Mara", "Ten tips", forwarded_from="A channel"),
        message(6, "Tom", "Gone", date_unixtime=None, date="2026-02-24T09:00:00"),
    ],
}


def test_a_chat_of_two() -> None:
    found = read("telegram", json.dumps(CHAT))
    assert [(t.speaker, t.text, t.trust, t.foreign_id) for t in turns(found)] == [
        ("Tom", "The oak is cut.", "agent", "2"),
        ("Mara", "See https://example.org.", None, "3"),
        ("Mara", "Ten tips", "web", "5"),
        ("Tom", "Gone", "agent", "6"),
    ]
    assert {turn.session for turn in turns(found)} == {"telegram 7"}
    assert [turn.time for turn in turns(found)[::3]] == [
        "2026-02-24T08:17:00+01:00",
        "2026-02-24T09:00:00+01:00",
    ]
    assert dropped(found) == ["line by the app", "media that was left out"]


def test_all_chats_of_an_account() -> None:
    group = {**CHAT, "type": "private_group", "id": 9}
    saved = {"type": "saved_messages", "id": 8, "messages": [message(1, "Mara", "Buy oil")]}
    left = {"id": 3, "type": "private_group", "messages": [message(1, "Tom", "Bye")]}
    everything = {
        "personal_information": {"user_id": 8, "first_name": "Mara"},
        "chats": {"about": "…", "list": [group, saved, "no chat"]},
        "left_chats": {"list": [left]},
    }
    found = turns(read("telegram", json.dumps(everything)))
    trust = {(turn.session, turn.text): turn.trust for turn in found}
    assert trust["telegram 9", "The oak is cut."] == "agent"
    assert trust["telegram 9", "See https://example.org."] is None
    assert trust["telegram 8", "Buy oil"] is None
    assert trust["telegram 3", "Bye"] == "agent"


def test_the_owner_of_a_group_is_known_by_name() -> None:
    group = json.dumps({**CHAT, "type": "private_group"})
    for me, trust in ((), "agent"), (("ben", " mara "), None):
        strangers: set[str] = set()
        found = turns(read("telegram", group, me=me, strangers=strangers))
        assert [turn.trust for turn in found] == ["agent", trust, "web", "agent"]
        assert strangers == (set() if me else {"Mara", "Tom"})


@pytest.mark.parametrize("document", [[], {"messages": 3}, {"chats": {"list": 3}}, "text", None])
def test_what_is_no_export_gives_no_turn(document: Any) -> None:
    assert not turns(read("telegram", json.dumps(document)))


def test_it_is_found_by_its_content(tmp_path: Path) -> None:
    for name, text in (("a", json.dumps(CHAT, indent=1)), ("b", '{"status": "ok"}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text(text)
    one, other = find([str(tmp_path)])
    assert isinstance(one, SourceFile)
    assert one.format == "telegram"
    assert isinstance(other, Skipped)
