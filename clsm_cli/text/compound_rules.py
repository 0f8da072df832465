"""The rules by which a compound question is taken apart; loaded only for one (``compound``)."""

from __future__ import annotations

import re

from clsm_cli.text.compound import MARKERS
from clsm_cli.text.compound_words import (
    ARTICLES,
    AUXILIARIES,
    BREAKS,
    NAME,
    PREPOSITIONS,
    bare,
    reach,
    spread,
    start,
)
from clsm_cli.text.tokens import STOP_WORDS, stems

_SINGULAR = {"do": "does", "are": "is", "were": "was", "have": "has"}
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)['‘][^'’]*['’](?!\w)")
_OPEN, _CLOSE = "\ue000", "\ue001"

_WHY = re.compile(r"\bwhy\b(?P<rest>.*)", re.IGNORECASE)
_CAUSE_OF = re.compile(
    r"\b(?:what (?:(?:has |was |is )?caus(?:ed|ing)|causes(?! (?:do|did|does|has|have)\b)|made|led to)|"
    r"reasons? (?:for|behind|why|that)|causes? (?:of|behind)) (?P<rest>.+)",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\s?\b(?:because(?: of)?|due to)\s", re.IGNORECASE)

_AUXILIARY = r"(?:did|does|do|is|are|was|were|has|have|had|can|could|will|would|should)"
_SUBJECT = r"(?:the|he|she|it|they|we|you|i|my|our|this|that|(?-i:[A-Z]\w*))"
_ASKS = rf"(?:(?:what|when|where|who|whom|why|how|which)|{_AUXILIARY} {_SUBJECT})\b"
_SENTENCES = re.compile(r"(?<=\?)\s+(?:(?:and|but|so|or) )?(?=\S)", re.IGNORECASE)
_LAST_OF_LIST = re.compile(r",? (?:and|or) ", re.IGNORECASE)
_CLAUSES = rf",? (?:and|but) (?={_ASKS})"
_NEW_SUBJECT = r"\b(?:he|she|they)\b"
_NAMES = rf"(?<![\w'’])(?:both )?(?P<a>(?!(?i:{_AUXILIARY}) ){NAME})(?:['’]s)? and (?P<b>{NAME})(?![\w-])"
_SUBJECTS = r"\b(?:do|are|were|have|did) (?P<a>[a-z]\w*) and (?P<b>[a-z]\w*) (?=both |each )"
_TOPICS = r"\b(?:about|regarding) (?P<a>[\w-]+) and (?P<b>[\w-]+)\W*$"
_TOGETHER = r"\b(?:both|each|in common|together|share)\b ?"


def split(text: str) -> list[str]:
    """The single questions in a compound one, best first; none where it is simple.

    Words in quotation marks are never taken apart.

    >>> split("differences between the cats of Mara and Brian")
    ['cats of Mara', 'cats of Brian']
    """
    quotes: list[str] = []

    def hold(match: re.Match[str]) -> str:
        quotes.append(match.group())
        return f"{_OPEN}{len(quotes) - 1}{_CLOSE}"

    masked = _QUOTED.sub(hold, " ".join(text.replace(_OPEN, "").split()))
    return [
        re.sub(rf"{_OPEN}(\d+){_CLOSE}", lambda match: quotes[int(match[1])], part)
        for part in _split(masked)
    ]


def _split(text: str) -> list[str]:
    for rule, least in ((_sentences, 2), (_comparison, 2), (_cause, 1), (_list, 2), (_of_two, 2)):
        found = _clean(rule(text), text)
        if len(found) >= least:
            return found
    return []


def _clean(found: list[str], text: str) -> list[str]:
    """Parts with words of their own, each once; none is a marker or the question again."""
    kept: dict[str, str] = {text.strip(" ?.!").casefold(): ""}
    for part in found:
        short = part.strip(" ,;:.!?")
        if (_OPEN in short or stems(short)) and not MARKERS.issuperset(short.casefold().split()):
            kept.setdefault(short.casefold(), short)
    return [part for part in kept.values() if part]


def _sentences(text: str) -> list[str]:
    return [each for each in _SENTENCES.split(text) if each.endswith("?")]


def _comparison(text: str) -> list[str]:
    from clsm_cli.text import compound_sides

    said = set(text.casefold().split())
    is_compared = not said.isdisjoint(compound_sides.MARKERS) or "between" in said
    return compound_sides.sides(text) if is_compared else []


def _cause(text: str) -> list[str]:
    """The effect, and the cause where it is told; then what the effect is made of."""
    because = _BECAUSE.search(text)
    why = _CAUSE_OF.search(text) or _WHY.search(text)
    if because and not (why and why.start() < because.start()):
        return [_effect(text[: because.start()]), bare(text[because.end() :])]
    if why is None:
        return []
    effect = _effect(re.split(r"[?!]", why["rest"], maxsplit=1)[0])
    return [effect, *_split(effect)] if effect else []


def _effect(text: str) -> str:
    """A clause without the auxiliaries that made a question of it."""
    left = text.split()
    while left and (left[0].lower() in AUXILIARIES | {"not", "why"} or left[0] in ARTICLES):
        del left[0]
    return " ".join(left)


def _list(text: str) -> list[str]:
    """The items of "a, b, and c", each with what stands before the first and after the last."""
    last = _LAST_OF_LIST.search(text, max(text.find(","), 0))
    if last is None or "," not in text[: last.start() + 1]:
        return []
    first, *middle = (piece.split() for piece in text[: last.start()].split(","))
    behind = text[last.end() :].split()
    middle = [[word for word in item if word.lower() not in ARTICLES] for item in middle]
    if not behind or not first or not middle or any(not 0 < len(item) <= 4 for item in middle):
        return []
    skip = 1 if behind[0].lower() in ARTICLES else 0
    inside = {word.lower() for item in (*middle, behind[skip : skip + 1]) for word in item}
    if inside & BREAKS or "?" in text[: last.start()]:
        return []
    end = reach(behind, skip)
    if all(word[0].isupper() for item in middle for word in item):
        end = next((i for i, word in enumerate(behind[:end]) if not word[0].isupper()), end) or end
    place = _first_item(first, max(map(len, middle)))
    items = [" ".join(item) for item in (first[place:], *middle, behind[skip:end])]
    return spread(_singular(first[:place]), list(map(bare, items)), " ".join(behind[end:]))


def _first_item(words: list[str], length: int) -> int:
    """Where the first item begins: as long as the others, or a whole phrase where that is plain."""
    breaks = [place for place, word in enumerate(words) if word.lower() in BREAKS]
    if not breaks:
        return 0
    opening = words[breaks[-1]].lower()
    if opening in ARTICLES and breaks[-1] < len(words) - 1:
        return breaks[-1]
    return breaks[-1] + 1 if opening in PREPOSITIONS else start(words, length)


def _of_two(text: str) -> list[str]:
    """Two clauses, or one that is said of two."""
    clauses = re.split(_CLAUSES, text, flags=re.IGNORECASE)
    if len(clauses) > 1 and stems(clauses[0]):
        return _with_subject(clauses)
    match = re.search(_NAMES, text)
    if match and text[: match.start()].lower().split()[-1:] not in (["the"], ["a"], ["an"]):
        return _of_each(
            text, match
        )  # people take no article, "the Simon and Garfunkel record" does
    match = re.search(_SUBJECTS, text)
    if match and STOP_WORDS.isdisjoint(match.groups()):
        return _of_each(text, match)
    match = re.search(_TOPICS, text)
    return spread(text[: match.start("a")], match.groups(), "") if match else []


def _with_subject(clauses: list[str]) -> list[str]:
    """Clauses, a pronoun in the later ones replaced by the one name of the first."""
    names = re.findall(rf"(?<!^)\b(?!I\b){NAME}", clauses[0])
    if len(names) != 1:
        return clauses
    later = [re.sub(_NEW_SUBJECT, names[0], clause, count=1) for clause in clauses[1:]]
    return [clauses[0], *later]


def _of_each(text: str, match: re.Match[str]) -> list[str]:
    """What is said of two, of each: one question a name, with the verb in the singular."""
    after = text[match.end("b") :].strip(" ?.!")
    if "in common" in after or after in {"share", "have"}:
        return list(match.groups())
    verb, _, rest = re.sub(_TOGETHER, "", after, flags=re.IGNORECASE).partition(" ")
    after = f"{_SINGULAR.get(verb, verb)} {rest}".strip()
    gap = "" if after.startswith(("'", "’")) else " "
    before = _singular(text[: match.start("a")].split())
    return [f"{before} {name}{gap}{after}".strip() for name in match.groups()]


def _singular(before: list[str]) -> str:
    """Words before a subject, of several of which one is left."""
    kept = [word for word in before if word.lower() not in {"both", "either"}]
    if kept and (one := _SINGULAR.get(kept[-1].lower())):
        kept[-1] = one.capitalize() if kept[-1][0].isupper() else one
    return " ".join(kept)
