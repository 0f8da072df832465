"""Features of a unit (sentence, list item, row): its place, its marks, its words.

No word of any language is looked at: what words mean is in the numbers that stand beside these
(``embedding/wordpiece``).
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.heads.boilerplate import stock_share
from clsm_cli.text.plain import to_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.model.episodes import Turn


class Unit(NamedTuple):
    """A piece of a turn to be weighed.

    Attributes:
        turn: Place of its turn among the turns of its document or chat.
        start: Its first character in the turn's text.
        end: The character after its last.
        number: Its place among the pieces of its turn.
        total: How many pieces its turn has.
    """

    turn: int
    start: int
    end: int
    number: int = 0
    total: int = 1


_ITEM = re.compile(r"[ \t]*(?:([-*+])|\d{1,9}[.)])[ \t]+")
_BOX = re.compile(r"\[([ xX])\]")
_LABEL = re.compile(
    r"(?:\*\*|__)([^*_\n]{1,60})(?:\*\*|__)\s?[:：]?|([^:：\n.!?]{1,40})[:：](?=\s|$)"
)
_DATE = re.compile(r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_TIME = re.compile(r"(?<!\d)\d{1,2}:\d\d(?!\d)")
_AMOUNT = re.compile(r"[$€£¥₽]\s?\d|\d\s?[%€$£¥₽°]")
_NUMBER = re.compile(r"\d+")
_URL = re.compile(r"https?://\S+")
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\[\[[^\]\n]+\]\]|\[[^\]\n]+\]\([^)\n]+\)")
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
_FILE = re.compile(
    r"(?<![\w/])[\w.~-]*/?(?:[\w.-]+/)*[\w-]+\.[a-z][a-z0-9]{1,4}(?!\w)|(?<!\w)[/~][\w.-]+/[\w./-]+"
)
_IDENTIFIER = re.compile(r"\b(?:[a-z]+[A-Z]\w*|\w+_\w+|[A-Za-z]+\d\w*|\d+[A-Za-z]\w*)\b")
_SLOT = re.compile(
    r"\[[^\]\n(]{2,40}\](?!\()|<[A-Za-z_][^<>\n]{1,40}>|\{\{?[^{}\n]{1,40}\}|_{3,}|\.{3}|…|YYYY|\bX{2,}\b"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_EMOJI = re.compile(r"[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_ARROW = re.compile(r"→|->|=>|⇒|➜")
_CALL = re.compile(r"\w\([^)\n]*\)|[{};]|\s--?[a-z][\w-]*|&&|\|\|")
_BRACKETS = re.compile("[()（）\\[\\]]")
_ENDINGS = (".", "!", "?", ":", ",", "…", "。", "！", "？", "：", ")", "`", "*")
_TENSES = ("ed", "ing", "s", "ly")


def unit_features(turns: Sequence[Turn], units: Sequence[Unit]) -> list[list[float]]:
    """The features of the units of one document or chat, a row each.

    Args:
        turns: All turns of it, in order.
        units: All units of those turns, in order.

    >>> from clsm_cli.model.episodes import Turn
    >>> row, = unit_features([Turn("k", "", "assistant", "- Rent: 900 euros.")], [Unit(0, 0, 18)])
    >>> len(row) == len(NAMES), row[NAMES.index("is item")], row[NAMES.index("numbers")]
    (True, 1.0, 0.69)
    """
    sections: dict[tuple[str, ...], list[int]] = {}
    for place, unit in enumerate(units):
        sections.setdefault(turns[unit.turn].heading, []).append(place)
    texts = [turns[unit.turn].text[unit.start : unit.end] for unit in units]
    shapes = [_shape(text) for text in texts]
    rows: list[list[float]] = []
    for place, unit in enumerate(units):
        siblings = sections[turns[unit.turn].heading]
        around = [
            shapes[near] if 0 <= near < len(units) else _NOTHING for near in (place - 1, place + 1)
        ]
        alike = [shapes[each] for each in siblings[:60]]
        inside = _inside(texts[place])
        where = _where(turns, unit)
        near = [
            _log(len(siblings)),
            siblings.index(place) / max(1, len(siblings) - 1),
            sum(shape.is_item for shape in alike) / len(alike),
            sum(shape.has_label for shape in alike) / len(alike),
            sum(_log(shape.length) for shape in alike) / len(alike),
            sum(shape.has_box for shape in alike) / len(alike),
            *(
                value
                for shape in around
                for value in (_log(shape.length), shape.is_item, shape.has_label)
            ),
        ]
        rows.append([round(float(value), 4) for value in (*inside, *where, *near)])
    return rows


class _Shape(NamedTuple):
    length: int
    is_item: bool
    has_label: bool
    has_box: bool


_NOTHING = _Shape(0, False, False, False)


def _shape(raw: str) -> _Shape:
    item = _ITEM.match(raw)
    body = raw[item.end() :] if item else raw
    return _Shape(
        len(body), item is not None, _LABEL.match(body) is not None, bool(_BOX.match(body))
    )


def _inside(raw: str) -> list[float]:
    """What the text itself shows."""
    item = _ITEM.match(raw)
    body = raw[item.end() :] if item else raw.strip()
    box = _BOX.match(body)
    body = body[box.end() :].strip() if box else body.strip()
    label = _LABEL.match(body)
    behind = body[label.end() :].strip() if label else body
    text = to_plain(raw)
    words = _WORD.findall(text)
    wide = len(_WIDE.findall(text))
    letters = sum(map(len, words))
    size = max(1, len(body))
    count = max(1, len(words))
    first = body.lstrip("*_`\"'“(")[:1]
    last = body.rstrip()[-1:]
    return [
        _log(len(text)),
        _log(len(words) + wide / 2),
        _log(len(behind)) if label else 0.0,
        letters / count,
        len({word.lower() for word in words}) / count,
        letters / size,
        sum(c.isdigit() for c in body) / size,
        sum(c.isupper() for c in body) / size,
        sum(not (c.isalnum() or c.isspace()) for c in body) / size,
        wide / size,
        bool(_CYRILLIC.search(text)),
        sum(ord(c) > 127 and c.isalpha() for c in text) / size,
        item is not None,
        item is not None and item.group(1) is None,
        raw[:1] in " \t",
        raw.lstrip().startswith("|"),
        raw.lstrip().startswith(">"),
        raw.lstrip().startswith(("```", "~~~", "    ")),
        box is not None,
        box is not None and box.group(1) != " ",
        label is not None,
        label is not None and label.group(1) is not None,
        label is not None and not behind.strip("*:： |-—"),
        label is not None and label.group(2) is not None and not body.startswith("*"),
        len(label.group()) / size if label else 0.0,
        first.isupper(),
        first.islower(),
        first.isdigit(),
        bool(first) and not first.isalnum(),
        *(last == mark for mark in _ENDINGS),
        *_signs(body),
        *_words(text, words),
        stock_share(raw),
    ]


def _signs(body: str) -> list[float]:
    """How often marks, figures and names of things stand in it."""
    return [
        *(
            _log(len(pattern.findall(body)))
            for pattern in (
                _DATE,
                _TIME,
                _AMOUNT,
                _NUMBER,
                _URL,
                _CODE,
                _LINK,
                _BOLD,
                _FILE,
                _IDENTIFIER,
                _SLOT,
                _EMOJI,
                _ARROW,
                _CALL,
                _BRACKETS,
            )
        ),
        bool(_EMOJI.match(body)),
        bool(_DATE.match(body)),
        bool(_TIME.match(body)),
        _log(body.count(",") + body.count("，") + body.count("、")),
        _log(body.count('"') + body.count("“") + body.count("”") + body.count("「")),
        "—" in body or " - " in body or "–" in body,
        "?" in body or "？" in body,
        "!" in body or "！" in body,
        ";" in body or "；" in body,
        "'" in body or "’" in body,
        _log(body.count("|")),
        _log(body.count("\n")),
    ]


def _words(text: str, words: Sequence[str]) -> list[float]:
    """What its words look like."""
    later = words[1:]
    lower = [word.lower() for word in words]
    count = max(1, len(words))
    return [
        _log(sum(word[0].isupper() for word in later)),
        sum(word[0].isupper() for word in later) / max(1, len(later)),
        _log(sum(word.isupper() and len(word) > 1 for word in words)),
        sum(word.isupper() for word in words) / count,
        sum(len(word) == 1 and word.isupper() for word in words) / count,
        sum(len(word) < 4 for word in words) / count,
        *(sum(word.endswith(end) for word in lower) / count for end in _TENSES),
        bool(words) and lower[0].endswith("ed"),
        bool(words) and lower[0].endswith("ing"),
        _log(sum(text.count(mark) for mark in (". ", "! ", "? ", "。"))),
    ]


def _where(turns: Sequence[Turn], unit: Unit) -> list[float]:
    """Where a unit stands, and who says it.

    How long the document is, and where in it the unit stands, is left out: a note of three lines is
    worth as much as one of three hundred.
    """
    turn = turns[unit.turn]
    heading = turn.heading[-1] if turn.heading else ""
    path = " ".join(turn.heading)
    speaker = turn.speaker
    return [
        _log(unit.number),
        _log(unit.total),
        unit.total - 1 == unit.number,
        len(turn.heading),
        _log(len(heading)),
        bool(_DATE.search(path)),
        bool(_DATE.search(heading)),
        bool(_TIME.search(path)),
        any(c.isdigit() for c in heading),
        bool(_EMOJI.search(heading)),
        heading.endswith(("?", "？")),
        ":" in heading or "：" in heading,
        bool(re.match(r"\d+[.)]", heading)),
        heading.isupper(),
        sum(word[0].isupper() for word in _WORD.findall(heading)),
        bool(speaker),
        turn.role == "user",
        turn.role == "assistant" and bool(speaker),
        turn.trust == "user",
    ]


def _log(value: float) -> float:
    """The logarithm of one more, to two decimals.

    >>> _log(0), _log(9)
    (0.0, 2.3)
    """
    return round(math.log1p(value), 2)


NAMES: tuple[str, ...] = (
    "length", "words", "length behind label", "word length", "distinct", "letters", "digits",
    "capitals", "marks", "wide", "cyrillic", "other letters", "is item", "is numbered",
    "is indented", "is row", "is quote", "is code", "has box", "is done", "has label",
    "has bold label", "has empty label", "has plain label", "label share", "starts upper",
    "starts lower", "starts digit", "starts mark",
    *(f"ends {mark}" for mark in _ENDINGS),
    "dates", "times", "amounts", "numbers", "addresses", "code spans", "links", "bold spans",
    "files", "identifiers", "slots", "emoji", "arrows", "calls", "brackets",
    "starts emoji", "starts date", "starts time", "commas", "quotes", "dash", "asks", "exclaims",
    "semicolon", "apostrophe", "bars", "lines", "capitalised", "capitalised share", "shouted",
    "shouted share", "single capitals", "short words",
    *(f"-{end}" for end in _TENSES),
    "first -ed", "first -ing", "sentences", "stock",
    "number", "pieces", "is last piece", "depth", "heading length", "dated path", "dated heading", "timed path",
    "heading digits", "heading emoji", "heading asks", "heading colon", "numbered heading",
    "heading shouts", "heading capitals", "has speaker", "is user", "is assistant", "user trust",
    "siblings", "place among siblings", "sibling items", "sibling labels", "sibling length",
    "sibling boxes", "length before", "item before", "label before", "length after", "item after",
    "label after",
)  # fmt: skip
"""What each number is."""
