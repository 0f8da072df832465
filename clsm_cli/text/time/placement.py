"""Where a day without a year lies: ahead, behind, in every year, or nowhere.

"Dentist on 4 November", "we met on 9 May", "born on 3 June", "12 April Street": a logistic regression over
the words and marks around the day, its form, and how far away its two readings are gives the probability of
each. ``scripts/fit_days.py`` fits the weights.
"""

import math
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import groupby, pairwise

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled, word_list
from clsm_cli.text.tokens import STOP_WORDS

WEIGHTS = os.path.join(os.path.dirname(__file__), "placement.bin")
SLOTS = 1 << 14  # number of weights; a feature has the one at its CRC-32 modulo this
SCALE = 128  # a weight is stored as a whole number of these parts, from -1 to 1
EVERY = "day"  # the feature of every day
_REACH, _FAR = 240, 20  # context of a day: characters on each side, words of other sentences
_TOKEN = r"\d+|[^\W\d_]+(?:'[^\W\d_]+)*|~~|\*\*|[^\w\s]|_"
_SENTENCE_END = r"[.!?;]+(?=\s|$)|\n"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_WORDS = frozenset(("may", "mar", "sun", "sat", "wed", "fri"))  # names only with a capital
_LINE = r"\s*(?:(?P<item>[-*+\u2022]|\d+[.)])\s+)?(?P<box>\[.\])?(?P<heading>#+)?(?P<cell>\|)?(?P<quotation>>)?"
_QUOTED = r"(?:^|[\s(])['\u2018]\w[^'\u2019]*$"
_CLAUSE_MARKS = frozenset(",:()\u2013\u2014-|")
_BANDS, _DISTANCES = (1, 2, 3, 5, 9, 999), (0, 7, 14, 30, 60, 92, 183, 275, 9999)  # words; days
_PASTS = frozenset(word_list("pasts"))
_FUNCTION = STOP_WORDS.union(word_list("function"), ("M", "W", "year"))
_TENSES = {
    word: tense
    for tense, words in (
        ("present", "is are am do does"),
        ("future", "will shall gonna won't"),
        ("perfect", "has have"),
        ("past", "had was were did"),
        ("must", "can must"),
        ("open", "may might could would should"),
    )
    for word in words.split()
}
_SHORT_TENSES = {"ll": "future", "ve": "perfect", "d": "open"}


class Chances(NamedTuple):
    """Probabilities of the places of a day without a year."""

    ahead: float
    behind: float
    recurs: float
    none: float  # asked, denied, told by others, of a thing, or part of a name

    @property
    def comes(self) -> float:
        """Probability that the next occurrence is meant, once or in every year."""
        return self.ahead + self.recurs


class Sentence(NamedTuple):
    """The words of a day's sentence before and after it, nearest last and first."""

    before: list[str]
    after: list[str]
    stop: str  # the mark that ends it


def chances(text: str, start: int, end: int, away: tuple[int, int]) -> Chances:
    """Where a day at some offsets of a text lies.

    Args:
        text: The text around the day.
        start: Where the day begins; ``end`` is where it ends.
        end: See ``start``.
        away: Days to its coming and from its last occurrence.

    >>> told = "It is due on 4 May.", "We met on 4 May.", "The road of 4 May Street"
    >>> for text in told:
    ...     found = chances(text, text.index("4"), text.index("4") + 5, (30, 335))
    ...     print(found._fields[found.index(max(found))])
    ahead
    behind
    none
    """
    places = slots(day_features(text, start, end, away))
    totals = [sum(map(kind.__getitem__, places)) for kind in stored_weights()]
    most = max(totals)
    shares = [math.exp((total - most) / SCALE) for total in totals]
    whole = sum(shares)
    return Chances(*(share / whole for share in shares))


def slots(names: Iterable[str]) -> set[int]:
    """Places of features' weights (Weinberger et al., ICML 2009, "Feature hashing"); half an emoji is a "?"."""
    written = "\n".join(names).encode(errors="replace").split(b"\n")
    return {number % SLOTS for number in map(zlib.crc32, written)}


@cache
def stored_weights() -> tuple[memoryview, ...]:
    """The weights of each of the ``Chances`` in parts of 1 / ``SCALE``, ``SLOTS`` signed bytes."""
    with open(WEIGHTS, "rb") as stream:
        whole = memoryview(stream.read()).cast("b")
    return tuple(whole[start : start + SLOTS] for start in range(0, len(whole), SLOTS))


def day_features(text: str, start: int, end: int, away: tuple[int, int]) -> list[str]:
    """The names of a day's features; the arguments are those of ``chances``."""
    lead, rest = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    ends = list(compiled(_SENTENCE_END).finditer(lead))
    begin = ends[-1].end() if ends else 0
    stop = compiled(_SENTENCE_END).search(rest)
    close = stop.start() if stop else len(rest)
    sentence = Sentence(
        _words(lead[begin:]), _words(rest[:close]), stop.group()[0] if stop else "$"
    )
    form = _form(text[start:end])
    names = [EVERY, f"form {form}", *_marks(lead, lead[begin:], rest), *_neighbours(sentence, form)]
    names += _side(sentence.before[::-1], "<")
    names += _side(sentence.after, ">")
    names += (f"any {word}" for word in {*sentence.before, *sentence.after})
    names += (f"far< {word}" for word in {*_words(lead[:begin])[-_FAR:]})
    names += (f"far> {word}" for word in {*_words(rest[close:])[:_FAR]})
    if "?" in sentence.after or sentence.stop == "?":
        names.append("asks")
    names += _skeleton(sentence)
    names += _tenses(sentence, form, away)
    return names


def _words(text: str) -> list[str]:
    return [_word(each) for each in compiled(_TOKEN).findall(text.replace("\u2019", "'"))]


@lru_cache(maxsize=4096)
def _word(token: str) -> str:
    """A token in lower case; months and weekdays as ``M`` and ``W``, numbers by their length."""
    if token[0].isdigit():
        return "year" if len(token) == 4 and token[:2] in ("19", "20") else "9" * min(4, len(token))
    word = token.lower()
    if word in _WORDS and token[0].islower():
        return word
    if compiled(_MONTH).fullmatch(word):
        return "M"
    return "W" if compiled(_WEEKDAY).fullmatch(word) else word


@lru_cache(maxsize=256)
def _form(day: str) -> str:
    """A day without its values: "W, 9 M", "in M", "M 9th"."""
    named = compiled(rf"\b{_MONTH}\b").sub("M", day.lower())
    return compiled(r"\d+").sub("9", compiled(rf"\b{_WEEKDAY}\b").sub("W", named))


def _band(bounds: Sequence[int], value: int) -> int:
    return next(bound for bound in bounds if value <= bound)


def _marks(lead: str, before: str, rest: str) -> Iterator[str]:
    """Marks of the line, and those in which the day stands."""
    after = rest.lstrip(" ")[:1]
    if after.isupper():
        yield from ("capital >", f"capital > {before.strip() == ''}")
    if rest[:1].strip():
        yield f"touches > {rest[0]}"
    if lead[-1:].strip():
        yield f"touches < {lead[-1]}"
    line = compiled(_LINE).match(lead, lead.rfind("\n") + 1)
    for name, mark in (line.groupdict() if line else {}).items():
        if mark:
            yield f"{name} {mark if name == 'box' else ''}"
    opened = {
        "quoted": before.count('"') % 2 or before.count("\u201c") > before.count("\u201d"),
        "quoted '": compiled(_QUOTED).search(before),
        "struck": lead.count("~~") % 2,
        "bracket": lead.count("(") > lead.count(")"),
        "code": lead.count("`") % 2,
    }
    yield from (name for name, is_open in opened.items() if is_open)


def _neighbours(sentence: Sentence, form: str) -> Iterator[str]:
    """The words right beside a day together, and where in its sentence it stands."""
    before = ["^", "^", *sentence.before]
    after = [*sentence.after, f"${sentence.stop}", "$"]
    yield from (f"stop {sentence.stop}", f"{before[-1]} @ {after[0]}")
    yield from (f"{before[-1]} {form}", f"{form} {after[0]}")
    yield from (f"{before[-2]} {before[-1]} @", f"@ {after[0]} {after[1]}")
    yield f"before {_band(_BANDS, len(sentence.before))}"
    yield f"after {_band(_BANDS, len(sentence.after))}"


def _side(words: Sequence[str], side: str) -> Iterator[str]:
    """The words on one side of a day, from the nearest on, with their distance and clause."""
    is_same = True
    for place, word in enumerate(words):
        band = _band(_BANDS, place + 1)
        is_same = is_same and word not in _CLAUSE_MARKS
        yield from (f"{word} {side}", f"{word} {side}{band}")
        if is_same:
            yield f"{word} {side} near"
        if len(word) > 3 and word.isalpha():
            yield from (f"{word[:4]}~ {side}", f"~{word[-2:]} {side}{band}")
    yield from (f"{one} {other} {side}{side}" for one, other in pairwise(words))


@lru_cache(maxsize=4096)
def _tense(word: str) -> str:
    """The tense that a word of a verb may show."""
    if "'" in word:
        first, _, last = word.rpartition("'")
        return "denied" if last == "t" and first.endswith("n") else _SHORT_TENSES.get(last, "")
    if word in _TENSES:
        return _TENSES[word]
    if word in _PASTS:
        return "past"
    if len(word) > 3 and word.endswith("ed") and not word.endswith("eed"):
        return "ed"
    return "ing" if len(word) > 4 and word.endswith("ing") else ""


def _skeleton(sentence: Sentence) -> Iterator[str]:
    """The function words, marks and tenses next to a day, with "x" for all other words."""
    before = ["^", *_frame(sentence.before)]
    after = [*_frame(sentence.after), "$"]
    yield from (f"frame {' '.join(before[-n:])} @" for n in (2, 3, 4, 5))
    yield from (f"frame @ {' '.join(after[:n])}" for n in (2, 3, 4))
    yield from (f"frame {' '.join(before[-n:])} @ {' '.join(after[:n])}" for n in (1, 2))
    for side, words in (("<", before), (">", after)):
        yield from (f"frame {side} {' '.join(words[n : n + 3])}" for n in range(len(words) - 2))


def _frame(words: Iterable[str]) -> list[str]:
    kinds = (
        word if word in _FUNCTION or not word[0].isalpha() else _tense(word).upper() or "x"
        for word in words
    )
    return [kind for kind, _ in groupby(kinds)]


def _tenses(sentence: Sentence, form: str, away: tuple[int, int]) -> Iterator[str]:
    """The tenses nearest to a day, and how far away its readings are."""
    before = list(filter(None, map(_tense, sentence.before)))
    after = list(filter(None, map(_tense, sentence.after)))
    last, following = before[-1] if before else "-", after[0] if after else "-"
    word = sentence.before[-1] if sentence.before else "^"
    both = f"{last} {following}"
    yield from (f"tense {last} @", f"tense @ {following}", f"tense {both}", f"tense {both} {word}")
    yield from (f"tenses {' '.join(before[-3:])} @", f"tenses @ {' '.join(after[:3])}")
    yield from (f"tense {last} {form}", f"tense {last} {word}", f"tense @ {following} {word}")
    yield from (f"tense any {each}" for each in {*before, *after})
    coming, gone = away
    nearer = "ahead" if coming < gone else "behind"
    far = _band(_DISTANCES, coming)
    yield from (f"coming {far}", f"gone {_band(_DISTANCES, gone)}", f"coming {far} {both}")
    yield from (f"nearer {nearer}", f"nearer {nearer} {both}")
