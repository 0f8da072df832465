"""Each form in which OpenClaw writes in a person's name, through the reader of its transcripts."""

import time
from typing import Any

import pytest
import reading
from ingesting import pipe, state_of
from openclaw_state import header, jsonl, message
from tables import column, table

from clsm_cli.ingestion.openclaw_messages import DREAM, machine_starts
from clsm_cli.model.episodes import Turn
from clsm_cli.store.layout import Store

STAMP = "[Tue 2026-02-24 08:16 GMT+1] "
MARA = "[Telegram Mara id:7 2026-02-24 08:16 UTC] "
MESSAGE_ID = "\n[message_id: 3f0c]"
SYSTEM = "System: [2026-02-24 08:16:00 UTC] "
POLL, ORDER, ENDED, NOTICE, MAIL, END, EVENT, RESULT, OAKS = column(__file__, "forms")
REPORT = f"{ENDED}\n\nFindings:\nThree oaks need a prop.{ORDER}"


def said(text: str, **more: Any) -> list[tuple[str, str, str | None, str]]:
    """Speaker, role, trust and text of the turns of one message in a person's name."""
    items = reading.read("openclaw", reading.jsonl(header("s1"), message(1, "user", text, **more)))
    return [(turn.speaker, turn.role, turn.trust, turn.text) for turn in reading.turns(items)]


def person(text: str, name: str = "user") -> list[tuple[str, str, str | None, str]]:
    return [(name, "user", None, text)]


def agent(text: str) -> list[tuple[str, str, str | None, str]]:
    return [("assistant", "assistant", "agent", text)]


def web(text: str, source: str) -> list[tuple[str, str, str | None, str]]:
    return [(source, "tool", "web", text)]


def why_dropped(text: str, role: str = "user", **more: Any) -> list[str]:
    items = reading.read("openclaw", reading.jsonl(header("s1"), message(1, role, text, **more)))
    assert reading.turns(items) == []
    return reading.dropped(items)


@pytest.mark.parametrize(("reason", "head"), machine_starts())
def test_what_a_machine_wrote_is_dropped_by_reason(reason: str, head: str) -> None:
    assert why_dropped(head + " And so on.") == [reason]
    assert why_dropped(f"{STAMP}{head} And so on.") == [reason]
    asked = f"What is this? {head}".strip()
    assert said(asked) == person(asked)
    assert said(MARA + head) == person(head.strip(), "Mara")


@pytest.mark.parametrize(("text", "reason"), table(__file__, "without words"))
def test_a_message_without_a_persons_words_is_dropped(text: str, reason: str) -> None:
    assert why_dropped(text) == [reason]


@pytest.mark.parametrize(("text", "words"), table(__file__, "of an agent"))
def test_what_an_agent_reports_or_asks_is_the_agents(text: str, words: str) -> None:
    assert said(text) == agent(words)


@pytest.mark.parametrize(("text", "words", "source"), table(__file__, "of strangers"))
def test_what_strangers_wrote_is_web(text: str, words: str, source: str) -> None:
    assert said(text) == web(words, source)


@pytest.mark.parametrize(("header_", "name"), table(__file__, "before a message"))
def test_of_what_is_put_before_a_message_only_the_name_stays(header_: str, name: str) -> None:
    words = "The ferry is at nine: [bring] <rope>.\n\nSystem: [it] works."
    assert said(header_ + words) == person(words, name)


@pytest.mark.parametrize(("behind", "name"), table(__file__, "behind a message"))
def test_what_is_put_behind_a_message_goes(behind: str, name: str) -> None:
    assert said("The ferry is at nine." + behind) == person("The ferry is at nine.", name)


@pytest.mark.parametrize("text", column(__file__, "of a person"))
def test_what_a_person_wrote_stays_as_it_is(text: str) -> None:
    assert said(text) == person(text)


def test_messages_that_waited_are_one_each() -> None:
    queue = (
        "[Queued messages while agent was busy]\n\n[Queue overflow] Dropped 2 messages due to cap.\n"
        f"Summary:\n- Bring oars\n- and rope\n\n---\nQueued #1\n{MARA}At nine."
        f"{MESSAGE_ID}\n\n---\nQueued #2 (from Ilse)\nAt ten.\n\n---\nQueued #3\n{REPORT}"
        f"\n\n---\nQueued #4\n{POLL}"
    )
    assert said(queue) == [
        *person("- Bring oars\n- and rope"),
        *person("At nine.", "Mara"),
        *person("At ten.", "Ilse"),
        *agent(f"{ENDED}\n\nThree oaks need a prop."),
    ]
    announced = (
        f"{STAMP}[Queued announce messages while agent was busy]\n\n---\nQueued #1\n{REPORT}"
    )
    assert said(announced) == agent(f"{ENDED}\n\nThree oaks need a prop.")
    items = reading.read("openclaw", reading.jsonl(message(6, "user", queue)))
    assert [turn.foreign_id for turn in reading.turns(items)] == ["m6", "m6.1", "m6.2", "m6.3"]
    assert reading.dropped(items) == ["heartbeat poll"]


def test_what_a_person_says_aloud_is_theirs_and_what_a_picture_shows_is_nobodys() -> None:
    spoken = f"[Audio]\nUser text:\n{MARA}<media:audio>\nTranscript:\nAt nine."
    for each in (spoken, MARA + "[Audio]\nTranscript:\nAt nine."):
        assert said(each) == person("At nine.", "Mara")
    both = "User text:\nSee:\n\n[Image 1/2]\nDescription:\nAn oar.\n\n[Image 2/2]\nDescription:\nA rope."
    assert said(both) == person("See:")
    voice = '[Audio transcript (machine-generated, untrusted)]: "At \\"nine\\"."'
    assert said(voice) == person('At "nine".')
    assert said(voice[:-1]) == person(voice[:-1])  # unfinished


def test_what_a_person_forwards_is_not_theirs() -> None:
    text = "Look.\n[Forwarded message from Lind]\nThe boat is sold.\n[Forwarded message]\nSo is the oar."
    expected = [
        *person("Look."),
        *web("The boat is sold.", "Lind"),
        *web("So is the oar.", "forwarded"),
    ]
    assert said(text) == expected


def test_others_words_whose_end_is_unknown_are_not_the_owners() -> None:
    text = "[Thread starter - for context]\nWho rows?\n\nI do."
    assert said(text) == agent(text)


def test_in_a_message_of_another_session_nothing_is_a_persons() -> None:
    relayed = {"provenance": {"kind": "inter_session", "sourceTool": "subagent_announce"}}
    assert said(MARA + POLL, **relayed) == agent(POLL)
    assert said(EVENT + RESULT, **relayed) == agent(OAKS)
    assert said(NOTICE + MAIL, **relayed)[0][2] == "web"


def test_an_internal_message_is_dropped_whatever_it_says() -> None:
    internal: dict[str, Any] = {"provenance": {"kind": "internal_system", "sourceTool": "exec"}}
    assert why_dropped("[OpenClaw exec completion] ok", **internal) == ["exec completion"]
    assert why_dropped("Refresh the card.", **internal) == ["internal message"]


def test_a_name_that_stands_beside_a_message_comes_first() -> None:
    assert said(MARA + "At nine.", senderName="Mara Vos") == person("At nine.", "Mara Vos")


def test_what_the_gateway_says_as_the_agent_is_dropped() -> None:
    injected = {"provider": "openclaw", "model": "gateway-injected"}
    assert why_dropped("Model set.", "assistant", **injected) == ["message of the program"]
    assert why_dropped("[assistant turn failed before producing content]", "assistant") == [
        "message of the program"
    ]
    for silent in ("ANNOUNCE_SKIP", "REPLY_SKIP"):
        assert why_dropped(silent, "assistant") == ["heartbeat reply"]
    stopped = message(1, "assistant", "The ferry is", openclawAbort={"aborted": True}, **injected)
    mirrored = message(2, "assistant", "At nine.", provider="openclaw", model="delivery-mirror")
    found = reading.told(reading.read("openclaw", reading.jsonl(stopped, mirrored)))
    assert [text for _, _, text in found] == ["The ferry is", "At nine."]


@pytest.mark.parametrize(
    "unit",
    [
        STAMP, MESSAGE_ID, '<file name="a" mime="b">\n', '" just failed: ',
        "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n", SYSTEM + "x\n\n", "\n[Forwarded message]\n",
        "\n---\nQueued #1\n", "[Replying to a]\n", "\n\nStats: runtime ",
        "x (untrusted metadata):\n```json\n{}\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "begin",
    [
        "",
        "[Queued messages while agent was busy]\n",
        'A cron job "',
        EVENT,
        "[Audio]\nTranscript:\n",
    ],
)
def test_a_long_message_of_marks_takes_no_long_time(begin: str, unit: str) -> None:
    text = begin + unit * (300_000 // len(unit))
    began = time.process_time()
    said(text)
    assert time.process_time() - began < 5


def test_the_store_has_each_part_with_its_trust(store: Store) -> None:
    rows = [
        header("s1"),
        message(1, "user", f"{MARA}The ferry is at nine.{MESSAGE_ID}"),
        message(2, "user", REPORT),
        message(3, "user", NOTICE + MAIL + END),
        message(4, "user", f"{SYSTEM}Exec completed\n\n{POLL}"),
    ]
    report = pipe(store, jsonl(rows), capture_only=True)
    waiting = [turn for box in state_of(store).waiting.values() for turn in box]
    kept = sorted((t.trust, t.role, t.speaker) for t in waiting if isinstance(t, Turn))
    assert kept == [
        ("agent", "assistant", "assistant"),
        ("user", "user", "Mara"),
        ("web", "tool", "email"),
    ]
    assert dict(report.sources[0].dropped) == {"heartbeat poll": 1}


def test_dreams_in_a_note_are_left_out() -> None:
    """Whole reports, between two comments, without an end, and what is promoted."""
    dream = (
        "<!-- openclaw:dreaming:{}:start -->\n- Candidate: The ferry.\n\n### Reflections\n- Theme."
    )
    ends = dream.format("light") + "\n<!-- openclaw:dreaming:light:end -->\n- At ten.\n"
    promoted = (
        "<!-- openclaw-memory-promotion:memory:a.md:3:5 -->\n- The ferry. [score=0.9]\n- Tickets.\n"
    )
    note = reading.note(f"# Ferry\n{ends}{dream.format('rem')}\n## Pier\n- Four.\n{promoted}")
    assert [block.text for block in note.blocks] == ["- At ten.", "- Four.", "- Tickets."]
    assert note.blocks[-1].line_start == 18
    assert +note.dropped == {DREAM: 3}
    assert reading.note("# Deep Sleep\n\n- Ranked 10 candidate(s).").blocks == ()
    assert len(reading.note("# Deep Sleepers\n\n- An album.").blocks) == 1
