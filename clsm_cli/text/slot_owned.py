"""Forms in which a value is told as something that its owner has: "Mara's home is in Leeds", "the owner of the mill"."""

from __future__ import annotations

from clsm_cli.text import slot_readers as read
from clsm_cli.text.slot_readers import Rule, form
from clsm_cli.text.slot_words import ADVERBS, COUNT, END, HAVE, INNER, MARK, NAME, UNIT, WORD

_A = ADVERBS
_CALENDAR = r"(?:January|February|March|April|May|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)s?\b"
WHO = rf"(?P<v>(?!{_CALENDAR}){NAME})"
"""Somebody, who is the value."""
_THING = (
    rf"(?:(?:the|our|my|its|this) {WORD}(?: (?!(?:from|in|on|at|for|with)\b){INNER}){{0,2}}|{NAME})"
)
CARED = rf"(?P<s>{_THING})"
"""What somebody cares for, which is the subject."""
_OWNERS = rf"(?P<s>(?:(?:the|our|my|this) )?(?:{MARK}|[\w-]{{1,25}})(?: [\w-]{{1,25}}){{0,2}}['’]s|our|my|its|his|her|their)"
_IS = rf"(?:is|are|{HAVE}changed to|changed to|{HAVE}been changed to) {_A}"
_ROLE = (
    r"(?P<q>database|editor|framework|search engine|queue|cache|broker|package manager|compiler|shell|"
    r"browser|mail client|model|hosting|provider|bank|insurer|payment provider)"
)
_PLACE = rf"(?P<v>(?:the )?{NAME})"
_PRODUCT = rf"(?P<v>{MARK}|{NAME})"
_OLDER = rf"(?P<w>{MARK}|{NAME})"
_DIGITS = r"\+?\d[\d /-]{5,18}\d"
_NUMBER = rf"(?P<v>{_DIGITS})"
_LINE = r"(?:(?:tele)?phone|mobile|cell)(?: phone)?(?: number)?|(?:new |current )?number"
_MAIL = r"[Ee]?-?mail(?: address)?"
_ADDRESS = r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,20}){1,3}"
_EVERY = rf"every (?P<n>{COUNT}) {UNIT}"
_WAS_EVERY = rf"from every (?P<w>{COUNT})(?: (?P<wunit>[a-z]{{3,8}}))?"

RULES: tuple[Rule, ...] = (
    Rule(
        "residence",
        form(rf"(?:home|house|flat|apartment|place) is {_A}in {_PLACE}{END}"),
        read.name,
        "none",
    ),
    Rule("residence", form(rf"(?:new|current) home is {_A}{_PLACE}{END}"), read.name, "none"),
    Rule("phone", form(rf"(?:{_LINE}) {_IS}{_NUMBER}"), read.line, "none"),
    Rule("phone", form(rf"(?:{_LINE}) (?:of|for) {CARED} {_IS}{_NUMBER}"), read.text, "none"),
    Rule(
        "phone",
        form(
            rf"(?:[Rr]each|[Cc]all|[Rr]ing|[Pp]hone) (?P<s>me|us|{NAME}) (?:at|on|under) {_NUMBER}"
        ),
        read.text,
        "none",
    ),
    Rule(
        "phone",
        form(rf"changed {_OWNERS} (?:{_LINE}) (?:from (?P<w>{_DIGITS}) )?to {_NUMBER}"),
        read.text,
        "none",
        is_change=True,
    ),
    Rule("email", form(rf"{_MAIL} {_IS}(?P<v>{_ADDRESS})"), read.text, "none"),
    Rule("email", form(rf"{_MAIL} of {CARED} {_IS}(?P<v>{_ADDRESS})"), read.text, "none"),
    Rule(
        "email",
        form(rf"changed {_OWNERS} {_MAIL} (?:from (?P<w>{_ADDRESS}) )?to (?P<v>{_ADDRESS})"),
        read.text,
        "none",
        is_change=True,
    ),
    Rule("owner", form(rf"(?:owner|maintainer|keeper) {_IS}{WHO}{END}"), read.name, "none"),
    Rule(
        "owner",
        form(
            rf"[Rr]esponsibility for {CARED} (?:goes|went|passes|passed|moved|{HAVE}(?:gone|passed|"
            rf"moved)) (?:from (?P<w>{NAME}) )?to {WHO}{END}"
        ),
        read.name,
        "none",
        is_change=True,
    ),
    Rule("uses", form(rf"{_ROLE} {_IS}{_PRODUCT}{END}"), read.name, "none"),
    Rule("uses", form(rf"{_ROLE} (?:of|for) {CARED} {_IS}{_PRODUCT}{END}"), read.name, "none"),
    Rule(
        "uses",
        form(
            rf"(?:switched|moved|migrated|changed) {_OWNERS} {_ROLE} (?:over )?(?:from {_OLDER} )?to "
            rf"{_PRODUCT}{END}"
        ),
        read.name,
        "none",
        is_change=True,
    ),
    Rule(
        "uses",
        form(rf"replaced {_OLDER} (?:with|by) {_PRODUCT} (?:as|for) {_OWNERS} {_ROLE}"),
        read.name,
        "none",
        is_change=True,
    ),
    Rule(
        "interval",
        form(rf"(?:interval|frequency) {_IS}(?:every )?(?P<n>{COUNT}) {UNIT}{END}"),
        read.interval,
        "none",
    ),
    Rule(
        "interval",
        form(
            rf"(?:interval|frequency) (?:of|for) {CARED} {_IS}(?:every )?(?P<n>{COUNT}) {UNIT}{END}"
        ),
        read.interval,
        "none",
    ),
    Rule(
        "interval",
        form(
            rf"(?:changed|set|switched|moved|raised|lowered|reduced|increased) {CARED} "
            rf"(?:{_WAS_EVERY} )?to (?:[a-z]{{2,10}} )?(?:once )?{_EVERY}{END}"
        ),
        read.interval,
        "none",
        is_change=True,
    ),
    Rule(
        "interval",
        form(
            rf"(?:goes|went|{HAVE}gone|changed|{HAVE}changed|{HAVE}been changed|was changed) "
            rf"{_WAS_EVERY} to {_EVERY}{END}"
        ),
        read.interval,
        "thing",
        is_change=True,
    ),
)
"""In the order in which they are tried."""
