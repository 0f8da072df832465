"""Sentences that say how things are to be done: preferences, decisions, corrections, conventions.

Patterns on one sentence. Who said it, and whether that counts, is the caller's matter.

When two sentences state the same rule: their stems, each with its sign.

"Use tabs instead of spaces" and "I prefer tabs over spaces" are one rule, "I prefer spaces over tabs"
is its opposite. So a key is the set of the sentence's stems without the words of its pattern, and a
stem under a negation, or on the losing side of a comparison, has a minus.
"""

from __future__ import annotations

import re
from typing import Literal

from clsm_cli.text import rule_patterns
from clsm_cli.text.cues import decisions
from clsm_cli.text.rule_words import ACTION, capital, plain
from clsm_cli.text.tokens import stems

_OF_PATTERNS = """
actually agree agreed always anything asked avoid better choose chose convention correct
correction corrected decide decided decision default dont else every everything from future go
going good hence incorrect instead kindly let like mean meant more must need never no nothing now
opt opted order own plan please pick picked prefer preference preferred rather remember right rule
said say settle settled should sooner stick stop switch switched switching tell thing things told
true use used using usually want wants whenever wrong
"""
_PATTERN_WORDS = frozenset(stem for word in _OF_PATTERNS.split() for stem in stems(word))
_NUMBERS = {
    name: str(number)
    for number, name in enumerate(
        [
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        start=2,
    )
}
_NEGATIONS = """
not no never nothing none nobody cannot avoid stop without nor neither over
dont doesnt didnt wont cant isnt arent shouldnt mustnt
"""
_NEGATIVE = frozenset(_NEGATIONS.split())
_PAIRS = frozenset({("instead", "of"), ("rather", "than"), ("place", "of"), ("no", "longer")})
_POSITIVE = frozenset(
    [
        "but",
        "before",
        "after",
        "until",
        "unless",
        "if",
        "when",
        "because",
        "since",
        "while",
        "then",
        "so",
        "except",
    ]
)
_TIMES = frozenset({"before", "after", "until"})
"""Words without which a rule about an hour is another; the stems leave them out."""
_WORD = re.compile(r"[^\W_](?:[\w'\u2019-]|\.(?=\w))*|[,;:.!?()\u2013\u2014]")


def key_of(sentence: str) -> str:
    """The signed stems of a sentence, sorted, in one string; empty when it has no content.

    >>> key_of("I prefer tabs over spaces."), key_of("Use spaces instead of tabs.")
    ('-space tab', '-tab space')
    >>> key_of("Don't do it.")
    ''
    """
    found: set[str] = set()
    sign = before = ""
    folded = sentence.casefold().replace("\u2019", "'")
    ranks = "prefer" in folded or "rather" in folded or "sooner" in folded
    for word in _WORD.findall(folded):
        negates = word.endswith("n't") or (word in _NEGATIVE and (word != "over" or ranks))
        if negates or (before, word) in _PAIRS:
            sign = "-"
        elif word in _POSITIVE or not (word[0].isalnum()):
            sign = ""
        before = word
        if word in _TIMES:
            found.add(word)
        for stem in stems(_NUMBERS.get(word, word)):
            if stem not in _PATTERN_WORDS:
                found.add(sign + stem)
    return " ".join(sorted(found))


def is_same_key(a: str, b: str) -> bool:
    """Whether two keys are two wordings of one rule.

    No stem is affirmed in one and negated in the other, the numbers are the same, and so is before,
    after or until; the shared stems are two at least, not only numbers, and 0.6 of the smaller key
    (overlap coefficient |A∩B| / min(|A|, |B|)).

    >>> is_same_key(key_of("Use tabs, not spaces."), key_of("I prefer tabs over spaces."))
    True
    >>> is_same_key(key_of("Always wash it at 30 degrees"), key_of("Always wash it at 40 degrees"))
    False
    """
    if a == b:
        return a != ""
    first, second = set(a.split()), set(b.split())
    if any(_opposite(stem) in second for stem in first) or first & _TIMES != second & _TIMES:
        return False
    if _numbers(first) != _numbers(second):
        return False
    shared = first & second
    is_on_content = any(stem not in _TIMES and not _is_number(stem) for stem in shared)
    return is_on_content and 2 <= len(shared) >= 0.6 * min(len(first), len(second))


def _opposite(stem: str) -> str:
    return stem[1:] if stem.startswith("-") else f"-{stem}"


def _is_number(stem: str) -> bool:
    return stem.lstrip("-")[:1].isdigit()


def _numbers(stems_: set[str]) -> set[str]:
    return {stem.lstrip("-") for stem in stems_ if _is_number(stem)}


RuleKind = Literal["preference", "decision", "correction", "convention"]

LONGEST = 400
"""Characters of a sentence that may be a rule; a longer one is a paragraph without full stops."""

_EXPLICIT = re.compile(
    r"\b(?:always|never|from\s(?:now|here)\son|as\sa\srule|going\sforward|in\s(?:the\s)?future|"
    r"remember|(?:keep|bear)\sin\smind|ever\sagain)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?[\"')\]*_\u201d\u2019!]{0,4}\s*$")
_NO_PROSE = re.compile(r"\s{0,8}(?:```|~~~|\||#{1,6}\s|>|<\w|[{\[]\"|\$\s|(?:-{3}|={3}|\*{3}))")
_QUOTED = re.compile(r"\"[^\"\n]{12,400}\"|\u201c[^\u201c\u201d\n]{12,400}\u201d")
_OPENING = re.compile(
    r"(?:(?:well|ok|okay|so|and|but|then|oh|also|yes|yeah|yep|right|sure|good|great|hey|hi|hello|hmm|btw|"
    r"by\sthe\sway|anyway|please|kindly|again|pls|plz|in\sgeneral|generally|one\smore\sthing|last\sthing|thanks|thank\syou|note|"
    r"rule|new\srule|reminder|important|fyi|first|second|finally|plus)\b(?:\s?[,:;.!\u2013\u2014-]{1,3})?\s|"
    rf"(?-i:[A-Z]\w{{1,20}}),\s(?=please\b|from\snow\b|remember\b|(?:always|never|do\snot|don['\u2019]t)\s{ACTION}))",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"(?:no|nope|nah|wrong|incorrect|not\squite|actually|I\s(?:said|meant|mean))\b\s?"
    r"[,:;.!\u2013\u2014-]{0,3}\s",
    re.IGNORECASE,
)
_DENIAL = re.compile(r"(?:no|nope|nah)\b", re.IGNORECASE)
_DETERMINER = re.compile(
    r"(?:no|wrong|incorrect)\s(?!(?:it|its|that|thats|the|this|he|she|they|we|i|you)\b)[\w`]",
    re.IGNORECASE,
)
_DULL = frozenset(
    {
        "tri",
        "do",
        "make",
        "get",
        "start",
        "give",
        "take",
        "have",
        "bit",
        "way",
        "today",
        "lot",
        "time",
    }
)
_NO_DECISION = re.compile(
    r"\bgoing\swith\s(?:my|his|her|our|their|some|someone|a\sfriend|friends|family|you|him|them|me|us)\b|"
    r"\bkeep\sgoing\b|\b(?:nobody|no\sone|not|never|\w{2,6}n['\u2019]t|neither)\s(?:\w{2,10}\s){0,2}(?:decided|agreed|chosen)\b",
    re.IGNORECASE,
)
_ENCOURAGED = re.compile(
    r"\b(?:give\sup|(?:count|rely|lean)\son\s(?:me|us|him|her|them)|look\sout\sfor|keep\s\w{2,20}ing|remind(?:s|ed)?\sme|"
    r"yourself|dreams?|stay(?:ing)?\s(?:positive|strong|true)|your\s(?:heart|passions?|best|values|head\sup|chin\sup)|"
    r"make\sa\s(?:big\s)?difference|never\smind|small\sthings|doubt|self-care|believe\sin)\b|"
    r"^(?:do\snot|don['\u2019]t)\s(?:stop|wait\sup|hold\sback|break\sa\sleg)\b",
    re.IGNORECASE,
)
_SETTLED = re.compile(
    r"^(?:change\sof\splans?|new\splan)\s?[:,;\u2013\u2014-]|\b(?:it|that)(?:['\u2019]s|\sis)\ssettled[:,]\s",
    re.IGNORECASE,
)
_FROM_NOW = re.compile(
    r"\bfrom\s(?:now\son|today(?:\son)?|tomorrow(?:\son)?|this\s(?:week|month|year)(?:\son)?)\b(?!['\u2019])",
    re.IGNORECASE,
)
_NEED = re.compile(r"\b(?:must|shall|no\slonger|from\s(?:now\son|today))\b", re.IGNORECASE)


def opened(sentence: str) -> str:
    """A plain sentence without the words that only open it ("Ok, please", a name that is called).

    >>> opened("Well, please use tabs.")
    'use tabs.'
    """
    text = plain(sentence)
    for _ in range(4):
        opening = _OPENING.match(text)
        if opening is None or opening.end() == len(text):
            break
        text = text[opening.end() :]
    return text


def statement(sentence: str) -> str:
    """The sentence as it stands in memory: plain, without opening words and refusal.

    >>> statement("- No, the *port* is 8080. #correction")
    'The port is 8080.'
    """
    text = opened(sentence)
    refusal = _REFUSAL.match(text)
    if refusal and len(text[refusal.end() :].split()) >= 2 and not _is_determiner(text):
        text = opened(text[refusal.end() :])
    if text.count('"') == 1:
        text = text.replace('"', "")
    return capital(text)


def _is_determiner(text: str) -> bool:
    """Whether "no" belongs to the words behind it ("No meetings before ten")."""
    return _DETERMINER.match(text) is not None


def is_denial(sentence: str) -> bool:
    """Whether a sentence begins with a no: after a question that is an answer, else a correction.

    >>> is_denial("No, at ten."), is_denial("No meetings before ten.")
    (True, False)
    """
    text = plain(sentence)
    return _DENIAL.match(text) is not None and not _is_determiner(text)


def sentence_rules(sentence: str) -> list[tuple[RuleKind, bool]]:
    """The rule that a sentence states: its kind, and whether it is said to hold for good.

    A sentence is evidence once, so there is one at most; a question is none, nor is what somebody
    else is quoted with.

    >>> sentence_rules("I prefer tabs."), sentence_rules("Always use tabs.")
    ([('preference', False)], [('preference', True)])
    >>> sentence_rules("Do you prefer tabs?")
    []
    """
    if len(sentence) > LONGEST or _NO_PROSE.match(sentence) or _QUESTION.search(sentence):
        return []
    text = opened(_QUOTED.sub("\u201c\u2026\u201d", sentence))
    if _ENCOURAGED.search(text):
        return []
    kind = _kind_of(text)
    content = set(key_of(text).replace("-", "").split())
    if kind is None or not content or (kind == "decision" and len(content - _DULL) < 1):
        return []
    return [(kind, _EXPLICIT.search(text) is not None)]


def _kind_of(text: str) -> RuleKind | None:
    if rule_patterns.correction().search(text):
        return "correction"
    if rule_patterns.convention().search(text):
        return "convention"
    if rule_patterns.preference().search(text):
        return "preference"
    if (decisions(text) or _SETTLED.search(text)) and not _NO_DECISION.search(text):
        return "decision"
    return None


def is_refusal(sentence: str) -> bool:
    """Whether a sentence only says that something is wrong; what is right follows it.

    >>> is_refusal("No."), is_refusal("No, that's wrong!"), is_refusal("No, at ten.")
    (True, True, False)
    """
    return _BARE.fullmatch(plain(sentence)) is not None


_BARE = re.compile(
    r"(?:(?:no|nope|wrong|incorrect|not\squite|actually)\b[\s,.!\u2013\u2014-]{0,4}){0,3}"
    r"(?:(?:that|this|it)(?:['\u2019]s|\sis|\swas)\s(?:just\s|still\s|all\s)?(?:wrong|incorrect|not\s(?:right|correct|true|"
    r"what\sI\s(?:said|meant|asked(?:\sfor)?|wanted))))?[\s.!,]{0,4}(?<=[\w.!,])",
    re.IGNORECASE,
)


def is_noted_decision(sentence: str, *, is_tagged: bool) -> bool:
    """Whether a sentence of a note tells a change that holds from its day on.

    Args:
        sentence: of the note.
        is_tagged: whether its block is marked as a decision; then "must" is enough.

    >>> is_noted_decision("From today the club meets in the barn.", is_tagged=False)
    True
    """
    if _QUESTION.search(sentence) or _NO_PROSE.match(sentence):
        return False
    return (_NEED if is_tagged else _FROM_NOW).search(sentence) is not None


def normative_sentences(sentences: list[str]) -> list[str]:
    """Of the sentences of a note that tells a correction, those that say what is wanted.

    >>> normative_sentences(["I wrote about sixty.", "She wants the figure as measured.", "Fair."])
    ['She wants the figure as measured.']
    """
    return [
        sentence
        for sentence in sentences
        if not _QUESTION.search(sentence)
        and not _NO_PROSE.match(sentence)
        and rule_patterns.normative().search(plain(sentence))
        and len(key_of(plain(sentence)).split()) >= 2
    ]


def tells_correction(text: str) -> bool:
    """Whether a paragraph of a note tells that its author was corrected, or is tagged so.

    >>> tells_correction("She wants whole figures. #correction"), tells_correction("All is well.")
    (True, False)
    """
    if re.search(r"(?<![\w#&/])#correct(?:ion|ed)\b", text):
        return True
    return rule_patterns.told_correction().search(text) is not None
