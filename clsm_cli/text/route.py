"""Which memory a message needs: none, that of earlier conversations, that of the current one, or both.

The controller of CAIM (Westhäußer et al., 2025, section 3.3.1) without a language model: cues of
three kinds are looked for in the words. A cue against memory (small talk is one) counts only where none
speaks for it, because memory that is wrongly hidden costs more than memory that is read in vain.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Literal

from clsm_cli.startup.records import NamedTuple

_WORD = re.compile(r"\w+(?:'\w+)*")
_FILE = Path(__file__).with_name("small_talk.txt")


Route = Literal["none", "ltm", "stm", "both"]


class RouteDecision(NamedTuple):
    """A decision and what it rests on.

    Attributes:
        route: ``ltm`` is the memory of earlier conversations, ``stm`` the current one.
        cues: Names of the cues that decided, in the order of the tables; empty: by default.
    """

    route: Route
    cues: tuple[str, ...]


class _Cue(NamedTuple):
    """A name and a pattern, compiled when a message is first asked for it: half are seldom."""

    name: str
    pattern: str


_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"  # fmt: skip
_WORLD = r"(?:moon|sun|earth|sky|planets?|solar system|universe|world war|mount [a-z]+|eiffel tower|oceans?|speed of light|pope)"
_POLITE = r"^(?:please,? |hey,? |(?:can|could|would) you (?:please )?|now )*"
_LANGUAGE = r"(?:english|french|german|dutch|spanish|italian|portuguese|japanese|chinese|korean|russian|arabic|latin|polish|turkish|swedish|greek)"

_PAST: tuple[_Cue, ...] = (
    _Cue(
        "told",
        r"\b(?:(?:i|we|you)(?:['’]ve)?(?: have| had)?(?: \w+){0,2} (?:told|said|mentioned|recommended|suggested|promised|asked|"
        r"shared|agreed|decided|discussed|talked|spoke|learned|proposed)|(?:told|promised|reminded) (?:me|us)|"
        r"(?:know|remember|learned) about (?:me|us|my|our))\b",
    ),
    _Cue(
        "past",
        r"\b(?:(?:did|have|had|was|were) (?:i|we|you)|(?:i|we)(?:['’]ve)? (?:\w+ly |once |already |ever |never |both )?"
        r"(?:\w{2,}ed|was|were|had|went|got|made|bought|saw|met|left|took|ate|lost|found|wrote|gave|chose|set|ran|won))\b",
    ),
    _Cue("possessive", r"\b(?:my|our|mine|ours)\b"),
    _Cue("first person", r"\b(?:i|we|us)\b(?!['’]m five)"),
    _Cue(
        "date",
        rf"\b(?:\d{{4}}-\d\d(?:-\d\d)?|(?:in|on|since|from|until|last|of|by) (?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:of )?{_MONTH}|"
        rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?|yesterday|(?:days?|weeks?|months?|years?) ago|this morning|last night|"
        r"last (?:week|weekend|month|year|time|spring|summer|autumn|fall|winter)|(?:on|last|since) (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    ),
    _Cue(
        "remember",
        r"\b(?:remember(?!(?:ed)? (?:as|for)\b)|remind|forgot(?:ten)?|left off|usual|the (?:same \w+ as|decision|plan was)|"
        r"(?:first|last|previous|next|second|third) (?:time|conversation|session|chat|talk|meeting))\b",
    ),
    _Cue("again", r"\b(?:again|still|any ?more|no longer|left to do|so far|these days)\b"),
)
"""For the memory of earlier conversations; ``again`` also says "repeat that"."""
_NAMED = _Cue("name", rf"(?<=[a-z,] )(?!{_LANGUAGE}\b)(?-i:[A-Z])[a-z]+\b")
"""Who or what is named beside an anaphor is looked up as well; "in French" names nothing."""
_WEAK = frozenset({"again"})
_UNDONE = frozenset({"told", "past", "first person", "again"})
"""What "just" and "above" turn into words about the current conversation."""

_HERE: tuple[_Cue, ...] = (
    _Cue(
        "just said",
        r"\b(?:(?:i|you|we) just|just (?:now|said|told)|a (?:minute|moment|second|few minutes) ago|above|your last (?:answer|message|reply))\b",
    ),
    _Cue(
        "points back",
        r"\b(?:(?:this|that|the other|other|which|right|wrong|last) ones?\b|(?:of|than|like|as|about|with|for|and|or) (?:these|those|them|it|him|her(?! \w))\b|"
        r"the (?:latter|former|other)\b(?! \w)|(?<!time is )(?:it|they|them)\b(?! true\b)|"
        r"the (?:first|second|third|fourth|fifth|last)(?: (?:one|option|point|item|step|idea|suggestion|answer|question)| of (?:these|those|them)|\W*$)|"
        r"(?:is|was|does|did|do|can|would|will|about|by|with|of|for|to|explain|rewrite|repeat|shorten|try|change) (?:this|that)\b(?! (?:\w+ )?(?:i|we|you)\b)|"
        r"(?:is|was|does|did|has|had|can|would|will) (?:he|she)\b|(?:^|, )(?:this|that|these|those|he|she)\b)|\b(?:this|that|these|those|him|her)\W*$",
    ),
    _Cue("goes on", r"^(?:and|but|or|so|then)\b"),
    _Cue(
        "elliptic",
        r"^\W*(?:(?:but )?why(?: not| so)?|how so|how come|go on|continue|more|next|really|are you sure|in what way|such as|"
        r"for example|which one|who|where|when|say more|(?:make it )?(?:short|long)er|(?:yes|no|ok(?:ay)?),? (?:please|do|use|try) \w+)\W*$",
    ),
)
"""For the current conversation."""

_GOES_ON = (
    r"\W*(?:(?:ok(?:ay)?|now|please|and|so|try|do|say|show|go|keep|move|continue|proceed|resume|next|more|again|stop|cancel|abort|"
    r"undo|redo|repeat|rephrase|reword|rewrite|simplify|shorten|expand|elaborate|clarify|explain|make|going|on|over|"
    r"(?:can|could|would|will) you|it|that|this|bit|a|in|as|with|other|simpler|fewer|plain|different|words|bullet|points|"
    r"steps?|details?|short|long|shorter|longer|simpler|clearer|better|bigger|smaller|nicer|formal|casual|friendly|"
    r"less|me|let['’]?s|one|why|how|so|really|are you sure|what do you mean|then)\b\W*)+"
)
"""An order, or a question, about what was just said and nothing else."""
_AGAINST: tuple[_Cue, ...] = (
    _Cue("machine", r"\bHEARTBEAT(?:_OK|\.md)\b"),
    _Cue(
        "arithmetic",
        r"^(?:what(?:['’]s| is) )?[\d\s+*/x×÷^().,%=-]*\d[\d\s+*/x×÷^().,%=-]*\??$|\b(?:calculate|compute|square root|how much is \d)|"
        r"\d ?%? of \d|\bconvert \d|\bhow many \w+ (?:are |is )?(?:there )?in an? ",
    ),
    _Cue(
        "translation",
        rf"{_POLITE}translate\b|\bhow (?:do|would) you (?:say|spell|pronounce)\b|\b{_LANGUAGE} (?:word|name|translation) (?:for|of)\b",
    ),
    _Cue(
        "definition",
        rf"{_POLITE}(?:define|spell|synonyms?|antonyms?)\b|\bwhat (?:does|do) \w+ (?:mean|stand for)\b|"
        r"^what(?:['’]s| is| are) (?:an? )?(?!the\b|this\b|that\b|these\b|those\b|on\b|in\b|up\b|new\b|next\b|left\b|for\b|going\b)[\w-]+(?: [\w-]+)?\??$|"
        rf"{_POLITE}explain (?!the\b|this\b|that\b|it\b|why\b)|\bexplain (?:what|how) an? |\bwhat causes (?!do|did|has|have)|^(?:is|are) an? \w+ an? ",
    ),
    _Cue(
        "how-to",
        rf"{_POLITE}(?:tell me |show me )?how (?:to|(?:do|does|can|should) (?:you|one|an?|people))\b",
    ),
    _Cue(
        "general knowledge",
        rf"\b(?:capital|population|president|currency|area|history|inventor|meaning|definition|formula|plural|syntax|symptoms|causes|(?:boiling|melting|freezing) point|"
        rf"difference|distance) (?:of|between|for)\b|^what year did\b|^who (?:wrote|invented|painted|discovered|composed|was the first)\b|\b{_WORLD}\b|"
        r"\b(?:what year|when) was the [A-Z][\w ]+ (?:built|founded|invented)\b|\bwhat time is it\b|\bwhat(?:['’]s| is) the weather\b",
    ),
    _Cue(
        "composition",
        rf"{_POLITE}(?:write|generate|create|draft|compose|implement|invent|make up|give|tell|flip|roll|code|list)(?: me)? (?:an?|some|ten|two|three|five|\d+|quick\w+|\w+sort)\b|"
        rf"{_POLITE}(?:fix|correct|check|improve|proofread|summari[sz]e|shorten|rewrite) (?:the )?(?:following|grammar|spelling|this)\b",
    ),
)
"""Against any memory."""
_PAYLOAD = r"\b(?:translate|fix|correct|check|summari[sz]e|rewrite|shorten|proofread|improve)\b[^:\n]{0,60}:\s"


_END = 1000
"""Characters: of a longer message the beginning and the end are read, where people say what they want."""


def choose_route(text: str, *, has_current: bool, known: bool = False) -> RouteDecision:
    """Decide which memory a message needs.

    Args:
        text: What the user says or asks; what it only hands over ("translate this: ...") is not
            read, and of more than 2,000 characters only both ends.
        has_current: Whether there is a current conversation to point back at.
        known: Whether it names something that the store holds, which speaks for memory as well.

    Returns:
        ``none`` only where something speaks against memory and nothing for it.

    >>> choose_route("What did I say about the barge last time?", has_current=False)
    RouteDecision(route='ltm', cues=('past', 'first person', 'date', 'remember'))
    >>> choose_route("What is the capital of France?", has_current=False)
    RouteDecision(route='none', cues=('general knowledge',))
    >>> choose_route("and the second one?", has_current=True).route
    'stm'
    """
    if len(text) > 2 * _END:
        text = f"{text[:_END]}\n{text[-_END:]}"
    payload = _of(_PAYLOAD).search(text) if ":" in text else None
    text = text[: payload.end()] if payload else text
    if is_small_talk(text):
        return RouteDecision("none", ("small talk",))
    if not has_current and _of(_GOES_ON).fullmatch(text):
        return RouteDecision("none", ("goes on",))
    here = _found(_HERE, text) if has_current else []
    past = _found(_PAST, text)
    if here:
        undone = _UNDONE if "just said" in here else _WEAK
        past = [name for name in past if name not in undone] + _found((_NAMED,), text)
    if known:
        past.append("known")
    if here:
        return RouteDecision("both" if past else "stm", (*past, *here))
    if past:
        return RouteDecision("ltm", tuple(past))
    against = _found(_AGAINST, text)
    return RouteDecision("none" if against else "ltm", tuple(against))


def points_back(text: str) -> bool:
    """Whether a message can be understood only with what was said before it.

    >>> points_back("And what about her?"), points_back("Where does Mara live?")
    (True, False)
    """
    text = text[-_END:]
    return bool(_found(_HERE[1:], text)) and not is_small_talk(text)


def _found(cues: tuple[_Cue, ...], text: str) -> list[str]:
    return [cue.name for cue in cues if _of(cue.pattern).search(text)]


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def is_small_talk(text: str) -> bool:
    """Whether a message is made of phrases of small talk alone, or has no words.

    >>> is_small_talk("Thanks, that's perfect!"), is_small_talk("Thanks to Mara it works")
    (True, False)
    >>> is_small_talk("👍")
    True
    """
    words = _WORD.findall(text.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    phrases, longest = _phrases()
    furthest, reached = 0, {0}
    for start in range(len(words)):
        if start > furthest:
            return False
        if start in reached:
            ends = range(start + 1, min(start + longest, len(words)) + 1)
            reached.update(end for end in ends if " ".join(words[start:end]) in phrases)
            furthest = max(furthest, *reached)
    return len(words) in reached


@lru_cache(maxsize=1)
def _phrases() -> tuple[frozenset[str], int]:
    """The phrases, and the words of the longest."""
    lines = _FILE.read_text("utf-8").casefold().splitlines()
    found = frozenset(line for line in lines if line and not line.startswith("#"))
    return found, max(len(phrase.split()) for phrase in found)
