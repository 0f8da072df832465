"""Who *she*, *he* or *it* is: only where the sentence before leaves no doubt."""

from __future__ import annotations

import re

from clsm_cli.text import gate_words as forms
from clsm_cli.text.first_person import gender_of
from clsm_cli.text.gate import finite_verbs, tokens, unquoted
from clsm_cli.text.names import NO_NAMES
from clsm_cli.text.references import open_reference

_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\.\s|Aunt\s|Uncle\s)?[A-Z][\w'-]{0,30}(?:\s(?:(?:van|de|der|von)\s){0,2}[A-Z][\w'-]{0,30}){0,3}"
_PERSON = re.compile(rf"{_NAME}\Z")
_OPENING = re.compile(
    r"(?:(?:So|And|But|Then|Also|Yes|Today|Yesterday|Now|Still|Meanwhile|However|Later|Afterwards|Therefore)\b,?\s)?"
    r"(?:(?:In|At|On|Since|From|By|After|Before|During|Until|For)\s[^,]{1,60},\s(?:\d[^,]{1,30},\s)?"
    r"|(?:Since|From|As\sof|Until)\s(?:today|yesterday|now\son|noon|this\s\w+|last\s\w+|\d\d?:\d\d(?:\stoday)?|\d{1,2}\s[A-Z]\w+|[A-Z]\w+\s\d{1,2}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:last\s)?(?:January|February|March|April|May|June|July|August|September|October|November|December)),?\s)?"
)
_HONORIFIC = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof)\.?\s")
_IDENTIFIER = re.compile(r"[\w.-]*(?:_|\d)[\w.-]*\Z")
_ARTICLE = re.compile(r"(?:The|the|An?|Each|Every)\s")
_OTHER_NAMES = re.compile(r"(?<![.!?]\s)(?<!^)(?<![\w'-])[A-Z][\w'-]{1,30}")
_ORDINARY = forms.words(
    "Little New Old Big Small Good Great Young Strong Real True Quick Kind Nice Lovely Life Love Art Music Family Kids Children Friends "
    "Nature Books Food Work School Health Time Money Words Pets Animals Dogs Cats Water Light Things Weather Painting Dance "
    "Dancing Writing Reading Cooking Running Gaming Talking Seeing Being Having Taking Making Going Working Playing Helping "
    "Losing Finding Knowing Getting Doing Giving Living Learning Lunch Dinner Breakfast Tea Coffee Bread Deadline Import "
    "Export Build Deploy Markets Prices Thursday"
)
"""Words at the beginning of a sentence that are no names, though nothing but their sense says so."""
_TIMES = forms.words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December I")  # fmt: skip
_CASES = {
    "he": "", "she": "", "it": "", "they": "", "him": "", "them": "",
    "his": "'s", "its": "'s", "their": "'s",
}  # fmt: skip
_HERSELF = re.compile(r"\b(?:himself|herself|itself|themselves|hers|theirs)\b", re.IGNORECASE)


def subject_of(text: str) -> str:
    """The subject of a plain sentence, where it is a name, an identifier or a short noun phrase.

    >>> subject_of("Ann Hart keeps bees."), subject_of("After lunch, the old router restarted.")
    ('Ann Hart', 'the old router')
    >>> subject_of("Who keeps bees?"), subject_of("She keeps bees.")
    ('', '')
    """
    if text.rstrip().endswith("?"):
        return ""
    rest = text[_OPENING.match(text).end() :]  # type: ignore[union-attr]
    words = tokens(unquoted(rest))
    found = finite_verbs(words)
    if not found or not 0 < found[0] <= 5:
        return ""
    phrase = words[: found[0]]
    while phrase and (phrase[-1].lower() in forms.ADVERBS or phrase[-1].endswith("ly")):
        phrase = phrase[:-1]
    if not phrase or any(word in {",", ";", ":", "("} for word in phrase):
        return ""
    if any(word.lower() in (forms.PREPOSITIONS - {"of"}) | forms.PERSONAL for word in phrase):
        return ""
    subject = " ".join(phrase)
    if is_person(subject) or _IDENTIFIER.match(subject) or _ARTICLE.match(subject):
        return subject
    return ""


def is_person(subject: str) -> bool:
    """Whether a subject has the form of a person's name."""
    name = _HONORIFIC.sub("", subject)
    return (
        bool(name)
        and name.split()[0] not in _ORDINARY
        and _PERSON.match(name) is not None
        and name.split()[0] not in NO_NAMES
        and not _IDENTIFIER.match(name)
    )


def is_identifier(word: str) -> bool:
    """Whether a word is the name of a thing of machines, which has no capital: "level_db", "v2"."""
    return _IDENTIFIER.match(word) is not None


def antecedent(text: str, *, is_label: bool = False) -> str:
    """The subject of a sentence, if it alone can be what a pronoun in the next one stands for.

    Args:
        text: a plain sentence.
        is_label: whether the subject names what a definition is about.
    """
    subject = subject_of(text)
    if not subject or is_label:
        return subject
    others = (
        {name.removesuffix("'s") for name in _OTHER_NAMES.findall(unquoted(text))}
        - _TIMES
        - NO_NAMES
    )
    others -= set(subject.split())
    if is_person(subject):
        gender = gender_of(subject)
        rivals = {name for name in others if gender is None or gender_of(name) in {None, gender}}
        return "" if rivals else subject
    return subject


def resolved(text: str, subject: str, *, is_label: bool = False) -> str:
    """``text`` with its open pronoun replaced by the subject of the sentence before, where they agree.

    *He* and *she* take a person, *it* a thing: a noun phrase, an identifier, or what a definition is
    about. A text without an open pronoun comes back as it is.

    >>> resolved("She keeps bees.", "Ann"), resolved("It restarted.", "the router")
    ('Ann keeps bees.', 'The router restarted.')
    >>> resolved("It restarted.", "Ann")
    'It restarted.'
    """
    word = open_reference(text)
    low = (word or "").lower()
    if not subject or not word or _HERSELF.match(low):
        return text
    person = is_person(subject)
    if low in {"he", "she", "him", "his", "her"}:
        fits = person and gender_of(subject) in {
            None,
            "he" if low in {"he", "him", "his"} else "she",
        }
    elif low in {"it", "its"}:
        fits = is_label or not person
    else:
        fits = False
    match = re.search(rf"\b{re.escape(word)}\b('s\b)?", text)
    if not fits or match is None:
        return text
    return _put(text, match, low, subject)


def _put(text: str, match: re.Match[str], low: str, subject: str) -> str:
    if match.group(1):
        following = text[match.end() :].split()
        verb = " has" if following and (following[0].endswith(("ed", "en")) or following[0] in forms.PARTICIPLES | {"been", "got"}) else " is"  # fmt: skip
        case = verb
    elif low == "her":
        behind = text[match.end() : match.end() + 2]
        case = "'s" if behind[:1] == " " and behind[1:].isalpha() else ""
    else:
        case = _CASES[low]
    said = subject + case
    if not text[: match.start()].strip(" \"'(\u201c"):
        said = said if _IDENTIFIER.match(subject) else said[0].upper() + said[1:]
    elif _ARTICLE.match(said):
        said = said[0].lower() + said[1:]
    return text[: match.start()] + said + text[match.end() :]
