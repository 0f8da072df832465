"""What OpenClaw writes itself: in messages in the user's name, besides what a person typed; its dreams in notes.

Messages of role "user" are also polls, results of subagents and cron jobs, system events and mails; typed
text comes in an envelope, with notes and quotes. ``text/openclaw.tsv`` has all these forms with their sources.
Text that matches none, or is unfinished, counts as the person's.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.model.grouping import grouped
from clsm_cli.text.language_data import compiled, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.model.trust import Trust

_GROUP = re.compile(r"@g\.us\b|\bid:-\d|\b(?:group|room|channel|channel id):|(?:\A|\s)#")
"""In the label of an envelope: a group instead of a sender."""
_IN_GROUP = re.compile(r"(?P<name>[^\n:]{1,80}?)(?: \([^()\n]*\))?: ")
_ID, _IN_BRACKETS = re.compile(r"(?:\A| )(?:user )?id:.*"), re.compile(r" \([^()]*\)\Z")
_NO_NAME = re.compile(
    r"[+\d\s()-]*|(?:group|user|whatsapp|telegram):.*|\S+@\S+|unknown sender|unknown"
    r"|openclaw-.*|gateway-client|webchat|cli"
)
"""A number, an address or a program (the names of OpenClaw's own clients)."""
_FORWARDED = "forwarded"
DREAM = "dream of OpenClaw"
_MAX_TRAILERS = 8  # lines and quotes to examine after a message
_FILE_END = "</file>"
_QUOTES = (("[Replying to ", "[/Replying]"), ("[Quoting ", "[/Quoting]"))
_TYPED, _TRANSCRIPT, _DESCRIPTION = "User text:\n", "Transcript:\n", "Description:\n"
_STATS = "\n\nStats: runtime "
_RESULTS = (
    ("<<<BEGIN_UNTRUSTED_CHILD_RESULT>>>", "<<<END_UNTRUSTED_CHILD_RESULT>>>"),
    ("<prompt-data>", "</prompt-data>"),
)
_SUBAGENT, _TASK_END = "[Subagent Context]", "\n\nBegin. Execute the assigned task"
_CRON_END = "\nCurrent time: "
_HOOKS = frozenset({"Gmail", "Hook"})  # cron jobs that bring in mail or the payload of a web hook
_REMINDER = "A scheduled reminder has been triggered. The reminder content is:\n\n"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message, with its author, or the drop reason.

    ``speaker`` if known, ``trust`` if it is not the sender's.
    """

    text: str
    speaker: str | None = None
    trust: Trust | None = None
    dropped: str = ""


@cache
def machine_starts() -> list[tuple[str, str]]:
    """Drop reasons, and the starts of such messages."""
    rows = table_rows("openclaw")
    return [(row[1], row[2].replace("⏎", "\n")) for row in rows if row[0] == "starts"]


@cache
def _forms() -> dict[str, list[str]]:
    return grouped((name, form) for name, form, *_ in table_rows("openclaw"))


def _form(name: str) -> re.Pattern[str]:
    return compiled("|".join(_forms()[name]))


def machine_text(text: str) -> str | None:
    """The drop reason of a message that is no memory at all; None for a person's.

    >>> machine_text("[OpenClaw heartbeat poll]"), machine_text("What is an [OpenClaw cron wake]?")
    ('heartbeat poll', None)
    """
    return next((why for why, head in machine_starts() if text.startswith(head)), None)


def without_context(text: str) -> str:
    """``text`` without the blocks that OpenClaw adds for the model; an unclosed one runs to the end."""
    if _form("internal").search(text) is None:
        return text
    return _form("internal").sub("", text).strip()


def parts(text: str, *, is_relayed: bool = False) -> Iterator[Part]:
    r"""Yield the parts of a message of role "user", in order; in a relayed one nothing is a person's.

    >>> [*parts("[Telegram Mara id:7 2026-02-03 09:00 UTC] The ferry is at nine.\n[message_id: 4]")]
    [Part(text='The ferry is at nine.', speaker='Mara', trust=None, dropped='')]
    """
    opened = _open(text)
    is_relayed |= opened.is_relayed
    for part in _classify(opened):
        is_agents = is_relayed and part.trust is None
        yield replace(part, speaker=None, trust="agent") if is_agents else part


@dataclass(slots=True)
class _Opened:
    text: str = ""
    sender: str | None = None
    is_relayed: bool = False  # another session of the agent sent it
    is_forwarded: bool = False
    has_events: bool = False
    has_media: bool = False
    is_persons: bool = False  # it came in a channel's envelope, so it is no machine text


def _open(text: str) -> _Opened:
    opened, place = _Opened(), 0
    while found := _form("before").match(text, place):
        place = found.end()
        opened.is_relayed |= found["relayed"] is not None
        opened.is_forwarded |= found["forwarded"] is not None
        opened.has_events |= found["events"] is not None
        opened.has_media |= found["media"] is not None
        opened.sender = _sender_of(found["json"]) or opened.sender
    opened.text = text[place:]
    envelope = _form("envelope").match(text, place)
    if envelope and (
        envelope["time"] or envelope["elapsed"] or "id:" in (envelope["sender"] or "")
    ):
        name, opened.text = _in_envelope(envelope["sender"] or "", text[envelope.end() :])
        opened.sender = name or opened.sender
        opened.is_persons = True
    return opened


def _sender_of(metadata: str | None) -> str | None:
    """The name in a block of metadata, without ids and labels."""
    try:
        data = json.loads(metadata or "null")
    except (ValueError, RecursionError):
        return None
    sender = data.get("sender", data) if isinstance(data, dict) else None
    name = sender.get("name") if isinstance(sender, dict) else sender
    return _name(name) if isinstance(name, str) else None


def _in_envelope(label: str, body: str) -> tuple[str | None, str]:
    """Sender and text. In groups, and always in newer versions, the name precedes the text."""
    if _GROUP.search(label):
        found = _IN_GROUP.match(body)
        return (_name(found["name"]), body[found.end() :]) if found else (None, body)
    for prefix in (f"{label.split(' id:', 1)[0]}: ", "(self): ", "(sender): "):
        body = body.removeprefix(prefix)
    return _name(label), body


def _name(label: str) -> str | None:
    """A name without the id after it; None for a number, an address or a program.

    >>> _name("Mara (@mara) id:120"), _name("+49 170 1234567"), _name("id:120")
    ('Mara', None, None)
    """
    name = _IN_BRACKETS.sub("", _ID.sub("", label.strip())).strip()
    return None if _NO_NAME.fullmatch(name) else name


def _classify(opened: _Opened) -> Iterator[Part]:
    text = opened.text
    # A system event may have several paragraphs; the machine text behind it starts one of them.
    begins = text.split("\n\n") if opened.has_events else [text]
    if opened.is_persons:
        yield from _person_parts(opened)
    elif _form("events").match(text):
        yield from _event_parts(text)
    elif reason := next(filter(None, map(machine_text, begins)), None):
        yield Part("", dropped=reason)
    elif _form("queue").match(text):
        yield from _queued_parts(text)
    elif part := _announced(text) or _task(text) or _external(text):
        yield part
    elif _form("others").match(text):
        yield Part(text, trust="agent")
    else:
        yield from _person_parts(opened)


def _queued_parts(text: str) -> Iterator[Part]:
    """Yield queued messages; of surplus ones OpenClaw only quotes the start."""
    overflow, *items = _form("queued").split(text)
    if summary := overflow.partition("\nSummary:\n")[2].strip():
        yield Part(summary, trust="agent" if " announce" in overflow else None)
    for sender, item in zip(items[::2], items[1::2], strict=True):
        for part in parts(item.strip("\n")):
            is_known = part.speaker or part.trust or not sender
            yield part if is_known else replace(part, speaker=_name(sender))


def _announced(text: str) -> Part | None:
    """The result of a subagent or a cron job, without the instruction for the agent."""
    found = _form("announced").match(text)
    if found is None:
        return None
    result = found["result"]
    # The result may quote another one, so only the last "Stats: …" is OpenClaw's.
    end = result.rfind(_STATS)
    if end < 0:
        end = max((e.start() for e in _form("announced end").finditer(result)), default=len(result))
    return _report(found["told"], result[:end])


def _event_parts(text: str) -> Iterator[Part]:
    """Yield such results from internal events; a message without any is for the model alone."""
    _, *events = _form("event").split(text)
    for event in events:
        head, _, rest = event.partition("\n\n")
        about = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        kind, task = about.get("type", "task"), about.get("task", "")
        result = next((rest.partition(a)[2].rpartition(b)[0] for a, b in _RESULTS if a in rest), "")
        yield _report(f'A {kind} "{task}" just {about.get("status", "ended")}.', result)
    if not events:
        yield Part("", dropped="internal context")


def _report(headline: str, result: str) -> Part:
    result = result.strip()
    is_empty = result in {"", "(no output)"}
    return Part(headline if is_empty else f"{headline}\n\n{result}", trust="agent")


def _task(text: str) -> Part | None:
    """A task that the agent gave to a subagent or to itself at a time, or a reminder."""
    if text.startswith(_SUBAGENT):
        found = _form("task").search(text)
        task = text[found.end() :] if found else text
        return Part(task.rpartition(_TASK_END)[0].strip() or task.strip(), trust="agent")
    if text.startswith(_REMINDER):
        return Part(_form("reminder end").split(text[len(_REMINDER) :])[0], trust="agent")
    if job := _form("cron").match(text):
        asked = text[job.end() :]
        asked = asked.rpartition(_CRON_END)[0] or asked
        if job["job"] in _HOOKS:
            return Part(asked.strip(), job["job"].lower(), "web")
        return Part(asked.strip(), trust="agent")
    return None


def _external(text: str) -> Part | None:
    """A mail, a page or the payload of a web hook; an unclosed one is the whole rest."""
    if not _form("external").match(text):
        return None
    begin = _form("external begin").search(text)
    content = text[begin.end() :] if begin else text
    source = (begin["source"] if begin else None) or "external"
    content = _form("external end").split(content)[0].replace("\n---\n", "\n", 1)
    return Part(content.strip("\n"), source.lower(), "web")


def _person_parts(opened: _Opened) -> Iterator[Part]:
    """Yield what a person wrote or said, and what they forwarded."""
    text = without_context(opened.text)
    dropped = "internal context" if opened.text and not text else ""
    text, behind = _without_end(text)
    sender = opened.sender or behind
    if (heard := _spoken_and_typed(text)) != text:  # the envelope is inside
        inner = _open(heard)
        text, sender = inner.text, inner.sender or sender
    written = _without_media(text)
    if opened.has_media or written != text:
        dropped = "media without words"
    forwarded = [*_form("forwarded").finditer(written)]
    ends = [*(each.start() for each in forwarded), len(written)]
    own = written[: ends[0]]
    if own.strip():
        trust: Trust | None = "web" if opened.is_forwarded else None
        yield Part(own, _FORWARDED if trust else sender, trust)
    elif not forwarded:
        yield Part("", dropped=dropped)
    for each, end in zip(forwarded, ends[1:], strict=True):
        name = _name(each["sender"] or each["author"] or "")
        yield Part(written[each.end() : end], name or _FORWARDED, "web")


def _without_end(text: str) -> tuple[str, str | None]:
    """``text`` without trailing ids and quotes, and the sender that they name."""
    context = _form("context").search(text)
    text, sender = text[: context.start()] if context else text, None
    for _ in range(_MAX_TRAILERS):
        before, _, last = text.rstrip().rpartition("\n")
        if found := _form("after").fullmatch(last):
            text, sender = before, _name(found["sender"] or "") or sender
        elif (begin := _quote(text)) is not None:
            text = text[:begin].rstrip()
        else:
            break
    return text, sender


def _quote(text: str) -> int | None:
    for begin, end in _QUOTES:
        place = text.rfind(begin) if text.rstrip().endswith(end) else -1
        if place == 0 or (place > 0 and text[place - 1] == "\n"):
            return place
    return None


def _spoken_and_typed(text: str) -> str:
    """Typed and spoken text of a message with sound or pictures, without descriptions of pictures."""
    text = _form("voice").sub(_voice_text, text)
    head, *sections = _form("heard").split(text)
    if not sections or (head and not head.startswith(_TYPED)):
        return text
    kept = [head.removeprefix(_TYPED)]
    for section in sections:
        typed, is_voice, spoken = section.partition(_TRANSCRIPT)
        typed = typed if is_voice else section.partition(_DESCRIPTION)[0]
        kept += [typed.removeprefix(_TYPED).strip(), spoken.strip()]
    return "\n\n".join(filter(None, kept))


def _voice_text(found: re.Match[str]) -> str:
    try:
        return str(json.loads(found[1]))
    except ValueError:
        return found[0]


def _without_media(text: str) -> str:
    """``text`` without placeholders of media and embedded files; an unclosed file stays."""
    kept, place = [], 0
    while begin := _form("file").search(text, place):
        end = text.find(_FILE_END, begin.end())
        if end < 0:
            break
        kept.append(text[place : begin.start()].rstrip())
        place = end + len(_FILE_END)
    text = "".join(kept) + text[place:]
    found = _form("placeholder").match(text)
    return text[found.end() :] if found else text


_REPORTS = frozenset({"# Light Sleep", "# REM Sleep", "# Deep Sleep"})
_DREAM = re.compile(r"[ \t]*<!-- openclaw:dreaming:(\w+):start -->[ \t]*")
_PROMOTED = re.compile(r"[ \t]*<!-- openclaw-memory-promotion:[^\n]* -->[ \t]*")
_SECTION = re.compile(r"##? ")


def without_dreams(lines: Sequence[str], dropped: Counter[str]) -> Iterator[str]:
    """Yield the lines of a note, those that OpenClaw's dreaming wrote empty, and count its texts.

    At night it scores snippets of notes and conversations and repeats them: in the day's note between two
    comments, in reports (extensions/memory-core/src/dreaming-markdown.ts), and in MEMORY.md below a comment
    each (short-term-promotion.ts); for DREAMS.md a model invents a diary (dreaming-narrative.ts). Read as
    notes, they would be said again, later. A dream without an end ends at the next section.

    >>> [*without_dreams(["# Deep Sleep", "", "- Promoted 3 candidate(s)"], Counter())]
    ['', '', '']
    """
    is_report, end, is_promoted = lines[0].rstrip() in _REPORTS, "", False
    dropped[DREAM] += is_report
    for line in lines:
        if end and _SECTION.match(line):
            end = ""
        found = None if end else _DREAM.fullmatch(line)
        is_kept = not (is_report or end or found or (is_promoted and line.startswith("- ")))
        if found:
            end = f"<!-- openclaw:dreaming:{found[1]}:end -->"
        elif end and end in line:
            end = ""
        is_promoted = is_kept and _PROMOTED.fullmatch(line) is not None
        dropped[DREAM] += bool(found) + is_promoted
        yield line if is_kept else ""
