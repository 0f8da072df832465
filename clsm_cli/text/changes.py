"""Sentences that tell a change, and whether two of them differ in the value alone.

CMA (section 3.4) closes what a newer memory about the same thing contradicts. A table of forms reads
the values of the slots it knows; of all else it can still be seen that a sentence says that something
is new ("now", "from today", "instead of", a verb of replacing or moving), and that an older one is
about the same names but for one: that one is the value.
"""

from __future__ import annotations

import re

from clsm_cli.records import NamedTuple
from clsm_cli.text.names import NO_NAMES
from clsm_cli.text.tokens import stems

_DAYS = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_CUE = re.compile(
    r"\b(?:now(?! and then)|these days|nowadays|currently|at present|any ?more|no longer|instead of|"
    r"in place of|(?:from|as of|starting|since|beginning) (?:now|today|tomorrow|yesterday|this (?:week|month|"
    rf"year|morning)|(?:next|last) (?:week|month)|{_DAYS})|"
    r"ha(?:s|ve) (?:become|taken|found)|becomes?|became|turned into|"
    r"switch(?:ed|es)|swap(?:ped|s)|replac(?:ed|es)|exchanged|traded|chang(?:ed|es)|migrated|moved|moves|"
    r"relocated|transferred|shifted|rescheduled|postponed|pushed|upgraded|downgraded|renamed|settled|"
    r"taken over|took over|takes over|succeeded|succeeds|stepped down|handed over|gave up|gave in|"
    r"quit|hired|joined|signed up|raised|lowered|reduced|increased|went (?:up|down)|left|sold|bought|"
    r"(?:[Mm]y|[Oo]ur|[Tt]he|[Tt]heir|[Hh]is|[Hh]er|user's|['’]s|[Aa]) (?:brand )?new|(?:^|\")New)\b"
)
"""Deixis of the present against the past, and the verbs of FrameNet's frames of change: Replacing,
Exchange, Change_of_leadership, Becoming, Motion to a new place, Change_position_on_a_scale."""
_ANNOTATION = re.compile(r"\s\(\d{4}(?:-\d\d){0,2}(?: to \d{4}(?:-\d\d){0,2})?\)")
_REASON = re.compile(r",? (?:because|since (?:he|she|it|they|we|the)|so that) .*$")
_SPEAKER = re.compile(r"^The (?:user|assistant)\b(?:: )?")
_KINDS = (
    ("time", r"(?<![\d:])\d{1,2}(?::\d\d ?(?:[ap]\.?m\.?)?| ?(?:[ap]\.?m\.?\b|o'clock))(?![\d:])"),
    ("money", r"(?:[$£€] ?\d[\d.,]*\d?|\b\d[\d.,]*(?<=\d) ?(?:euros?|dollars?|pounds?|EUR|USD|GBP|€))(?:k\b)?"),
    ("number", r"(?<![\w.])\+?\d[\d /-]{4,18}\d(?![\w.])"),
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
    r"\b(?:from|left|leav\w+|quit|sold|replac\w+|swap\w*|trad\w+|exchang\w+|drop\w*|ditch\w*|abandon\w*|"
    r"instead of|in place of|rather than|no longer|out of|off|gave up|given up|notice at|cancell?ed|"
    r"cancell?ed at|resigned at|broke up with|split up with|closed|lost)(?: [a-z]+){0,2} $"
)
"""What stands before the value that is left: the source of a change."""
_GONE = re.compile(
    r"^ (?:left|quit|resigned|retired|stepped|steps|is (?:gone|history|dead|out|over)|closed|shut)\b"
)
_VERB = re.compile(r"^ (?!(?:and|or|now|as|at|for|from|in|on|of|off|to|with|by|over|since|because|so|these|"
                   r"this|today|instead|rather|behind|each|every|daily|any|evening|morning|was|which|who)\b)[a-z]")  # fmt: skip
"""What stands behind the subject of a clause."""


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

    >>> tells_change("The choir sings in the barn now."), tells_change("The choir sang well.")
    (True, False)
    """
    return _CUE.search(text) is not None


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
            while words and words[0] in NO_NAMES | {"New", "Did"}:
                start += len(words.pop(0)) + 1
            word = " ".join(words)
            if not word:
                continue
        elif kind == "amount":
            kind = f"amount {match.group('unit').lower().rstrip('s')}"
        left, right = plain[:start], plain[start + len(word) :]
        is_old = _SOURCE.search(left) is not None or _GONE.match(right) is not None
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


def bare(text: str) -> str:
    """A statement without who said it, and without the dates that were put into it.

    >>> bare('The user: "From today (2025-03-03) it rings."')
    '"From today it rings."'
    """
    return _ANNOTATION.sub("", _SPEAKER.sub("", text))


class Succession(NamedTuple):
    """A newer value, and the older sentence as it would tell it."""

    value: str
    retold: str


def succession(new: str, old: str) -> Succession | None:
    """What is left to compare of two sentences that differ in one value; None where in more, or none.

    All other names, times and amounts must be the same in both. What the newer sentence says is left
    behind, and what stands in a reason, does not count. Where the value is who does something, in
    both, it may be two people who do the same.

    Args:
        new: The newer sentence.
        old: The older.

    >>> succession("The choir meets at Holm now.", "The choir sings at Besgate.")
    Succession(value='Holm', retold='The choir sings at Holm.')
    >>> succession("Ann lives in Holm now.", "Ben lives in Besgate.") is None
    True
    >>> succession("Ann lives in Holm now.", "Ben lives in Holm.") is None
    True
    """
    a, b = _compared(new, old), _compared(old, new)
    keys, others = {m.key for m in a}, {m.key for m in b}
    news = {m.key: m for m in a if m.key not in others and not m.is_old}
    olds = {m.key: m for m in b if m.key not in keys and not m.is_old}
    if len(news) != 1:
        return None
    (value,) = news.values()
    if not olds:
        named = {m.key for m in a if m.kind == value.kind and (m.is_old or m.kind != "name")}
        olds = {m.key: m for m in b if m.key in named}
    if len(olds) != 1:
        return None
    (was,) = olds.values()
    if was.kind != value.kind or (was.kind == "name" and was.is_subject and value.is_subject):
        return None
    plain = bare(old)
    for mark in reversed(b):
        if mark.key == was.key:
            plain = plain[: mark.start] + value.text + plain[mark.end :]
    return Succession(value.text, plain)


def _compared(text: str, other: str) -> list[Mark]:
    """The marks of a sentence, but for a first word that has its capital from its place alone."""
    there, plain = bare(other), bare(text)
    known = set(stems(there.lower()))
    found = []
    for mark in marks(text):
        word = mark.text.partition(" ")[0]
        if mark.kind == "name" and mark.is_first and mark.start <= 1:
            is_common = word not in there and (
                word.endswith(("ed", "ing"))
                or (bool(stems(word)) and set(stems(word)) <= known)
                or plain[mark.end : mark.end + 1] == ":"
            )
            if is_common and " " not in mark.text:
                continue
        found.append(mark)
    return found
