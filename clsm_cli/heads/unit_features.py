"""Features of a unit (sentence, list item, row): its place, its marks, the form of its words.

No feature depends on a word of any language: the mean word embedding is a separate input
(``embedding/wordpiece``).
"""

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from clsm_cli.model.episodes import Turn
from clsm_cli.model.grouping import grouped
from clsm_cli.text.markdown_marks import BOX, ITEM
from clsm_cli.text.plain import plain_words, to_plain
from clsm_cli.text.sentences import sentences


class Unit(NamedTuple):
    """A sentence, list item or row of a turn.

    Attributes:
        turn: Index of its turn in the document or chat.
        start: Offset of its first character in the turn's text.
        end: Offset after its last character.
        number: Its index among the units of its turn.
        total: Number of units of its turn.
    """

    turn: int
    start: int
    end: int
    number: int = 0
    total: int = 1


_ITEM = re.compile(rf"[ \t]*{ITEM}[ \t]+")
_BOX = re.compile(BOX)
_LABEL = re.compile(
    r"(?:\*\*|__)([^*_\n]{1,60})(?:\*\*|__)\s?[:：]?|([^:：\n.!?]{1,40})[:：](?=\s|$)"
)
_DATE = re.compile(r"\d{4}[-/.年]\d{1,2}(?:[-/.月]\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
TIME = re.compile(r"(?<!\d)\d{1,2}:\d\d(?!\d)")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_EMOJI = re.compile(r"[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_COUNTED = {
    "dates": _DATE,
    "times": TIME,
    "amounts": re.compile(r"[$€£¥₽]\s?\d|\d\s?[%€$£¥₽°]"),
    "numbers": re.compile(r"\d+"),
    "addresses": re.compile(r"https?://\S+"),
    "code spans": re.compile(r"`[^`\n]+`"),
    "links": re.compile(r"\[\[[^\]\n]+\]\]|\[[^\]\n]+\]\([^)\n]+\)"),
    "bold spans": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
    "files": re.compile(
        r"(?<![\w/])[\w.~-]*/?(?:[\w.-]+/)*[\w-]+\.[a-z][a-z0-9]{1,4}(?!\w)|(?<!\w)[/~][\w.-]+/[\w./-]+"
    ),
    "identifiers": re.compile(r"\b(?:[a-z]+[A-Z]\w*|\w+_\w+|[A-Za-z]+\d\w*|\d+[A-Za-z]\w*)\b"),
    "slots": re.compile(
        r"\[[^\]\n(]{2,40}\](?!\()|<[A-Za-z_][^<>\n]{1,40}>|\{\{?[^{}\n]{1,40}\}|_{3,}|\.{3}|…|YYYY|\bX{2,}\b"
    ),
    "emoji": _EMOJI,
    "arrows": re.compile(r"→|->|=>|⇒|➜"),
    "calls": re.compile(r"\w\([^)\n]*\)|[{};]|\s--?[a-z][\w-]*|&&|\|\|"),
    "brackets": re.compile("[()（）\\[\\]]"),
}
"""Patterns whose occurrences are counted."""
_ENDINGS = (".", "!", "?", ":", ",", "…", "。", "！", "？", "：", ")", "`", "*")
_SUFFIXES = ("ed", "ing", "s", "ly")
_MIN_WORDS = 3
"""Minimum words of a stock sentence; shorter ones coincide by chance."""


def unit_features(turns: Sequence[Turn], units: Sequence[Unit]) -> list[list[float]]:
    """Features of all units of one document or chat, a row per unit in the order of ``NAMES``.

    >>> row, = unit_features([Turn("k", "", "assistant", "- Rent: 900 euros.")], [Unit(0, 0, 18)])
    >>> row[NAMES.index("is item")], row[NAMES.index("numbers")]
    (1.0, 0.69)
    """
    return [[round(float(value), 4) for value in row.values()] for row in _features(turns, units)]


def _features(turns: Sequence[Turn], units: Sequence[Unit]) -> Iterator[dict[str, float]]:
    """Feature name → value, for each unit."""
    sections = grouped((turns[unit.turn].heading, place) for place, unit in enumerate(units))
    numbers = {place: n for places in sections.values() for n, place in enumerate(places)}
    texts = [turns[unit.turn].text[unit.start : unit.end] for unit in units]
    shapes = [_shape(text) for text in texts]
    alike = {
        heading: _sibling_features([shapes[place] for place in places[:60]])
        for heading, places in sections.items()
    }
    for place, unit in enumerate(units):
        heading = turns[unit.turn].heading
        count = len(sections[heading])
        before = shapes[place - 1] if place else _NO_SHAPE
        after = shapes[place + 1] if place + 1 < len(units) else _NO_SHAPE
        yield {
            **_text_features(texts[place]),
            **_place_features(turns[unit.turn], unit),
            "siblings": log(count),
            "place among siblings": numbers[place] / max(1, count - 1),
            **alike[heading],
            "length before": log(before.length),
            "item before": before.is_item,
            "label before": before.has_label,
            "length after": log(after.length),
            "item after": after.is_item,
            "label after": after.has_label,
        }


class _Shape(NamedTuple):
    length: int
    is_item: bool
    has_label: bool
    has_box: bool


_NO_SHAPE = _Shape(0, False, False, False)


def _shape(raw: str) -> _Shape:
    item = _ITEM.match(raw)
    body = raw[item.end() :] if item else raw
    return _Shape(
        len(body), item is not None, _LABEL.match(body) is not None, bool(_BOX.match(body))
    )


def _sibling_features(shapes: Sequence[_Shape]) -> dict[str, float]:
    """Features of the units of one section together."""
    return {
        "sibling items": sum(shape.is_item for shape in shapes) / len(shapes),
        "sibling labels": sum(shape.has_label for shape in shapes) / len(shapes),
        "sibling length": sum(log(shape.length) for shape in shapes) / len(shapes),
        "sibling boxes": sum(shape.has_box for shape in shapes) / len(shapes),
    }


def _text_features(raw: str) -> dict[str, float]:
    """Features of the text itself."""
    item = _ITEM.match(raw)
    body = raw[item.end() :] if item else raw.strip()
    box = _BOX.match(body)
    body = body[box.end() :].strip() if box else body.strip()
    label = _LABEL.match(body)
    bold, plain = label.groups() if label else (None, None)
    behind = body[label.end() :].strip() if label else body
    text = to_plain(raw)
    words = _WORD.findall(text)
    wide = len(_WIDE.findall(text))
    letters = sum(map(len, words))
    size = max(1, len(body))
    count = max(1, len(words))
    first = body.lstrip("*_`\"'“(")[:1]
    last = body.rstrip()[-1:]
    return {
        "length": log(len(text)),
        "words": log(len(words) + wide / 2),
        "length behind label": log(len(behind)) if label else 0.0,
        "word length": letters / count,
        "distinct": len({word.lower() for word in words}) / count,
        "letters": letters / size,
        "digits": sum(map(str.isdigit, body)) / size,
        "capitals": sum(map(str.isupper, body)) / size,
        "marks": sum(not (c.isalnum() or c.isspace()) for c in body) / size,
        "wide": wide / size,
        "cyrillic": bool(_CYRILLIC.search(text)),
        "other letters": sum(ord(c) > 127 and c.isalpha() for c in text) / size,
        "is item": item is not None,
        "is numbered": item is not None and item.group().strip()[0].isdigit(),
        "is indented": raw[:1] in " \t",
        "is row": raw.lstrip().startswith("|"),
        "is quote": raw.lstrip().startswith(">"),
        "is code": raw.lstrip().startswith(("```", "~~~", "    ")),
        "has box": box is not None,
        "is done": box is not None and box.group() != "[ ]",
        "has label": label is not None,
        "has bold label": bold is not None,
        "has empty label": label is not None and not behind.strip("*:： |-—"),
        "has plain label": plain is not None and not body.startswith("*"),
        "label share": len(label.group()) / size if label else 0.0,
        "starts upper": first.isupper(),
        "starts lower": first.islower(),
        "starts digit": first.isdigit(),
        "starts mark": bool(first) and not first.isalnum(),
        **{f"ends {mark}": last == mark for mark in _ENDINGS},
        **_sign_features(body),
        **_word_features(text, words),
        "stock": stock_share(raw),
    }


def stock_share(text: str) -> float:
    """The share of a text's sentences that are stock sentences, 0 to 1.

    >>> stock_share("- **Be genuinely helpful, not performatively helpful.**"), stock_share("Ann came by.")
    (1.0, 0.0)
    """
    found = sentences(text)
    return sum(map(is_stock, found)) / max(1, len(found))


def is_stock(sentence: str) -> bool:
    """Whether a sentence stands in the workspaces of many owners, and so says nothing of this one."""
    return sentence_digest(sentence) in _digests()


def sentence_digest(sentence: str) -> str:
    """12 hexadecimal digits of the SHA-256 of a sentence's words; empty if it is too short.

    >>> sentence_digest("You own **it** all!") == sentence_digest("you own it all"), sentence_digest("Be nice.")
    (True, '')
    """
    words = plain_words(sentence)
    if words.count(" ") < _MIN_WORDS - 1:
        return ""
    return hashlib.sha256(words.encode()).hexdigest()[:12]


@cache
def _digests() -> frozenset[str]:
    text = (resources.files("clsm_cli.heads") / "weights" / "stock.txt").read_text("utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def _sign_features(body: str) -> dict[str, float]:
    """Counts of marks, numbers, links and the like."""
    return {
        **{name: log(len(pattern.findall(body))) for name, pattern in _COUNTED.items()},
        "starts emoji": bool(_EMOJI.match(body)),
        "starts date": bool(_DATE.match(body)),
        "starts time": bool(TIME.match(body)),
        "commas": log(body.count(",") + body.count("，") + body.count("、")),
        "quotes": log(body.count('"') + body.count("“") + body.count("”") + body.count("「")),
        "dash": "—" in body or " - " in body or "–" in body,
        "asks": "?" in body or "？" in body,
        "exclaims": "!" in body or "！" in body,
        "semicolon": ";" in body or "；" in body,
        "apostrophe": "'" in body or "’" in body,
        "bars": log(body.count("|")),
        "lines": log(body.count("\n")),
    }


def _word_features(text: str, words: Sequence[str]) -> dict[str, float]:
    """Features of the form of the words."""
    later = words[1:]
    lower = [word.lower() for word in words]
    count = max(1, len(words))
    return {
        "capitalised": log(sum(word[0].isupper() for word in later)),
        "capitalised share": sum(word[0].isupper() for word in later) / max(1, len(later)),
        "shouted": log(sum(word.isupper() and len(word) > 1 for word in words)),
        "shouted share": sum(word.isupper() for word in words) / count,
        "single capitals": sum(len(word) == 1 and word.isupper() for word in words) / count,
        "short words": sum(len(word) < 4 for word in words) / count,
        **{f"-{end}": sum(word.endswith(end) for word in lower) / count for end in _SUFFIXES},
        "first -ed": bool(words) and lower[0].endswith("ed"),
        "first -ing": bool(words) and lower[0].endswith("ing"),
        "sentences": log(sum(text.count(mark) for mark in (". ", "! ", "? ", "。"))),
    }


def _place_features(turn: Turn, unit: Unit) -> dict[str, float]:
    """Features of a unit's place and speaker.

    The length of the document and the position in it are left out: a note of three lines is worth as
    much as one of three hundred.
    """
    heading = turn.heading[-1] if turn.heading else ""
    path = " ".join(turn.heading)
    return {
        "number": log(unit.number),
        "pieces": log(unit.total),
        "is last piece": unit.total - 1 == unit.number,
        "depth": len(turn.heading),
        "heading length": log(len(heading)),
        "dated path": bool(_DATE.search(path)),
        "dated heading": bool(_DATE.search(heading)),
        "timed path": bool(TIME.search(path)),
        "heading digits": any(c.isdigit() for c in heading),
        "heading emoji": bool(_EMOJI.search(heading)),
        "heading asks": heading.endswith(("?", "？")),
        "heading colon": ":" in heading or "：" in heading,
        "numbered heading": bool(re.match(r"\d+[.)]", heading)),
        "heading shouts": heading.isupper(),
        "heading capitals": sum(word[0].isupper() for word in _WORD.findall(heading)),
        "has speaker": bool(turn.speaker),
        "is user": turn.role == "user",
        "is assistant": turn.role == "assistant" and bool(turn.speaker),
        "user trust": turn.trust == "user",
    }


def log(value: float) -> float:
    """``log(1 + value)``, to two decimals.

    >>> log(0), log(9)
    (0.0, 2.3)
    """
    return round(math.log1p(value), 2)


NAMES = tuple(next(_features([Turn("", "", "user", "-")], [Unit(0, 0, 1)])))
"""Feature names, in order."""
