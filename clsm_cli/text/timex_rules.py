"""The grammar of time expressions: one row a form, a pattern and what its words mean.

What the words mean is said in ``timex_forms`` (dates, months, seasons) and ``timex_units`` (what is
counted). A pattern is compiled when a text holds one of the words that the form needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text import timex_forms as forms
from clsm_cli.text import timex_units as units
from clsm_cli.text import timex_words as words

if TYPE_CHECKING:
    from clsm_cli.text.timex_forms import Resolver


class Rule(NamedTuple):
    """One form of time expression.

    Attributes:
        pattern: a regular expression, case-sensitive unless it says otherwise.
        resolve: from groups, day of speaking and looking ahead to the period meant.
        needs: lower-case strings; a text with none of them has no such expression.
        also: more of them, of which it needs one as well.
        precise: whether the words fix the bounds.
        relative: whether the period depends on the day of speaking.
        guess: whether, without a year or "last", only the words around it can tell where it lies.
        only_ahead: whether it means no time at all where the words around it look back.
    """

    pattern: str
    resolve: Resolver
    needs: tuple[str, ...]
    also: tuple[str, ...] = ()
    precise: bool = True
    relative: bool = True
    guess: bool = False
    only_ahead: bool = False


DATES: tuple[Rule, ...] = (
    Rule(
        r"(?<![\w.-])(?P<year>\d{4})(?P<mark>[-/])(?P<number>\d{2})(?P=mark)(?P<day>\d{2})(?!\d|[-/]\d)",
        forms.iso_day,
        words.DIGITS,
        ("-", "/"),
        relative=False,
    ),
    Rule(
        r"(?<![\w./-])(?P<day>\d{1,2})(?P<mark>[./])(?P<number>\d{1,2})(?P=mark)(?P<year>(?:19|20)\d\d)(?![\w/-]|\.\d)",
        forms.numeric_day,
        words.DIGITS,
        (".1", ".2", "/1", "/2"),
        relative=False,
    ),
    Rule(
        rf"(?<![\w./-]){words.YEAR}-(?P<number>0[1-9]|1[0-2])(?![\w-])",
        forms.iso_month,
        words.DIGITS,
        ("-0", "-1"),
        relative=False,
    ),
    Rule(
        rf"{words.LEFT}{words.DAY}\s(?:of\s)?{words.MONTH},?\s{words.ANY_YEAR}",
        forms.day_of_month,
        words.DIGITS,
        words.MONTH_CUES,
        relative=False,
    ),
    Rule(
        rf"{words.LEFT}{words.MONTH}\s(?:the\s)?{words.DAY},?\s{words.ANY_YEAR}",
        forms.day_of_month,
        words.DIGITS,
        words.MONTH_CUES,
        relative=False,
    ),
    Rule(
        rf"{words.LEFT}{words.DAY}\s(?:of\s)?{words.MONTH}{words.NO_YEAR}",
        forms.day_of_month,
        words.DIGITS,
        words.MONTH_CUES,
        guess=True,
    ),
    Rule(
        rf"{words.LEFT}{words.MONTH}\s(?:the\s)?{words.DAY}{words.NO_COUNT}{words.NO_YEAR}",
        forms.day_of_month,
        words.DIGITS,
        words.MONTH_CUES,
        guess=True,
    ),
    Rule(
        rf"\b(?P<ordinal>{'|'.join(sorted(forms.ORDINALS, key=len, reverse=True))})\s(?:day\s)?of\s"
        rf"{words.MONTH}(?:,?\s{words.ANY_YEAR})?",
        forms.day_of_month,
        (
            "st of ",
            "th of ",
            "nd of ",
            "rd of ",
            "st day of ",
            "nd day of ",
            "rd day of ",
            "th day of ",
        ),
        words.MONTH_CUES,
        guess=True,
    ),
    Rule(
        rf"\b(?:(?P<start>{words.MONTH_FULL})\s?(?:-|\u2013|to|through)\s?)?{words.MONTH},?\s{words.ANY_YEAR}",
        forms.month_and_year,
        words.MONTH_CUES,
        words.YEAR_CUES,
        relative=False,
    ),
    Rule(
        rf"\b{words.SEASON}(?:\s(?:holidays?|vacation|break))?,?\s{words.ANY_YEAR}",
        forms.season_and_year,
        words.SEASON_CUES,
        words.YEAR_CUES,
        relative=False,
    ),
    Rule(
        rf"\b(?i:in|of|by|since|during|until|year|early|late|before|after|from)\s{words.YEAR}{words.NO_COUNT}",
        forms.year,
        words.DIGITS,
        relative=False,
    ),
    Rule(
        rf"(?<![\w./-])(?P<start>(?:19|20)\d\d)[-\u2013]{words.YEAR}{words.NO_COUNT}",
        forms.year,
        words.DIGITS,
        ("-", "\u2013"),
        relative=False,
    ),
    Rule(
        r"\bthe\s(?:(?:(?P<year>(?:19|20)\d0)|['\u2019]?(?P<year2>\d0))['\u2019]?s\b(?!\s(?:and|or)\s\d)"
        rf"|(?P<name>(?i:{'|'.join(forms.DECADES)}))\b)",
        forms.decade,
        ("0s", "0's", "0\u2019s", "ties"),
        relative=False,
    ),
    Rule(
        rf"\b(?P<quarter>[Qq][1-4]|H[12])(?:,?\s|\s?[/-]\s?){words.ANY_YEAR}",
        forms.quarter,
        ("q", "h1", "h2"),
        relative=False,
    ),
    Rule(
        r"\b(?P<which>(?i:in|during|since|until|last|next|this|early|late|mid))[\s-]"
        + words.MONTH_NAME,
        forms.month,
        words.MONTH_CUES,
        guess=True,
    ),
    Rule(
        rf"(?:{words.WHICH}|{words.PREPOSITION})?{words.HOLIDAY},?\s{words.ANY_YEAR}",
        forms.holiday,
        words.HOLIDAY_CUES,
        relative=False,
    ),
    Rule(rf"{words.WHICH}{words.HOLIDAY}", forms.holiday, words.HOLIDAY_CUES),
)
"""Forms that name a day, month, season or year."""

DAYS: tuple[Rule, ...] = (
    Rule(
        rf"\b(?i:the\sday\sbefore\syesterday|the\snight\sbefore\slast){words.PART}",
        units.offset(-2, -1),
        ("before",),
    ),
    Rule(rf"\b(?i:the\sday\safter\stomorrow){words.PART}", units.offset(2, 3), ("tomorrow",)),
    Rule(
        rf"\b(?i:yesterday){words.PART}|\b(?i:last\snight)\b",
        units.offset(-1, 0),
        ("yesterday", "last"),
    ),
    Rule(
        r"\b(?i:(?:earlier\s|later\s)?today|tonight|this\s(?:morning|afternoon|evening))\b",
        units.offset(0, 1),
        ("today", "tonight", "this"),
    ),
    Rule(rf"\b(?i:tomorrow){words.PART}", units.offset(1, 2), ("tomorrow",)),
    Rule(
        r"\b(?i:the\sother\s(?:day|night|evening))\b",
        units.offset(-7, 0),
        ("other",),
        precise=False,
    ),
    Rule(r"\b(?i:recently|lately)\b", units.offset(-14, 1), ("recent", "lately"), precise=False),
    Rule(
        rf"{words.WEEKDAY}{words.PART}\s(?:of\s)?(?P<which>(?i:last|this|next))\s(?i:week)\b"
        rf"|\b(?P<which2>(?i:last|this|next))\s(?i:week),?\s(?:on\s)?{words.WEEKDAY.replace('weekday', 'weekday2')}",
        forms.weekday_of_week,
        ("week",),
    ),
    Rule(rf"{words.WHICH}{words.WEEKDAY}{words.PART}", forms.weekday, ("day",)),
    Rule(
        rf"(?<!\bevery\s)(?<!\beach\s)(?<![\w-])(?!(?:Good|Black)\s){words.WEEKDAY}{words.PART}",
        forms.weekday,
        ("day",),
        guess=True,
    ),
)
"""Forms that name a day by its distance or its weekday."""

UNITS: tuple[Rule, ...] = (
    Rule(rf"{words.WHICH}{words.UNIT}", units.which_unit, words.UNIT_CUES),
    Rule(
        rf"\b(?P<half>(?i:earlier|later))\s(?i:this)\s{words.UNIT}",
        units.half_of_unit,
        words.UNIT_CUES,
    ),
    Rule(
        r"\b(?i:the)\s(?P<unit>(?i:week|weekend|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r"|spring|summer|autumn|fall|winter))\s(?P<side>(?i:before\slast|after\snext))\b",
        units.before_last,
        ("before last", "after next"),
    ),
    Rule(rf"{words.WHICH}{words.SEASON}", forms.season, words.SEASON_CUES),
    Rule(rf"(?<![\w.-]){words.COUNT}\s{words.PLURAL}\s(?i:ago|back)\b", units.ago, ("ago", "back")),
    Rule(
        rf"(?<![\w.-]){words.COUNT}\s(?:{words.PLURAL}\s(?i:or)\s(?P<most>(?i:so|two|three))"
        rf"|(?i:or|to)\s(?P<most2>(?i:[0-9]{{1,3}}|{words.NUMBER_WORD}))\s"
        r"(?P<unit2>(?i:day|week|month|year))s)\s(?i:ago|back)\b",
        units.ago,
        ("ago", "back"),
        precise=False,
    ),
    Rule(
        rf"\b(?i:in)\s{words.COUNT}\s{words.PLURAL}(?!\s(?i:ago|of|back))",
        units.hence,
        ("in ",),
        guess=True,
        only_ahead=True,
    ),
    Rule(
        rf"(?<![\w.-]){words.COUNT}\s{words.PLURAL}\s(?i:from\s(?:now|today))\b",
        units.hence,
        ("from now", "from today"),
    ),
    Rule(
        rf"\b(?P<which>(?i:last|past|next|coming))\s(?P<count>(?i:couple(?:\sof)?|few|"
        rf"[0-9]{{1,3}}|{words.NUMBER_WORD}))\s{words.PLURAL}",
        units.stretch,
        ("last", "past", "next", "coming"),
    ),
    Rule(
        r"\b(?i:in|over|during)\s(?:the\s)?(?i:recent)\s(?P<unit>(?i:day|week|month|year))s\b",
        units.recent,
        ("recent",),
        precise=False,
    ),
)
"""Forms that choose or count units of time."""

RULES: tuple[Rule, ...] = (*DATES, *DAYS, *UNITS)
"""All forms; where two match at one place the longer text wins."""
