"""Normalise foreign times: the same instant always gives the same string.

The key of a turn hashes its time (``model.ids.turn_key``), and hooks pass epoch milliseconds where files have
ISO text with any offset. So every instant is written in the store's zone, with its offset, to the
millisecond, without a fraction of zero.
"""

import math
import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo

from clsm_cli.model.clocks import day_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A number counts as a time only if it is unlikely to be a year, a size or a duration: seconds from
# 1973 to 5138, milliseconds over the same years.
_SECONDS = (1e8, 1e11)
_MILLISECONDS = (1e11, 1e14)

_ISO = re.compile(r"\d{4}-?\d\d-?\d\d(?:[T ]\S+)?\Z")
_BARE = re.compile(r"\d{4}-?\d\d-?\d\d\Z")
_SPACED_OFFSET = re.compile(r"(?<=\d) +(?=[+-]\d)")
_NAMED_UTC = re.compile(r" *(?:Z|UTC|GMT)\Z")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))? ?(?P<half>[ap]m)?"
_DAY = r"(?P<day>\d{1,2}) (?P<month>[a-z]{3,9})\.?,? (?P<year>\d{4})"
_ZONE = r"(?: ?(?P<zone>[+-]\d{4}|gmt|utc|ut|z))?(?: ?\([a-z ]*\))?"
# RFC 2822 ("Tue, 24 Feb 2026 08:15:00 +0100") and chat exports ("4:04 pm on 20 January, 2023").
_LONG = (
    re.compile(rf"(?:[a-z]{{3,9}},? )?{_DAY}(?:,? {_CLOCK}{_ZONE})?\Z", re.IGNORECASE),
    re.compile(rf"{_CLOCK} on {_DAY}\Z", re.IGNORECASE),
)


def normalise(value: object, zone: tzinfo) -> str | None:
    """Normalise a time to a bare date or an instant in ``zone``; None if it is none, see ``day_of``.

    Text without an offset is read in ``zone``; a bare date stays one.

    >>> from zoneinfo import ZoneInfo
    >>> home = ZoneInfo("Europe/Amsterdam")
    >>> normalise("2026-02-24T07:15:00Z", home), normalise(1771917300000, home)
    ('2026-02-24T08:15:00+01:00', '2026-02-24T08:15:00+01:00')
    >>> normalise("2026-02-24 08:15", home), normalise("4:04 pm on 20 January, 2023", home)
    ('2026-02-24T08:15:00+01:00', '2023-01-20T16:04:00+01:00')
    >>> normalise("2026-02-24", home), normalise("soon", home)
    ('2026-02-24', None)
    """
    time = None
    with suppress(ValueError, OverflowError):  # a day that does not exist, a year out of range
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            time = _from_number(value, zone)
        elif isinstance(value, str) and len(value) <= 64:
            time = _from_text(" ".join(value.split()), zone)
    return time if day_of(time) else None


def _from_number(value: float, zone: tzinfo) -> str | None:
    if _SECONDS[0] <= value < _SECONDS[1]:
        value = value * 1000
    elif not _MILLISECONDS[0] <= value < _MILLISECONDS[1]:
        return None
    return _canonical(_EPOCH + timedelta(milliseconds=math.floor(value + 0.5)), zone)


def _from_text(text: str, zone: tzinfo) -> str | None:
    if _ISO.match(text) or _ISO.match(_SPACED_OFFSET.sub("", _NAMED_UTC.sub("Z", text))):
        return _from_iso(text, zone)
    if re.fullmatch(r"\d{9,14}(?:\.\d{1,9})?", text, re.ASCII):
        return _from_number(float(text), zone)
    for pattern in _LONG:
        match = pattern.match(text)
        if match:
            return _from_long(match, zone)
    return None


def _from_iso(text: str, zone: tzinfo) -> str:
    if _BARE.match(text):
        return date.fromisoformat(text).isoformat()
    text = _SPACED_OFFSET.sub("", _NAMED_UTC.sub("+00:00", text.upper()))
    return _canonical(datetime.fromisoformat(text), zone)


def _from_long(match: re.Match[str], zone: tzinfo) -> str:
    part = match.groupdict()
    month = _MONTHS.index(part["month"][:3].lower()) + 1
    day = date(int(part["year"]), month, int(part["day"]))
    if part["hour"] is None:
        return day.isoformat()
    hour = int(part["hour"])
    if part["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if part["half"].lower() == "pm" else 0)
    offset = part.get("zone") or ""
    if offset and not offset.startswith(("+", "-")):
        offset = "+0000"
    clock = f"T{hour:02}:{part['minute']}:{part['second'] or '00'}{offset}"
    return _canonical(datetime.fromisoformat(day.isoformat() + clock), zone)


def _canonical(moment: datetime, zone: tzinfo) -> str:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    # Via UTC, so that a local time skipped by daylight saving becomes a valid one; rounded like
    # numbers, so that microseconds in a file and milliseconds in a hook agree.
    moment = moment.astimezone(UTC) + timedelta(microseconds=500)
    moment = moment.astimezone(zone)
    return moment.isoformat(timespec="milliseconds" if moment.microsecond >= 1000 else "seconds")
