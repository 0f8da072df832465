"""Sentences that tell a change: something is new ("now", "from today", a verb of replacing or moving)."""

from __future__ import annotations

import re

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.name_matching import NO_NAMES
from clsm_cli.text.relevance_gate import PAST, REGULAR_PASTS, THIRDS

_DAYS = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_NEW = re.compile(
    r"\b(?:now(?! and then)|these days|nowadays|currently|at present|any ?more|no longer|instead of|"
    r"in place of|(?:from|as of|starting|since|beginning) (?:now|today|tomorrow|yesterday|this (?:week|month|"
    rf"year|morning)|(?:next|last) (?:week|month)|{_DAYS})|"
    r"(?:my|our|the|their|his|her|an?|['’]s) (?:brand )?new)\b|^\W*new\b",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"\b(?:become|becomes|became|turned into|switch(?:ed|es)|swap(?:ped|s)|replac(?:ed|es)|exchanged|traded|"
    r"changed|migrated|moved|relocated|transferred|shifted|rescheduled|postponed|pushed|upgraded|"
    r"downgraded|renamed|settled|taken over|took over|takes over|succeeded|succeeds|handed over|"
    r"gave up|given up|quit|hired|joined|started|began|signed up|raised|lowered|reduced|increased|"
    r"went (?:up|down|from)|left|sold|bought|got|found|put)\b",
    re.IGNORECASE,
)
"""Verbs of FrameNet's frames of change: Becoming, Replacing, Exchange, Change_of_leadership, motion to
another place or time, Change_position_on_a_scale, getting and giving up."""
_BECOME = re.compile(
    r"\b(?:become|becomes|became|turned into|work(?:s|ed|ing)? as) an? ", re.IGNORECASE
)
"""What somebody or something is from then on needs no name."""
_REACH = 6
"""Words between such a verb and the value at most."""
_ANNOTATION = re.compile(r"\s\(\d{4}(?:-\d\d){0,2}(?: to \d{4}(?:-\d\d){0,2})?\)")
_REASON = re.compile(r",? (?:because|since (?:he|she|it|they|we|the)|so that) .*$")
_SPEAKER = re.compile(r"^The (?:user|assistant)\b(?:: )?|(?<=[a-z]): (?=\")")
_KINDS = (
    ("time", r"(?<![\d:])\d{1,2}(?::\d\d(?: ?[ap]\.?m\b)?| ?(?:[ap]\.?m\.?\b|o'clock))(?![\d:])"),
    ("money", r"(?:[$£€] ?\d[\d.,]*\d?|\b\d[\d.,]*(?<=\d) ?(?:euros?|dollars?|pounds?|EUR|USD|GBP|€))(?:k\b)?"),
    ("number", r"(?<![\w.])\+?\d[\d /-]{4,18}\d(?!\w)"),
    ("amount", r"(?<![\w.])\d+(?:[.,]\d+)? ?(?P<unit>%|°C?|[a-zA-Zµ]{1,12}\b)"),
    ("count", r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w)"),
    ("day", rf"\b{_DAYS}s?\b"),
    (
        "name",
        r"\b[A-Z][\w&+-]*(?:\.\w+)?(?: (?:(?:of|van|von|de|the) )?[A-Z0-9][\w&+-]*)*",
    ),
)  # fmt: skip
_MARK = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS))
_SOURCE = re.compile(
    r"\b(?i:from|left|leav\w+|quit|sold|replac\w+|swap\w*|trad\w+|exchang\w+|drop\w*|ditch\w*|abandon\w*|"
    r"instead of|in place of|rather than|no longer|out of|gave up|given up|notice at|cancell?ed|"
    r"cancell?ed at|resigned at|broke up with|split up with|closed|lost)(?: [a-z]+){0,2} $"
)
"""What stands before the value that is left: the source of a change."""
_BEFORE = 100
"""Characters in which that stands."""
_GONE = re.compile(
    r"^ (?:left(?=[,.;]|$)|quit|resigned|retired|stepped|steps|is (?:gone|history|dead|out|over)|closed|shut)\b"
)
_VERB = re.compile(r"^ (?!(?:and|or|now|as|at|for|from|in|on|of|off|to|with|by|over|since|because|so|these|"
                   r"this|today|instead|rather|behind|each|every|daily|any|evening|morning|was|which|who)\b)[a-z]")  # fmt: skip
"""What stands behind the subject of a clause."""


_FINITE = re.compile(r"['’]s\b| (?:is|has|was|had|will|can|does|did|[a-z]{2,}(?:ed|[^s]s))\b")


class Mark(NamedTuple):
    """A word by which a sentence tells who, where, when or how much.

    Attributes:
        kind: name, time, money, number, day, count, or amount and its unit.
        is_first: Whether it begins its sentence.
        is_subject: Whether a verb stands behind it.
        is_old: Whether the sentence says that it is left behind.
    """

    kind: str
    text: str
    start: int
    end: int
    is_first: bool = False
    is_subject: bool = False
    is_old: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """It, to be compared."""
        return self.kind, self.text.casefold().rstrip("s" if self.kind == "day" else "")


def tells_change(text: str) -> bool:
    """Whether a sentence says that something is so from now on, or otherwise than before.

    A verb of change counts where a name, a time or an amount stands close behind it, which is what
    has changed.

    >>> tells_change("The choir sings at Holm now."), tells_change("The choir moved to Holm.")
    (True, True)
    >>> tells_change("The choir sang well."), tells_change("I must go now.")
    (False, False)
    """
    plain = bare(text)
    if _NEW.search(plain) or _BECOME.search(plain):
        return bool(marks(text))
    verbs = list(_TURN.finditer(plain))
    found = marks(text) if verbs else []
    return any(
        plain[verb.end() : mark.start].count(" ") <= _REACH
        for verb in verbs
        for mark in found
        if mark.start > verb.end()
    )


def marks(text: str) -> list[Mark]:
    """The names, times, days and amounts of a sentence, in its order.

    >>> [(m.kind, m.text) for m in marks("From today Mara pays 40 euros on Fridays.")]
    [('name', 'Mara'), ('money', '40 euros'), ('day', 'Fridays')]
    """
    found = []
    plain = bare(text)
    reason = _REASON.search(plain)
    end = reason.start() if reason else len(plain)
    for match in _MARK.finditer(plain, 0, end):
        kind = match.lastgroup if match.lastgroup != "unit" else "amount"
        start, word = match.start(), match.group()
        is_first = not plain[:start].strip(' "')
        if kind == "name":
            words = word.split(" ")
            if is_first and _is_verb(word, plain[match.end() :]):
                start += len(words.pop(0)) + 1
            while words and (words[0] in NO_NAMES | {"New"}):
                start += len(words.pop(0)) + 1
            word = " ".join(words)
            if not word:
                continue
        elif kind == "amount":
            kind = f"amount {match.group('unit').lower().rstrip('s')}"
        left, right = plain[:start], plain[start + len(word) :]
        is_old = _SOURCE.search(left[-_BEFORE:]) is not None or _GONE.match(right) is not None
        found.append(
            Mark(
                kind or "",
                word,
                start,
                start + len(word),
                is_first,
                _VERB.match(right) is not None,
                is_old,
            )
        )
    return found


def _is_verb(name: str, behind: str) -> bool:
    """Whether the first word of a name is the verb of a sentence that leaves out its "I".

    >>> _is_verb("Switched Holm", " to Besgate."), _is_verb("Rose", " has left.")
    (True, False)
    """
    first, _, rest = name.partition(" ")
    word = first.lower()
    is_form = word in PAST | REGULAR_PASTS | THIRDS or word.endswith(("ed", "ing"))
    return is_form and (bool(rest) or not _FINITE.match(behind))


def bare(text: str) -> str:
    """A statement without who said it, and without the dates that were put into it.

    >>> bare('The user: "From today (2025-03-03) it rings."')
    '"From today it rings."'
    """
    return _ANNOTATION.sub("", _SPEAKER.sub("", text))
