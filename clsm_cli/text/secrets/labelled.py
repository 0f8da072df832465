"""Secrets without a form of their own, recognised by the label before them.

"The wifi password is …", "PIN: …", "contraseña: …", "user/pass: bob / …", and cells of tables under such
a heading. The words are data (``labels.tsv``: 76 languages, most from the translators of two projects);
what may stand between a word and the value, and what a value must look like, is written here.
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import table_rows
from clsm_cli.text.secrets import Secret, secret_values
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CLOSE = r"[\"'`*_)\]>]{0,4}"
_OPEN = r"[*_(]{0,3}"
_ENDING = r"[^\W\d_]{0,3}"
_OF = r"(?:[ \t](?!(?:%(be)s)\b)[^\s:=|.;!?,\"'`][^\s:=|.;!?,\"`]{0,19}){0,5}?"
"""What the secret is of, up to five words: "password for the router"."""
_LINK = (
    r"(?:[ \t]{0,4}(?:=>|:=|==?|::?|：|->|→)[*_]{0,3}[ \t]{0,4}(?:\n[ \t]{0,8})?"
    r"|[ \t]{1,3}(?:%(be)s)(?:[ \t]{0,2}[:：])?[ \t]{1,3}(?:[-–—][ \t]{1,3})?"
    r"|[ \t]{1,3}[-–—][ \t]{1,3}|(?:%(joined)s)[ \t]{0,3}|(?<=>))"
)
_QUOTED = (
    r"\"([^\"\n]{2,200})\"|'([^'\n]{2,200})'|`([^`\n]{2,200})`|“([^”\n]{2,200})”|«([^»\n]{2,200})»"
)
_BARE = r"([^\s\"'`,;<>(){}\[\]|&。，；]{3,400}+)(?![(\[{])"
_USER = r"[\"'`]?[\w.@+-]{1,60}[\"'`]?[ \t]{0,3}(?:[/:|,]|[ \t]and[ \t])[ \t]{0,3}"
_SPOKEN = re.compile(
    r"\b(?:log|sign)(?:ged|ned|ging|ning)?[ -]?(?:in|on|into)\b[^\n.]{0,60}?\bwith[ ]"
    r"(?:the[ ])?(?:password[ ]|pw[ ])?([^\s\"'`,;<>(){}\[\]|]{5,200}+)",
    re.IGNORECASE,
)
_SPOKEN_LEAST = 8
"""Characters of a password behind "log in … with": shorter ones are names of standards ("oauth2")."""
_WORDS_BY_LOT = re.compile(r"[^\W_]{2,}(?:[ -][^\W_]{2,}){2,11}(?=[.,;:!?)\"'`]|[ \t]*(?:\n|\Z))")
"""A passphrase up to the end of its sentence or line."""
_DIGITS = re.compile(r"\d(?:[ -]?\d){2,11}(?![\w-])")
_PHRASE = re.compile(r"(?:[a-z]{3,8}[ ,]{1,3}){11,23}[a-z]{3,8}\b")
_CODE = re.compile(
    r"(?=[A-Za-z-]*\d)[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){1,7}(?![\w-])|\d{3,5} \d{3,5}(?![\w-])"
)
_UNSPACED = 0x2E80
"""From this code point on (CJK, Hangul), words stand without blanks between them."""
_NEAR = 40
"""Characters on either side of "code" in which what it opens is named."""


def phrase_places(folded: str, words: str) -> Iterator[int]:
    """Where some words stand in a text."""
    place = folded.find(words)
    while place >= 0:
        yield place
        place = folded.find(words, place + len(words))


class Label(NamedTuple):
    """A word or phrase before a secret, as ``fold`` writes it; its class decides what may follow."""

    text: str
    kind: str


def _accentless(word: str) -> str:
    if word.isascii() or ord(max(word)) > 0x24F:
        return word
    import unicodedata

    split = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in split if not "̀" <= c <= "ͯ"))


@cache
def labels() -> tuple[Label, ...]:
    """All labels, the longest first, so that a phrase goes before a word in it."""
    found: dict[str, str] = {}
    for kind, _, words in table_rows("secrets/labels"):
        for word in map(fold, words.split("|")):
            for form in {word, word.replace(" ", ""), _accentless(word)}:
                found.setdefault(form, kind)
    chosen = [(text, kind) for text, kind in found.items() if kind in _TAILS]
    chosen.sort(key=lambda pair: (-len(pair[0]), pair[0]))
    return tuple(Label(text, kind) for text, kind in chosen)


@cache
def _words(kind: str) -> str:
    """The words of a class as alternatives of a pattern, the longest first."""
    words = {
        word for k, _, row in table_rows("secrets/labels") if k == kind for word in row.split("|")
    }
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))


@cache
def _tail(user: bool, plain: bool) -> re.Pattern[str]:
    """What may follow a label; ``plain`` lets a blank alone link it to the value."""
    words = {"be": _words("be"), "joined": _words("be joined")}
    link = _LINK % words
    if plain:
        link = rf"(?:{link}|[ \t]{{1,3}}|\n[ \t]{{0,8}})"
    before = _USER if user else ""
    return re.compile(
        rf"{_ENDING}{_CLOSE}{'' if plain else _OF % words}{link}{_OPEN}{before}(?:{_QUOTED}|{_BARE})",
        re.IGNORECASE,
    )


@cache
def _is_my() -> re.Pattern[str]:
    """Between a value and a label behind it: "… is my password"."""
    return re.compile(rf"[ \t](?:{_words('be')})[ \t](?:\w{{1,8}}[ \t]){{0,3}}\Z", re.IGNORECASE)


def _before(text: str, start: int) -> tuple[int, int] | None:
    link = _is_my().search(text, max(0, start - 40), start)
    if link is None:
        return None
    words = text[max(0, link.start() - 100) : link.start()].split()
    return (link.start() - len(words[-1]), link.start()) if words else None


class _Place(NamedTuple):
    """A label in a text: where it stands, and the text with its lower-case twin."""

    text: str
    folded: str
    start: int
    end: int


class _Value(NamedTuple):
    start: int
    end: int
    text: str
    is_quoted: bool

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


def _after(place: _Place, *, user: bool = False, plain: bool = False) -> _Value | None:
    """The value behind a label."""
    match = _tail(user=user, plain=plain).match(place.text, place.end)
    if match is None or not match.lastindex:
        return None
    start, end = match.span(match.lastindex)
    is_quoted = match.lastindex != match.re.groups
    end = end if is_quoted else _trimmed(place.text, start, end)
    return _Value(start, end, place.text[start:end], is_quoted)


def _trimmed(text: str, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1] in ".,:;*_)":
        end -= 1
    return end


def _password(place: _Place) -> tuple[int, int] | None:
    found = _after(place)
    if found and found.is_quoted and " " in found.text:
        is_set = "=" in place.text[place.end : found.start]
        is_set = is_set and secret_values.is_actual_value(found.text)
        return found.span if is_set or _is_passphrase(found.text) else None
    if found and place.folded[place.start : place.end] == "passphrase":
        words = _WORDS_BY_LOT.match(place.text, found.start)
        if words and _is_passphrase(words.group().replace("-", " ")):
            return words.span()
    if found and (
        secret_values.is_password(found.text) or (found.is_quoted and _is_chosen(found.text))
    ):
        return found.span
    found = _after(place, plain=True)
    if found and secret_values.is_strong(found.text):
        return found.span
    before = _before(place.text, place.start)
    if before and secret_values.is_strong(place.text[before[0] : before[1]]):
        return before
    return _code(place)


def _is_passphrase(value: str) -> bool:
    """Whether what is quoted behind "password:" is words drawn by lot, and no sentence about one."""
    words = value.split()
    return (
        3 <= len(words) <= 12
        and secret_values.is_actual_value(value)
        and all(word.isalnum() and len(word) > 1 for word in words)
        and STOP_WORDS.isdisjoint(word.lower() for word in words)
    )


def _is_chosen(value: str) -> bool:
    return len(value) >= 6 and secret_values.is_actual_value(value) and not value.isalpha()


def _key(place: _Place) -> tuple[int, int] | None:
    for plain in (False, True):
        if found := _after(place, plain=plain):
            least = 24 if plain else 12 if found.is_quoted else 16
            if len(found.text) >= least and secret_values.is_random(found.text):
                return found.span
    return None


def _lone_key(place: _Place) -> tuple[int, int] | None:
    """Behind "Key:" alone; the key of a table of values is shorter, or a word."""
    least = 16 if place.text[place.start - 1 : place.start] in ("_", "-") else 24
    found = _after(place)
    is_key = found and len(found.text) >= least and secret_values.is_random(found.text)
    return found.span if found and is_key else None


def _pin(place: _Place) -> tuple[int, int] | None:
    between = _between(_words("be"), _words("be joined")).match(place.text, place.end)
    match = _DIGITS.match(place.text, between.end()) if between else None
    return match.span() if match and 3 <= sum(map(str.isdigit, match.group())) <= 8 else None


@cache
def _between(be: str, joined: str) -> re.Pattern[str]:
    """What may stand between "PIN" and its digits."""
    of = _OF % {"be": be}
    link = _LINK % {"be": be, "joined": joined}
    return re.compile(rf"{_ENDING}{_CLOSE}(?:{of}{link}|[ \t]{{1,3}}){_OPEN}[\"'`]?", re.IGNORECASE)


def _code(place: _Place) -> tuple[int, int] | None:
    """A code is one where what it opens is named beside it."""
    before = place.folded[max(0, place.start - _NEAR) : place.end].rpartition("\n")[2]
    after = place.folded[place.end : place.end + _NEAR].partition("\n")[0]
    opening = re.compile(rf"(?<![a-z])(?:{_words('place')})")
    return _pin(place) if opening.search(before) or opening.search(after) else None


def _login(place: _Place) -> tuple[int, int] | None:
    found = _after(place, user=True)
    return found.span if found and secret_values.is_password(found.text) else None


def _user(place: _Place) -> tuple[int, int] | None:
    """Behind "user:" stands a name, and after it perhaps what can only be a password."""
    found = _after(place, user=True)
    return found.span if found and secret_values.is_strong(found.text) else None


def _behind(form: re.Pattern[str]) -> Callable[[_Place], tuple[int, int] | None]:
    """What has a form of its own, a few marks behind its label."""

    def find(place: _Place) -> tuple[int, int] | None:
        begin = re.compile(r"s?[^a-zA-Z0-9]{1,6}").match(place.text, place.end)
        match = form.match(place.text, begin.end()) if begin else None
        return match.span() if match else None

    return find


_TAILS: dict[str, tuple[str, Callable[[_Place], tuple[int, int] | None]]] = {
    "password": ("password", _password),
    "login": ("password", _login),
    "user": ("password", _user),
    "key": ("secret", _key),
    "lone key": ("secret", _lone_key),
    "pin": ("pin", _pin),
    "code": ("pin", _code),
    "words": ("seed", _behind(_PHRASE)),
    "recovery": ("recovery-code", _behind(_CODE)),
}
"""For each class of labels the kind of what follows, and what finds it."""


def find(text: str) -> list[Secret]:
    """The secrets of a text that a label announces."""
    folded = fold(text)
    found = [
        Secret(span[0], span[1], _TAILS[label.kind][0])
        for label, start in _labels_in(folded)
        if (span := _TAILS[label.kind][1](_Place(text, folded, start, start + len(label.text))))
    ]
    if "in" in folded and "with" in folded:
        for match in _SPOKEN.finditer(text):
            end = _trimmed(text, *match.span(1))
            value = text[match.start(1) : end]
            if len(value) >= _SPOKEN_LEAST and secret_values.is_password(value):
                found.append(Secret(match.start(1), end, "password"))
    return found


def fold(text: str) -> str:
    """A text in lower case, ``_`` and ``-`` as blanks; each character keeps its place."""
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" becomes two characters
        lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lowered.replace("_", " ").replace("-", " ")


def _labels_in(folded: str) -> Iterator[tuple[Label, int]]:
    """Each label where it begins a word; in scripts without blanks wherever it stands."""
    taken: set[int] = set()
    for label in [label for label in labels() if label.text in folded]:
        for place in phrase_places(folded, label.text):
            end = place + len(label.text)
            if end not in taken and _is_word(folded, place, end, label.kind):
                taken.add(end)
                yield label, place


def _is_word(folded: str, start: int, end: int, kind: str) -> bool:
    """Whether a word begins and ends here, but for what declines it ("lösenordet", "codes").

    "Code" also ends a compound with what it opens ("Türcode"). Scripts without blanks have no words.
    """
    if ord(folded[start]) > _UNSPACED:
        return True
    if start and folded[start - 1].isalnum() and ord(folded[start - 1]) < _UNSPACED:
        opening = re.compile(rf"(?<![a-z])(?:{_words('place')})\w{{0,2}}\Z")
        if kind != "code" or not opening.search(folded[max(0, start - 16) : start]):
            return False
    most = end + (3 if end - start >= 5 else 2 if kind == "code" else 1)
    while end < most and folded[end : end + 1].isalpha():
        end += 1
    after = folded[end : end + 1]
    return not after.isalnum() or ord(after) > _UNSPACED


_RULE = re.compile(r"[\s|:-]*-{2,}[\s|:-]*\Z")
_MARKUP = " \t*_`\"'"
_ROWS = 400
"""Rows of a table of comma-separated values that are looked at; a longer one is data."""


class _Cell(NamedTuple):
    start: int
    end: int
    text: str


def find_in_tables(text: str) -> list[Secret]:
    """Those of Markdown tables, and of comma- or tab-separated values under a line of headings."""
    found: list[Secret] = []
    headings: dict[int, str] = {}
    mark, left, start = "", 0, 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        cells = _cells(line, mark) if left else []
        if len(cells) <= max(headings, default=0):
            mark, left = _head(line, lines[number + 1 : number + 2])
            heads = enumerate(_cells(line, mark) if left else [])
            headings = {column: name for column, cell in heads if (name := _heading(cell))}
            # A row may have its heading before it: "| Password | … |".
            row = _cells(line, "|") if "|" in line and not headings else []
            pairs = [(_heading(before), cell) for before, cell in itertools.pairwise(row)]
        else:
            left -= 1
            pairs = [(name, cells[column]) for column, name in headings.items()]
        for name, cell in pairs:
            if name and cell.text and " " not in cell.text:
                spans = find(f'{name}: "{cell.text}"')
                found += [Secret(start + cell.start, start + cell.end, s.kind) for s in spans[:1]]
        start += len(line) + 1
    return found


def _head(line: str, after: list[str]) -> tuple[str, int]:
    """The mark between cells and how many rows may follow, if a line heads a table."""
    if "|" in line and after and _RULE.match(after[0]):
        return "|", 1 << 30
    counts = ((mark, line.count(mark)) for mark in (",", "\t", ";"))
    mark = next((m for m, n in counts if n and after and after[0].count(m) == n), "")
    return mark, _ROWS if mark else 0


def _cells(line: str, mark: str) -> list[_Cell]:
    """The cells of a line without the markup round them; what is empty at its ends is none."""
    found, start = [], 0
    for piece in line.split(mark):
        end, inner = start + len(piece), piece.strip(_MARKUP)
        begin = start + len(piece) - len(piece.lstrip(_MARKUP))
        if inner or (start and end < len(line)):
            found.append(_Cell(begin, begin + len(inner), inner))
        start = end + len(mark)
    return found


@cache
def _headings() -> frozenset[str]:
    return frozenset(label.text for label in labels())


def _heading(cell: _Cell) -> str:
    name = fold(cell.text).strip(_MARKUP + ":")
    return name if name in _headings() else ""
