"""Split a compound question into the single questions it is made of.

After Smriti's query decomposition: comparison, cause, list, conjunction; the first rule that fires
decides. A question without one of a few words is simple, and only that is looked at until then. First
what is asked of this module, then the word classes and ends of a list, comparisons, and the rules.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.tokens import STOP_WORDS, stems

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

# fmt: off
MARKERS: frozenset[str] = frozenset((
    "and", "or", "vs", "vs.", "versus", "than", "compare", "compared", "differ", "differs", "different",
    "why", "because", "due", "caused", "causes", "cause", "reason", "reasons",
))
# fmt: on
"""Folded words, cut at blanks, without one of which a question is simple."""
_LONGEST = 600
"""Characters; what is longer is a text, not a question."""
_MOST = 4


class Part(NamedTuple):
    """A question, or one of those it is made of; ``weight`` is 1 for the question itself."""

    text: str
    weight: float


def is_compound(text: str) -> bool:
    """Whether ``question_parts`` may find more than the text itself; loads and compiles nothing.

    >>> is_compound("What does Mara want?"), is_compound("What do Mara and Brian want?")
    (False, True)
    """
    if len(text) > _LONGEST:
        return False
    return not MARKERS.isdisjoint(text.casefold().split()) or text.count("?") > 1


def question_parts(text: str) -> list[Part]:
    """Return the question, then the questions it is made of, at most four in all.

    The i-th weighs max(0.4, 1 − 0.2·i) (Smriti, ``query-decomposition.ts``). None is a marker
    alone, and each carries the words that all share.

    >>> [part.text for part in question_parts("What do Mara and Brian both like?")][1:]
    ['What does Mara like', 'What does Brian like']
    """
    whole = [Part(text, 1.0)]
    if not is_compound(text):
        return whole

    asked = [part for part in split_questions(text) if any(map(str.isalnum, part))]
    found = asked[: _MOST - 1]
    return whole + [Part(part, max(0.4, round(1 - 0.2 * i, 1))) for i, part in enumerate(found, 1)]


def follow_up(text: str, seen_terms: AbstractSet[str]) -> Part | None:
    """Return the words of a question of which nothing that was found tells, as a next question.

    Args:
        text: The question.
        seen_terms: Search terms (``tokens.stems``) of everything that was found.

    Returns:
        Its key words (three letters and more) that are missing, at weight 0.6; None when none is,
        or when all are, which would ask the same again.

    >>> follow_up("Mara's boat in Haarlem", {"mara", "boat"})
    Part(text='Haarlem', weight=0.6)
    """
    from clsm_cli.text import tokens

    missing: dict[str, str] = {}
    is_seen = False
    for word in text.split():
        terms = [term for term in tokens.stems(word) if len(term) > 2]
        unseen = [term for term in terms if term not in seen_terms]
        is_seen = is_seen or len(unseen) < len(terms)
        if unseen:
            missing.setdefault(unseen[0], word.strip("\"'.,;:!?()“”’‘"))
    return Part(" ".join(missing.values()), 0.6) if missing and is_seen else None


def split_words(text: str) -> frozenset[str]:
    """The words of a list in one string."""
    return frozenset(text.split())


PREPOSITIONS = split_words(
    "about after at before between by during for from in into of on onto over regarding since to"
    " toward under until with within without"
)
AUXILIARIES = split_words(
    "am are can could did do does had has have is may might must should was were will would"
)
ARTICLES = split_words("a an the")
BREAKS = (
    PREPOSITIONS
    | AUXILIARIES
    | ARTICLES
    | split_words(
        "how what when where which who whom whose why he her him i it me she that they them"
    )
    | split_words("this us we you not so if")
)
"""Words that no item of a list holds."""
NAME = r"[A-Z][\w-]*(?: [A-Z][\w-]*){0,3}"
"""A run of capitalised words."""
_MARKS = ",.;:!?"


def strip_article(side: str) -> str:
    """A phrase without its article and the marks around it."""
    return re.sub(r"^(?:(?:both|the|an?) )+", "", side.strip(f" {_MARKS}"), flags=re.IGNORECASE)


def item_end(following: Sequence[str], least: int) -> int:
    """How many words an item has: to a function word or a mark, more than ``least``.

    >>> item_end("SQLite for the cache".split(), 0)
    1
    """
    end = least
    while end < len(following) and following[end].lower().strip(_MARKS) not in BREAKS:
        end += 1
        if following[end - 1][-1] in _MARKS:
            break
    return max(end, least + 1)


def item_start(leading: Sequence[str], length: int) -> int:
    """Where an item of ``length`` words begins, or the last function word ends, if later.

    A run of capitalised words stays together.

    >>> item_start("What do we know about tea".split(), 2)
    5
    """
    place = len(leading) - 1
    while place > 0 and leading[place - 1].lower() not in BREAKS:
        is_name = leading[place][0].isupper() and leading[place - 1][0].isupper()
        if len(leading) - place >= length and not is_name:
            break
        place -= 1
    return place


def distribute(before: str, items: Sequence[str], after: str) -> list[str]:
    """Each item between the words that belong to all; none where one is no content word.

    >>> distribute("who likes", ("tea", "coffee,"), "at night")
    ['who likes tea at night', 'who likes coffee at night']
    """
    if any(item.lower() in STOP_WORDS for item in items):
        return []
    return [" ".join(f"{before} {item.strip(f' {_MARKS}')} {after}".split()) for item in items]


SIDE_MARKERS = split_words("vs vs. versus than compare compared differ differs different or")
"""Folded words without one of which nothing is compared; "differences" come with "and"."""

_VERSUS = r"\s(?:vs\.?|versus|(?:as )?compared (?:to|with))\s"
_COMPARED = (
    r"\b(?:differences?|similarit(?:y|ies)|distinctions?|contrast|trade-?offs?) between (?P<a>.+?) and (?P<b>.+)",
    r"^(?:please )?compare (?P<a>.+?) (?:and|with|to) (?P<b>.+)",
    (
        r"\b(?:does|do|did|is|are|was|what (?:makes|sets)) (?P<a>[^,]+?)"
        r" (?:compare (?:to|with)|differs? from|different (?:from|to|than)|apart from) (?P<b>.+)"
    ),
    (
        r"^(?:(?:is|are|was|were|do|does|did|which|what|should|why) )*(?P<a>[^,]+?)"
        r" (?:(?:better|worse|more|less|rather)(?: \w+)?|(?P<how>\w+er)) than (?P<b>(?!\d).+)"
    ),
)
_FRAME = r"^(?:(?:how|what|which|is|are|was|were|do|does|did|should|would|the|an?) )+"
_TAIL = re.compile(r"\s(?:for|in|on|at|during|with|when|of)\s.+", re.IGNORECASE)
_OF_NAME = r"(?P<head>.+ (?:of|by|from|in|at|for)) [A-Z][\w' -]*"
_QUALIFIER = r"(?:old|new|first|second|last|big|small|long|short|fast|slow|\w+(?:ic|al|ive|ous|ary|ful|less|able|ian|ed))"
_ALTERNATIVE = (
    r" or (?!(?:not|so|more|less|later|earlier|even|no|none|any|anything|something|other)\b)"
)
_COUNTED = split_words("one two three four five six seven eight nine ten")


def comparison_sides(text: str) -> list[str]:
    """The two sides, with the words that belong to both; none where nothing is compared.

    >>> comparison_sides("REST vs GraphQL for mobile apps")
    ['REST for mobile apps', 'GraphQL for mobile apps']
    >>> comparison_sides("Did Mara move to Haarlem or Leiden?")
    ['Did Mara move to Haarlem', 'Did Mara move to Leiden']
    """
    versus = re.search(_VERSUS, text, re.IGNORECASE)
    if versus:
        left = re.sub(_FRAME, "", text[: versus.start()], flags=re.IGNORECASE)
        return _completed(left, text[versus.end() :])
    for pattern in _COMPARED:
        if match := re.search(pattern, text, re.IGNORECASE):
            how = match.groupdict().get("how") or ""
            return [f"{side} {how}".strip() for side in _completed(match["a"], match["b"])]
    alternative = re.search(_ALTERNATIVE, text, re.IGNORECASE)
    if alternative is None or "," in text[: alternative.start()]:
        return []
    return _alternatives(text[: alternative.start()].split(), text[alternative.end() :].split())


def _completed(left: str, right: str) -> list[str]:
    """Both, each with the words that stand at one of them and are meant for both."""
    left, right = strip_article(left), strip_article(right)
    noun = right.partition(" ")[2]
    of_name = re.fullmatch(_OF_NAME, left)
    owned = re.match(rf"{NAME}(['’]s .+)", right)
    if noun and (left.endswith(("'s", "’s")) or re.fullmatch(_QUALIFIER, left)):
        left = f"{left} {noun}"
    elif of_name and re.fullmatch(NAME, right):
        right = f"{of_name['head']} {right}"
    elif owned and re.fullmatch(NAME, left):
        left += owned[1]
    elif (tail := _TAIL.search(right)) and not _TAIL.search(f" {left} "):
        left += tail.group()
    return [left, right]


def _alternatives(left: list[str], right: list[str]) -> list[str]:
    """X and Y of "X or Y": Y ends before a function word, X has as many words as Y."""
    if not left or not right or right[0].lower() in _COUNTED:
        return []
    first = right[0].lower()
    opens = first in PREPOSITIONS | ARTICLES
    if first in BREAKS and not opens:
        return []
    length = item_end(right, 1 if opens else 0)
    place = item_start(left, length)
    if opens:
        same_kind = ARTICLES if first in ARTICLES else {first}
        places = [i for i, word in enumerate(left) if word.lower() in same_kind]
        place = places[-1] if places else len(left) - 1
    before = " ".join(word for word in left[:place] if word.lower() not in {"either", "whether"})
    items = (" ".join(left[place:]), " ".join(right[:length]))
    return distribute(before, items, " ".join(right[length:]))


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


def split_questions(text: str) -> list[str]:
    """The single questions in a compound one, best first; none where it is simple.

    Words in quotation marks are never taken apart.

    >>> split_questions("differences between the cats of Mara and Brian")
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

    said = set(text.casefold().split())
    is_compared = not said.isdisjoint(SIDE_MARKERS) or "between" in said
    return comparison_sides(text) if is_compared else []


def _cause(text: str) -> list[str]:
    """The effect, and the cause where it is told; then what the effect is made of."""
    because = _BECAUSE.search(text)
    why = _CAUSE_OF.search(text) or _WHY.search(text)
    if because and not (why and why.start() < because.start()):
        return [_effect(text[: because.start()]), strip_article(text[because.end() :])]
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
    end = item_end(behind, skip)
    if all(word[0].isupper() for item in middle for word in item):
        end = next((i for i, word in enumerate(behind[:end]) if not word[0].isupper()), end) or end
    place = _first_item(first, max(map(len, middle)))
    items = [" ".join(item) for item in (first[place:], *middle, behind[skip:end])]
    return distribute(
        _singular(first[:place]), list(map(strip_article, items)), " ".join(behind[end:])
    )


def _first_item(words: list[str], length: int) -> int:
    """Where the first item begins: as long as the others, or a whole phrase where that is plain."""
    breaks = [place for place, word in enumerate(words) if word.lower() in BREAKS]
    if not breaks:
        return 0
    opening = words[breaks[-1]].lower()
    if opening in ARTICLES and breaks[-1] < len(words) - 1:
        return breaks[-1]
    return breaks[-1] + 1 if opening in PREPOSITIONS else item_start(words, length)


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
    return distribute(text[: match.start("a")], match.groups(), "") if match else []


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
