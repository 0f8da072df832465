"""Split prose and Markdown into sentences, by rules and in linear time.

Blocks first: a fenced code block, a heading and a table row are one unit each; list items and paragraphs
are split into sentences. A line that was not wrapped ends one, too. A full stop ends a sentence unless it
belongs to an abbreviation, initial, ordinal, code span or address. Where the form is ambiguous, the language
of the surrounding words decides.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import word_list
from clsm_cli.text.markdown_marks import ITEM
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clsm_cli.text.person_words import Language


class Span(NamedTuple):
    """A part of a text, in characters: ``text[start:end]``."""

    start: int
    end: int


_TITLES = frozenset(word_list("before a name"))
_ABBREVIATIONS = frozenset(word_list("abbreviations"))
_BEFORE_WORD = frozenset(word_list("before a word", "sentence_ends"))
_FOREIGN_ABBREVIATIONS = frozenset(word_list("abbreviations", "sentence_ends"))
_ALL_ABBREVIATIONS = _ABBREVIATIONS | _BEFORE_WORD | _FOREIGN_ABBREVIATIONS
_MONTHS = frozenset(word_list("months", "sentence_ends"))
# "No. 5", but "He said no. Then he left."
_BEFORE_NUMBER = frozenset({"no", "nos", "nr", "art", "p", "par", "ver"})

_CLOSERS = "\"')\\]}*_\u00bb\u201d\u2019"
# The look-behind prevents a retry from each character of a long run of marks.
_END = re.compile(
    rf"(?<![.!?\u2026])[.!?\u2026]++[{_CLOSERS}]*+(?=\s)"
    "|[\u3002\uff01\uff1f\uff61]++[\u300d\u300f\u201d\u2019\uff09\u3011]*+"
)
_CODE = re.compile(r"`[^`\n]+`")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_ITEM = re.compile(rf"[ \t]*{ITEM}[ \t]+")
_SINGLE_LINE_BLOCK = re.compile(r" {0,3}(?:#{1,6}[ \t]|\||(?:-{3,}|={3,}|\*{3,}|_{3,})[ \t]*$)")


def split(text: str) -> list[Span]:
    """Return the spans of the sentences of a text, in order.

    Every non-blank character lies in exactly one span; no span starts or ends with a blank.

    >>> [text[a:b] for text in ["Dr. Wu left. Why? See v1.2."] for a, b in split(text)]
    ['Dr. Wu left.', 'Why?', 'See v1.2.']
    """
    return [span for block in split_blocks(text) for span in block]


def split_blocks(text: str) -> Iterator[list[Span]]:
    r"""The same, a list for each block: an item, a paragraph, a table row, a heading, a fenced code block.

    >>> [len(block) for block in split_blocks("- Due. Pay it.\nAda left the flat.")]
    [2, 1]
    """
    found = ((_sentences if prose else _trimmed)(text, a, b) for a, b, prose in blocks(text))
    return filter(None, found)


def ensure_full_stop(sentence: str) -> str:
    """Append a full stop to a sentence without end punctuation, such as a list item.

    >>> ensure_full_stop("He came (late!)"), ensure_full_stop("Lift: 9 euros")
    ('He came (late!)', 'Lift: 9 euros.')
    """
    return sentence if re.search(r"[.!?…。！？]\W{0,4}$", sentence) else f"{sentence}."


_QUESTION_END = re.compile(r"[?？؟][\W_]*$")


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark, possibly followed by closing marks.

    >>> is_question('"Is it raining?"'), is_question("Is it raining? It is.")
    (True, False)
    """
    return _QUESTION_END.search(text[-40:]) is not None


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, unchanged."""
    return [text[start:end] for start, end in split(text)]


def sentence_naming(text: str, names: Iterable[str]) -> str:
    """The first sentence of a text that has most words of some names; "" of an empty text.

    >>> sentence_naming("It rained. Her boss is Ruben Maes. Ruben sails.", ["Ruben Maes"])
    'Her boss is Ruben Maes.'
    """
    words = {word for name in names for word in stems(name)}
    return max(sentences(text), key=lambda each: len(words.intersection(stems(each))), default="")


_INSIDE_WORD = re.compile(r"(?<=[\w,;:] )[^\W\d_][\w-]+")


def capitals_inside(text: str) -> list[str]:
    """The distinct capitalised words inside the sentences of a text.

    >>> capitals_inside("Wo wohnt Émile übrigens, und wo Ötzi?")
    ['Émile', 'Ötzi']
    """
    return [word for word in dict.fromkeys(_INSIDE_WORD.findall(text)) if word[0].isupper()]


def blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each block of a text, and whether it is prose, which has sentences."""
    start = position = 0
    fence = before = ""
    lines = text.split("\n")
    width = max(map(len, lines))
    for line in lines:
        end = position + len(line)
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield start, end, False
                start, fence = end, ""
        elif opened := _FENCE.match(line):
            yield start, position, True
            start, fence = position, opened.group(1)
        elif _SINGLE_LINE_BLOCK.match(line):
            yield start, position, True
            yield position, end, False
            start = end
        elif _ITEM.match(line) or begins_anew(line, before, width):
            yield start, position, True
            start = position
        position, before = end + 1, line
    yield start, len(text), not fence


def begins_anew(line: str, before: str, width: int) -> bool:
    """Whether a line is blank, or the one before it was not wrapped: it had room for the word that begins this one.

    A line that is indented, quoted or in lower case goes on.

    Args:
        width: Characters of the longest line of the text.

    >>> begins_anew("Rent: 900", "Hall 3", 40), begins_anew("Rent", "We talked of the", 16)
    (True, False)
    """
    word = (line.split(maxsplit=1) or [""])[0]
    had_room = len(before) + 1 + len(word) <= width
    return not word or (
        had_room and line.startswith(word) and word[0] != ">" and not word[0].islower()
    )


def _trimmed(text: str, start: int, end: int) -> list[Span]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    return [Span(start, end)] if start < end else []


def _sentences(text: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    block = (start, end)
    marker = _ITEM.match(text, start, end)
    code = deque(match.span() for match in _CODE.finditer(text, start, end))
    for match in _END.finditer(text, marker.end() if marker else start, end):
        while code and code[0][1] <= match.start():
            code.popleft()
        inside = bool(code) and code[0][0] < match.start()
        if not inside and _is_end(text, match, start, block):
            spans += _trimmed(text, start, match.end())
            start = match.end()
    return spans + _trimmed(text, start, end)


_LAST_WORD = re.compile(r"[^\W_][\w.]*$")


def _is_end(text: str, match: re.Match[str], start: int, block: tuple[int, int]) -> bool:
    mark = match.group()
    following = text[match.end() : min(block[1], match.end() + 40)].lstrip()[:2]
    lower = following[:1].islower()
    if mark[-1] in "\"')]}\u00bb\u201d\u2019" and lower:
        return False  # "Really?" he said.
    if mark.startswith(("..", "\u2026")):
        # A pause, unless a new sentence plainly starts; "I" is always a capital.
        return following[:1].isupper() and following not in {"I ", "I'", "I\u2019"}
    if mark[0] != ".":
        return True
    if text[start : match.start()].strip("*_(> ").isdigit():
        return False  # the number of a point, as in "**1. Point**"
    before = _LAST_WORD.search(text[max(start, match.start() - 20) : match.start()])
    return before is None or (
        not _continues(text, before.group(), match.start(), start, block)
        and _ends_sentence(before.group(), following, lower=lower)
    )


def _ends_sentence(word: str, following: str, *, lower: bool) -> bool:
    """Whether a full stop after ``word`` ends the sentence by the rules of English."""
    folded = word.lower()
    if folded in _TITLES or (len(word) == 1 and word.isupper() and word != "I"):
        return False
    if folded in _BEFORE_NUMBER:
        return not following[:1].isdigit()
    if folded in _ABBREVIATIONS:
        return not lower and not following[:1].isdigit()
    if lower and "." in word:
        return False  # "v1.2. of the firmware"
    initials = "." in word and all(len(part) == 1 for part in word.split("."))
    return not (initials and word[0].isalpha())


_NEXT_WORD = re.compile(r"\.[*_\"')\]]*\s+[(\"'\u201e\u201c\u00ab*_]*(?:([^\W\d_]+)(\.?)|[0-9])")
_ORDINAL = re.compile(r"[0-9]{1,3}|[IVX]{1,6}|[^\W\d_]")
_OPENERS = " \t\n(\"'\u201e\u201c\u00ab*_"
_LETTER_PAIR = re.compile(r"(?<!\w)[^\W\d_]\.\s[^\W\d_]\Z")
_LETTER = re.compile(r"[^\W\d_]")
_INFLECTED = re.compile(
    rf"(?<!\w)(?:{'|'.join(word_list('before an ordinal', 'sentence_ends'))})\s"
    r"(?:[0-9]{1,3}\.?,?\s(?:(?:und|oder|bis)\s)?){0,3}\Z",
    re.IGNORECASE,
)
_DATE_END = re.compile(r"\s[0-9]{4}\b|\s*(?:[,;)]|\Z)")
"""What follows the month of a date that stands alone."""


class _FullStop(NamedTuple):
    text: str
    start: int  # of the sentence
    block: tuple[int, int]
    word: str  # before the stop
    at: int  # centre of the language detection: at a number, or after an abbreviation
    next: re.Match[str]

    @property
    def around(self) -> str:
        first, last = self.block
        return self.text[max(first, self.at - _CONTEXT_CHARS) : min(last, self.at + _CONTEXT_CHARS)]

    def languages(self) -> dict[str, Language]:
        """The most likely languages of the surrounding words."""
        from clsm_cli.text.person_words import leading_languages

        return leading_languages(self.around)

    def is_english(self) -> bool:
        return {*self.languages()} == {"english"} and not _FOREIGN_LETTER.search(self.around)

    def is_before_noun(self) -> bool:
        """Whether the next word has its capital as a German noun, not as the start of a sentence."""
        german = self.languages().get("german")
        return german is not None and not german.is_function_word(self.next[1].lower())


def _continues(text: str, word: str, place: int, start: int, block: tuple[int, int]) -> bool:
    """Whether a full stop after ``word`` belongs to a non-English abbreviation or an ordinal.

    It depends on the word and on the next one:

    =====================  =================  ===================================================
    the word               the next one       the sentence continues
    =====================  =================  ===================================================
    stands before another  any                outside English; in English after titles ("Sra. Ruiz")
    other abbreviation     capitalised        if that is a German noun
    other abbreviation     lower case, digit  if the abbreviation is not an English one
    lower-case letter      short              always ("z. B. so", "v. Chr.")
    number or letter       month, lower case  always, after digits
    number or letter       other, lower case  outside English, if the sentence begins with a capital
    number or letter       Month              after digits: outside English, or if the date is alone
    number or letter       other, with        if that is a German noun after an ordinal with
                           a capital          an inflected word before it ("am 3. Tag")
    =====================  =================  ===================================================
    """
    is_short = word.lower() in _ALL_ABBREVIATIONS and not word.isupper()
    following = _NEXT_WORD.match(text, place, block[1])
    if following is None or not (is_short or _ORDINAL.fullmatch(word)):
        return False
    if is_short:
        return _is_abbreviation(_FullStop(text, start, block, word, place, following))
    if following[1] is None:
        return False
    stop = _FullStop(text, start, block, word, place - len(word), following)
    is_apart = stop.at == start or text[stop.at - 1] in _OPENERS  # and not "10:06", "glm-5"
    return _is_in_pair(stop, place) or (is_apart and _is_ordinal(stop))


def _is_abbreviation(stop: _FullStop) -> bool:
    folded, following = stop.word.lower(), stop.next[1]
    if folded in _BEFORE_WORD:
        # not "np. I will" and "John Smith Sr. Then"
        is_title = stop.word[0].isupper() and folded not in _ABBREVIATIONS
        return is_title or not stop.is_english()
    if following is None or following[0].islower():
        return folded in _FOREIGN_ABBREVIATIONS
    return stop.is_before_noun()


def _is_in_pair(stop: _FullStop, place: int) -> bool:
    """Whether a single letter and a short word next to it form one abbreviation."""
    short = stop.next[1].lower()
    if stop.next[2] and (len(short) == 1 or short in _ALL_ABBREVIATIONS):
        return True
    return _LETTER_PAIR.search(stop.text[max(stop.start, place - 4) : place]) is not None


def _is_ordinal(stop: _FullStop) -> bool:
    """Whether a number and its full stop are an ordinal of the word after it."""
    text, at, following = stop.text, stop.at, stop.next[1]
    month = following.lower()
    is_date = month in _MONTHS and text[at].isdigit()
    if following[0].islower():
        # If the sentence begins with a capital, the next one would, too.
        first = _LETTER.search(text, stop.start, at)
        return is_date or (first is not None and first[0].isupper() and not stop.is_english())
    is_inflected = _INFLECTED.search(text[max(stop.start, at - 40) : at]) is not None
    if not is_date:
        return is_inflected and stop.is_before_noun()
    if languages := stop.languages():
        return "english" not in languages
    return _DATE_END.match(text, stop.next.end(1), stop.block[1]) is not None


_CONTEXT_CHARS = 120  # characters before and after a full stop from which the language is detected
_FOREIGN_LETTER = re.compile(r"(?=[^\x00-\x7f])[^\W\d_]")
