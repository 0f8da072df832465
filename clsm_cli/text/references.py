"""Words of a sentence that point to something outside of it."""

from __future__ import annotations

import re

from clsm_cli.text import gate_words as forms
from clsm_cli.text.first_person import gender_of
from clsm_cli.text.gate import unquoted
from clsm_cli.text.names import NO_NAMES

_TIME_NOUN = r"(?:year|month|week|weekend|morning|afternoon|evening|summer|winter|spring|autumn|fall|time|season|day|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december)s?"
_POINTING = re.compile(
    rf"\bthis\b(?!\s(?:coming\s|past\s|last\s|next\s)?{_TIME_NOUN}\b)|\bthese\b(?!\sdays\b)|\bthose\b(?!\s(?:who|that|with|of|in)\b)"
    r"|\bthat(?=[.,;!)]|$|\stoo\b)|^(?:and\s|but\s|so\s)?that\b|\bthat's\b|(?:,|\bso|\band|\bbut)\sthat\s(?:is|was|will|would|has|makes?|made|helps?|means)\b|\b(?:of|for|about|with|from|by|at|after|before|than|like|to|on|in|is|was|do|did|does|done|doing|said|says|all|because|since|as|love|like|know|hear|see|believe|mean|remember)\sthat(?=[.,;:!)]|$|\s(?:is|was|too|again|way|one|day|time|night|kind|sort)\b)"
    r"|\b(?:for|about|with|from|by|of|on|in|at|after|before)\sthat\b(?!\s\w+\s\w+s\b)"
    r"|\b(?:saw|see|painted|made|love|loved|got|took|bought|keep|like|want|need|read|use|used|remember|gave|found|did|had|have)\sthat\s[a-z]+"
    r"|(?<!\w)there(?=[.,;:!)]|$|\s(?:too|again|and|with|for|last|next|before|yesterday|today|once|every|now|as|since|when|by|to)\b)"
    r"|\bhere\b|\b(?:over|in|up|down|out|from|around)\sthere\b"
    r"|\bthe\s(?:other|latter|former|same|rest|above|following|whole\sthing|two|three|first|second|third|fourth|fifth|last|next)"
    r"(?:\s(?:one|ones|two))?(?=[.,;:!)]|$|\s(?:is|was|are|were|has|had|have|will|said|says|and|but|or|calls|of\s(?:them|these|those)|in\s(?:the\s)?list)\b)"
    r"|\b(?:one|two|three|some|many|most|all|none|both|each|any|neither|either|half|part)\sof\s(?:these|those|which)\b"
    r"|\bthe\sother\sone|\b(?:have|has|had|got|need|needs|want|wants|bought|built|wrote|made|get|buy|find|found|chose|is|was|than)\sone\b(?=[.,;:!)]|$|\s(?:now|too|for|from|in|on|at|and|by|last|myself|himself|herself)\b)|\bthe\s(?:\w+\s)?one(?=[.,;:!)]|$|\s(?:is|was|on|in|at|from|for|with)\b)|^(?:The|A|An|Each|Every)\s(?:[a-z]+\s){1,4}that\s(?:it|she|he|they)\s|\b(?:on|for|with|of|to|about|at)\sone\b(?=\s(?:with|for|called|that|from)\b|[.,;!])|\b(?:saved|made|bought|got|get|have|had|ate|tried|want|need|took|found|picked\sup)\s(?:some|a\sfew|a\slot|many|more|most|several)(?=[.,;!]|\s(?:but|and|for|with|too|yesterday|last|to|myself)\b)|\bthe\s(?:first|second|third)\s(?:best|one)\b|\bsuch\s(?:an?\s)?\w+(?=[.;,])|\b(?:do|did|does|doing|done)\s(?:it|so)\b|\b(?:said|think|thinks|thought|told\s\w+)\sso\b"
    r"|^(?:both|neither|none|another|others|the\sothers|each|some|many|most|all|one|two|three|either|"
    r"something|someone|somebody|such)\s(?:is|was|are|were|has|had|have|will|would|could|can|did|does|said|of\s(?:them|it|us)|went|came|lied|spoke|goes)\b"
    r"|\b(?:see|as|mentioned|shown|described|noted)\s(?:above|below|here)\b|\bthe\s(?:thing|question|answer|reason|problem|point|idea|rest|result|story|cost)\s(?:is|was|lies|remains)\b"
    r"|\bthe\s(?:first|second|third|fourth)\s(?:author|time|one|reason|thing|question|point|part|idea|filter|kind)(?=[.,;]|\sonly|\sis|\swas)"
    r"|\bit\s(?:again|too)\b(?=[.;,!])|\b(?:none|neither)(?=[.,;:!])",
    re.IGNORECASE,
)
_THIRD_PERSON = re.compile(
    r"\b(he|him|his|she|her|hers|himself|herself|they|them|their|theirs|it|its)\b(?!'s\snot)",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\bit(?:'s|\sis|\swas|\swill\sbe|\sseems|\sturned\sout|\sturns\sout|\shas\sbeen)\s(?!based)(?:[\w'-]+\s){0,3}?(?:that|to|when)\s"
    r"|\bit\s(?:takes|took|costs?)\s(?:[\w'-]+\s){0,6}?to\s|\bit\s(?:rains|rained|snows|snowed|is\sraining)",
    re.IGNORECASE,
)
_NOUNISH = re.compile(
    r"(?:(?i:\b(?:the|an?|my|our|his|her|its|their|every|each|no|some|two|three|four|five|six|any|all))\s(?:[\w'-]+\s){0,3}[a-z][\w'-]{2,}|\b[A-Z][\w'-]+|\b[a-z]\w*(?:_\w+)+|\b[a-z]{3,}s\b|\b\d+\s[a-z]{3,})"
)


def open_reference(text: str, *, speaker: str = "") -> str | None:
    """The first word of a plain text that points to something outside of it, or None.

    A pronoun is closed when something it can stand for has been named before it in the sentence: for
    *he* and *she* a name or a person, for *it* and *they* any noun. Where *he* and *she* both stand,
    two people must.

    Args:
        text: a plain sentence.
        speaker: whose name is no antecedent of *it*.

    >>> open_reference("Ann lost her key."), open_reference("She lost it."), open_reference("I use this.")
    (None, 'She', 'this')
    """
    text = unquoted(text.replace("\u2019", "'"))
    pointing = _POINTING.search(text)
    if pointing:
        return pointing.group().split()[0]
    hidden = [match.span() for match in _EXPLETIVE.finditer(text)]
    told: set[str] = set()
    for match in _THIRD_PERSON.finditer(text):
        if any(start <= match.start() < end for start, end in hidden):
            continue
        word = match.group().lower()
        before = text[: match.start()]
        if word in _THINGS:
            bare = before.replace(speaker, "") if speaker else before
            if not (_has_thing(bare) if word in {"it", "its"} else _has_several(before)):
                return match.group()
            continue
        gender = "he" if word in _MASCULINE else "she"
        told.add(gender)
        is_object = word == "him" or (
            word == "her" and not text[match.end() : match.end() + 2].strip().isalpha()
        )
        if len(_people(before, gender)) < max(len(told), 1 + is_object):
            return match.group()
    return None


_PERSON_NOUN = re.compile(
    r"\b(?:mother|father|mum|mom|dad|sister|brother|son|daughter|kid|child|wife|husband|partner|girlfriend|boyfriend|"
    r"friend|aunt|uncle|cousin|niece|nephew|grandmother|grandfather|grandma|grandpa|neighbou?r|boss|colleague|teacher|"
    r"doctor|vet|man|woman|boy|girl|guy|lady|person|people|who|whoever|anyone|everyone|somebody|someone|nobody|(?<!-)one\swho|"
    r"cat|dog|puppy|kitten|coach|mentor|manager|landlord|user|author|editor|client|customer|student|baker|nurse|"
    r"reader|master|owner|writer|driver|engineer|artist|parent|baby|horse|parrot)\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<![\w'-])[A-Z][\w-]+")
_NO_ANTECEDENT = forms.words("The This That When If In On At By For From With After Before Since Until While As And But So Then Yes No It He She They We I You His Her Its Their My Our Your There Here A An Now Today Yesterday Because Although Once What Who Which How Why Not Only Also Never Always Nothing Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December")  # fmt: skip


_PLURAL = re.compile(r"\b[A-Za-z][a-z'-]{2,}s\b(?!['\u2019])")
_GROUP = re.compile(
    r"\b(?:people|children|men|women|mice|police|family|fam|team|group|company|board|council|staff|crew|band|club|agency|shop|"
    r"few|many|both|several|users?)\b|\b[A-Z][\w-]+(?:,\s[A-Z][\w-]+)*,?\sand\s(?:[a-z]+\s)?[A-Z]"
)
_THINGS = frozenset({"it", "its", "they", "them", "their", "theirs"})
_MASCULINE = frozenset({"he", "him", "his", "himself"})


def _has_thing(before: str) -> bool:
    """Whether a noun stands before *it* or *they*."""
    found = (match.group() for match in _NOUNISH.finditer(before))
    return any(" " in phrase or not _is_no_thing(phrase) for phrase in found)


def _is_no_thing(word: str) -> bool:
    verbs = forms.THIRDS | forms.PAST | forms.REGULAR_PASTS | forms.BASES
    return word in _NO_ANTECEDENT | NO_NAMES or word.lower() in verbs


def _has_several(before: str) -> bool:
    """Whether a plural, a group, a pair of names or somebody of no gender stands before *they*."""
    if _PERSON_NOUN.search(before) or _GROUP.search(before):
        return True
    return any(
        noun not in forms.THIRDS and not noun.endswith(("ss", "us", "is"))
        for noun in _PLURAL.findall(before)
    )


def _people(before: str, gender: str) -> set[str]:
    """Names and persons before *he* or *she* that it can stand for."""
    names = {name for name in _CAPITAL.findall(before) if name not in _NO_ANTECEDENT}
    names -= set(re.findall(r"^[A-Z][\w-]+(?=:)", before))
    fitting = {name for name in names if gender_of(name) in {None, gender}}
    return fitting | {noun.lower() for noun in _PERSON_NOUN.findall(before)}
