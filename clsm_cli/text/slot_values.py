"""Values of facts in one short form, so that two sources that mean the same say the same."""

from __future__ import annotations

import re

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBERS: dict[str, int] = {word: value for value, word in enumerate(_UNITS)}
"""Number words below one hundred."""
for _place, _ten in enumerate(_TENS, start=2):
    NUMBERS[_ten] = 10 * _place
    for _unit in range(1, 10):
        NUMBERS[f"{_ten}-{_UNITS[_unit]}"] = 10 * _place + _unit

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""In the order of the week."""
OPEN, CLOSE = "\ue000", "\ue001"
"""Around a stretch that its author marked as one name: a link, a title, code."""

_UNIT_NAMES = {"min": "minute", "sec": "second", "hr": "hour", "mins": "minute", "secs": "second", "hrs": "hour"}  # fmt: skip
_WEEKDAY = re.compile(r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b", re.IGNORECASE)
_TAIL = re.compile(
    r"\s(?:because|since|until|till|when|where|which|who|that|but|so|if|while|although|though|"
    r"instead|again|now|today|yesterday|tomorrow|tonight|too|as\swell|also|already|anymore|anyway|"
    r"currently|recently|lately|right\snow|these\sdays|last\s(?:week|month|year|summer|night|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)|"
    r"this\s(?:week|month|year|summer|morning)|next\s(?:week|month|year|summer)|"
    r"\w{1,8}\s(?:days|weeks|months|years)\sago|(?:a\s)?few\s\w{3,6}\sago|of\scourse|"
    r"at\sthe\smoment|(?:on|every)\s(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|at\s\d|any\smore|any\slonger|no\slonger|and\snot)\b"
)
_ARTICLE = re.compile(r"^(?:the|an?|some|our|my|your|his|her|its|their)\s", re.IGNORECASE)
_EDGES = " \t,.;:!?\"'()[]*_\u201c\u201d\u2018\u2019-\u2013\u2014"


def unmarked(text: str) -> str:
    r"""Return a text without the marks around names.

    >>> unmarked("the \ue000reading club\ue001 met")
    'the reading club met'
    """
    return text.replace(OPEN, "").replace(CLOSE, "")


def phrase(text: str) -> str:
    """Return a noun phrase without article, edge marks and what no longer belongs to it.

    >>> phrase("the signal shed since Monday"), phrase("a cat.")
    ('signal shed', 'cat')
    """
    cut = _TAIL.search(text)
    text = (text[: cut.start()] if cut else text).strip(_EDGES)
    if text.startswith(OPEN):
        return unmarked(text).strip(_EDGES)
    text = unmarked(text).strip(_EDGES)
    return _ARTICLE.sub("", text).strip(_EDGES)


def number(word: str) -> str:
    """Return a number in digits, "" for what is none.

    >>> number("Ten"), number("2,5"), number("forty-one"), number("a")
    ('10', '2.5', '41', '')
    """
    folded = word.strip().lower().replace(" ", "-")
    if folded in NUMBERS:
        return str(NUMBERS[folded])
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", folded):
        return folded.replace(",", "")
    plain = folded.replace(",", ".")
    return plain if re.fullmatch(r"\d{1,12}(?:\.\d{1,6})?", plain) else ""


def quantity(count: str, unit: str) -> str:
    """Return a number with its unit, the unit in the right grammatical number.

    >>> quantity("ten", "mins"), quantity("", "hour"), quantity("2.5", "mg")
    ('10 minutes', '1 hour', '2.5 mg')
    """
    digits = number(count) or "1"
    name = _UNIT_NAMES.get(unit.lower(), unit)
    long = len(name) > 3 or name == "day"
    if long:
        name = name.lower().removesuffix("s") + ("" if digits == "1" else "s")
    return f"{digits} {name}"


def weekdays(text: str) -> str:
    """Return the weekdays of a text in the order of the week.

    >>> weekdays("Thursdays and Tuesdays"), weekdays("on Monday, Wednesday and Friday")
    ('Tuesday and Thursday', 'Monday, Wednesday and Friday')
    """
    named = {match.group(1).lower() for match in _WEEKDAY.finditer(text)}
    days = [day for day in WEEKDAYS if day[:-3].lower() in named]
    return " and ".join([", ".join(days[:-1]), days[-1]] if len(days) > 1 else days)


def frequency(text: str) -> str:
    """Return how often a dose is taken, in the form "twice a day".

    >>> frequency("daily"), frequency("2 times per day"), frequency("every 8 hours")
    ('once a day', 'twice a day', 'every 8 hours')
    """
    folded = " ".join(text.lower().split())
    if folded == "morning and evening":
        return "twice a day"
    if folded in {"daily", "nightly", "weekly", "every day", "each day", "every morning"}:
        return "once a week" if folded == "weekly" else "once a day"
    match = re.fullmatch(
        r"(once|twice|thrice|[\w-]+\stimes)\s(?:an?|per|each|every|daily)\s?(\w*)", folded
    )
    if match is None:
        return folded
    count = number(match.group(1).removesuffix(" times")) or match.group(1)
    often = {"1": "once", "2": "twice", "thrice": "3 times"}.get(count, count)
    return f"{often if often in {'once', 'twice', '3 times'} else often + ' times'} a {match.group(2) or 'day'}"
