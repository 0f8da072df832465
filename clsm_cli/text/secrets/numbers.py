"""Numbers with check digits: payment cards, bank accounts, national ids."""

import re
from collections.abc import Callable, Iterator
from functools import cache

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import table_rows
from clsm_cli.text.secrets.labels import Phrases, fold, phrase_places
from clsm_cli.text.secrets.secret_values import Secret

_LINE_BREAK = r"[ \t]?\n[ \t>]{0,8}"
_CARD = re.compile(
    rf"(?<![\w.,/+:#=-])(?:\d{{13,19}}|\d{{4}}([ .-])\d{{4}}(?:\1|{_LINE_BREAK})\d{{4}}(?:\1|{_LINE_BREAK})\d{{1,7}}"
    rf"|\d{{4}}{_LINE_BREAK}\d{{4}}([ .-])\d{{4}}\2\d{{4}}|\d{{4}}([ .-])\d{{6}}\3\d{{4,5}})"
    r"(?![\w/]|[-.,:]\d)",
    re.ASCII,
)
"""A card number, plain or in groups, possibly with a line break between groups."""
_ISSUER = re.compile(
    r"4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[47]|3(?:0[0-5]|[689])|35(?:2[89]|[3-8])"
    r"|6(?:011|4[4-9]|5)|62"
)
"""First digits that ISO/IEC 7812 assigns to card networks."""
_AMEX, _AMEX_LENGTH = ("34", "37"), 15
"""American Express's digits and length, which no other network has: an IMEI has 15 with a check digit, too."""
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?=[ -]?[A-Za-z0-9]{4})")
_NEXT, _NEXT_DIGIT = re.compile(r"[ -]?[A-Za-z0-9]"), re.compile(r"[ -]?[0-9]")

_DIGITS = re.compile(r"(?:\d[ .-]?){4,}|(?<=[A-Z]{6})\d\d", re.ASCII)  # that every number has
_CONTEXT_CHARS = 12  # characters of a number before or after its digits


class Number(NamedTuple):
    """A national number of persons: lower-case labels, form, and check."""

    labels: tuple[str, ...]
    is_known: bool
    pattern: str
    check: str


@cache
def states() -> tuple[Number, ...]:
    """All national numbers of ``numbers.tsv``."""
    return tuple(
        Number(tuple(row[1].split("|")), row[2] == "yes", row[3], row[4] if len(row) > 4 else "")
        for row in table_rows("secrets/numbers")
        if row[0] != "iban"
    )


@cache
def _compiled(pattern: str, *, is_known: bool) -> re.Pattern[str]:
    if is_known:
        return re.compile(rf"(?<![\w.-])(?:{pattern})(?![\w-])", re.ASCII)
    link = r"[^\w\n]{0,4}(?:[ \t](?:is|ist|est|es|é|è|är|jest)[ \t])?[^\w\n]{0,3}"
    return re.compile(rf"{link}((?i:{pattern}))(?![\w-])", re.ASCII)


def find(text: str) -> list[Secret]:
    """Card numbers, account numbers and national numbers of a text."""
    found = [Secret(*match.span(), "card") for match in _CARD.finditer(text) if _is_card(match)]
    for match in _IBAN.finditer(text):
        end = _account_end(text, match.start())
        if end and is_iban(text[match.start() : end]):
            found.append(Secret(match.start(), end, "iban"))
    return [*found, *_people(text)]


@cache
def _accounts() -> dict[str, tuple[int, bool]]:
    """Country → length of its account numbers, and whether they are digits alone after the country."""
    rows = (row for row in table_rows("secrets/numbers") if row[0] == "iban")
    forms = [each for row in rows for each in row[1].split()]
    return {form[:2]: (int(form[2:4]), form.endswith("n")) for form in forms}


def _account_end(text: str, start: int) -> int:
    """End of the account number that starts here, in any grouping; 0: none."""
    length, is_numeric = _accounts().get(text[start : start + 2].upper(), (0, False))
    end = start + 2
    for _ in range(length - 2):
        following = (_NEXT_DIGIT if is_numeric else _NEXT).match(text, end)
        if following is None:
            return 0
        end = following.end()
    return 0 if text[end : end + 1].isalnum() else end


def _is_card(match: re.Match[str]) -> bool:
    digits = "".join(filter(str.isdigit, match.group()))
    has_length = digits.startswith(_AMEX) == (len(digits) == _AMEX_LENGTH)
    return has_length and _ISSUER.match(digits) is not None and luhn(digits)


def _people(text: str) -> Iterator[Secret]:
    folded = fold(text)
    runs = [match.span() for match in _DIGITS.finditer(text)]
    around = [(max(0, start - _CONTEXT_CHARS), end + _CONTEXT_CHARS) for start, end in runs]
    for number in states():
        if number.is_known:
            pattern = _compiled(number.pattern, is_known=True)
            found = (bare for place in around for bare in pattern.finditer(text, *place))
            for bare in found:
                if has_check(bare.group(), number.check):
                    yield Secret(*bare.span(), "national-number")
    for label, number in _phrases().within(folded):
        for place in phrase_places(folded, label):
            if place and folded[place - 1].isalnum():
                continue
            match = _compiled(number.pattern, is_known=False).match(text, place + len(label))
            if match and has_check(match.group(1), number.check):
                yield Secret(*match.span(1), "national-number")


@cache
def _phrases() -> Phrases[Number]:
    return Phrases((fold(label), number) for number in states() for label in number.labels if label)


def luhn(number: str) -> bool:
    """Whether the digits of a number pass the Luhn check (ISO/IEC 7812-1 annex B).

    Every second digit from the right is doubled and its digits added; the sum is a multiple of ten.

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(c) for c in number if c.isdigit()][::-1]
    doubled = [d if i % 2 == 0 else (2 * d - 9 if d > 4 else 2 * d) for i, d in enumerate(digits)]
    return sum(doubled) % 10 == 0


def is_iban(value: str) -> bool:
    """Whether the check digits of an account number are right: rotated by four characters it is 1 mod 97.

    Letters count as 10 … 35 (ISO 13616, ISO 7064).

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("DE00 1234 5678 9012 3456 78")
    (True, False)
    """
    plain = "".join(c for c in value if c.isalnum())
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def has_check(value: str, rule: str) -> bool:
    """Whether the check digits of a number are right by a rule of ``numbers.tsv``; "" checks nothing.

    >>> has_check("111222333", "9 8 7 6 5 4 3 2 -1/11"), has_check("111222334", "9 8 7 6 5 4 3 2 -1/11")
    (True, False)
    >>> has_check("12345678Z", "TRWAGMYFPDXBNJZSQVHLCKE/23")
    True
    """
    plain = "".join(c for c in value.upper() if c.isalnum())
    named = _NAMED_CHECKS.get(rule)
    return named(plain) if named else _weighted(plain, rule)


def _weighted(plain: str, rule: str) -> bool:
    """Weighted sum of the digits, or letter of the remainder, modulo a number."""
    what, _, modulus = rule.partition("/")
    if what.isalnum():  # X, Y, Z in front of a number are 0, 1, 2
        number = plain[:-1].translate(str.maketrans("XYZ", "012"))
        return what[int("".join(c for c in number if c.isdigit())) % int(modulus)] == plain[-1]
    left, _, wanted = modulus.partition("=")
    total = sum(w * d for w, d in zip(map(int, what.split()), _digits(plain), strict=True))
    return total % int(left) == int(wanted or 0)


def _digits(plain: str) -> list[int]:
    return [10 if c == "X" else int(c) for c in plain if c.isdigit() or c == "X"]


def _is_cpf(plain: str) -> bool:
    """Both check digits of the Brazilian number: weights from the left up to 9, mod 11, 10 as 0."""
    digits = _digits(plain)
    sums = (sum(d * w for d, w in zip(digits[n:], range(1, 10), strict=False)) for n in (0, 1))
    return [total % 11 % 10 for total in sums] == digits[9:]


_NAMED_CHECKS: dict[str, Callable[[str], bool]] = {
    "": lambda _: True,
    "luhn": luhn,
    "97": lambda plain: 97 - int(plain[:-2]) % 97 == int(plain[-2:]),
    "cpf": _is_cpf,
}
