"""Sentences that state a decision, and questions left open."""

from __future__ import annotations

import re

from clsm_cli.text.sentences import sentences

_DECISION = re.compile(
    r"\b(?:let['\u2019]?s\s(?:use|go\swith|stick\s(?:to|with)|switch\sto|adopt)|"
    r"(?:we|i|they|he|she|team)(?:['\u2019]ve|\shave|\shas)?\s(?:all\s|both\s|finally\s|also\s)?"
    r"(?:decided|agreed\s(?:to|on|that)|settled\son|opted\s(?:for|to)|"
    r"switched\s(?:to|from)|went\swith)|"
    r"(?:we|they|team)(?:['\u2019]ve|\shave|\shas)?\s(?:chose|chosen|picked)(?!\sup)|"
    r"decided\s(?:to|on|that|against|not)|going\swith|switched\sto|switching\s(?:to|from)|"
    r"settled\son|opted\sfor|(?:we|i)(?:['\u2019]ll|\swill)\s(?:use|go\swith|stick\swith)|"
    r"the\s(?:decision|plan|choice)\s(?:is|was)\s(?:to|that)|agreed\sto\s(?:use|go))\b|"
    r"^\W{0,4}(?:decision|decided|agreed)\W{0,2}:",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^\W{0,4}(?:open\s(?:question|point|issue)s?|question|to\sclarify)\W{0,3}:|"
    r"\b(?:still\s(?:unclear|unknown|open|undecided)|remains\s(?:unclear|open|to\sbe\sseen)|"
    r"(?:do\snot|don['\u2019]t)\sknow\syet|yet\sto\s(?:decide|find\sout)|need\sto\sfind\sout)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\?[\"')\]*_\u201d\u2019!]{0,4}$")
_PLEASANTRY = re.compile(
    r"\b(?:how\s(?:are|have|['\u2019]?ve)\s(?:you|ya|things|u|y['\u2019]all)(?:\sbeen|\sdoing|\sall|\stoday|"
    r"\sfeeling|\sgoing|\slately)*|how['\u2019]?s\s(?:it|life|everything|things?|your\s(?:day|week|weekend))"
    r"(?:\sgoing|\sbeen)?|how\sare\sthings|what['\u2019]?s\s(?:up|new|going\son|happening)(?:\swith\syou)?|"
    r"anything\snew|can\si\shelp(?:\syou)?|(?:is\sthere\s)?anything\selse(?:\si\scan\s(?:do|help\swith))?|"
    r"you\sknow|what\sabout\syou|how\sabout\syou|and\syou|what\sdo\syou\ssay|guess\swhat|remember|"
    r"really|who\sknows|why\snot|isn['\u2019]t\sit\s\w+)\W*$",
    re.IGNORECASE,
)
_TAG = re.compile(
    r",\s(?:right|huh|eh|ok|okay|yeah|no|correct|(?:is|are|was|were|do|does|did|has|have|had|can|could|"
    r"wo|would|should|ai)(?:n['\u2019]t)?\s(?:it|he|she|they|we|you|i|there))\?\W*$",
    re.IGNORECASE,
)


def find_decisions(text: str) -> list[str]:
    """Return the sentences of a text that state a decision.

    >>> find_decisions("It is slow. We decided to use SQLite. Have we decided on a name?")
    ['We decided to use SQLite.']
    """
    return [
        sentence
        for sentence in sentences(text)
        if not _ASKS.search(sentence) and _DECISION.search(sentence)
    ]


def find_questions(text: str) -> list[str]:
    """Return the questions of a text, without pleasantries, tag questions and exclamations.

    >>> find_questions("How are you? Which port does the hook use? Nice, isn't it?")
    ['Which port does the hook use?']
    """
    return [sentence for sentence in sentences(text) if _is_open(sentence)]


def _is_open(sentence: str) -> bool:
    if _OPEN.search(sentence):
        return True
    if (
        not _ASKS.search(sentence)
        or _TAG.search(sentence[-80:])
        or _PLEASANTRY.search(sentence[-80:])
    ):
        return False
    return len(re.findall(r"\w+", sentence)) > 2 or not sentence.isascii()
