"""What a sentence must be to stand in memory on its own: prose, whole, closed, and no chatter.

A shallow grammar without a tagger. It would rather turn a good sentence away than let a fragment in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text import gate_words as forms
from clsm_cli.text.first_person import gender_of
from clsm_cli.text.names import NO_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 420
"""Characters of a sentence; a longer one is a paragraph without full stops."""

_NOISE = re.compile(
    r"^\s*(?:```|~~~|\||#{1,6}\s|>|<\w|[{\[]\"|\$\s|(?:-{3}|={3}|\*{3}))"  # code, table, heading
    r"|^\s*(?:[-*+]\s+)?\[?(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d)?\]?\s*(?:[\[|·]|INFO|WARN|ERROR|DEBUG)"
    r"|^\s*(?:[-*+]\s+)?\[[\w .:-]{2,40}\]\s(?!\()"  # "[service] pass 4 ok"
    r"|^\s*(?:From|To|Cc|Subject|Date|Sent|Re|Fwd):\s"
    r"|\s·\s[^·]{1,80}\s·\s|\s\|\s[^|]{0,80}\s\|\s|&&|\|\||=>|::\w|\w\(\)\s?[{;]|;\s*$|\s--?[a-z][\w-]*[ =]\S{0,80}\s--?[a-z]"
    r"|\b(?:exit(?:\s(?:code|status))?\s\d+|stack\strace|traceback)\b"
    r"|(?:^|\s)\w{1,30}=\S{1,60}\s\w{1,30}=\S"
    r"|^\s*\w[\w./-]{0,60}:\s(?:[\w./-]{1,60}:\s|(?:error|fatal|warning|command not found))"
    r"|^\s*(?:error|fatal|warning|debug|info|usage|total)\b\s?:?\s{2,}|^\s*(?:Error|Fatal|Warning|FATAL|ERROR|WARN(?:ING)?|INFO|DEBUG):"
    r"|\binsertions?\(\+\)|\bpackets\s(?:transmitted|received)\b|\bpacket\sloss\b"
    r"|[\w.-]{1,60}/[\w.-]{1,60}/[\w./-]{1,200}:\d+|\S\s{3,}\S",
)
_NOT_WORDS = re.compile(r"[^\w\s.,;:!?'\"’“”()–—%€$£°-]|[\d_]")
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget)\s(?:all\s|any\s|the\s|your\s){0,2}(?:previous|prior|above|earlier|other)\s"
    r"(?:instructions?|prompts?|rules|messages?)|\byou\sare\snow\s(?:in|an?|the)\b|\bsystem\sprompt\b|\bmaintenance\smode\b"
    r"|\b(?:developer|jailbreak|god)\smode\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_](?:[\w'’.&/+-]*\w)?|\w|[,;:()\u2013\u2014]")
_QUOTED = re.compile(r"\"[^\"\n]{0,400}\"|\u201c[^\u201c\u201d\n]{0,400}\u201d")
_MARKS = re.compile(r"[\"\u201c\u201d]")


def is_prose(raw: str) -> bool:
    """Whether a sentence, as it stands in its text, is neither code, log, table nor an order to us.

    >>> is_prose("The gauge is low."), is_prose("git log --oneline -n 3 && ls"), is_prose("| a | b |")
    (True, False, False)
    """
    if len(raw) > 2 * LONGEST or _NOISE.search(raw) or _ORDERS.search(raw):
        return False
    odd = len(_NOT_WORDS.findall(re.sub(r"[\[\]*`#_]", "", raw)))
    return odd * 4 <= len(raw)


def unquoted(text: str) -> str:
    """``text`` with each quotation as an ellipsis between its marks, so that its words do not count.

    >>> unquoted('She said "I am late" twice.')
    'She said "\u2026" twice.'
    """
    return _QUOTED.sub('"\u2026"', text)


def is_balanced(text: str) -> bool:
    """Whether quotation marks and brackets close inside the sentence."""
    straight = text.count('"') % 2 == 0
    curly = text.count("\u201c") == text.count("\u201d")
    return straight and curly and text.count("(") == text.count(")")


def tokens(text: str) -> list[str]:
    """The words and inner marks of a text.

    >>> tokens("Ann's cat, e.g., isn't 3.8 kg.")
    ["Ann's", 'cat', ',', 'e.g', ',', "isn't", '3.8', 'kg']
    """
    return _TOKEN.findall(text.replace("\u2019", "'"))


def finite_verbs(words: Sequence[str]) -> list[int]:
    """Places of the words that can only be read as finite verbs with a subject before them.

    >>> finite_verbs(tokens("Ann keeps bees and was late")), finite_verbs(tokens("Two bees by the door"))
    ([1, 4], [])
    """
    low = [word.lower() for word in words]
    return [place for place in range(len(low)) if _is_finite(low, place)]


def _is_finite(low: Sequence[str], place: int) -> bool:
    word = low[place]
    before = low[place - 1] if place else ""
    if word.endswith(("'m", "'re", "'ve", "'ll")) or word in {"it's", "he's", "she's", "that's", "there's", "who's", "he'd", "she'd", "i'd", "we'd", "they'd", "what's"}:  # fmt: skip
        return True
    if (
        not place
        or before in {"to", ",", "("}
        and word not in forms.AUXILIARIES | forms.PAST | forms.THIRDS
    ):
        return False
    if word in forms.AUXILIARIES:
        return before != "to"
    skipped = place - 1
    while skipped > 0 and (low[skipped] in forms.ADVERBS or low[skipped].endswith("ly")):
        skipped -= 1
    subject = low[skipped]
    if subject in forms.DETERMINERS - {"this", "that", "which", "both", "all", "some", "many", "each", "what", "such", "few", "more", "most", "no"}:  # fmt: skip
        return False
    if subject in forms.PREPOSITIONS or subject in forms.AUXILIARIES or subject == "to":
        return False
    if subject.endswith(("'re", "'m", "'ve", "'ll", "it's", "he's", "she's")):
        return False
    following = low[place + 1] if place + 1 < len(low) else ""
    if word in forms.PAST:
        return True
    if word in forms.PARTICIPLES:
        return False
    if word in forms.REGULAR_PASTS or (word.endswith("ed") and len(word) > 4):
        return following not in {"by"} and subject not in forms.DETERMINERS
    if word in forms.THIRDS:
        return subject not in {"i", "we", "you", "they"} and not _is_plural_noun(subject, following)
    if word in forms.SAME_PAST and skipped and subject[:1].isalpha() and not subject.endswith("s"):
        return subject in {"he", "she", "it", "who"}
    if word in forms.BASES:
        plural = subject.endswith("s") and not subject.endswith(("ss", "'s", "us", "is"))
        pair = (
            skipped > 1 and low[skipped - 1] == "and" and low[skipped - 2] not in forms.PREPOSITIONS
        )
        return subject in {"i", "we", "you", "they", "who", "people"} or plural or pair
    return False


def _is_plural_noun(subject: str, following: str) -> bool:
    """Whether a word in -s is rather a noun: "the night works", "three board meetings on"."""
    return subject in forms.DETERMINERS and following in {"", "of", "and", ",", ";"}


def is_command(words: Sequence[str]) -> bool:
    """Whether a sentence tells somebody to do something.

    >>> is_command(["Never", "wake", "me"]), is_command(["Work", "is", "late"])
    (True, False)
    """
    low = [word.lower() for word in words[:4]] + [""] * 4
    place = 0
    while low[place] in {"please", "always", "never", "just", "only", "also"}:
        place += 1
    if (
        low[place] in {"do", "don't"}
        and low[place + 1 if low[place] == "don't" else place + 2] in forms.BASES
    ):
        return True
    if low[place] not in forms.BASES or words[0][1:2].isupper():
        return False
    following = low[place + 1]
    return following not in forms.AUXILIARIES | {"of"} and following not in forms.THIRDS | {
        ",",
        ":",
    }


_FRAGMENT = re.compile(
    r"^(?:whether|which|who|whose|whom|that|than|because of|including|such as|like|with|without|as well as|"
    r"or|nor|not|no|yes|and then|to)\b(?!\s(?:one|matter))",
    re.IGNORECASE,
)
MEASURED = re.compile(
    r"(?!Minus|Plus|About|Only|Over|Under|Above|Below|At|In|On|By|For|From|Until|After|Some|Nearly|Almost|Every|All)[A-Z][\w-]{1,30}:?\s\d[\d.,]{0,8}\s?(?:%|cm|mm|km|m|kg|g|mg|ml|l|degrees|euros?|hours?|minutes?)\b"
)
"""A measurement without a verb: "Rex 4.4 kg in May"."""
_RELATIVE = frozenset(
    {"who", "which", "that", "what", "how", "where", "why", "whoever", "whatever"}
)


def is_whole(text: str) -> bool:
    """Whether a plain text has a subject and a finite verb outside its subordinate clauses.

    >>> is_whole("Ann keeps bees."), is_whole("A cat that sleeps."), is_whole("When Ann sleeps.")
    (True, False, False)
    """
    words = tokens(unquoted(text))
    found = finite_verbs(words)
    if MEASURED.match(text):
        return True
    if not found or (
        _FRAGMENT.match(text) and not re.match(r"(?:no|not)\s\w+\s", text, re.IGNORECASE)
    ):
        return False
    low = [word.lower() for word in words]
    own = [place for place in found if not _is_relative(low, place)]
    needed = 2 if low[0] in forms.SUBORDINATORS and _opens_clause(low, found) else 1
    return len(own) >= needed


def _opens_clause(low: Sequence[str], found: Sequence[int]) -> bool:
    """Whether a first word such as "since" opens a clause, and not a phrase: "Since May, Ann is …"."""
    comma = low.index(",") if "," in low else len(low)
    return (
        low[0] not in forms.PREPOSITIONS
        or any(place < comma for place in found)
        and comma < len(low)
    )


def _is_relative(low: Sequence[str], place: int) -> bool:
    before = place - 1
    while before > 0 and (low[before] in forms.ADVERBS or low[before].endswith("ly")):
        before -= 1
    if low[before] in {"who", "which", "whose", "that"} and before > 0:
        return low[before] != "that" or low[before - 1] not in {",", ";", ":"}
    # "what I meant", "a box he built": a pronoun right behind a noun or a relative word.
    return (
        before > 0
        and low[before - 1] in _RELATIVE
        and (before > 1 or low[before] in forms.PERSONAL)
    )


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
    r"|\bit\s(?:again|too)\b(?=[.;,!])|\b(?:none|neither)(?=[.,;:!])",
    re.IGNORECASE,
)
_THIRD_PERSON = re.compile(
    r"\b(he|him|his|she|her|hers|himself|herself|they|them|their|theirs|it|its)\b(?!'s\snot)",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\bit(?:'s|\sis|\swas|\swill\sbe|\swould\sbe|\stakes|\stook|\sseems|\sturned\sout|\sturns\sout|\shas\sbeen|\scosts?)\s(?:[\w'-]+\s){0,5}?(?:that|to|when)\s|\bit\s(?:rains|rained|snows|snowed|is\sraining)",
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
            if not (_has_thing(bare) if word in {"it", "its"} else _has_several(bare)):
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
    r"cat|dog|puppy|kitten|heron|coach|mentor|manager|landlord|user|author|editor|client|customer|student|baker|nurse|"
    r"reader|master|deputy|steward|owner|writer|driver|engineer|artist|parent|baby|horse|parrot)\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<![\w'-])[A-Z][\w-]+")
_NO_ANTECEDENT = frozenset("The This That When If In On At By For From With After Before Since Until While As And But So Then Yes No It He She They We I You His Her Its Their My Our Your There Here A An Now Today Yesterday Because Although Once What Who Which How Why Not Only Also Never Always Nothing Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December".split())  # fmt: skip


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
    return any(
        " " in phrase or phrase not in _NO_ANTECEDENT | forms.THIRDS | NO_NAMES for phrase in found
    )


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


_CHATTER = re.compile(
    r"^(?:let\s(?:me|us|'s)\b|let's\b|here(?:'s|\sis|\sare)\b|(?:i\s(?:will|shall)|i'll)\s(?:now\s)?(?:check|look|see|try|start|begin|get|ask|take|do)\b"
    r"|you(?:'re|\sare)\swelcome|you(?:'re|\sare)\b|you'll\b|sounds\s|looks\slike|thanks?\b|thank\syou|good\s(?:morning|evening|night|luck|job|point|idea|question)"
    r"|great\b|nice\b|wow\b|sure\b|okay\b|ok\b|sorry\b|hope\b|glad\b|happy\sto|feel\sfree|(?:can|could|would|will)\s(?:you|i|we)\b"
    r"|congrat|welcome\b|done\b|noted\b|understood\b|got\sit|no\s(?:problem|worries|doubt)|of\scourse|take\scare|see\syou|talk\sto\syou"
    r"|what\sa\b|how\s(?:about|are|is|cool|nice|great|lovely)\b|(?:it|that)'s\s(?:so\s)?(?:great|good|nice|awesome|amazing|cool|true|fine|ok|okay|lovely|wonderful)\b"
    r"|as\s(?:you\s(?:can\s)?(?:see|know)|an\sai\b|requested|mentioned)|the\sfollowing\b|below\b|above\b|keep\s(?:it|up|going)|enjoy\b|best\sof\sluck|way\sto\sgo"
    r"|(?:more|less)\sthan\severy|i\sdo\snot\sknow|i\sdon't\sknow|if\syou\b|please\b|see\s|(?:i\sam|i'm)\s(?:off|here|back|ready|done|in|good|fine|okay)\b|just\s|totally\b|(?:i\s)?(?:couldn't|could\snot)\sagree|count\sme|i\s(?:love|like)\s(?:it|them|your|how)\b|i\s(?:totally|completely|definitely)?\s?agree|can't\s|aw+\b|whoa\b|nah\b|note\sthat\syou|open\squestion|question\b|todo\b|chat\b|for\sthe\s(?:record|minutes)|asked\b|answered\b)",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:on\smy\sway|be\sright\sback|brb|lol|haha|(?:is|am|are|'m|'s)\s(?:on|at|in)\s(?:the|my|a)\s(?:train|bus|plane|car|way|phone|line|other\sline|shop|tram|taxi)|right\snow|at\sthe\smoment|just\snow|for\snow|so\sfar\sso\sgood|"
    r"nothing\s(?:new|bought|sold|happened|to\sreport|changed)|not\sasked\sanything|all\squiet|(?:is|am|are)\s(?:still\s|just\s)?(?:lying|sitting|standing|waiting|leaving|coming|arriving|eating|sleeping)\b|worked\sfrom\shome|stayed\shome|(?:is|are|was)\s(?:fine|ok|okay|all\sright)\b|let\sme\sknow|talk\ssoon|(?:a\slot|lots|much|so\smuch)(?:'s|\shas|\shave)?\s(?:been\s)?(?:happened|going\son|changed)|since\s(?:we|our)\s(?:last\s)?(?:talk|spoke|chat|met)\w*|this\slog|this\schat|this\sconversation)\b",
    re.IGNORECASE,
)


def is_chatter(text: str) -> bool:
    """Whether a plain sentence is about the talk itself, a courtesy, or a state that has passed.

    >>> is_chatter("Let me check the logs."), is_chatter("Ann keeps bees.")
    (True, False)
    """
    return _CHATTER.match(text) is not None or _PASSING.search(text) is not None
