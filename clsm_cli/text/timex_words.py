"""The vocabulary of time expressions: pieces of patterns, and what a text with one must hold."""

from __future__ import annotations

from clsm_cli.text import timex_forms as forms
from clsm_cli.text import timex_units as units

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
NUMBER_WORD = "|".join(units.NUMBERS)
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
