"""Chats of messengers: WhatsApp's export and signal-export's as text, Telegram's as JSON.

In text, a message starts with time and sender: ``31.12.25, 21:05 - Mara: …`` on Android, ``[31/12/2025,
21:05:33] Mara: …`` on an iPhone, ``[2025-12-31 21:05:33] Mara: …`` from Signal; other lines continue it.
Lines of the app itself have no sender, or start with a left-to-right mark.

The order of day and month in a date depends on the phone. The whole file decides it: a number above 12, the
separator, dates that would lie in the future, and the order of the messages. If it stays open, nothing is
guessed.

Telegram Desktop exports one chat or all of them as one document (``result.json``). Messages of all but the
owner have the trust of an agent: facts are learnt from them, but no rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import islice, pairwise, zip_longest
from typing import IO, Any

from clsm_cli.ingestion.jsonl_rows import (
    MAX_TEXT_BYTES,
    Dropped,
    RawTurn,
    Reading,
    TranscriptItem,
    UnreadableError,
    first_time,
    label,
    mapping,
    read_json,
    read_whole,
    text_or_empty,
)
from clsm_cli.ingestion.messages import Message
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.model.trust import Trust
from clsm_cli.startup.records import NamedTuple

DATE = r"(?P<a>\d{1,4})(?P<mark>[./-]) ?(?P<b>\d{1,2})(?P=mark) ?(?P<c>\d{1,4})\.?"
CLOCK = (
    r"(?:(?P<before>[^\W\d][^\d\s:]{0,7})\s?)?(?P<hour>\d{1,2})[:.](?P<minute>\d\d)"
    r"(?:[:.](?P<second>\d\d))?(?:\s?(?:ч\.|(?P<after>[^\W\d][^\d\]–-]{0,11}?)))?"
)
"""``ч.`` (hour) ends a time in Bulgarian: CLDR, timeFormats."""
_LETTERS = re.compile(r"[\W\d_]")
_EARLY, _LATE = (
    frozenset(_LETTERS.sub("", word).casefold() for word in words.split())
    for words in (
        "AM πμ 上午 凌晨 清晨 早上 午前 오전 ص قظ ÖÖ SA PD fm ap dop пр.об дп de ก่อนเที่ยง पूर्वाह्न לפנה״צ",
        "PM μμ 下午 中午 晚上 午後 오후 م بظ ÖS CH MD em ip odp сл.об пп du หลังเที่ยง अपराह्न אחה״צ",
    )
)
"""Letters of the halves of the day: CLDR, dayPeriods, am and pm (for zh also the flexible ones)."""
FIRST_YEAR = 2009  # first year of WhatsApp; an earlier or future year belongs to another calendar
_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Unicode's Bidi_Control, which may occur anywhere in a date, and the byte order mark."""
_UNMARKED = dict.fromkeys(map(ord, _MARKS))
_MAX_STAMP_CHARS = 120  # characters of a line that contain its date and time
_START = re.compile(
    rf"(?P<open>\[)?{DATE}(?P<comma>[,،])?(?(comma)\s*|\s+){CLOCK}"
    r"(?(open)\s*\]|(?:\s*[-–] |(?(before),\s|(?!))))\s?"
)
_WHO = re.compile(r"(?:~\s)?(?P<who>[^:\n]{1,80}): ?")
_EXPORT = re.compile(r"whatsapp|\A_chat\.txt\Z", re.IGNORECASE)
_APP_MARK = "\u200e"
_ASIDE = re.compile(r"\u200e<[^<>\n]{1,120}>")
_OMITTED = re.compile(r"<[^<>\n]{3,60}>")
_OWNER = "Me"  # the phone's owner in signal-export
APP_LINE, OMITTED_MEDIA = "line by the app", "media that was left out"
ADVICE = "; say which comes first: --day-first or --month-first"


class _Start(NamedTuple):
    """Date and time at the start of a line, and the rest of it."""

    match: re.Match[str]
    stamp: Stamp
    rest: str


class _Entry(NamedTuple):
    line: int
    end: int
    stamp: Stamp
    who: str | None
    text: str


def is_chat(head: str, name: str = "") -> bool:
    """Whether a text is a chat, by its start: its first line is a message, and so is another.

    A single message suffices if the file has the name of an export, or if it is the whole text and has
    brackets, a comma and seconds, as only an iPhone writes it.
    """
    lines = [line for line in head.lstrip().split("\n", 60)[:60] if line.strip()]
    if not lines or not (first := _start(lines[0])):
        return False
    begun = [found for line in lines if (found := _start(line))]
    if len(begun) == 1 and not _EXPORT.search(name):
        is_written = all(first.match[part] for part in ("open", "comma", "second"))
        if not is_written or "\n\n" in head.strip().replace("\r", ""):
            return False
    return any(_WHO.match(found.rest) for found in begun)


def chat_items(stream: IO[bytes], reading: Reading) -> Iterator[TranscriptItem]:
    """Yield the turns, dropped lines and problems of a chat, in order.

    The phone's owner is known by name (``Reading.me``), from Signal ("Me") and, in a chat of two, from the
    file name, which is the other person's. Times are in the store's time zone.
    """
    text = read_whole(stream, MAX_TEXT_BYTES)
    messages = list(_messages(text.replace("\r\n", "\n").replace("\0", "").split("\n")))
    if not messages:
        raise UnreadableError("holds no message of a chat")
    today = reading.now.astimezone(reading.zone).date()
    order = order_of([each.stamp for each in messages], today, day_first=reading.day_first)
    if "\ufffd" in text:
        reading.findings.add("invalid UTF-8 replaced", 1)
    yield from _turns(messages, order, reading)


def _start(line: str) -> _Start | None:
    match = _START.match(line[:_MAX_STAMP_CHARS].translate(_UNMARKED))
    stamp = parse_stamp(match) if match else None
    if not match or not stamp:
        return None
    places = (place for place, character in enumerate(line) if character not in _MARKS)
    end = next(islice(places, match.end(), None), len(line))
    return _Start(match, stamp, line[end:])


def _messages(lines: Sequence[str]) -> Iterator[_Entry]:
    begun = [(number, found) for number, line in enumerate(lines) if (found := _start(line))]
    for (number, start), after in zip_longest(begun, begun[1:]):
        sender = _WHO.match(start.rest)
        rest = start.rest[sender.end() :] if sender else start.rest
        text = "\n".join([rest, *lines[number + 1 : after and after[0]]]).rstrip()
        who = label(sender["who"].strip(_MARKS + " ")) if sender else None
        yield _Entry(number + 1, number + 1 + text.count("\n"), start.stamp, who, text)


def _owners(messages: Sequence[_Entry], reading: Reading) -> set[str]:
    """The owner's names: as told, else that one of two speakers whom the file name does not name."""
    speakers = {each.who for each in messages if each.who and not each.text.startswith(_APP_MARK)}
    owners = {who for who in speakers if who == _OWNER or reading.is_me(who)}
    name = os.path.basename(reading.path)
    others = {who for who in speakers if re.search(rf"(?<!\w){re.escape(who)}(?!\w)", name)}
    if not owners and len(speakers) == 2 and len(others) == 1:
        owners = speakers - others
    if not owners:
        reading.strangers.update(speakers)
    return owners


def _turns(messages: Sequence[_Entry], order: Order, reading: Reading) -> Iterator[TranscriptItem]:
    owners = _owners(messages, reading)
    for each in messages:
        text = _ASIDE.sub("", each.text)
        if text.startswith(_APP_MARK):  # a caption may stand below
            text = text.partition("\n")[2]
        text = text.strip(_MARKS + "\n ")
        if each.who is None or not text or _OMITTED.fullmatch(text):
            yield Dropped(APP_LINE if each.who is None else OMITTED_MEDIA, each.line)
            continue
        if each.stamp.clock is None:
            reading.findings.add(
                "half of the day that clsm does not know, kept with its day", each.line
            )
        day = day_of(each.stamp.numbers, order)
        clock = f"T{each.stamp.clock}" if each.stamp.clock else ""
        time = normalise(f"{day}{clock}", reading.zone) if day else None
        message = Message(reading.session, each.line, time, end=each.end)
        yield message.turn(each.who, "user", text, trust=None if each.who in owners else "agent")


class Stamp(NamedTuple):
    """Three numbers of a date in their order, their separator, and the time; None: not understood."""

    numbers: tuple[int, int, int]
    mark: str
    clock: str | None


Order = tuple[int, int, int]  # indexes of year, month and day among three numbers
YEAR_FIRST: Order = (0, 1, 2)
DAY_FIRST: Order = (2, 1, 0)
MONTH_FIRST: Order = (2, 0, 1)


def parse_stamp(match: re.Match[str]) -> Stamp | None:
    """The stamp of a match of ``DATE`` and ``CLOCK``; None for an invalid time."""
    hour, minute, second = (int(match[name] or 0) for name in ("hour", "minute", "second"))
    numbers = int(match["a"]), int(match["b"]), int(match["c"])
    if minute > 59 or second > 59 or hour > 23:
        return None
    halves = [half for name in ("before", "after") if (half := _half(match[name])) is not None]
    if match["after"] and not halves:
        return Stamp(numbers, match["mark"], None)
    if halves:
        if hour > 12:
            return None
        hour = hour % 12 + halves[0]
    return Stamp(numbers, match["mark"], f"{hour:02}:{minute:02}:{second:02}")


def _half(word: str | None) -> int | None:
    """Hours that a half of the day adds; None for another word."""
    letters = _LETTERS.sub("", word or "").casefold()
    return 0 if letters in _EARLY else 12 if letters in _LATE else None


def order_of(stamps: Sequence[Stamp], today: date, *, day_first: bool | None = None) -> Order:
    """The order of day, month and year in a chat, of which no message is later than tomorrow.

    Raises:
        UnreadableError: The order cannot be decided.

    >>> def told(*texts):
    ...     numbers = (tuple(map(int, text.split("/"))) for text in texts)
    ...     return order_of([Stamp(each, "/", "12:00:00") for each in numbers], date(2026, 5, 1))
    >>> told("3/4/26", "13/4/26") == DAY_FIRST, told("3/4/26", "3/14/26") == MONTH_FIRST
    (True, True)
    >>> told("28/2/26", "1/3/26", "2/3/26") == DAY_FIRST, told("1/12/26") == MONTH_FIRST
    (True, True)
    """
    if all(each.numbers[0] > 31 for each in stamps):
        orders = [YEAR_FIRST]
    elif day_first is not None:
        orders = [DAY_FIRST if day_first else MONTH_FIRST]
    else:
        orders = [DAY_FIRST, MONTH_FIRST]
    possible = [order for order in orders if _fits(stamps, order, today)]
    if not possible:
        raise UnreadableError(
            "its dates are none that clsm knows, of another calendar or in the future"
        )
    # With a full stop or a hyphen as separator, every locale of CLDR has the day first.
    if len(possible) == 1 or stamps[0].mark != "/":
        return possible[0]
    day, month = (_steps_back(stamps, order, today) for order in possible)
    if day != month:
        return DAY_FIRST if day < month else MONTH_FIRST
    numbers = "/".join(map(str, stamps[0].numbers))
    raise UnreadableError(
        f"the day and the month of its dates cannot be told apart ({numbers}){ADVICE}"
    )


def day_of(numbers: Sequence[int], order: Order) -> date | None:
    """The day of three numbers; None for an invalid one."""
    year, month, day = (numbers[place] for place in order)
    try:
        return date(year + 2000 if year < 100 else year, month, day)
    except ValueError:
        return None


def _fits(stamps: Sequence[Stamp], order: Order, today: date) -> bool:
    last = today + timedelta(days=1)
    days = (day_of(each.numbers, order) for each in stamps)
    return all(day is not None and day.year >= FIRST_YEAR and day <= last for day in days)


def _steps_back(stamps: Sequence[Stamp], order: Order, today: date) -> int:
    days = [day_of(each.numbers, order) or today for each in stamps]
    return sum(later < earlier for earlier, later in pairwise(days))


def telegram_items(stream: IO[bytes], reading: Reading) -> Iterator[TranscriptItem]:
    """Yield the turns, dropped messages and problems of an export, chat by chat.

    The owner is the one whose account was exported, in a chat of two the one who is not the other person,
    else known by name;
    forwarded messages have the trust of a page.
    """
    document = read_json(stream, ", export chat by chat")
    if not isinstance(document, dict):
        raise UnreadableError("holds no chat of Telegram")
    owner = mapping(document.get("personal_information")).get("user_id")
    for chat in _telegram_chats(document):
        is_known = owner is not None or chat.get("type") == "personal_chat"
        speakers = set[str]()
        for item in _telegram_messages(chat, f"user{owner}", reading):
            if isinstance(item, RawTurn):
                speakers.add(item.speaker)
                is_known = is_known or item.trust is None
            yield item
        if not is_known:
            reading.strangers.update(speakers)


def _telegram_chats(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    listed = [mapping(document.get(name)).get("list") for name in ("chats", "left_chats")]
    for chats in ([document], *(each for each in listed if isinstance(each, list))):
        for chat in chats:
            if isinstance(chat, dict) and isinstance(chat.get("messages"), list):
                yield chat


def _telegram_messages(
    chat: dict[str, Any], owner: str, reading: Reading
) -> Iterator[TranscriptItem]:
    number, kind = label(chat.get("id")), text_or_empty(chat.get("type"))
    session = f"telegram {number}" if number else reading.session
    for place, data in enumerate(chat["messages"], 1):
        if not isinstance(data, dict) or data.get("type") != "message":
            yield Dropped(APP_LINE, place)
            continue
        time = first_time((data.get("date_unixtime"), data.get("date")), reading)
        message = Message(session, place, time, label(data.get("id")))
        text = _telegram_text(data.get("text"))
        who, sender = label(data.get("from")), text_or_empty(data.get("from_id"))
        if not text or not who:
            yield message.dropped(OMITTED_MEDIA if who else "message of nobody")
            continue
        is_owner = sender == owner or kind == "saved_messages" or reading.is_me(who)
        is_owner = is_owner or (kind == "personal_chat" and sender != f"user{number}")
        trust: Trust | None = None if is_owner else "agent"
        if data.get("forwarded_from") is not None:
            trust = "web"
        yield message.turn(who, "user", text, trust=trust)


def _telegram_text(value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str)).strip("\n").rstrip()
