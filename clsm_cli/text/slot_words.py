"""Word classes and pieces of patterns that the rules for facts share.

The patterns are for text with single blanks and written-out contractions, in which names that their
author marked stand between two private characters (:mod:`clsm_cli.text.slot_clauses`).
"""

from __future__ import annotations

import re

from clsm_cli.text.slot_values import CLOSE, NUMBERS, OPEN


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


MARK = f"{OPEN}[^{OPEN}{CLOSE}]{{1,80}}{CLOSE}"
"""A marked name."""
_CAPITAL = r"[A-Z][\w'’&]{0,30}(?:-[\w'’]{1,30}){0,3}"
_TITLE = r"(?:Dr|Mr|Mrs|Ms|St|Prof)\. "
NAME = rf"(?:{MARK}|(?:{_TITLE})?{_CAPITAL}(?: (?:(?:of|de|van|der|den|la|del|the) ){{0,2}}{_CAPITAL}){{0,4}})"
"""A run of capitalised words, or a marked name."""
WORD = rf"(?:{MARK}|[\w'’/+&-]{{1,40}})"
WORDS = rf"{WORD}(?: {WORD}){{0,5}}"
"""One to six words of a clause."""
INNER = (
    r"(?!(?:and|or|by|named|called|which|that|who|whose|since|until|because|is|are|was|were|has|have|had|"
    rf"come|comes|goes|where|when|while|so|but|as|if|to|now|again|then|not|will|can)\b){WORD}"
)
NOUN = rf"(?:(?:the|an?|our|my|your|his|her|its|their|this|that) |{NAME}['’]s ){WORD}(?: {INNER}){{0,4}}|{NAME}(?: [a-z-]{{3,15}})?"
"""A phrase with an article or an owner, or a name."""
ADVERBS = (
    r"(?:(?:not|never|no longer|now|also|still|currently|just|recently|actually|finally|already|really|"
    r"always|then|therefore|only|both|usually|even|officially|temporarily|mostly|mainly|regularly|"
    r"normally|definitely|absolutely|again|so|all|been|too|totally|truly) ){0,3}"
)
"""What may stand between a verb and its complement."""
BE = rf"(?:(?:is|are|am|has been|have been) {ADVERBS})"
"""A present form of "be"."""
HAVE = rf"(?:(?:has|have|had) {ADVERBS})"
"""A form of "have"."""
DAYS = (
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?:,? and |, | & |/)?"
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?:,? and |, | & |/)?){0,6})"
)
"""A list of weekdays."""
COUNT = rf"(?:\d{{1,6}}(?:[.,]\d{{1,4}})?|{'|'.join(word for word in NUMBERS if '-' not in word)}|[a-z]{{5,7}}-[a-z]{{3,5}})"
"""A number in digits or words."""
UNIT = r"(?P<unit>seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?)"
"""A unit of time."""
END = (
    r"(?=[.,;:!?)\"\u201d]|$| (?:and|but|with|last|in|on|for|to|since|when|from|an?|two|three|four|five|as|"
    r"again|once|during|where|after|before|today|now|yesterday|this|next|until|because|by|at|while|so|or|"
    r"who|which|is|was|via|these|nowadays|currently|right|permanently|too|about|over|around|earlier|recently|just|every|instead|any|anymore|\d)\b)"
)
"""What may follow a name that ends a value: anything but a noun that it only qualifies."""

PERSON_PRONOUNS = frozenset({"i", "we", "he", "she", "they"})
"""Pronouns of people who can be the subject of a fact."""
KIN = _set(
    """mother father mum mom dad parents sister brother siblings son daughter kids children child wife
    husband partner girlfriend boyfriend fiance fiancee friend friends aunt uncle cousin niece nephew
    grandmother grandfather grandma grandpa granny grandson granddaughter roommate flatmate neighbour
    neighbor colleague coworker boss manager landlord teacher coach doctor stepmother stepfather
    mother-in-law father-in-law sister-in-law brother-in-law family baby toddler buddy mentor"""
)
"""Nouns for people by their relation."""
DATA = _set(
    """backup backups repository repo repositories data database archive archives copy copies snapshot
    snapshots log logs site website blog app code service services pipeline build builds job jobs report
    reports export exports image images artifact artifacts index files photos mail notes readings metrics
    dump dumps mirror store"""
)
"""Nouns for what is stored, sent and deployed."""
GATHERINGS = _set(
    """club group class band team choir meeting meetings circle society committee course seminar workshop
    standup stand-up market league lesson lessons practice rehearsal rehearsals session sessions training
    game games board council orchestra lecture call sync retro review demo retrospective office-hours"""
)
"""Nouns for what meets."""
ABSTRACT = _set(
    """fault answer problem question truth point difference reason responsibility rumour rumor error
    mistake secret trick issue challenge beauty power hope future strength blame solution decision choice
    fear love meaning joy risk danger interest focus emphasis value heart life world mind"""
)
"""Nouns that lie, stand and hang nowhere but in a manner of speaking."""
TOLD = re.compile(
    r"(?:visited|went|lost|got|bought|adopted|joined|started|finished|moved|switched|migrated|"
    r"became|reading|read(?= \ue000)|been|working|landed|found|took a|gave up|given up|quit|"
    r"stopped|upgraded|updated)\b",
    re.IGNORECASE,
)
"""Past forms with which people tell what they did without saying "I"."""
