"""Secrets without a form of their own, recognised by the label before them.

"The wifi password is …", "PIN: …", "contraseña: …", "user/pass: bob / …". The words are data
(``labels.tsv``: 76 languages, most from the translators of two projects); what may stand between a
word and the value, and what a value must look like, is written here.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Generic, TypeVar

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import table_rows
from clsm_cli.text.secrets import secret_values
from clsm_cli.text.secrets.secret_values import Secret
from clsm_cli.text.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
_PHRASE = re.compile(r"[^a-zA-Z0-9]{1,6}((?:[a-z]{3,8}[ ,]{1,3}){11,23}[a-z]{3,8}\b)")
_CODE = re.compile(
    r"s?[^a-zA-Z0-9]{1,6}((?=[a-zA-Z-]*\d)[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){1,7}(?![\w-])"
    r"|\d{3,5} \d{3,5}(?![\w-]))"
)
_NEAR = 40
"""Characters on either side of "code" in which what it opens is named."""


Value = TypeVar("Value")
_UNSPACED = "\u2e80"
"""From this character on (CJK, Hangul), words stand without blanks between them."""
_UNSPACED_CLASS = "\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
"""The same as a class of a pattern."""
_HEAD = 3
"""Letters by which most words are told apart from all that begin a phrase."""
_ENDINGS = 4
"""Letters that may decline a word, and one."""


@cache
def _unspaced_words() -> re.Pattern[str]:
    """Words; where those of a script without blanks touch others, they are words of their own."""
    return re.compile(rf"[^\W\d_{_UNSPACED_CLASS}]+|[{_UNSPACED_CLASS}]+")


class Phrases(Generic[Value]):
    """Finds which of many phrases may stand in a text, by the words that they begin with."""

    def __init__(self, phrases: Iterable[tuple[str, Value]]) -> None:
        self._all = list(phrases)
        self._by_first: dict[str, list[int]] = {}
        self._anywhere: list[int] = []
        for number, (phrase, _) in enumerate(self._all):
            first = _unspaced_words().search(phrase)
            assert first is not None, phrase
            if first.group()[0] >= _UNSPACED:
                self._anywhere.append(number)
            else:
                self._by_first.setdefault(first.group(), []).append(number)
        self._heads = {first[:_HEAD] for first in self._by_first}

    def within(self, folded: str) -> list[tuple[str, Value]]:
        """Those that stand there, in their order.

        In a script without blanks a phrase may begin anywhere; elsewhere a word begins with it.
        """
        known = self._by_first
        found = {
            number
            for word in {*_unspaced_words().findall(folded)}
            if word[:_HEAD] in self._heads or word[:2] in known
            for size in range(len(word), max(0, len(word) - _ENDINGS), -1)
            for number in known.get(word[:size], ())
        }
        if not folded.isascii() and max(folded) >= _UNSPACED:
            found.update(self._anywhere)
        chosen = (self._all[number] for number in sorted(found))
        return [(phrase, value) for phrase, value in chosen if phrase in folded]


def phrase_places(folded: str, words: str) -> Iterator[int]:
    """Where some words stand in a text."""
    place = folded.find(words)
    while place >= 0:
        yield place
        place = folded.find(words, place + len(words))


@cache
def labels() -> tuple[tuple[str, str], ...]:
    """Words and phrases before a secret, as ``fold`` writes them, and their class: what may follow.

    The longest comes first, so that a phrase goes before a word in it.
    """
    found: dict[str, str] = {}
    for kind, _, words in table_rows("secrets/labels"):
        for word in map(fold, words.split("|")):
            for form in {word, word.replace(" ", ""), _accentless(word)}:
                found.setdefault(form, kind)
    chosen = [(text, kind) for text, kind in found.items() if kind in _TAILS]
    return tuple(sorted(chosen, key=lambda pair: (-len(pair[0]), pair[0])))


@cache
def _phrases() -> Phrases[str]:
    return Phrases(labels())


def _accentless(word: str) -> str:
    """A word of Latin letters without its accents; any other as it is.

    >>> _accentless("contraseña")
    'contrasena'
    """
    if word.isascii() or ord(max(word)) > 0x24F:
        return word
    import unicodedata

    split = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in split if not "̀" <= c <= "ͯ"))


@cache
def _words(kind: str) -> str:
    """The words of a class as alternatives of a pattern, the longest first."""
    words = {
        word for k, _, row in table_rows("secrets/labels") if k == kind for word in row.split("|")
    }
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))


@cache
def _with_words(pattern: str) -> str:
    """A pattern with the words that join a label to its value."""
    return pattern % {"be": _words("be"), "joined": _words("be joined")}


@cache
def _tail(user: bool, plain: bool) -> re.Pattern[str]:
    """What may follow a label; ``plain`` lets a blank alone link it to the value."""
    link = _with_words(_LINK)
    if plain:
        link = rf"(?:{link}|[ \t]{{1,3}}|\n[ \t]{{0,8}})"
    before, of = _USER if user else "", "" if plain else _with_words(_OF)
    return re.compile(
        rf"{_ENDING}{_CLOSE}{of}{link}{_OPEN}{before}(?:{_QUOTED}|{_BARE})", re.IGNORECASE
    )


@cache
def _is_my() -> re.Pattern[str]:
    """Between a value and a label behind it: "… is my password"."""
    return re.compile(rf"[ \t](?:{_words('be')})[ \t](?:\w{{1,8}}[ \t]){{0,3}}\Z", re.IGNORECASE)


@cache
def _between() -> re.Pattern[str]:
    """What may stand between "PIN" and its digits."""
    link = _with_words(rf"(?:{_OF}{_LINK}|[ \t]{{1,3}})")
    return re.compile(rf"{_ENDING}{_CLOSE}{link}{_OPEN}[\"'`]?", re.IGNORECASE)


@cache
def _openings() -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:{_words('place')})")


class _Place(NamedTuple):
    """A label in a text: where it stands, and the text with its lower-case twin."""

    text: str
    folded: str
    start: int
    end: int

    def value(self, *, user: bool = False, plain: bool = False) -> tuple[int, int, bool] | None:
        """Where the value stands, and whether it is quoted."""
        match = _tail(user=user, plain=plain).match(self.text, self.end)
        if match is None or not match.lastindex:
            return None
        start, end = match.span(match.lastindex)
        is_quoted = match.lastindex != match.re.groups
        return start, end if is_quoted else _trimmed(self.text, start, end), is_quoted

    def accepted(
        self, accept: Callable[[str], bool], *, user: bool = False, plain: bool = False
    ) -> tuple[int, int] | None:
        """The same, of a value that is accepted."""
        found = self.value(user=user, plain=plain)
        return found[:2] if found and accept(self.text[found[0] : found[1]]) else None


def _trimmed(text: str, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1] in ".,:;*_)":
        end -= 1
    return end


def _password(place: _Place) -> tuple[int, int] | None:
    text = place.text
    if found := place.value():
        start, end, quoted = found
        value = text[start:end]
        if quoted and " " in value:
            is_set = "=" in text[place.end : start] and secret_values.is_actual_value(value)
            return (start, end) if is_set or _is_passphrase(value) else None
        if place.folded[place.start : place.end] == "passphrase":
            words = _WORDS_BY_LOT.match(text, start)
            if words and _is_passphrase(words.group().replace("-", " ")):
                return words.span()
        if secret_values.is_password(value) or (quoted and _is_chosen(value)):
            return start, end
    return place.accepted(secret_values.is_strong, plain=True) or _before(place) or _code(place)


def _before(place: _Place) -> tuple[int, int] | None:
    """A password in front of its label: "… is my password"."""
    link = _is_my().search(place.text, max(0, place.start - 40), place.start)
    words = place.text[max(0, link.start() - 100) : link.start()].split() if link else ()
    if link is None or not words or not secret_values.is_strong(words[-1]):
        return None
    return link.start() - len(words[-1]), link.start()


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
        if found := place.value(plain=plain):
            start, end, quoted = found
            least = 24 if plain else 12 if quoted else 16
            if end - start >= least and secret_values.is_random(place.text[start:end]):
                return start, end
    return None


def _lone_key(place: _Place) -> tuple[int, int] | None:
    """Behind "Key:" alone; the key of a table of values is shorter, or a word."""
    least = 16 if place.text[place.start - 1 : place.start] in ("_", "-") else 24
    return place.accepted(lambda value: len(value) >= least and secret_values.is_random(value))


def _pin(place: _Place) -> tuple[int, int] | None:
    between = _between().match(place.text, place.end)
    match = _DIGITS.match(place.text, between.end()) if between else None
    if match is None:
        return None
    return match.span() if 3 <= sum(map(str.isdigit, match.group())) <= 8 else None


def _code(place: _Place) -> tuple[int, int] | None:
    """A code is one where what it opens is named beside it."""
    around = place.folded[max(0, place.start - _NEAR) : place.end]
    line = around[around.rfind("\n") + 1 :]
    after = place.folded[place.end : place.end + _NEAR].partition("\n")[0]
    return _pin(place) if _openings().search(line) or _openings().search(after) else None


def _written(form: re.Pattern[str], place: _Place) -> tuple[int, int] | None:
    """What has a form of its own, right behind its label."""
    match = form.match(place.text, place.end)
    return match.span(1) if match else None


_TAILS: dict[str, tuple[str, Callable[[_Place], tuple[int, int] | None]]] = {
    "password": ("password", _password),
    "login": ("password", lambda place: place.accepted(secret_values.is_password, user=True)),
    # Behind "user:" stands a name, and after it perhaps what can only be a password.
    "user": ("password", lambda place: place.accepted(secret_values.is_strong, user=True)),
    "key": ("secret", _key),
    "lone key": ("secret", _lone_key),
    "pin": ("pin", _pin),
    "code": ("pin", _code),
    "words": ("seed", partial(_written, _PHRASE)),
    "recovery": ("recovery-code", partial(_written, _CODE)),
}
"""For each class of labels the kind of what follows, and what finds it."""


def find(text: str) -> list[Secret]:
    """The secrets of a text that a label announces."""
    folded = fold(text)
    found = [
        Secret(*span, _TAILS[kind][0])
        for kind, start, end in _labels_in(folded)
        if (span := _TAILS[kind][1](_Place(text, folded, start, end)))
    ]
    if "in" in folded and "with" in folded:
        for match in _SPOKEN.finditer(text):
            end = _trimmed(text, *match.span(1))
            value = text[match.start(1) : end]
            if len(value) >= _SPOKEN_LEAST and secret_values.is_password(value):
                found.append(Secret(match.start(1), end, "password"))
    return found


def fold(text: str) -> str:
    """A text in lower case, ``_`` and ``-`` as blanks; each character keeps its place.

    >>> fold("API_Key")
    'api key'
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" becomes two characters
        lowered = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return lowered.replace("_", " ").replace("-", " ")


def _labels_in(folded: str) -> Iterator[tuple[str, int, int]]:
    """Class and place of each label where it begins a word; in scripts without blanks anywhere.

    Words for "code" end compounds, so they are looked for in all.
    """
    taken: set[int] = set()
    found = _phrases().within(folded)
    codes = (each for each in labels() if each[1] == "code" and each[0] in folded)
    for label, kind in dict.fromkeys([*found, *codes]):
        for place in phrase_places(folded, label):
            end = place + len(label)
            if end not in taken and _is_word(folded, place, end, kind):
                taken.add(end)
                yield kind, place, end


def _is_word(folded: str, start: int, end: int, kind: str) -> bool:
    """Whether a word begins and ends here, but for what declines it ("lösenordet", "codes").

    "Code" also ends a compound with what it opens ("Türcode"). Scripts without blanks have no words.
    """
    if folded[start] > _UNSPACED:
        return True
    if start and folded[start - 1].isalnum() and folded[start - 1] < _UNSPACED:
        opening = re.compile(rf"(?<![a-z])(?:{_words('place')})\w{{0,2}}\Z")
        if kind != "code" or not opening.search(folded[max(0, start - 16) : start]):
            return False
    most = end + (3 if end - start >= 5 else 2 if kind == "code" else 1)
    while end < most and folded[end : end + 1].isalpha():
        end += 1
    after = folded[end : end + 1]
    return not after.isalnum() or after > _UNSPACED
