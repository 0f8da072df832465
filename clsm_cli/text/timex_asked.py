"""Forms of time expressions that only a question uses plainly, see ``timex_rules``.

In what is told they mean now the past, now the future; a question to a memory looks back.
"""

from __future__ import annotations

from clsm_cli.text import timex_forms as forms
from clsm_cli.text import timex_units as units
from clsm_cli.text import timex_words as words
from clsm_cli.text.timex_rules import Rule

_COUNT = rf"(?P<count>(?i:[0-9]{{1,3}}|an?|{words.NUMBER_WORD}))"

ASKED: tuple[Rule, ...] = (
    Rule(rf"{words.PREPOSITION}{words.HOLIDAY}", forms.holiday, words.HOLIDAY_CUES),
    Rule(
        r"\b(?i:in|during|since|until|for)\s(?P<quarter>[Qq][1-4]|H[12])\b",
        forms.quarter,
        ("q", "h1", "h2"),
    ),
    Rule(
        r"\b(?i:at|on|over|during)\s(?i:the)\s(?i:weekend)\b(?!\s(?:of|before|after)\b)",
        units.the_weekend,
        ("weekend",),
    ),
    Rule(
        rf"\b(?i:in|during|over|since|until|before|after)\s(?:the\s)?{words.SEASON}(?!(?:\s(?:holidays?|vacation|break))?,?\s(?:of\b|[0-9]))",
        forms.season,
        words.SEASON_CUES,
    ),
    Rule(
        rf"(?<![\w.-]){words.COUNT}\s(?P<unit>(?i:hour|minute))s?\s(?i:ago)\b",
        units.hours,
        ("ago",),
    ),
    Rule(
        rf"\b(?i:last|past)\s(?P<count>[0-9]{{1,3}}|few|{words.NUMBER_WORD})\s(?P<unit>(?i:hour|minute))s\b",
        units.hours,
        ("hours", "minutes"),
    ),
    Rule(
        r"\b(?i:on)\s(?i:the)\s(?P<day>[0-9]{1,2})(?:st|nd|rd|th)\b(?=\s*(?:$|[?.!,;]|(?:about|at|with|in|and|for|to)\b))",
        units.numbered_day,
        words.DIGITS,
    ),
    Rule(
        rf"(?<![\w.-]){words.COUNT}\s{words.PLURAL}\s(?P<ago>(?i:ago))\s(?i:today|to\sthe\sday)\b"
        r"|\b(?i:this\stime)\s(?i:last)\s(?P<unit2>(?i:week|month|year))\b",
        units.same_day,
        ("ago today", "to the day", "this time"),
    ),
    Rule(
        rf"(?<![\w.-]){_COUNT}\s(?P<unit>(?i:week|fortnight))s?\s(?P<ago>(?i:ago))\b",
        units.same_day,
        ("ago",),
        precise=False,
    ),
    Rule(
        rf"{words.WEEKDAY}{words.PART},?\s{_COUNT}\s(?i:weeks?\sago)\b"
        rf"|(?<![\w.-]){_COUNT.replace('count', 'count2')}\s(?i:weeks?\sago),?\s(?:on\s)?"
        rf"{words.WEEKDAY.replace('weekday', 'weekday2')}",
        units.weekday_of_week_ago,
        ("ago",),
    ),
    Rule(r"\b(?i:just\snow)\b", units.offset(0, 1), ("just now",)),
)
"""All of them; a rule before another wins where both match the same words, and before ``RULES``."""
