"""What a speaker says of himself, as others would tell it: "I prefer tabs" by Ann, "Ann prefers tabs"."""

from __future__ import annotations

import re

from clsm_cli.text import gate_words as forms

ROLES: dict[str, str] = {"user": "The user", "assistant": "The assistant", "agent": "The assistant"}
"""Speakers without a name, and what they are called in a statement."""

_SHE = forms.words(
    "alice amanda amy andrea angela anna anne audrey barbara betty carol caroline catherine charlotte chloe christina "
    "claire clara cynthia daisy deborah debra diana donna dorothy elena elizabeth ella ellen emily emma erin eva evelyn "
    "fiona gina gloria grace hannah heather helen isabella jane janet jennifer jessica joan joanna jolene judith judy "
    "julia julie karen kate katherine kathleen kelly laura lauren linda lisa lucy margaret maria marie martha mary "
    "melanie melissa michelle molly monica nancy natalie nicole nina olivia pamela patricia rachel rebecca rose ruth "
    "sandra sara sarah sharon sofia sophia sophie stephanie susan teresa theresa valerie vanessa victoria zoe"
)
_HE = forms.words(
    "aaron adam alan albert andrew anthony antonio arthur benjamin bernard bruce calvin carl charles christopher daniel "
    "david dave dennis donald douglas edward eric eugene evan frank gary george gerald gordon graham greg gregory harold "
    "harry henry howard hugo ian jack jacob james jason jeffrey jeremy jim joe john jon jonathan jose joseph joshua juan "
    "justin keith kenneth kevin larry lawrence leo leonard louis luke marcus mark martin matthew michael nate nathan "
    "nicholas oliver oscar patrick paul peter philip ralph raymond richard robert roger ronald roy russell ryan samuel "
    "scott sean simon stephen steven stuart thomas tim timothy tom tony victor vincent walter wayne william"
)
_PRONOUNS = {
    "she": {"i": "she", "my": "her", "me": "her", "mine": "hers", "myself": "herself"},
    "he": {"i": "he", "my": "his", "me": "him", "mine": "his", "myself": "himself"},
    "they": {"i": "they", "my": "their", "me": "them", "mine": "theirs", "myself": "themselves"},
}
_FIRST = re.compile(r"\b(I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b")
_PLURAL = re.compile(
    r"\b(?:we|us|our|ours|ourselves|let's|you|your|yours|yourself|ya|y'all|u)\b|\b(?:we|you)'",
    re.IGNORECASE,
)
_CONTRACTED = (
    (re.compile(r"\bI'm gonna\b"), "I am going to"),
    (re.compile(r"\bI gotta\b"), "I have to"),
    (re.compile(r"\bwanna\b"), "want to"),
    (re.compile(r"\bI'm\b"), "I am"),
    (re.compile(r"\bI've\b"), "I have"),
    (re.compile(r"\bI'll\b"), "I will"),
    (re.compile(r"\bI'd (?=been\b|better\b|had\b|already\b|\w+ed\b)"), "I had "),
    (re.compile(r"\bI'd\b"), "I would"),
    (re.compile(r"\bI don't\b"), "I do not"),
    (re.compile(r"\bI haven't\b"), "I have not"),
    (re.compile(r"\b(and|but|so) I (?=(?:also |then |just |finally )?[a-z])"), r"\1 I "),
)
_QUOTATION = re.compile(r"\"[^\"\n]{0,400}\"|\u201c[^\u201c\u201d\n]{0,400}\u201d")
_VERB = re.compile(r"\s((?:[\w-]+\s){0,3}?)([A-Za-z-]+)\b")
_COORDINATED = re.compile(r"\b(?:and|or|but|then) (?:\w+ly )?([a-z]+)\b")
_AGREEING = {"am": "is", "have": "has", "do": "does"}
_GERUND = re.compile(r"[A-Z]\w+ing\s(?:\w+\s)?my\b")
_INVERTED = re.compile(
    r"\b(?:am|was|do|did|have|had|can|could|will|would|should|may|might|must)\sI\b"
)


def name_of(speaker: str) -> str:
    """What a speaker is called in a statement; empty for an agent's own notes.

    >>> name_of("Ann"), name_of("user")
    ('Ann', 'The user')
    """
    return ROLES.get(speaker.lower(), speaker)


def gender_of(name: str) -> str | None:
    """The pronoun of a given name that is nearly always of one gender; *they* for a role.

    >>> gender_of("Mary Hart"), gender_of("The user"), gender_of("Sam")
    ('she', 'they', None)
    """
    if name in ROLES.values():
        return "they"
    first = name.lower().partition(" ")[0]
    return "she" if first in _SHE else "he" if first in _HE else None


def has_first_person(text: str) -> bool:
    """Whether somebody speaks of himself, outside of quotations."""
    return _FIRST.search(_QUOTATION.sub("", text)) is not None


def has_company(text: str) -> bool:
    """Whether *we* or *you* stand in a text, outside of quotations."""
    return _PLURAL.search(_QUOTATION.sub("", text)) is not None


def quoted(text: str, speaker: str) -> str:
    """The words themselves, with who said them.

    >>> quoted("Never wake me.", "user")
    'The user: "Never wake me."'
    """
    inner = text.replace('"', "'").replace("\u201c", "\u2018").replace("\u201d", "\u2019")
    return f'{name_of(speaker)}: "{inner}"'


def third_person(text: str, speaker: str) -> str | None:
    """A sentence of a speaker with his name in the place of "I"; None where that is not safe.

    Safe is: no "we" and no "you", verbs whose form is known, and pronouns only for a speaker whose
    pronoun is.

    >>> third_person("I prefer tabs.", "Ann"), third_person("I've sold my car.", "Mary")
    ('Ann prefers tabs.', 'Mary has sold her car.')
    >>> third_person("I sold my car.", "Sam") is None
    True
    """
    text = text.replace("\u2019", "'")
    if _PLURAL.search(_QUOTATION.sub("", text)) or _FIRST.search("".join(_QUOTATION.findall(text))):
        return None
    for pattern, full in _CONTRACTED:
        text = pattern.sub(full, text)
    if _INVERTED.search(text) or _GERUND.match(text):
        return None
    return _rewritten(text, name_of(speaker))


def _rewritten(text: str, name: str) -> str | None:
    gender = gender_of(name)
    pieces: list[str] = []
    done = 0
    for match in _FIRST.finditer(text):
        word = match.group().lower()
        if pieces and gender is None:
            return None
        if not pieces:
            said = f"{name}'s" if word == "my" else name
            if word in {"mine", "myself"}:
                return None
        else:
            said = _PRONOUNS[gender or "they"][word]
        end = match.end()
        if word == "i":
            plural = bool(pieces) and gender == "they"
            verb = _agreed(text, end, is_plural=plural)
            if verb is None:
                return None
            changed, end = verb
            said += changed
        said = said if match.start() else said[0].upper() + said[1:]
        inner = name.startswith("The ") and match.start() and not pieces
        pieces += text[done : match.start()], "t" + said[1:] if inner else said
        done = end
    return "".join([*pieces, text[done:]])


def _agreed(text: str, place: int, *, is_plural: bool) -> tuple[str, int] | None:
    """The verb after "I" in the third person, and where it ends; None where its form is unclear."""
    words = list(re.finditer(r"[A-Za-z'-]+", text[place : place + 80]))
    for found in words[:4]:
        word = found.group()
        if word in forms.ADVERBS or word.endswith("ly"):
            continue
        between = text[place : place + found.start()]
        end = place + found.end()
        if word in _AGREEING:
            form = {"am": "are"}.get(word, word) if is_plural else _AGREEING[word]
        elif word == "was":
            form = "were" if is_plural else word
        elif word in forms.MODALS | forms.HAVE | forms.PAST or (
            word.endswith("ed") and word not in forms.BASES
        ):
            form = word
        elif word in forms.SAME_PAST:
            if not re.search(r"\b(?:yesterday|ago|last|in \d{4})\b", text[end:]):
                return None
            form = word
        elif word in forms.BASES:
            if any(verb in forms.BASES for verb in _COORDINATED.findall(text, end)):
                return None
            form = word if is_plural else forms.third(word)
        else:
            return None
        return between + form, end
    return None
