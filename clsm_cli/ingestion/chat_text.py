"""Chats as text: WhatsApp's export of a chat, and what signal-export makes of one.

A message begins with when and who, ``31.12.25, 21:05 - Mara: …`` on Android, ``[31/12/2025, 21:05:33]
Mara: …`` on an iPhone, ``[2025-12-31 21:05:33] Mara: …`` of Signal; lines without that go on with it.
What the app itself says has no speaker, or begins with a left-to-right mark.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, BinaryIO

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.chat_dates import CLOCK, DATE, Stamp, day_of, order_of, stamp
from clsm_cli.ingestion.items import Dropped, Problem, RawTurn
from clsm_cli.ingestion.rows import Tally, label, watched
from clsm_cli.ingestion.times import normalise
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime, tzinfo

    from clsm_cli.ingestion.chat_dates import Order
    from clsm_cli.ingestion.items import TranscriptItem

LARGEST = 64 << 20
"""Bytes of a chat; it is read whole."""
_MARKS = "\u200e\u200f\u202a\u202b\u202c\ufeff"
_START = re.compile(
    rf"[{_MARKS}]*(?P<open>\[)?{DATE}(?:[,،]\s*|\s+){CLOCK}"
    r"(?(open)\s*\]|(?:\s*[-–] |(?(before),\s|(?!))))\s?"
)
_WHO = re.compile(r"(?:~\s)?(?P<who>[^:\n]{1,80}): ?")
_BY_APP = "\u200e"
_ASIDE = re.compile(r"\u200e<[^<>\n]{1,120}>")
_OMITTED = re.compile(r"<[^<>\n]{3,60}>")
_OWNER = "Me"
"""Whom signal-export calls the owner of the phone."""
SYSTEM, MEDIA = "line by the app", "media that was left out"
ADVICE = "; say which comes first: --day-first or --month-first"


class _Message(NamedTuple):
    line: int
    end: int
    stamp: Stamp
    who: str | None
    text: str


def is_chat(head: str) -> bool:
    r"""Whether a text is a chat, by its beginning: its first line is a message, and another is.

    >>> is_chat("31.12.25, 21:05 - Mara: Hi\n31.12.25, 21:06 - Tom: Hi!\n")
    True
    >>> is_chat("[12/31/25, 9:05:33\u202fPM] Mara: Hi\n[12/31/25, 9:06:01\u202fPM] Tom: Hi!\n")
    True
    >>> is_chat("2026-01-02: a walk - with Mara: nice\n2026-01-03: rain\n")
    False
    """
    lines = [line for line in head.lstrip().split("\n", 60)[:60] if line.strip()]
    if not lines or not _start(lines[0]):
        return False
    begun = [match for line in lines if (match := _start(line))]
    return len(begun) > 1 and any(_WHO.match(match.string, match.end()) for match in begun)


def read(
    stream: BinaryIO,
    *,
    path: str,
    zone: tzinfo,
    now: datetime,
    session: str,
    day_first: bool | None = None,
) -> Iterator[TranscriptItem]:
    """The turns, dropped lines and problems of a chat, in its order.

    Who owns the phone is known from Signal ("Me") and, of a chat of two, from the name of the file,
    which is the other one's. The words of all others are trusted as an agent's are: facts are learnt
    from them, but no rules.

    Args:
        stream: The file.
        path: As it was given.
        zone: The store's time zone, in which the phone told the time.
        now: No message is later.
        session: The conversation.
        day_first: Whether the day stands before the month, where the user says so.
    """
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        yield Problem(path, None, f"larger than {LARGEST >> 20} MiB")
        return
    text = data.decode(errors="replace").replace("\r\n", "\n").replace("\0", "")
    messages = list(_messages(text.split("\n")))
    if not messages:
        yield Problem(path, None, "holds no message of a chat")
        return
    order = order_of(
        [each.stamp for each in messages], now.astimezone(zone).date(), day_first=day_first
    )
    if isinstance(order, str):
        yield Problem(path, None, order + (ADVICE if "apart" in order else ""))
        return
    tally = Tally()
    if "\ufffd" in text:
        tally.add("invalid UTF-8 replaced", 1)
    items = _items(messages, order, zone, session, _owner(messages, path), tally)
    yield from watched(items, path=path, now=now, tally=tally)


def _start(line: str) -> re.Match[str] | None:
    match = _START.match(line)
    return match if match and stamp(match) else None


def _messages(lines: Sequence[str]) -> Iterator[_Message]:
    begun: tuple[int, re.Match[str]] | None = None
    for number, line in enumerate([*lines, None], 1):
        match = None if line is None else _start(line)
        if begun is not None and (match or line is None):
            yield _message(begun[1], lines[begun[0] - 1 : number - 1], begun[0])
        begun = (number, match) if match else begun


def _message(match: re.Match[str], lines: Sequence[str], number: int) -> _Message:
    told = stamp(match)
    assert told is not None
    said = _WHO.match(lines[0], match.end())
    text = "\n".join([lines[0][said.end() if said else match.end() :], *lines[1:]]).rstrip()
    end = number + text.count("\n")
    who = label(said["who"].strip(_MARKS + " ")) if said else None
    return _Message(number, end, told, who, text)


def _owner(messages: Sequence[_Message], path: str) -> str | None:
    """The one of two speakers whom the name of the file does not name."""
    speakers = {each.who for each in messages if each.who and not each.text.startswith(_BY_APP)}
    if _OWNER in speakers:
        return _OWNER
    name = os.path.basename(path)
    others = [who for who in speakers if re.search(rf"(?<!\w){re.escape(who)}(?!\w)", name)]
    if len(speakers) != 2 or len(others) != 1:
        return None
    return (speakers - {*others}).pop()


def _items(
    messages: Sequence[_Message],
    order: Order,
    zone: tzinfo,
    session: str,
    owner: str | None,
    tally: Tally,
) -> Iterator[TranscriptItem]:
    for each in messages:
        text = _ASIDE.sub("", each.text)
        if text.startswith(_BY_APP):  # a caption may stand below
            text = text.partition("\n")[2]
        text = text.strip(_MARKS + "\n ")
        if each.who is None or not text or _OMITTED.fullmatch(text):
            yield Dropped(SYSTEM if each.who is None else MEDIA, each.line)
            continue
        if len(text.encode()) > MAX_MESSAGE:
            tally.add(f"longer than {MAX_MESSAGE >> 20} MiB, its beginning kept", each.line)
        if each.stamp.clock is None:
            tally.add("half of the day that clsm does not know, kept with its day", each.line)
        yield RawTurn(
            session=session,
            speaker=each.who,
            role="user",
            text=text,
            time=_time(each.stamp, order, zone),
            line_start=each.line,
            line_end=each.end,
            trust=None if each.who == owner else "agent",
        )


def _time(told: Stamp, order: Order, zone: tzinfo) -> str | None:
    day = day_of(told.numbers, order)
    if day is None:
        return None
    return normalise(f"{day}T{told.clock}" if told.clock else f"{day}", zone)
