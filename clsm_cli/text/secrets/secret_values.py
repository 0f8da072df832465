"""Spans of secrets, and whether a value alone looks like one: random or like a password."""

import re

from clsm_cli.startup.records import NamedTuple


class Secret(NamedTuple):
    """Span and kind of a secret in a text: ``text[start:end]``."""

    start: int
    end: int
    kind: str


def is_mixed(value: str) -> bool:
    """Whether a value has letters and digits."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_named(value: str) -> bool:
    """Whether a value looks like a name, version or path of words, not like random characters."""
    parts = filter(None, re.split(r"[._:/-]", value))
    return all(re.fullmatch(r"[^\W\d_]*\d{0,2}", part) for part in parts)


_PLACEHOLDERS = frozenset(
    {"password", "passwd", "secret", "token", "changeme", "argon2id", "pbkdf2", "base64url"}
)

_DUMMIES = (
    *("<", "{", "%", "*", "[", "(", "$", "//", "xxx", "..."),
    *("your", "change-me", "change_me", "example", "placeholder", "redacted"),
)


_STATEMENT_ID = re.compile(r"\^f-[0-9a-f]{12}\Z")


def is_actual_value(value: str) -> bool:
    """Whether a value is no variable, template slot, dummy, mask, or id at the end of a statement's line."""
    if value.lower().startswith(_DUMMIES) or value.lower() in _PLACEHOLDERS:
        return False
    return _STATEMENT_ID.match(value) is None


def is_random(value: str) -> bool:
    """Whether a value looks random: no name, version or template slot.

    >>> is_random("q7Zr9xKw2mTb"), is_random("rotating-every-90-days")
    (True, False)
    """
    return is_mixed(value) and not is_named(value) and is_actual_value(value)


_DIGITS = re.compile(r"\d+")
_HEX = frozenset("0123456789abcdef-")


def is_opaque(value: str) -> bool:
    """Whether a run of letters and digits is unlikely to be a name.

    It has several groups of digits, and letters in both cases or outside hexadecimal digits.

    >>> is_opaque("q7Zr9xKw2mTbQ7zR9xkW"), is_opaque("RecallHandlesUnicode2026"), is_opaque("3f2a" * 10)
    (True, False, False)
    """
    groups = len(_DIGITS.findall(value))
    is_both = value.lower() != value != value.upper()
    if is_both:
        return groups >= 2 and len(value) >= 20 - 2 * groups
    return groups >= 4 and len(value) >= 28 and not _HEX.issuperset(value.lower())


_FILE = r".*\.(?:md|py|js|txt|json|ya?ml|sh|env)\Z"
_NO_PASSWORD = re.compile(
    rf"https?://|[./~][\w./~-]*\Z|\d[\d.,:/-]*[a-zA-Z]{{0,4}}\Z|v\d+[\d.]*\Z|{_FILE}"
)
"""An address, a path, an amount, a time, a version, a file."""


def is_file(value: str) -> bool:
    """Whether a value is the name of a file."""
    return re.match(_FILE, value) is not None


def is_password(value: str) -> bool:
    """Whether a value looks like a chosen password: no plain word, but words with a digit or a mark.

    >>> [is_password(each) for each in ("hunter2", "Tulip_77", "user_2", "required", "471108", "v2.1")]
    [True, True, False, False, False, False]
    """
    if not is_actual_value(value) or _NO_PASSWORD.match(value):
        return False
    joints = r"[._:/-]" if value in (value.lower(), value.upper()) else "[.:/-]"
    parts = filter(None, re.split(joints, value))
    return any(map(str.isalpha, value)) and not all(
        part.isdigit() or part.replace("_", "").isalpha() for part in parts
    )


def is_strong(value: str) -> bool:
    """Whether a value can only be a password: three kinds of characters, and no name."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum() and c not in "-_./:")
    is_varied = sum(any(map(kind, value)) for kind in kinds) >= 3
    return is_varied and is_mixed(value) and is_password(value) and not is_named(value)
