"""Secrets without a form of their own, recognised by a label before them.

"The wifi password is …", "PIN: …", "contraseña: …", "user/pass: bob / …". The labels are data
(``labels.tsv``: 76 languages, most from the translators of two projects), as are the patterns between label
and value (``forms.tsv``); this module has the tests of a value.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled, table_rows, word_list
from clsm_cli.text.secrets import secret_values
from clsm_cli.text.secrets.labels import (
    UNSPACED_CLASS,
    fold,
    labels,
    labels_in,
    word_set,
    words_of,
)
from clsm_cli.text.secrets.secret_values import Secret
from clsm_cli.text.tokens import STOP_WORDS

_CONTEXT_CHARS = 40  # characters on either side of "code" in which to look for the thing it opens
_STORY_CHARS = 200  # characters before a sentence "Code 1234." that tell what it opens
_OBJECTS = frozenset(("it", "the", *word_list("determiners")))
"""First words of an object, which no noun has behind it."""
_INFLECTION = re.compile(r"[^\W\d_]{0,3}")  # inflection of a label


_CLASSES = {
    "BE": "be",
    "BE_JOINED": "be joined",
    "BE_OR_AS": "be|as",
    "YET": "yet",
    "WITH": "with",
    "NET": "net",
    "GUARD": "guard",
    "PLACE": "place|guard",
    "WITHIN": "within",
    "ANY_PLACE": "place|guard|within",
}
"""Pieces of patterns, and the classes of words that they stand for."""


@cache
def _forms() -> dict[str, str]:
    words = {name: words_of(*kinds.split("|")) for name, kinds in _CLASSES.items()}
    stop = "|".join(sorted(STOP_WORDS))
    return dict(table_rows("secrets/forms", UNSPACED=UNSPACED_CLASS, STOP=stop, **words))


def _form(name: str) -> re.Pattern[str]:
    """A pattern of ``forms.tsv``."""
    return compiled(_forms()[name])


_Span = tuple[int, int]


class _Value(NamedTuple):
    start: int
    end: int
    text: str
    is_quoted: bool

    @property
    def span(self) -> _Span:
        return self.start, self.end


class _Place(NamedTuple):
    """A label in a text: its span, and the text with its folded form."""

    text: str
    folded: str
    start: int
    end: int

    def value(self, form: str = "value") -> _Value | None:
        """The value after the label."""
        match = _form(form).match(self.text, self.end)
        if match is None or not match.lastindex:
            return None
        start, end = match.span(match.lastindex)
        is_quoted = match.lastindex != match.re.groups
        end = end if is_quoted else _trimmed(self.text, start, end)
        return _Value(start, end, self.text[start:end], is_quoted)

    def accepted(self, accept: Callable[[str], bool], form: str = "value") -> _Span | None:
        found = self.value(form)
        return found.span if found and accept(found.text) else None

    def line(self, chars: int = _CONTEXT_CHARS) -> str:
        """Folded text before the label in its line."""
        return self.folded[max(0, self.start - chars) : self.start].rpartition("\n")[2]


def _trimmed(text: str, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1] in ".,:;*_)）":
        end -= 1
    return end


def _password(place: _Place, *, is_sure: bool = True) -> _Span | None:
    """The value after a label for passwords; if the label is not sure, only one that cannot be a word.

    After a sure label, or an unsure one that begins its line, a single word counts, too.
    """
    if found := place.value():
        value = found.text
        if " " in value:
            return found.span if _is_phrase(value) else None
        if is_sure and (span := _passphrase(place, found.start)):
            return span
        if secret_values.is_password(value):
            return found.span
        if (is_sure or _is_first(place)) and _is_alone(place, found, is_sure=is_sure):
            return found.span
    spoken = _after_blank(place) if is_sure else None
    return (
        place.accepted(secret_values.is_strong, "value after a blank")
        or place.accepted(secret_values.is_strong, "value far behind")
        or spoken
        or _before_label(place)
        or _code(place)
    )


def _passphrase(place: _Place, start: int) -> _Span | None:
    """A passphrase within a sentence."""
    for form in ("passphrase", "long passphrase"):
        words = _form(form).match(place.text, start)
        if words and _is_passphrase(words.group(1)):
            return words.span(1)
    return None


def _is_first(place: _Place) -> bool:
    """Whether a label starts its line or item, or names a network, unlike "boarding pass: printed"."""
    before = place.line().rstrip(" \t*_>+-")
    return not before or bool(_form("network").match(before.split()[-1]))


def _is_alone(place: _Place, found: _Value, *, is_sure: bool) -> bool:
    """Whether one word, or a few digits, is all that follows a label: "the password is swordfish"."""
    value, link = found.text, place.text[place.end : found.start]
    ends = found.is_quoted or _form("line end").match(place.text, found.end)
    if not ends:
        return False
    spoken = None if link.startswith("s ") else _form("spoken").search(link)  # "passwords … is"
    tie = spoken or _form("tight").search(link)
    is_own = tie is None or is_of(link[: tie.start()])
    is_word = tie is not None and _is_unusual(value, is_sure=is_sure)
    is_word = is_word and value.lower() not in word_set("predicate")
    return is_own and (value.isdigit() or is_word)


def is_of(text: str) -> bool:
    """Whether the text after a label says what it is for, and is no noun that it modifies.

    >>> [is_of(each) for each in ("", " for the NAS", " wifi", " (router)", " manager", " files")]
    [True, True, True, True, False, False]
    """
    words = fold(_INFLECTION.sub("", text, count=1)).strip("*`\"' ").split()
    return len(words) != 1 or words[0][0] == "(" or bool(_form("network").match(words[0]))


def _is_unusual(value: str, *, is_sure: bool = True) -> bool:
    """Whether a word may be a password because it does not describe one.

    After a sure label it may end in a number ("tulip-77"); after "pass" that is the name of a ticket.
    """
    words = value.lower().rstrip("!?.").split("-")
    return (
        all(word.isalpha() or (is_sure and word.isdigit()) for word in words)
        and secret_values.is_actual_value(value)
        and _says_nothing(value, words)
    )


def _says_nothing(value: str, words: Iterable[str]) -> bool:
    """Whether no word of a value is about passwords: no type, rule or label."""
    lowered = fold(value)
    return word_set("about").isdisjoint(words) and not any(
        kind in ("password", "secret") and label in lowered for label, kind in labels()
    )


def _after_blank(place: _Place) -> _Span | None:
    match = _form("after a blank").match(place.text, place.end)
    return match.span(1) if match and secret_values.is_password(match.group(1)) else None


def _login(place: _Place) -> _Span | None:
    """A password after its user name: "user/pass: admin / letmein"."""
    found = place.value("value after a user")
    if found is None:
        return None
    if secret_values.is_password(found.text):
        return found.span
    return found.span if found.text.isdigit() or _is_unusual(found.text) else None


def _before_label(place: _Place) -> _Span | None:
    """A password before its label: "… is my password"."""
    link = _form("is my").search(place.text, max(0, place.start - 40), place.start)
    words = place.text[max(0, link.start() - 100) : link.start()].split() if link else ()
    value = words[-1] if words else ""
    if link is None or value.lower() in word_set("scheme") or not secret_values.is_strong(value):
        return None
    return link.start() - len(value), link.start()


def _is_passphrase(value: str) -> bool:
    """Whether the text after "passphrase" is random words, and no sentence about one."""
    words = value.replace("-", " ").split()
    return (
        len(words) >= 3
        and STOP_WORDS.isdisjoint(word.lower() for word in words)
        and _says_nothing(value, [word.lower() for word in words])
    )


def _is_phrase(value: str) -> bool:
    """Whether words in quotes are a secret and no sentence about one."""
    words = re.split(r"[\W_]+", value.lower())
    return value[0].isalnum() and ", " not in value and _says_nothing(value, words)


def _key(place: _Place) -> _Span | None:
    for form in ("value", "value after a blank"):
        found = place.value(form)
        least = 24 if form != "value" else 12 if found and found.is_quoted else 16
        if found and len(found.text) >= least and secret_values.is_random(found.text):
            return found.span
    return None


def _secret(place: _Place) -> _Span | None:
    """After "secret:" also a quoted phrase."""
    found = place.value()
    return found.span if found and " " in found.text and _is_phrase(found.text) else _key(place)


def _named_key(place: _Place) -> _Span | None:
    """After a label that says what the key is for, a shorter key counts, too."""
    found = place.value()
    return found.span if found and secret_values.is_random(found.text) else _key(place)


def _lone_key(place: _Place) -> _Span | None:
    """After "Key:" alone; in a table of values a key may be shorter, or a word."""
    if _form("network").search(place.line()):
        return _password(place)
    least = 16 if place.text[place.start - 1 : place.start] in ("_", "-") else 24
    return place.accepted(
        lambda value: (
            (len(value) >= least and secret_values.is_random(value))
            or bool(_form("groups").fullmatch(value))
        )
    )


def _pin(place: _Place, form: str = "digits") -> _Span | None:
    between = _form("between").match(place.text, place.end)
    match = _form(form).match(place.text, between.end()) if between else None
    if between is None or match is None:
        return None
    said = place.folded[place.end : between.end()].split()
    if said[-1:] == ["to"] and said[0] in _OBJECTS:
        return None  # a verb: "pin the port to 9090"
    if between.group(1) and place.text[place.end : between.start(1)].strip():
        is_lone = _form("lone digits").match(place.text, between.end())
        opens = is_lone and _form("opened").search(place.folded, place.end, between.end())
        return match.span() if opens else None
    return match.span() if 3 <= sum(map(str.isdigit, match.group())) <= 8 else None


def _code(place: _Place) -> _Span | None:
    """A code, if the thing it opens is named near it."""
    found, before = _pin(place, "door code"), place.line()
    if found and _form("lone digits").match(place.text, found[0]):
        before = place.line(_STORY_CHARS)
    label = place.folded[place.start : place.end]
    after = place.folded[place.end : place.end + _CONTEXT_CHARS].partition("\n")[0]
    near = (before + label, after)
    return found if found and any(map(_form("opened").search, near)) else None


def _with_form(form: str, place: _Place) -> _Span | None:
    match = _form(form).match(place.text, place.end)
    return match.span(1) if match else None


_TAILS: dict[str, tuple[str, Callable[[_Place], _Span | None]]] = {
    "password": ("password", _password),
    "homonym": ("password", partial(_password, is_sure=False)),
    "login": ("password", _login),
    # After "user:" comes a name, and possibly a strong password after it.
    "user": (
        "password",
        lambda place: place.accepted(secret_values.is_strong, "value after a user"),
    ),
    "key": ("secret", _key),
    "secret": ("secret", _secret),
    "named key": ("secret", _named_key),
    "lone key": ("secret", _lone_key),
    "pin": ("pin", _pin),
    "code": ("pin", _code),
    "words": ("seed", partial(_with_form, "words")),
    "recovery": ("recovery-code", partial(_with_form, "recovery")),
}
"""For each class of labels the kind of the secret, and the function that finds it."""


def has_label(text: str) -> bool:
    """Whether a text contains a label."""
    return next(labels_in(fold(text)), None) is not None


def find(text: str) -> list[Secret]:
    """The secrets of a text that follow a label."""
    folded = fold(text)
    found = [
        Secret(*span, _TAILS[kind][0])
        for kind, start, end in labels_in(folded)
        if (span := _TAILS[kind][1](_Place(text, folded, start, end)))
    ]
    if "in" in folded and "with" in folded:
        for match in _form("log in with").finditer(text):
            end = _trimmed(text, *match.span(1))
            value = text[match.start(1) : end]
            if value.lower() not in word_set("scheme") and secret_values.is_password(value):
                found.append(Secret(match.start(1), end, "password"))
    found += (
        Secret(*match.span(), "pin")
        for match in _form("lone digits").finditer(text)
        if _form("announced").search(folded, max(0, match.start() - _CONTEXT_CHARS), match.start())
    )
    return found
