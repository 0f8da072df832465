"""The grammar of time expressions: word lists, then one row a form, with its pattern and resolver.

A pattern is compiled when a text holds one of the words that the form needs. Some forms are plain only
in a question: in what is told, the same words mean now the past, now the future; a question to a memory
looks back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.time import forms

if TYPE_CHECKING:
    from clsm_cli.text.time.forms import Resolver

# "may", "march" and "mar" are months only with a capital: they are common words.
MONTH = (
    r"(?P<month>[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|Mar(?:ch)?|[Aa]pr(?:il)?|May|[Jj]une?|[Jj]uly?|"
    r"[Aa]ug(?:ust)?|[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)\b"
    r"(?:(?<=\b[A-Za-z]{3})(?<!May)\.|(?<=Sept)\.)?"
)
MONTH_FULL = (
    r"[Jj]anuary|[Ff]ebruary|March|[Aa]pril|May|[Jj]une|[Jj]uly|[Aa]ugust|[Ss]eptember|"
    r"[Oo]ctober|[Nn]ovember|[Dd]ecember"
)
MONTH_NAME = rf"(?P<month>{MONTH_FULL})\b(?!\s[0-9])"
NUMBER = r"(?:0?[1-9]|[12][0-9]|3[01])"
DAY = (
    rf"(?P<day>{NUMBER})(?:st|nd|rd|th)?"
    rf"(?:\s?(?:-|\u2013|to|and|through)\s?(?:the\s)?(?P<to>{NUMBER})(?:st|nd|rd|th)?)?"
)
YEAR = r"(?P<year>(?:19|20)[0-9]{2})(?![0-9])"
ANY_YEAR = r"(?:of\s)?(?P<year>(?:19|20)[0-9]{2}(?![0-9])|(?:last|this|next)\syear\b)"
NO_YEAR = r"(?!,?\s(?:of\s)?(?:(?:19|20)[0-9]{2}(?![0-9])|(?:last|this|next)\syear\b))(?!\w)"
# A bare number that goes on, or counts something, is no day and no year.
NO_COUNT = (
    r"(?![\w%]|[.,:][0-9]|-\w|\s(?:tokens?|words?|people|steps?|lines?|items?|notes?|files?|hours?|"
    r"days?|years?|minutes?|km|kg|ms|dollars|euros|pieces|nodes|passages|pages|times|miles)\b)"
)
WEEKDAY = r"(?P<weekday>(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b"
SEASON = r"(?P<season>(?i:spring|summer|autumn|fall|winter))\b"
LEFT = (
    r"(?<![\w.:-])(?:(?P<weekday>(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)day)),?\s(?:the\s)?)?"
)
PART = r"(?:\s(?:morning|afternoon|evening|night)\b)?"
NUMBER_WORD = "|".join(forms.NUMBERS)
SOME = r"[0-9]{1,4}|an?\scouple(?:\sof)?|couple(?:\sof)?|an?\sfew|several"
COUNT = rf"(?P<count>(?i:{SOME}|an?|{NUMBER_WORD}))"
PLURAL = r"(?P<unit>(?i:day|weekend|week|fortnight|month|quarter|year|decade))s?\b"
UNIT = r"(?P<unit>(?i:weekend|week|fortnight|month|quarter|year|decade))\b"
WHICH = r"\b(?P<which>(?i:this\spast|this\scoming|last|this|next|past|coming))\s"
PREPOSITION = r"\b(?:at|on|over|for|during|since|until|till|before|after|from|by|around|in|this)\s"
HOLIDAY = (
    r"(?P<holiday>(?i:new\syear['\u2019]?s\s(?:eve|day)|new\syear(?:['\u2019]s)?|christmas(?:\s(?:eve|day))?"
    r"|xmas|boxing\sday|epiphany|st\spatrick['\u2019]s\sday|(?:valentine|mother|father)['\u2019]?s\sday"
    r"|april\sfools['\u2019]\sday|may\sday|juneteenth|(?:independence|veterans|memorial|labor)\sday"
    r"|halloween|all\ssaints['\u2019]\sday|bonfire\snight|thanksgiving|black\sfriday|shrove\stuesday"
    r"|ash\swednesday|palm\ssunday|maundy\sthursday|good\sfriday|easter(?:\s(?:sunday|monday))?"
    r"|ascension\sday|whit\s(?:sunday|monday)|pentecost))\b"
)
DIGITS = tuple("0123456789")
YEAR_CUES = (*DIGITS, " year")
MONTH_CUES = forms.MONTHS
SEASON_CUES = ("spring", "summer", "autumn", "fall", "winter")
UNIT_CUES = ("week", "fortnight", "month", "quarter", "year", "decade")
HOLIDAY_CUES = (
    "new year", "christmas", "xmas", "boxing", "epiphany", "patrick", "valentine", "mother", "father",
    "fools", "may day", "juneteenth", "independence", "veterans", "memorial", "labor", "halloween",
    "saints", "bonfire", "thanksgiving", "black friday", "shrove", "ash wednesday", "palm sunday",
    "maundy", "good friday", "easter", "ascension", "whit", "pentecost",
)  # fmt: skip


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
        DIGITS,
        ("-", "/"),
        relative=False,
    ),
    Rule(
        r"(?<![\w./-])(?P<day>\d{1,2})(?P<mark>[./])(?P<number>\d{1,2})(?P=mark)(?P<year>(?:19|20)\d\d)(?![\w/-]|\.\d)",
        forms.numeric_day,
        DIGITS,
        (".1", ".2", "/1", "/2"),
        relative=False,
    ),
    Rule(
        rf"(?<![\w./-]){YEAR}-(?P<number>0[1-9]|1[0-2])(?![\w-])",
        forms.iso_month,
        DIGITS,
        ("-0", "-1"),
        relative=False,
    ),
    Rule(
        rf"(?<![\w.-]){YEAR}-?W(?P<number>[0-5][0-9])(?![\w-])",
        forms.iso_week,
        DIGITS,
        ("w0", "w1", "w2", "w3", "w4", "w5"),
        relative=False,
    ),
    Rule(
        rf"{LEFT}{DAY}\s(?:of\s)?{MONTH},?\s{ANY_YEAR}",
        forms.day_of_month,
        DIGITS,
        MONTH_CUES,
        relative=False,
    ),
    Rule(
        rf"{LEFT}{MONTH}\s(?:the\s)?{DAY},?\s{ANY_YEAR}",
        forms.day_of_month,
        DIGITS,
        MONTH_CUES,
        relative=False,
    ),
    Rule(
        rf"{LEFT}{DAY}\s(?:of\s)?{MONTH}{NO_YEAR}",
        forms.day_of_month,
        DIGITS,
        MONTH_CUES,
        guess=True,
    ),
    Rule(
        rf"{LEFT}{MONTH}\s(?:the\s)?{DAY}{NO_COUNT}{NO_YEAR}",
        forms.day_of_month,
        DIGITS,
        MONTH_CUES,
        guess=True,
    ),
    Rule(
        rf"\b(?P<ordinal>{'|'.join(sorted(forms.ORDINALS, key=len, reverse=True))})\s(?:day\s)?of\s"
        rf"{MONTH}(?:,?\s{ANY_YEAR})?",
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
        MONTH_CUES,
        guess=True,
    ),
    Rule(
        rf"\b(?:(?P<start>{MONTH_FULL})\s?(?:-|\u2013|to|through)\s?)?{MONTH},?\s{ANY_YEAR}",
        forms.month_and_year,
        MONTH_CUES,
        YEAR_CUES,
        relative=False,
    ),
    Rule(
        rf"\b{SEASON}(?:\s(?:holidays?|vacation|break))?,?\s{ANY_YEAR}",
        forms.season_and_year,
        SEASON_CUES,
        YEAR_CUES,
        relative=False,
    ),
    Rule(
        rf"\b(?i:in|of|by|since|during|until|year|early|late|before|after|from)\s{YEAR}{NO_COUNT}",
        forms.year,
        DIGITS,
        relative=False,
    ),
    Rule(
        rf"(?<![\w./-])(?P<start>(?:19|20)\d\d)[-\u2013]{YEAR}{NO_COUNT}",
        forms.year,
        DIGITS,
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
        rf"\b(?P<quarter>[Qq][1-4]|H[12])(?:,?\s|\s?[/-]\s?){ANY_YEAR}",
        forms.quarter,
        ("q", "h1", "h2"),
        relative=False,
    ),
    Rule(
        r"\b(?P<which>(?i:in|during|since|until|last|next|this|early|late|mid))[\s-]" + MONTH_NAME,
        forms.month,
        MONTH_CUES,
        guess=True,
    ),
    Rule(
        rf"(?:{WHICH}|{PREPOSITION})?{HOLIDAY},?\s{ANY_YEAR}",
        forms.holiday,
        HOLIDAY_CUES,
        relative=False,
    ),
    Rule(rf"{WHICH}{HOLIDAY}", forms.holiday, HOLIDAY_CUES),
)
"""Forms that name a day, month, season or year."""

DAYS: tuple[Rule, ...] = (
    Rule(
        rf"\b(?i:the\sday\sbefore\syesterday|the\snight\sbefore\slast){PART}",
        forms.offset(-2, -1),
        ("before",),
    ),
    Rule(rf"\b(?i:the\sday\safter\stomorrow){PART}", forms.offset(2, 3), ("tomorrow",)),
    Rule(
        rf"\b(?i:yesterday){PART}|\b(?i:last\snight)\b",
        forms.offset(-1, 0),
        ("yesterday", "last"),
    ),
    Rule(
        r"\b(?i:(?:earlier\s|later\s)?today|tonight|this\s(?:morning|afternoon|evening))\b",
        forms.offset(0, 1),
        ("today", "tonight", "this"),
    ),
    Rule(rf"\b(?i:tomorrow){PART}", forms.offset(1, 2), ("tomorrow",)),
    Rule(
        r"\b(?i:the\sother\s(?:day|night|evening))\b",
        forms.offset(-7, 0),
        ("other",),
        precise=False,
    ),
    Rule(r"\b(?i:recently|lately)\b", forms.offset(-14, 1), ("recent", "lately"), precise=False),
    Rule(
        rf"{WEEKDAY}{PART}\s(?:of\s)?(?P<which>(?i:last|this|next))\s(?i:week)\b"
        rf"|\b(?P<which2>(?i:last|this|next))\s(?i:week),?\s(?:on\s)?{WEEKDAY.replace('weekday', 'weekday2')}",
        forms.weekday_of_week,
        ("week",),
    ),
    Rule(rf"{WHICH}{WEEKDAY}{PART}", forms.weekday, ("day",)),
    Rule(
        rf"(?<!\bevery\s)(?<!\beach\s)(?<![\w-])(?!(?:Good|Black)\s){WEEKDAY}{PART}",
        forms.weekday,
        ("day",),
        guess=True,
    ),
)
"""Forms that name a day by its distance or its weekday."""

UNITS: tuple[Rule, ...] = (
    Rule(rf"{WHICH}{UNIT}", forms.which_unit, UNIT_CUES),
    Rule(
        rf"\b(?P<half>(?i:earlier|later))\s(?i:this)\s{UNIT}",
        forms.half_of_unit,
        UNIT_CUES,
    ),
    Rule(
        r"\b(?i:the)\s(?P<unit>(?i:week|weekend|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r"|spring|summer|autumn|fall|winter))\s(?P<side>(?i:before\slast|after\snext))\b",
        forms.before_last,
        ("before last", "after next"),
    ),
    Rule(rf"{WHICH}{SEASON}", forms.season, SEASON_CUES),
    Rule(rf"(?<![\w.-]){COUNT}\s{PLURAL}\s(?i:ago|back)\b", forms.ago, ("ago", "back")),
    Rule(
        rf"(?<![\w.-]){COUNT}\s(?:{PLURAL}\s(?i:or)\s(?P<most>(?i:so|two|three))"
        rf"|(?i:or|to)\s(?P<most2>(?i:[0-9]{{1,3}}|{NUMBER_WORD}))\s"
        r"(?P<unit2>(?i:day|week|month|year))s)\s(?i:ago|back)\b",
        forms.ago,
        ("ago", "back"),
        precise=False,
    ),
    Rule(
        rf"\b(?i:in)\s{COUNT}\s{PLURAL}(?!\s(?i:ago|of|back))",
        forms.hence,
        ("in ",),
        guess=True,
        only_ahead=True,
    ),
    Rule(
        rf"(?<![\w.-]){COUNT}\s{PLURAL}\s(?i:from\s(?:now|today))\b",
        forms.hence,
        ("from now", "from today"),
    ),
    Rule(
        rf"\b(?P<which>(?i:last|past|next|coming))\s(?P<count>(?i:couple(?:\sof)?|few|"
        rf"[0-9]{{1,3}}|{NUMBER_WORD}))\s{PLURAL}",
        forms.stretch,
        ("last", "past", "next", "coming"),
    ),
    Rule(
        r"\b(?i:in|over|during)\s(?:the\s)?(?i:recent)\s(?P<unit>(?i:day|week|month|year))s\b",
        forms.recent,
        ("recent",),
        precise=False,
    ),
)
"""Forms that choose or count units of time."""

RULES: tuple[Rule, ...] = (*DATES, *DAYS, *UNITS)
"""All forms; where two match at one place the longer text wins."""


WHOLE = (
    r"\b(?P<which>(?i:was(?=\s\S+\sabout\b)|(?:summary|overview|recap|gist)\sof|summari[sz]e))\s"
)
"""Before the name of a time that a question asks all of: "what was March about"."""
_COUNT = rf"(?P<count>(?i:[0-9]{{1,3}}|an?|{NUMBER_WORD}))"

ASKED: tuple[Rule, ...] = (
    Rule(WHOLE + MONTH_NAME, forms.month, MONTH_CUES, guess=True),
    Rule(rf"{WHOLE}{YEAR}(?![\w-])", forms.year, DIGITS, relative=False),
    Rule(rf"{PREPOSITION}{HOLIDAY}", forms.holiday, HOLIDAY_CUES),
    Rule(
        r"\b(?i:in|during|since|until|for)\s(?P<quarter>[Qq][1-4]|H[12])\b",
        forms.quarter,
        ("q", "h1", "h2"),
    ),
    Rule(
        r"\b(?i:at|on|over|during)\s(?i:the)\s(?i:weekend)\b(?!\s(?:of|before|after)\b)",
        forms.the_weekend,
        ("weekend",),
    ),
    Rule(
        rf"\b(?i:in|during|over|since|until|before|after)\s(?:the\s)?{SEASON}(?!(?:\s(?:holidays?|vacation|break))?,?\s(?:of\b|[0-9]))",
        forms.season,
        SEASON_CUES,
    ),
    Rule(
        rf"(?<![\w.-]){COUNT}\s(?P<unit>(?i:hour|minute))s?\s(?i:ago)\b",
        forms.hours,
        ("ago",),
    ),
    Rule(
        rf"\b(?i:last|past)\s(?P<count>[0-9]{{1,3}}|few|{NUMBER_WORD})\s(?P<unit>(?i:hour|minute))s\b",
        forms.hours,
        ("hours", "minutes"),
    ),
    Rule(
        r"\b(?i:on)\s(?i:the)\s(?P<day>[0-9]{1,2})(?:st|nd|rd|th)\b(?=\s*(?:$|[?.!,;]|(?:about|at|with|in|and|for|to)\b))",
        forms.numbered_day,
        DIGITS,
    ),
    Rule(
        rf"(?<![\w.-]){COUNT}\s{PLURAL}\s(?P<ago>(?i:ago))\s(?i:today|to\sthe\sday)\b"
        r"|\b(?i:this\stime)\s(?i:last)\s(?P<unit2>(?i:week|month|year))\b",
        forms.same_day,
        ("ago today", "to the day", "this time"),
    ),
    Rule(
        rf"(?<![\w.-]){_COUNT}\s(?P<unit>(?i:week|fortnight))s?\s(?P<ago>(?i:ago))\b",
        forms.same_day,
        ("ago",),
        precise=False,
    ),
    Rule(
        rf"{WEEKDAY}{PART},?\s{_COUNT}\s(?i:weeks?\sago)\b"
        rf"|(?<![\w.-]){_COUNT.replace('count', 'count2')}\s(?i:weeks?\sago),?\s(?:on\s)?"
        rf"{WEEKDAY.replace('weekday', 'weekday2')}",
        forms.weekday_of_week_ago,
        ("ago",),
    ),
    Rule(r"\b(?i:just\snow)\b", forms.offset(0, 1), ("just now",)),
)
"""All of them; a rule before another wins where both match the same words, and before ``RULES``."""
