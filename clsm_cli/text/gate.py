"""Whether a person typed a whole English sentence or an order, and not a value alone: a shallow grammar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text import gate_words as forms

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile(r"[^\W_](?:[\w'’.&/+-]*\w)?|\w|[,;:()\u2013\u2014]")
_QUOTED = re.compile(r"\"[^\"\n]{0,400}\"|\u201c[^\u201c\u201d\n]{0,400}\u201d")


def unquoted(text: str) -> str:
    """``text`` with each quotation as an ellipsis between its marks, so that its words do not count.

    >>> unquoted('She said "I am late" twice.')
    'She said "\u2026" twice.'
    """
    return _QUOTED.sub('"\u2026"', text)


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


_WITH_SUBJECT = forms.words(
    "it's he's she's that's there's who's what's he'd she'd i'd we'd they'd"
)
_CONTRACTED = ("'m", "'re", "'ve", "'ll")
_NO_SUBJECT = (
    forms.DETERMINERS
    - forms.words("this that which both all some many each what such few more most no")
    | forms.PREPOSITIONS
    | forms.AUXILIARIES
    | {"to", "it's", "he's", "she's"}
)
"""Words that a verb does not follow as its subject."""
_PLURAL_PERSONS = forms.words("i we you they who people")


def _is_finite(low: Sequence[str], place: int) -> bool:
    word = low[place]
    if word.endswith(_CONTRACTED) or word in _WITH_SUBJECT:
        return True
    before = low[place - 1] if place else "to"
    if before == "to" or word in forms.AUXILIARIES:
        return before != "to"
    if before in {",", "("} and word not in forms.PAST | forms.THIRDS:
        return False
    subject_at = _skipped(low, place - 1)
    subject = low[subject_at]
    if subject in _NO_SUBJECT or subject.endswith(_CONTRACTED):
        return False
    following = low[place + 1] if place + 1 < len(low) else ""
    if word in forms.REGULAR_PASTS or (word.endswith("ed") and len(word) > 4):
        return following != "by" and subject not in forms.DETERMINERS
    return word in forms.PAST or _is_present(low, word, subject_at, following)


def _skipped(low: Sequence[str], place: int) -> int:
    """The place of the last word up to ``place`` that is no adverb."""
    while place > 0 and (low[place] in forms.ADVERBS or low[place].endswith("ly")):
        place -= 1
    return place


def _is_present(low: Sequence[str], word: str, subject_at: int, following: str) -> bool:
    """Whether a form of the present agrees with the word before it."""
    subject = low[subject_at]
    if word in forms.THIRDS:
        noun = subject in forms.DETERMINERS and following in {"", "of", "and", ",", ";"}
        return subject not in _PLURAL_PERSONS - {"who"} and not noun
    if word in forms.SAME_PAST and subject in {"he", "she", "it"}:
        return True
    plural = subject.endswith("s") and not subject.endswith(("ss", "'s", "us", "is"))
    pair = (
        subject_at > 1
        and low[subject_at - 1] == "and"
        and low[subject_at - 2] not in forms.PREPOSITIONS
    )
    return word in forms.BASES and (subject in _PLURAL_PERSONS or plural or pair)


def is_command(words: Sequence[str]) -> bool:
    """Whether a sentence tells somebody to do something.

    >>> is_command(["Never", "wake", "me"]), is_command(["Work", "is", "late"])
    (True, False)
    """
    low = [word.lower() for word in words[:7]] + [""] * 5
    place = 0
    if low[0] == "from" and low[1] in {"now", "today", "here"}:
        low = low[2 + (low[2] in {"on", ","}) :]
    while low[place] in {"please", "always", "never", "just", "only", "also"}:
        place += 1
    if low[place] == "don't" or low[place : place + 2] == ["do", "not"]:
        place += 1 if low[place] == "don't" else 2
        return low[place + (low[place] == "ever")] in forms.BASES
    if low[place] not in forms.BASES or words[0][1:2].isupper():
        return False
    following = low[place + 1]
    if following in forms.BASES and low[place + 2] in {"", ","}:
        return False  # "Restore test, second attempt"
    return following not in forms.AUXILIARIES | {"of"} and following not in forms.THIRDS | {
        ",",
        ":",
    }


_FRAGMENT = re.compile(
    r"^(?:whether|which|who|whose|whom|that|than|because of|including|such as|like|with|without|as well as|"
    r"or|nor|not|no|yes|and then|to)\b(?!\s(?:one|matter))",
    re.IGNORECASE,
)
_MEASURED = re.compile(
    r"(?!Minus|Plus|About|Only|Over|Under|Above|Below|At|In|On|By|For|From|Until|After|Some|Nearly|Almost|Every|All)[A-Z][\w-]{1,30}:?\s\d[\d.,]{0,8}\s?(?:%|cm|mm|km|m|kg|g|mg|ml|l|degrees|euros?|hours?|minutes?)\b"
)
"""A measurement without a verb: "Rex 4.4 kg in May"."""
_TIMES = forms.words(
    "today yesterday noon midnight then now last this next monday tuesday wednesday thursday friday saturday sunday january "
    "february march april may june july august september october november december"
)
_NO_START = (
    forms.PAST
    | forms.REGULAR_PASTS
    | forms.PARTICIPLES
    | forms.words("been being gotta gonna wanna")
)
"""Forms that begin a sentence only in a phrase before its subject: "Built in 1911, the clock …"."""
_PHRASE = re.compile(r"\w+\s(?:by|in|at|on|from|with|as|for)\s[^,]{1,60},\s")
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
    if _MEASURED.match(text):
        return True
    if not found or (
        _FRAGMENT.match(text) and not re.match(r"(?:no|not)\s\w+\s", text, re.IGNORECASE)
    ):
        return False
    low = [word.lower() for word in words]
    if low[0] in _NO_START and not _PHRASE.match(text):
        return False
    own = [place for place in found if not _is_relative(low, place)]
    needed = 2 if low[0] in forms.SUBORDINATORS and _opens_clause(low, found) else 1
    return len(own) >= needed


def _opens_clause(low: Sequence[str], found: Sequence[int]) -> bool:
    """Whether a first word such as "since" opens a clause, and not a phrase: "Since May, Ann is …"."""
    if low[0] not in forms.PREPOSITIONS:
        return True
    comma = low.index(",") if "," in low else 0
    is_phrase = low[1] in _TIMES or low[1][:1].isdigit() or found[0] > 3
    return any(place < comma for place in found) or not (comma or is_phrase)


def _is_relative(low: Sequence[str], place: int) -> bool:
    before = _skipped(low, place - 1)
    if low[before] in {"who", "which", "whose", "that"} and before > 0:
        return low[before] != "that" or low[before - 1] not in {",", ";", ":"}
    # "what I meant", "a box he built": a pronoun right behind a noun or a relative word.
    return (
        before > 0
        and low[before - 1] in _RELATIVE
        and (before > 1 or low[before] in forms.PERSONAL)
    )
