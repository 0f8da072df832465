"""Whether a value looks like a secret by itself: random, password-like, or with valid check digits."""

from __future__ import annotations

import re
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def is_mixed(value: str) -> bool:
    """Whether a value has letters and digits."""
    return any(c.isdigit() for c in value) and sum(c.isalpha() for c in value) > 1


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits a character: -Σ p·log2 p.

    >>> entropy("abab")
    1.0
    """
    size = len(value)
    counts = [value.count(c) for c in set(value)]
    return -sum(n / size * log2(n / size) for n in counts)


def _named(value: str) -> bool:
    """Whether a value reads as a name, version or path of words rather than as random characters."""
    parts = [part for part in re.split(r"[._:/-]", value) if part]
    plain = all(
        len(part.rstrip("0123456789")) >= len(part) - 2
        and (part.isdigit() or part.rstrip("0123456789").isalpha())
        for part in parts
    )
    return len(parts) > 1 and plain


_PLACEHOLDERS = frozenset(
    {"password", "passwd", "secret", "token", "changeme", "argon2id", "pbkdf2", "base64url"}
)


def is_actual_value(value: str) -> bool:
    """Whether a value is one, and no variable, slot of a template, dummy or mask."""
    return not (
        value[0] in "<{%*[("
        or value.startswith(("$", "//", "xxx", "XXX", "..."))
        or value.lower().startswith(("your", "example", "placeholder", "redacted"))
        or value.lower() in _PLACEHOLDERS
        or "[masked:" in value
    )


def is_random(value: str) -> bool:
    """Whether a value looks drawn, not chosen: no name, no version, no slot of a template.

    >>> is_random("q7Zr9xKw2mTb"), is_random("rotating-every-90-days")
    (True, False)
    """
    return (
        is_mixed(value) and entropy(value) >= 1.9 and not _named(value) and is_actual_value(value)
    )


_DIGITS = re.compile(r"\d+")
_HEX = frozenset("0123456789abcdef-")


def is_opaque(value: str) -> bool:
    """Whether a run of letters and digits can hardly be a name.

    It has digits in two places or more,
    and letters in both cases, or more letters than hexadecimal digests have.

    >>> is_opaque("q7Zr9xKw2mTbQ7zR9xkW"), is_opaque("RecallHandlesUnicode2026"), is_opaque("3f2a" * 10)
    (True, False, False)
    """
    groups = len(_DIGITS.findall(value))
    is_both = value.lower() != value != value.upper()
    if is_both:
        return groups >= 2 and len(value) >= 20 - 2 * groups
    return groups >= 4 and len(value) >= 28 and not _HEX.issuperset(value.lower())


_NO_PASSWORD = re.compile(r"https?://|[./~][\w./~-]*\Z|\d[\d.,:/-]*[a-zA-Z]{0,4}\Z|v\d+[\d.]*\Z|.*\.(?:md|py|js|txt|json|ya?ml|sh|env)\Z")  # fmt: skip
"""An address, a path, an amount, a time, a version, a file."""


def is_password(value: str) -> bool:
    """Whether a value is like what people choose: no word alone, but words with a digit or a mark.

    >>> [is_password(each) for each in ("hunter2", "Tr0ub4dor&3", "required", "471108", "v2.1")]
    [True, True, False, True, False]
    """
    if not is_actual_value(value) or (_NO_PASSWORD.match(value) and not value.isdigit()):
        return False
    if value.isdigit():
        return len(value) >= 6
    parts = [part for part in re.split(r"[._:/-]", value) if part]
    return any(c.isalpha() for c in value) and not all(p.isalpha() or p.isdigit() for p in parts)


def is_strong(value: str) -> bool:
    """Whether a value can hardly be anything but a password: three kinds of characters, no name."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum() and c not in "-_./:")
    return (
        len(value) >= 6
        and sum(any(map(kind, value)) for kind in kinds) >= 3
        and any(map(str.isdigit, value))
        and is_password(value)
        and not _named(value)
    )


def luhn(number: str) -> bool:
    """Whether the digits of a number add up to a multiple of ten (ISO/IEC 7812-1 annex B).

    Every second digit from the right counts double, its digits added.

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(c) for c in number if c.isdigit()][::-1]
    doubled = [d if i % 2 == 0 else (2 * d - 9 if d > 4 else 2 * d) for i, d in enumerate(digits)]
    return sum(doubled) % 10 == 0


def is_iban(value: str) -> bool:
    """Whether check digits of an account number hold: the country behind the rest is 1 mod 97.

    Letters count as 10 … 35 (ISO 13616, ISO 7064).

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("DE00 1234 5678 9012 3456 78")
    (True, False)
    """
    plain = value.replace(" ", "")
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _iso7064(digits: list[int]) -> bool:
    """ISO 7064, mod 11,10: p ← 2·((p + d) or 10) mod 11 for all but the last; p + last is 1 mod 10."""
    product = 10
    for digit in digits[:-1]:
        product = 2 * ((product + digit) % 10 or 10) % 11
    return (product + digits[-1]) % 10 == 1


def has_check(value: str, rule: str) -> bool:
    """Whether the check digits of a number hold.

    Args:
        value: With or without blanks and marks between its digits.
        rule: As ``secret_numbers.tsv`` writes it; "" asks for nothing.

    >>> has_check("111222333", "9 8 7 6 5 4 3 2 -1/11"), has_check("111222334", "9 8 7 6 5 4 3 2 -1/11")
    (True, False)
    >>> has_check("12345678Z", "TRWAGMYFPDXBNJZSQVHLCKE/23")
    True
    """
    plain = "".join(c for c in value.upper() if c.isalnum())
    named = _NAMED_CHECKS.get(rule)
    return named(plain) if named else _weighted(plain, rule)


def _weighted(plain: str, rule: str) -> bool:
    """Weights of the digits, or letters by the remainder, over a modulus."""
    what, _, modulus = rule.partition("/")
    if what.isalnum():  # X, Y, Z in front of a number are 0, 1, 2
        number = plain[:-1].translate(str.maketrans("XYZ", "012"))
        return what[int("".join(c for c in number if c.isdigit())) % int(modulus)] == plain[-1]
    left, _, wanted = modulus.partition("=")
    total = sum(w * d for w, d in zip(map(int, what.split()), _digits(plain), strict=True))
    return total % int(left) == int(wanted or 0)


def _digits(plain: str) -> list[int]:
    return [10 if c == "X" else int(c) for c in plain if c.isdigit() or c == "X"]


def _is_issued_in_us(plain: str) -> bool:
    """No area 000, 666 or 9xx, no group 00, no serial 0000."""
    return (
        plain[:3] not in ("000", "666")
        and plain[0] != "9"
        and plain[3:5] != "00"
        and plain[5:] != "0000"
    )


_NAMED_CHECKS: dict[str, Callable[[str], bool]] = {
    "": lambda _: True,
    "luhn": luhn,
    "us": _is_issued_in_us,
    "97": lambda plain: 97 - int(plain[:-2]) % 97 == int(plain[-2:]),
    "11,10": lambda plain: _iso7064(_digits(plain)),
}
