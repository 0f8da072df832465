"""A yes/no question as the statement that it asks about: "Does Mara live here?", "Mara lives here".

There is no parser: a subject ends where a word follows that only a predicate begins with. What that
does not decide, and what asks for something to be done, gives nothing.
"""

from __future__ import annotations

import re

from clsm_cli.text import gate_words as forms

_QUESTION = re.compile(
    r"^(?:(?:and|but|so|hey|ok|please|wait),? )*(?:(?P<when>(?:on|in|at|since|last|before|after|during) [^,?]{2,40}), )?(?P<aux>am|is|are|was|were|do|does|did|have|has|had|can|could|will)"
    r"(?P<not>n['’]t)? (?P<rest>[^?]+?)\W*$",
    re.IGNORECASE,
)
_EMBEDDED = re.compile(
    r"^(?:(?:do|did) (?:you|we|i) (?:still )?(?:know|remember|recall)|(?:can|could) you (?:tell me|check|say)|tell me|check|i wonder|"
    r"is it known) (?:if|whether) (?P<statement>[^?]+?)\W*$",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:can|could|will) (?:you|we|i)\b|^do you (?:know|remember|recall|think|mind|want|have time)\b|^(?:is|are) (?:it|that|you) (?:ok|okay|sure|possible|likely|true|right)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
_SUPPORTED = re.compile(
    r"^(?P<subject>.+?) (?P<aux>do|does|did)(?:n['’]t| not) (?P<rest>.+)$", re.IGNORECASE
)
_BE = frozenset({"am", "is", "are", "was", "were"})
_PRONOUNS = frozenset(["i", "you", "he", "she", "it", "we", "they", "there", "this", "that"])
_STATES = forms.words(
    "allergic vegetarian vegan due open closed free paused running down up broken ready called named located based"
    " married single pregnant sick lactose gluten set moored called born written available owned stored hosted"
)
_DONE = forms.PARTICIPLES | forms.PAST | forms.REGULAR_PASTS | forms.SAME_PAST
_BEFORE_VERB = forms.ADVERBS | {"no", "longer", "now", "already", "ever", "never", "not"}
# Where the past is neither the base nor made from it.
_PASTS: dict[str, str] = {
    pair.partition(":")[0]: pair.partition(":")[2]
    for pair in forms.words(
        "be:was become:became begin:began break:broke bring:brought build:built buy:bought catch:caught choose:chose come:came "
        "do:did draw:drew drink:drank drive:drove eat:ate fall:fell feel:felt find:found fly:flew forget:forgot get:got give:gave "
        "go:went grow:grew have:had hear:heard hold:held keep:kept know:knew leave:left lend:lent lose:lost make:made mean:meant "
        "meet:met pay:paid ride:rode ring:rang run:ran say:said see:saw sell:sold send:sent sing:sang sit:sat sleep:slept "
        "speak:spoke spend:spent stand:stood steal:stole swim:swam take:took teach:taught tell:told think:thought throw:threw "
        "understand:understood wake:woke wear:wore win:won write:wrote"
    )
}


def declarative(question: str) -> str | None:
    """The statement that a yes/no question asks about; None for any other question.

    >>> declarative("Does Mara still live in Haarlem?")
    'Mara still lives in Haarlem'
    >>> declarative("Is the heartbeat every 30 minutes?")
    'The heartbeat is every 30 minutes'
    >>> declarative("Did Brian buy a boat or a car?"), declarative("Can you help?")
    (None, None)
    """
    text = " ".join(question.split())
    if embedded := _EMBEDDED.search(text):
        return _sentence(embedded["statement"])
    match = _QUESTION.search(text)
    if match is None or _REQUEST.search(text) or _CHOICE.search(text):
        return None
    verb, rest = match["aux"].lower(), match["rest"].split()
    end = _subject_end(rest, verb)
    if end is None:
        return None
    subject = " ".join(rest[:end])
    predicate = [word for word in rest[end:] if word.lower() not in {"ever", "yet"}]
    if match["when"]:
        predicate.append(match["when"][0].lower() + match["when"][1:])
    if verb not in {"do", "does", "did"}:
        return _sentence(" ".join([subject, verb, *predicate]))
    return _sentence(f"{subject} {_inflected(predicate, verb)}")


def affirmative(statement: str) -> str | None:
    """A statement that "do not" denies, without it; None where it is denied otherwise.

    >>> affirmative("Mara doesn't eat meat"), affirmative("Mara never eats meat")
    ('Mara eats meat', None)
    """
    match = _SUPPORTED.search(statement)
    if match is None:
        return None
    verb = match["aux"].lower()
    return f"{match['subject']} {_inflected(match['rest'].split(), verb)}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _subject_end(words: list[str], verb: str) -> int | None:
    """How many words the subject has; None where the predicate cannot be told from it."""
    least = _least(words)
    for place in range(least, len(words)):
        word = words[place].lower().strip(",")
        if words[place - 1].lower() == "of" or word == "of":
            continue
        if _opens_predicate(words[place], word, verb):
            return place
    if verb in _BE and least < len(words):
        return max(least, len(words) - 1)
    return None


def _least(words: list[str]) -> int:
    """How many words the subject has at least: a pronoun, a name, a noun with its article."""
    if words[0].lower() in _PRONOUNS:
        return 1
    place = 0
    while place < len(words) - 1 and words[place][0].isupper() and words[place + 1][0].isupper():
        place += 1
    if place == len(words) - 1 and place:  # "Is Mara Dutch": the last is no part of the name
        return place
    is_open = words[place].lower() in forms.DETERMINERS or words[place].endswith(("'s", "’s"))
    return place + 2 if is_open else place + 1


def _opens_predicate(written: str, word: str, verb: str) -> bool:
    if word in _BEFORE_VERB:
        return True
    if verb in {"do", "does", "did", "can", "could", "will"}:
        return word in forms.BASES
    if verb in {"have", "has", "had"}:
        return word in _DONE or word in forms.DETERMINERS
    opens = forms.PREPOSITIONS | forms.DETERMINERS | _DONE | _STATES
    return word in opens or word.endswith("ing") or written[0].isdigit() or written[0].isupper()


def _inflected(predicate: list[str], verb: str) -> str:
    """The predicate with its verb in the form that "do", "does" or "did" had told."""
    place = next((i for i, word in enumerate(predicate) if word.lower() not in _BEFORE_VERB), 0)
    base = predicate[place].lower()
    form = forms.third(base) if verb == "does" else _past(base) if verb == "did" else base
    return " ".join([*predicate[:place], form, *predicate[place + 1 :]])


def _past(base: str) -> str:
    if base in _PASTS or base in forms.SAME_PAST:
        return _PASTS.get(base, base)
    candidates = (f"{base}d", f"{base[:-1]}ied", f"{base}{base[-1]}ed", f"{base}ed")
    return next((form for form in candidates if form in forms.REGULAR_PASTS), f"{base}ed")
