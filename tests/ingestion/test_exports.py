"""Exports of ChatGPT and Claude: the current branch, who said what and when, and why not the rest."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import reading
from ingesting import state_of, take
from reading import dropped, problems, told, turns
from tables import column

from clsm_cli.ingestion.jsonl_rows import Dropped, Problem, RawTurn, TranscriptItem
from clsm_cli.store.layout import Store

START = 1771917300.5


def node(
    key: str, parent: str | None, role: str, parts: Any, *, recipient: str = "all", **more: Any
) -> dict[str, Any]:
    """A message of ChatGPT's, in its place in the tree."""
    content = parts if isinstance(parts, dict) else {"content_type": "text", "parts": parts}
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    message = {
        "id": key,
        "author": author,
        "create_time": START + ord(key) * 60,
        "content": content,
        "weight": 1.0,
        "metadata": {},
        "recipient": recipient,
    }
    return {"id": key, "message": {**message, **more}, "parent": parent, "children": []}


def chatgpt(*nodes: dict[str, Any], current: str, **more: Any) -> dict[str, Any]:
    root: dict[str, Any] = {"id": "root", "message": None, "parent": None, "children": []}
    mapping = {each["id"]: each for each in (root, *nodes)}
    told = {"title": "Oak", "create_time": START, "mapping": mapping, "current_node": current}
    return {**told, "conversation_id": "c-1", **more}


def line(*told_: tuple[str, Any] | tuple[str, Any, dict[str, Any]]) -> dict[str, Any]:
    """A conversation of ChatGPT's without a branch; its messages are called a, b, c …"""
    places = zip(("root", *"abcdefg"), "abcdefgh", told_, strict=False)
    nodes = [node(key, parent, *each[:2], **dict(*each[2:])) for parent, key, each in places]
    return chatgpt(*nodes, current=nodes[-1]["id"])


def said(uuid: str, sender: str, text: str, **more: Any) -> dict[str, Any]:
    """A message of Claude's."""
    at = f"2026-02-24T08:{ord(uuid[-1]) - 87:02}:00.000000Z"
    parts = [{"type": "text", "text": text}]
    message = {"uuid": uuid, "text": text, "content": parts, "sender": sender, "created_at": at}
    return {**message, "attachments": [], "files": [], **more}


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    told = {"uuid": "k-1", "name": "Bread", "created_at": "2026-02-24T08:00:00Z"}
    return {**told, "chat_messages": list(messages), **more}


def read(*conversations: dict[str, Any]) -> list[TranscriptItem]:
    return reading.read("export", json.dumps(conversations))


def test_a_conversation_of_chatgpt() -> None:
    items = read(
        line(
            ("system", [""], {"weight": 0}),
            ("user", ["Which oak?"]),
            ("assistant", ["The \ue200cite\ue202turn0\ue201red one."]),
        )
    )
    texts = ["Which oak?", "The red one."]
    assert told(items) == [("user", "user", texts[0]), ("assistant", "assistant", texts[1])]
    assert {turn.session for turn in turns(items)} == {"c-1"}
    assert turns(items)[0].time == "2026-02-24T09:53:00.500+01:00"
    assert dropped(items) == ["hidden message"]


def test_a_branch_that_was_left_is_left_out() -> None:
    items = read(
        chatgpt(
            node("a", "root", "user", ["First try"]),
            node("b", "a", "assistant", ["Answer one"]),
            node("c", "root", "user", ["Second try"]),
            node("d", "c", "assistant", ["Answer two"]),
            current="d",
        )
    )
    assert [text for _, _, text in told(items)] == ["Second try", "Answer two"]
    assert dropped(items) == ["message of another branch"] * 2


def test_tools_thoughts_and_pictures_of_chatgpt() -> None:
    def content(kind: str, **more: Any) -> dict[str, Any]:
        return {"content_type": kind, **more}

    picture = content("image_asset_pointer", asset_pointer="file-service://x")
    sound = content("audio_transcription", text="What I said.")
    items = read(
        line(
            ("user", content("user_editable_context", text="x")),
            ("user", content("multimodal_text", parts=[picture, "Look at this."])),
            ("assistant", content("thoughts", thoughts=[])),
            ("assistant", content("code", text="print(1)"), {"recipient": "python"}),
            ("tool", content("execution_output", text="1"), {"name": "python"}),
            ("tool", ["A page."], {"name": "browser"}),
            ("user", content("multimodal_text", parts=[picture])),
            ("user", content("multimodal_text", parts=[sound])),
        )
    )
    assert told(items) == [
        ("user", "user", "Look at this."),
        ("python", "tool", "print(1)"),
        ("python", "tool", "1"),
        ("browser", "tool", "A page."),
        ("user", "user", "What I said."),
    ]
    assert [turn.trust for turn in turns(items)] == [None, None, None, "web", None]
    assert dropped(items) == ["instructions", "thinking", "part that is not text"]


def test_a_conversation_of_claude() -> None:
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "I search."},
        {"type": "tool_use", "name": "web_search", "input": {"query": "rye"}},
        {"type": "tool_result", "name": "web_search", "content": "Rye."},
    ]
    items = read(
        claude(
            said("m-a", "human", "What about rye?", attachments=[{"file_name": "a.txt"}]),
            said("m-b", "assistant", "I search.", content=parts),
            {**said("m-c", "human", "Old form."), "content": None},
            said("m-d", "robot", "?"),
        )
    )
    assert told(items) == [
        ("user", "user", "What about rye?"),
        ("assistant", "assistant", "I search."),
        ("web_search", "tool", '{"query":"rye"}'),
        ("web_search", "tool", "Rye."),
        ("user", "user", "Old form."),
    ]
    first, *_, page, _ = turns(items)
    assert (first.session, first.time) == ("k-1", "2026-02-24T09:10:00+01:00")
    assert page.trust == "web"
    assert dropped(items) == ["attached file", "thinking", "message of an unknown role"]


def archive(**members: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/").replace("_json", ".json"), content)
    return data.getvalue()


def test_an_archive() -> None:
    one = json.dumps([line(("user", ["One"]))]).encode()
    two = json.dumps([claude(said("m-a", "human", "Two"))]).encode()
    data = archive(x__conversations_json=one, conversations_json=two, users_json=b"[]")
    assert [text for _, _, text in told(reading.read("export", data))] == ["Two", "One"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[", "not JSON (expecting value: line 1 column 2 (char 1))"),
        (b"{}", "holds no conversation that clsm knows"),
        (b"[1]", "conversation 1 is none that clsm knows"),
        (b"[" * 100_000, "JSON that is nested too deeply"),
        (archive(users_json=b"[]"), "holds no conversation that clsm knows"),
        (archive(conversations_json=b"[]")[:-30], "archive that cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said(data: bytes, reason: str) -> None:
    (found,) = problems(reading.read("export", data))
    assert found.startswith(reason)


@pytest.mark.parametrize("broken", column(__file__, "broken trees"))
def test_broken_trees_do_no_harm(broken: str) -> None:
    conversation = {**line(("user", ["Hi \ud800 there"])), **json.loads(broken)}
    odd = {**said("m-b", "human", ""), "content": [{"type": ["text"]}]}
    items = read(conversation, claude(odd, said("m-a", "human", "Still here.")))
    assert all(isinstance(item, (RawTurn, Dropped, Problem)) for item in items)
    assert told(items)[-1][2] == "Still here."


def test_an_export_that_comes_again_with_another_title(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    nodes = [node("a", "root", "user", ["One"]), node("b", "a", "assistant", ["Two"])]
    path.write_text(json.dumps([chatgpt(*nodes[:1], current="a")]))
    assert take(store, path, capture_only=True).sources[0].added == 1
    path.write_text(json.dumps([claude(), chatgpt(*nodes, current="b", title="New name")]))
    tally = take(store, path, capture_only=True).sources[0]
    assert (tally.added, tally.known) == (1, 1)
    assert len(state_of(store).keys()) == 2
