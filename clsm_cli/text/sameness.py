"""Whether two sentences say the same, so that one of them is redundant.

Similar meaning is not enough: "due on Friday" and "due on Monday" are similar. Two sentences must also
agree in negation, numbers, days, names, persons and words of contrast. In doubt they differ: a repeated
line does less harm than a lost one.
"""

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from clsm_cli.text.language_data import number_words, pattern, word_list
from clsm_cli.text.name_matching import NON_NAMES
from clsm_cli.text.tokens import stems, terms

MIN_COSINE = 0.90  # of two sentence vectors (MiniLM), from which their meaning counts as equal
MIN_OVERLAP = 0.80  # share of common stems from which their words count as equal
MIN_ECHO_TERMS, MIN_ECHOED = 3, 2 / 3
"""Search terms of an answer that may be an echo, at least, and the share of them that was told (own choice)."""

_WORD = re.compile(r"[^\W_][\w]*(?:[.\-/:_]\w+)*(?:['’]\w+)?")
_NUMBER = re.compile(r"(?<![\w.])([-\u2212]?\d+(?:[.,:]\d+)*)[^\W\d_]*(?!\w)")  # "21st", "4gb"
_CODE_LIKE = re.compile(r"[a-z][._/][a-z]|_|[a-z]\d|\d[a-z]{3}")
_MULTIPLES = dict(pair.split("/", 1) for pair in word_list("multiples"))
_PERSONS = {w: person for person in word_list("persons") for w in person.split("/")}
_OPPOSITES = [tuple(pair.split("/")) for pair in word_list("opposites")]


def is_equivalent(a: str, b: str, cosine: float) -> bool:
    """Return whether two sentences say the same, given the cosine of their vectors.

    >>> is_equivalent("The bell rings at eight.", "At eight the bell rings.", 0.8)
    True
    >>> is_equivalent("The bell rings at eight.", "The bell rings at nine.", 0.99)
    False
    """
    if cosine < MIN_COSINE and _overlap(a, b) < MIN_OVERLAP:
        return False
    if polarity(a) != polarity(b) or not has_same_particulars(a, b):
        return False
    return (
        _persons(a) == _persons(b)
        and _is_hedged(a) == _is_hedged(b)
        and not _is_contrasted(a, b)
        and not _is_swapped(a, b)
    )


def echoes(sentence: str, told: Sequence[str]) -> bool:
    """Whether a sentence repeats what was told just before it, and adds no number.

    >>> told = ["She goes into the water on 25 April at the Bolder marina."]
    >>> echoes("Noted: water on 25 April, Bolder marina.", told)
    True
    >>> echoes("Noted: water on 25 April at 9:00, Bolder marina.", told)
    False
    """
    said = " ".join(told)
    own, known = {*stems(sentence)}, {*stems(said)}
    is_like = len(own) >= MIN_ECHO_TERMS and len(own & known) >= MIN_ECHOED * len(own)
    return (
        is_like
        and {*numbers(sentence)} <= {*numbers(said)}
        and polarity(sentence) == polarity(said)
    )


def has_same_particulars(a: str, b: str) -> bool:
    """Whether two sentences have the same names, numbers and days."""
    return (
        numbers(a) == numbers(b)
        and calendar_words(a) == calendar_words(b)
        and _names(a, b) == _names(b, a)
    )


def polarity(sentence: str) -> int:
    """Return -1 for a sentence with an odd number of negations, else +1.

    Tag questions ("…, isn't it?") and set phrases ("no doubt") are no negations; "stopped" and "without" are.

    >>> polarity("She never eats meat."), polarity("It isn't without charm."), polarity("Fine, isn't it?")
    (-1, 1, 1)
    """
    return -1 if _count_negations(sentence) % 2 else 1


def is_negated(sentence: str) -> bool:
    """Whether a sentence has a negation."""
    return _count_negations(sentence) > 0


def _count_negations(sentence: str) -> int:
    plain = pattern("sameness.harmless").sub(" ", pattern("sameness.tag").sub("", sentence))
    return len(pattern("sameness.negation").findall(plain))


def numbers(sentence: str) -> list[str]:
    """Return the numbers of a sentence in digits, sorted, with repeats.

    >>> numbers("On the 21st it had 4gb, now six.")
    ['21', '4', '6']
    """
    found = []
    for written in _NUMBER.findall(sentence):
        digits = re.sub(r",(?=\d{3}(?!\d))", "", written)
        found.append(digits.replace(",", ".").replace("\u2212", "-"))
    for word in re.findall(r"[a-z]+(?:-[a-z]+)?", sentence.lower()):
        if word in _MULTIPLES:
            found.append(_MULTIPLES[word])
        elif word in number_words() and word != "one":
            found.append(str(number_words()[word]))
    return sorted(found)


def _overlap(a: str, b: str) -> float:
    one, other = terms(a), terms(b)
    return len(one & other) / len(one | other) if one | other else float(a.split() == b.split())


def calendar_words(sentence: str) -> set[str]:
    """Return the names of days and months in a sentence, in lower case."""
    matches = pattern("sameness.calendar").finditer(sentence)
    found = (next(filter(None, match.groups())) for match in matches)
    return {word.lower() for word in found if word != "may"}


def _names(sentence: str, other: str) -> set[str]:
    """Return the case-folded names and code-like words of a sentence.

    The first word is capitalised anyway; it is a name unless the other sentence has it, too, or it is a
    common word.
    """
    other_terms = terms(other)
    found = set()
    for position, match in enumerate(_WORD.finditer(sentence)):
        word = re.sub(r"['’](?:s|re|ve|ll|m|d)$", "", match.group())
        inner = any(c.isupper() for c in word[1:]) or _CODE_LIKE.search(word)
        capital = word[0].isupper() and word not in NON_NAMES
        if position == 0 and capital and not inner:
            capital = not terms(word) <= other_terms or word in re.findall(r"\w+", other)
        if inner or capital:
            found.add(word.casefold())
    return found


def _persons(sentence: str) -> set[str]:
    return {_PERSONS[word] for word in re.findall(r"[a-z]+", sentence.lower()) if word in _PERSONS}


def _is_hedged(sentence: str) -> bool:
    return pattern("sameness.hedges").search(pattern("sameness.tag").sub("", sentence)) is not None


def _is_contrasted(a: str, b: str) -> bool:
    one, other = (frozenset(re.findall(r"[a-z]+", text.lower())) for text in (a, b))
    only, alone = one - other, other - one
    return any((x in only and y in alone) or (y in only and x in alone) for x, y in _OPPOSITES)


def has_same_preference(a: str, b: str) -> bool:
    """Whether two sentences compare the same things and prefer the same of them.

    >>> has_same_preference("I prefer tea to milk.", "No milk, take tea instead.")
    True
    >>> has_same_preference("I prefer tea to milk.", "I prefer milk to tea now.")
    False

    Two values of one thing are not the same preference:

    >>> has_same_preference("Never deploy after 16:00.", "Never deploy after 15:00.")
    False
    """
    one, other = _preferences(a), _preferences(b)
    both = one.keys() & other.keys()
    if len({one[word] for word in both}) < 2 or any(one[word] != other[word] for word in both):
        return False
    particulars, others = {*numbers(a), *_names(a, b)}, {*numbers(b), *_names(b, a)}
    return particulars <= others or others <= particulars


def is_of_another(asked: str, one: str, two: str) -> bool:
    """Whether a question names in full whom one sentence is about, and another sentence begins with another's name.

    >>> told = "Mia Holt waits in Graz.", ("Mia Berg waits in Ulm.", "Mia moved to Ulm.")
    >>> [is_of_another("Where is Mia Holt now?", told[0], each) for each in told[1]]
    [True, False]
    """
    names = {name for name in _full_names(asked) if name in one}
    begun = next(iter(_full_names(two)), None)
    if not names or begun is None or begun in one:
        return False
    return not any(map(str.isalpha, two.partition(begun)[0].rpartition(": ")[2]))


def _full_names(sentence: str) -> list[str]:
    """Pairs of words with capitals: a first name and a last one.

    >>> _full_names("Where is Mia Holt now?")
    ['Mia Holt']
    """
    pairs = pairwise(sentence.split())
    return [
        f"{first} {last}".rstrip(".,:;!?")
        for first, last in pairs
        if first.istitle() and first.isalpha() and last.istitle()
    ]


def _preferences(sentence: str) -> dict[str, bool]:
    """Stems → whether the sentence prefers them: not after "not" or "rather than" in a clause."""
    found: dict[str, bool] = {}
    for clause in re.split(r"[,;:.] |\bbut\b", sentence):
        form = r"(?<!prefer)(?<!prefers) to\b" if "prefer" in clause else r"(?!)"
        parts = pattern("sameness.against").split(re.sub(form, " over", clause))
        for place, part in enumerate(parts):
            found |= dict.fromkeys(stems(part), place == 0)
    return found


def _is_swapped(a: str, b: str) -> bool:
    """Whether two names, or the words on both sides of a word, are swapped.

    >>> _is_swapped("Ann paid Bob.", "Bob paid Ann."), _is_swapped("Tea over milk.", "Milk over tea.")
    (True, True)
    """
    if _triples(a) & {triple[::-1] for triple in _triples(b) if triple[0] != triple[2]}:
        return True
    one, other = (
        [word for word in re.findall(r"\w+", text) if word[0].isupper() and word not in NON_NAMES]
        for text in (a, b)
    )
    return len(one) > 1 and sorted(one) == sorted(other) and one != other


def _triples(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(words, words[1:], words[2:], strict=False))


def common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """Number of words that two lists have in common at their start.

    >>> common_prefix(["we", "live", "in", "Leith"], ["we", "live", "at", "sea"])
    2
    """
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])
