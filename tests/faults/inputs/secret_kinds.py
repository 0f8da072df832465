"""Secrets of ``secret_kinds.tsv``: for each kind some strings of its format, and what stands round them.

Strings are drawn at run time, each character from the class that the format allows there, with a
fixed seed: none was ever a key of anybody, and no file holds one. Numbers with check digits are
drawn until python-stdnum accepts them.
"""

from __future__ import annotations

import importlib
import random
import re
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("secret_kinds.tsv")
EACH = 4
"""Strings a kind."""
_ALPHABET = string.ascii_letters + string.digits + "-_.+/="
_SECRET_PART = "value"
_WRITTEN = {
    "@key": ("{0}_API_KEY={1}", "{0} api key: {1}", '{0}_key: "{1}"', "the {0} API key is {1}"),
    "@token": ("{0}_TOKEN={1}", "{0} token: {1}", '"{0}_token": "{1}"', "the {0} token is {1}"),
    "@secret": (
        "{0}_SECRET={1}",
        "{0} secret: {1}",
        "{0}_secret = '{1}'",
        "{0} client secret: {1}",
    ),
}
"""How the key of a service is written down."""


class Vector(NamedTuple):
    """A secret in its context.

    Attributes:
        is_held: Whether its kind was written down before the masks, and only reported.
        source: The scanner that has a rule for it, a language, or "prose".
    """

    is_held: bool
    source: str
    kind: str
    secret: str
    text: str


def load() -> list[Vector]:
    """All of them, in the order of the file."""
    found = []
    for line in FILE.read_text("utf-8").splitlines():
        if line and line[0] != "#":
            half, source, kind, context, form = line.split("\t")
            found += [
                Vector(half == "held", source, kind, secret, _within(context, secret, number))
                for number, secret in enumerate(_drawn(form, f"{source} {kind} {form}"))
            ]
    return found


def _within(context: str, secret: str, number: int) -> str:
    way, _, service = context.partition(" ")
    if way in _WRITTEN:
        return _WRITTEN[way][number % 4].format(service, secret)
    return context.replace("{}", secret).replace("⏎", "\n")


def _drawn(form: str, seed: str) -> list[str]:
    how, found = re.match(r"(?:([a-z-]+):(?!/))?(.*)", form, re.DOTALL), []
    assert how is not None
    draw = _SPECIAL.get(how.group(1) or "")
    for number in range(40 * EACH):
        source = random.Random(f"{seed} {number}")
        text = draw(how.group(2), source) if draw else _matching(form, source)
        if text and text not in found:
            found.append(text)
        if len(found) == EACH:
            break
    return found


def _matching(pattern: str, source: random.Random) -> str:
    """A string that a pattern matches: its secret part, where it names one."""
    text = _Maker(source).of(re._parser.parse(pattern))  # type: ignore[attr-defined]
    match = re.search(pattern, text)
    if match is None:
        return ""
    names = match.groupdict()
    if _SECRET_PART in names and "variable" not in names:
        text = names[_SECRET_PART] or text
    return text.strip()


def _luhn(pattern: str, source: random.Random) -> str:
    from stdnum import luhn

    text = _matching(pattern, source)
    return text[:-1] + luhn.calc_check_digit(text[:-1])


def _grouped(text: str, mark: str = " ") -> str:
    return mark.join(text[place : place + 4] for place in range(0, len(text), 4))


def _iban(country: str, source: random.Random) -> str:
    form = {"DE": "d" * 18, "NL": "aaaa" + "d" * 10, "GB": "aaaa" + "d" * 14, "ES": "d" * 20}.get(
        country, "d" * 10 + "c" * 11 + "dd"
    )
    chosen = {"d": string.digits, "a": string.ascii_uppercase, "c": string.digits}
    body = "".join(source.choice(chosen[c]) for c in form)
    number = "".join(str(int(c, 36)) for c in body + country + "00")
    return f"{country}{98 - int(number) % 97:02}{body}"


def _stdnum(what: str, source: random.Random) -> str:
    name, _, pattern = what.partition(" ")
    text = _matching(pattern, source)
    return text if importlib.import_module(f"stdnum.{name}").is_valid(text) else ""


def _formatted(what: str, source: random.Random) -> str:
    text = _stdnum(what, source)
    name = what.partition(" ")[0]
    return importlib.import_module(f"stdnum.{name}").format(text) if text else ""


def _fiscale(_: str, source: random.Random) -> str:
    from stdnum.it import codicefiscale

    letters = "".join(source.choice("BCDFGLMNPRSTVZ") for _ in range(6))
    body = f"{letters}{source.randint(50, 99)}{source.choice('ABCDEHLMPRST')}{source.randint(1, 28):02}H501"
    return body + codicefiscale.calc_check_digit(body)


def _words(count: str, source: random.Random) -> str:
    def word() -> str:
        return "".join(source.choice(string.ascii_lowercase) for _ in range(source.randint(4, 7)))

    return " ".join(word() for _ in range(int(count)))


def _torn(mark: str, pattern: str, source: random.Random) -> str:
    text = _matching(pattern, source)
    place = source.randint(8, len(text) - 8)
    return text[:place] + mark + text[place:]


_SPECIAL: dict[str, Callable[[str, random.Random], str]] = {
    "luhn": _luhn,
    "luhn-groups": lambda form, source: _grouped(_luhn(form, source)),
    "luhn-dashes": lambda form, source: _grouped(_luhn(form, source), "-"),
    "iban": _iban,
    "iban-groups": lambda form, source: _grouped(_iban(form, source)),
    "stdnum": _stdnum,
    "stdnum-fmt": _formatted,
    "fiscale": _fiscale,
    "words": _words,
    "zero": lambda form, source: _torn("\u200b", form, source),
    "soft": lambda form, source: _torn("\u00ad", form, source),
    "broken": lambda form, source: _torn("\n", form, source),
}


class _Maker:
    """Strings that match a pattern; of an open end as few characters as it asks for, and some."""

    def __init__(self, source: random.Random) -> None:
        self._random = source
        self._groups: dict[int, str] = {}

    def of(self, parsed: Any) -> str:
        """A string for a parsed pattern."""
        return "".join(self._one(str(name), value) for name, value in parsed)

    def _one(self, name: str, value: Any) -> str:  # noqa: C901, PLR0911  # one case a kind of node
        if name == "LITERAL":
            return chr(value)
        if name == "NOT_LITERAL":
            return self._random.choice([c for c in _ALPHABET if c != chr(value)])
        if name == "ANY":
            return self._random.choice(_ALPHABET)
        if name == "IN":
            return self._random.choice(_members(value))
        if name == "BRANCH":
            return self.of(self._random.choice(value[1]))
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeated(*value)
        if name == "SUBPATTERN":
            text = self.of(value[3])
            if value[0] is not None:
                self._groups[value[0]] = text
            return text
        if name == "GROUPREF":
            return self._groups.get(value, "")
        if name == "GROUPREF_EXISTS":
            return self.of(value[1] if self._groups.get(value[0]) else value[2] or [])
        return ""  # places, looks ahead and back

    def _repeated(self, low: Any, high: Any, inner: Any) -> str:
        most = min(int(high), max(int(low), 80))
        if "SPACE" in str(inner) and "NEGATE" not in str(inner):
            most = max(int(low), 1)
        if int(low) == 0:  # what is optional adds nothing to a key
            return ""
        return "".join(self.of(inner) for _ in range(self._random.randint(int(low), most)))


def _members(items: Any) -> str:
    chosen = "".join(_of_class(str(name), value) for name, value in items)
    if str(items[0][0]) == "NEGATE":
        return "".join(c for c in _ALPHABET if c not in chosen)
    return "".join(c for c in chosen if c.isprintable()) or chosen


def _of_class(name: str, value: Any) -> str:
    if name == "LITERAL":
        return chr(value)
    if name == "RANGE":
        return "".join(map(chr, range(value[0], min(value[1], 126) + 1)))
    if name == "CATEGORY":
        plain = string.ascii_letters + string.digits
        return {"CATEGORY_DIGIT": string.digits, "CATEGORY_SPACE": " "}.get(str(value), plain)
    return ""
