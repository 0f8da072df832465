"""A Markdown note as blocks, each with its lines, headings, and time.

No content of a note can make this fail: damage is reported with its line, and the rest is read. Only a note
beyond the limits is refused whole, as a ``Problem`` instead of a document, so that it is not mistaken for an
empty one.
"""

import contextlib
import os
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta, tzinfo
from functools import lru_cache
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any

from clsm_cli.config import MAX_BLOCKS, MAX_FILE, MAX_MESSAGE
from clsm_cli.ingestion.blocks import ITEM, BlockLines, conflict_marks, scan
from clsm_cli.ingestion.jsonl_rows import FenceKey, Findings, Problem, RawBlock, RawDocument, no_key
from clsm_cli.ingestion.openclaw_messages import without_dreams
from clsm_cli.ingestion.recalled_text import RECALLED_BLOCK, UNVERIFIED, strip_blocks
from clsm_cli.ingestion.timestamps import normalise
from clsm_cli.model import clocks
from clsm_cli.model.trust import TRUST_ORDER, Trust
from clsm_cli.store.jsonlines import LineError
from clsm_cli.text import dumps
from clsm_cli.text.time import expressions

_DAILY = re.compile(r"(\d{4}-\d\d-\d\d)(?:-|\Z)", re.ASCII)
_DATED = re.compile(r"(\d{4}-\d\d-\d\d)(?:[-_ ]|\Z)", re.ASCII)
_NAMED = re.compile(
    r"(?<![\d+])((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?:\d{4}|\d{6})?(?!\d)",
    re.ASCII,
)
"""A day inside a name, as in "review-2026-02-13" or "review_20260213", possibly followed by a time."""
_DAY_FIRST = re.compile(r"(?<!\d)(\d\d?)([-_.])(\d\d?)\2((?:19|20)\d\d)(?!\d)", re.ASCII)
"""A day before its month and year; read if the order is certain: it is above 12, or equals the month."""
_AGENT_NOTES = frozenset({"memory", "dreams", "agents"})

# Possible text before a date: list marker, task box, emphasis.
_LEAD = r"[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?[*_~`\[(]{0,4}"
_DAY = r"\d{4}-\d\d-\d\d"
_HOUR = r"\d{1,2}:\d\d(?::\d\d)?(?![\d:]| ?[ap]m\b)"
_WHEN = rf"{_DAY}(?![\d-])(?:T{_HOUR}(?:Z|[+-]\d\d:?\d\d)?| {_HOUR}(?: ?UTC\b)?)?"
_LEADING = re.compile(rf"{_LEAD}(?:({_WHEN})|({_HOUR}))", re.ASCII)
_IN_BRACKETS = re.compile(rf"\(({_WHEN})\)", re.ASCII)
_PROPERTY = re.compile(r"([^\s:#][^:]*):(?=\s|\Z)")
_DAYS = ("date", "created")
"""Names of the day of a note, in its front matter or below its title."""
_FILE_PROPERTIES = frozenset({"tags", "aliases", "cssclasses", *_DAYS, "title", "trust"})
"""Properties without content: Obsidian's own, and those that are read here."""
_LABELLED = re.compile(r"[\W_]*([^\W\d_][\w ./-]{0,30}?)[*_`\s]*[:|](.*)")
"""A line with a label: "Date: …", "- **Date:** …", "| Date | … |"."""
_SHORT_HOUR = re.compile(r"(?<=[T ])(?=\d:)")
_ANY_YEAR = date(2000, 1, 1)  # reference day for headings, in which only days with their year count
_YEAR = re.compile(r"\D*((?:19|20)\d\d)\D*", re.ASCII)
_MAX_APART = timedelta(days=31)
"""Distance of a day without a year ("## 22 April") from the day, month or year above it, at most."""
_MAX_PIECE_CHARS = MAX_MESSAGE // 4  # characters; none takes more than four bytes
# A time is searched for at the start of a line.
_MAX_LINE_CHARS = 400


def read(
    data: bytes,
    *,
    path: str,
    zone: tzinfo,
    fence_key: FenceKey = no_key,
    in_vault: bool = False,
    is_agents: bool = False,
    today: date = date.max,
) -> RawDocument | Problem:
    """The document in ``data``; a problem if it is larger than a note may be, or has more blocks.

    Args:
        data: The file, or one byte more than its limit (``config.MAX_FILE``).
        fence_key: Provides the key that verifies text recalled by clsm; such text is removed.
        in_vault: Whether it is a note of Obsidian's, which its owner writes.
        is_agents: Whether dated notes in its folder are an agent's (``folders``).
        today: A later day below the title is not when it was written.
    """
    if len(data) > MAX_FILE:
        return Problem(path, None, f"larger than {MAX_FILE >> 20} MiB")
    findings = Findings()
    dropped = Counter[str]()
    lines = _lines(data, findings, fence_key, dropped)
    meta, start = _front_matter(lines, findings)
    if in_vault:
        from clsm_cli.ingestion import folders

        lines = folders.strip_obsidian(lines, start)
    for number in conflict_marks(lines, start):
        if lines[number].startswith("<"):
            findings.add("git conflict, both sides read", number + 1)
        lines[number] = ""
    title = _title(meta, path if in_vault else "")
    spans = scan(lines, start, title)
    header_day = _header_day(lines, spans, zone, today)
    if in_vault and start:
        top = spans[0].heading[:1] if spans else (title,) if title else ()
        spans = [*_properties(lines, range(start - 1), top), *spans]
    if len(spans) > MAX_BLOCKS:
        return Problem(path, None, f"more than {MAX_BLOCKS:,} blocks, split it up")
    dated = _date_of(path, meta, zone)
    above = dated or header_day or _stem(path)
    blocks = tuple(
        RawBlock(
            text,
            first + 1,
            last + 1,
            span.heading,
            _time_of(text, span.heading, dated, above, zone),
        )
        for text, first, last, span in _blocks(lines, _joined(lines, spans))
    )
    return RawDocument(
        trust=_trust_of(path, meta, findings, in_vault=in_vault, is_agents=is_agents),
        blocks=blocks,
        problems=tuple(findings.problems(path)),
        dropped=dropped,
        header_day=header_day,
    )


def _lines(
    data: bytes, findings: Findings, fence_key: FenceKey, dropped: Counter[str]
) -> list[str]:
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")  # line ends of CommonMark §2.1 (classic Mac OS)
    text = data.removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
    stripped = strip_blocks(text, fence_key, keep_lines=True)
    dropped[RECALLED_BLOCK] += stripped.dropped
    for number in stripped.doubtful:
        findings.add(UNVERIFIED, number)
    lines = [line.removesuffix("\r") for line in stripped.text.split("\n")]
    if "\ufffd" in text:
        for number, raw in enumerate(data.split(b"\n"), 1):
            try:
                raw.decode()
            except UnicodeDecodeError:
                findings.add("invalid UTF-8 replaced", number)
    if "\0" in text:
        for number, line in enumerate(lines):
            if "\0" in line:
                findings.add("NUL removed", number + 1)
                lines[number] = line.replace("\0", "")
    return [*without_dreams(lines, dropped)]


def _front_matter(lines: list[str], findings: Findings) -> tuple[dict[str, Any], int]:
    """The properties of a note, and the first line after them; of unusable ones only the fences go."""
    if lines[0].rstrip(" \t") != "---":
        return {}, 0
    from clsm_cli.store.front_matter import parse, split

    try:
        raw, _, start = split("\n".join(lines))
        return parse(raw or ""), start
    except LineError as error:
        reason, line = error.split_line()
        if "not closed" in reason:  # the first line is a rule
            return {}, 0
        about = "" if reason.startswith("has front matter") else "has front matter that "
        findings.add(f"{about}{reason}, read as text", line or 1)
        fences = [number for number, line in enumerate(lines) if line.rstrip(" \t") == "---"]
        lines[0] = lines[fences[1]] = ""
        return {}, 0


def _properties(
    lines: list[str], numbers: Sequence[int], heading: tuple[str, ...]
) -> Iterator[BlockLines]:
    """Yield a note's properties ("attendees: [Ann, Ben]") as a block under a heading.

    Lines of properties without content are emptied, as is what a plugin marks its files by ("kanban-plugin").
    """
    is_said = False
    for number in numbers:
        if named := _PROPERTY.match(lines[number]):
            name = named[1].strip().lower()
            is_said = name not in _FILE_PROPERTIES and not name.endswith("-plugin")
        if not is_said:
            lines[number] = ""
    kept = [number for number in numbers if lines[number].strip()]
    if kept:
        yield BlockLines(kept[0], kept[-1] + 1, heading)


def _joined(lines: Sequence[str], spans: Sequence[BlockLines]) -> Iterator[BlockLines]:
    """Yield the blocks, those of one dump joined: a log with blank lines in it is one log.

    List items stay separate, since people write them.
    """
    for heading, group in groupby(spans, key=lambda span: span.heading):
        section = list(group)
        first = section[0].start
        text = "\n".join(lines[first : section[-1].end])
        ends = list(accumulate(len(line) + 1 for line in lines[first : section[-1].end]))
        dumped = [
            (first + bisect_left(ends, start), first + bisect_left(ends, end))
            for start, end in dumps.find_dumps(text)
        ]
        is_dump = [_is_in(dumped, span) and not ITEM.match(lines[span.start]) for span in section]
        for is_joined, run in groupby(zip(is_dump, section, strict=True), key=itemgetter(0)):
            pieces = [span for _, span in run]
            yield from (
                [BlockLines(pieces[0].start, pieces[-1].end, heading)] if is_joined else pieces
            )


def _is_in(dumped: Sequence[tuple[int, int]], span: BlockLines) -> bool:
    """Whether a block lies in one of the sorted ranges of lines, first and last."""
    place = bisect_right(dumped, span.start, key=itemgetter(0)) - 1
    return place >= 0 and span.end - 1 <= dumped[place][1]


def _blocks(
    lines: Sequence[str], spans: Iterable[BlockLines]
) -> Iterator[tuple[str, int, int, BlockLines]]:
    """Yield text, first and last line of each block, split at the maximum size."""
    for span in spans:
        text, first = "\n".join(lines[span.start : span.end]).rstrip(), span.start
        while len(text.encode()) > MAX_MESSAGE:
            cut = text.rfind("\n", 0, _MAX_PIECE_CHARS) + 1 or _MAX_PIECE_CHARS
            piece, text = text[:cut], text[cut:]
            if piece.strip():
                yield piece.rstrip(), first, first + piece.rstrip().count("\n"), span
            first += piece.count("\n")
        yield text, first, first + text.count("\n"), span


def _time_of(
    line: str, heading: tuple[str, ...], dated: str | None, above: str, zone: tzinfo
) -> str | None:
    """When a block was written or true: by its own start, else its headings, else its file (``dated``).

    Args:
        above: Where the year of a heading may stand: the day or the name of the file.
    """
    day = _heading_day((above, *heading)) or dated
    line = line[:_MAX_LINE_CHARS].split("\n", 1)[0]
    lead, bracket = _LEADING.match(line), _IN_BRACKETS.search(line)
    if lead and lead.group(2) and day:
        return _when(f"{day} {lead.group(2)}", zone) or day
    for written in (lead and lead.group(1), bracket and bracket.group(1)):
        time = (_when(written, zone) or normalise(written[:10], zone)) if written else None
        if time:
            return time
    return day


def _when(text: str, zone: tzinfo) -> str | None:
    return normalise(_SHORT_HOUR.sub("0", text), zone)


@lru_cache(maxsize=1024)
def _heading_day(heading: tuple[str, ...]) -> str | None:
    """The day in the innermost heading that has one, in any form; its year may stand in one above.

    >>> _heading_day(("2026-04-21", "Notes", "22 April: roof")), _heading_day(("2026-12", "Fri 1 January"))
    ('2026-04-22', '2027-01-01')
    >>> _heading_day(("Diary", "22 April")), _heading_day(("2026-04-21", "Plan for 3 June"))
    (None, None)
    """
    titles = heading[::-1]
    for place, title in enumerate(titles[:-1], 1):
        if day := _title_day(title) or _day_near(title[:_MAX_LINE_CHARS], titles[place:]):
            return day
    return None


def _day_near(title: str, above: Sequence[str]) -> str | None:
    """The day without a year with which a title begins, next to the innermost period above it."""
    found = next(iter(expressions.find_expressions(title, _ANY_YEAR)), None)
    period = next(filter(None, map(_period_in, above)), None) if found and not found.start else None
    if found is None or period is None or not re.match(r" ?(?:\W|$)", title[found.end :]):
        return None
    is_day = found.kind != "relative" and found.until - found.first == timedelta(days=1)
    if not is_day or not any(map(str.isdigit, found.text)):
        return None
    days = []
    for year in range(period[0].year - 1, period[0].year + 2):
        with contextlib.suppress(ValueError):  # 29 February
            day = found.first.replace(year=year)
            days.append((max(period[0] - day, day - period[1]), day))
    apart, day = min(days, default=(timedelta.max, date.max))
    return day.isoformat() if apart <= _MAX_APART else None


def _period_in(title: str) -> tuple[date, date] | None:
    """The first and last day of the day, month or year that a title names with its year."""
    for found in expressions.find_expressions(title[:_MAX_LINE_CHARS], _ANY_YEAR):
        if not found.relative:
            return found.first, found.until - timedelta(days=1)
    if day := _named_day(title):
        return date.fromisoformat(day), date.fromisoformat(day)
    year = _YEAR.fullmatch(title)
    return (date(int(year[1]), 1, 1), date(int(year[1]), 12, 31)) if year else None


def _title_day(title: str) -> str | None:
    title = title[:_MAX_LINE_CHARS]
    for found in expressions.find_expressions(title, _ANY_YEAR):
        if found.day and not found.relative and clocks.day_of(found.day.isoformat()):
            return found.day.isoformat()
    return _named_day(title)


def _named_day(name: str) -> str | None:
    """The last day in a name.

    >>> _named_day("weekly-review-2026-02-13"), _named_day("Weekly Review - 20260213")
    ('2026-02-13', '2026-02-13')
    >>> _named_day("invoice 4917620260213"), _named_day("plan-2026-02-31"), _named_day("12-03-2026")
    (None, None, None)
    >>> _named_day("call 13-03-2026"), _named_day("03.03.2026")
    ('2026-03-13', '2026-03-03')
    """
    days = [(year, month, day) for year, _, month, day in reversed(_NAMED.findall(name))]
    days += [
        (year, month, day)
        for day, _, month, year in reversed(_DAY_FIRST.findall(name))
        if int(day) > 12 or int(day) == int(month)
    ]
    for year, month, day in days:
        with contextlib.suppress(ValueError):
            return date(int(year), int(month), int(day)).isoformat()
    return None


def _header_day(
    lines: Sequence[str], spans: Sequence[BlockLines], zone: tzinfo, today: date
) -> str | None:
    """The day that a line below the title gives, before other text and the next heading."""
    for span in spans:
        if span.heading != spans[0].heading[:1]:
            break
        for line in lines[span.start : span.end]:
            found = _LABELLED.match(line[:_MAX_LINE_CHARS])
            if found and found[1].lower() in _DAYS:
                day = _day_of(found[2].strip("*_`|\t "), zone)
                if day and day <= today.isoformat():
                    return day
            elif not found and re.search(r"\w", line):
                return None
    return None


def _day_of(value: object, zone: tzinfo) -> str | None:
    """The day of a time, or in a text that names one with its year."""
    time = normalise(value, zone)
    return time[:10] if time else _title_day(value) if isinstance(value, str) else None


def _date_of(path: str, meta: dict[str, Any], zone: tzinfo) -> str | None:
    """The day of a document, by its name, its front matter, or the name of its folder.

    A day is enough, since blocks have their own times.
    """
    stem, folder = _stem(path), os.path.basename(os.path.dirname(path))
    named = _DATED.match(stem)
    for value in (named and named.group(1), *map(meta.get, _DAYS)):
        if day := _day_of(value, zone):
            return day
    titles = (str(meta.get("title") or ""), re.sub(r"[-_]", " ", stem))
    written = (_title_day(title) for title in titles)
    return next(filter(None, (*written, _named_day(stem), _named_day(folder))), None)


def _trust_of(
    path: str, meta: dict[str, Any], findings: Findings, *, in_vault: bool, is_agents: bool
) -> Trust:
    """The trust of a note, from its front matter, else a person's, except for an agent's own notes."""
    named = meta.get("trust")
    for trust in TRUST_ORDER:
        if named == trust:
            return trust
    if named is not None:
        findings.add(f"trust must be one of {', '.join(TRUST_ORDER)}", 1)
    stem = _stem(path)
    if in_vault:
        return "user"
    is_own = stem.lower() in _AGENT_NOTES or (is_agents and _DAILY.match(stem))
    return "agent" if is_own else "user"


def _title(meta: dict[str, Any], path: str) -> str:
    """The title in the front matter, else what the name of the file says besides a day, as Obsidian shows it.

    >>> _title({}, "People/Ada Byron.md"), _title({}, "2026-03-26 Bees.md"), _title({}, "2026-03-26.md")
    ('Ada Byron', 'Bees', '')
    """
    stated = meta.get("title")
    title = stated if isinstance(stated, str) else _DATED.sub("", _stem(path), count=1)
    title = " ".join(title.split()).strip("-_ ")
    return "" if _title_day(title) else title


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
