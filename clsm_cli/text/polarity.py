"""Rhetorical questions that assert or deny: "I don't like X, right?", "Didn't I say …?".

What is looked for is X, whichever way the question leans: a memory of the same thing seldom holds
the negation, and one that contradicts the speaker must be found too (CAIM, section 3.4 and the six
tag questions of its test set). So negation and tag are taken out of what is matched, and told apart
as polarity.
"""

from __future__ import annotations

import re
from typing import Literal

from clsm_cli.startup.records import NamedTuple

Polarity = Literal["positive", "negative", "neutral"]

# fmt: off
MARKERS: frozenset[str] = frozenset((
    "not", "never", "no", "cannot", "true", "right", "case", "right?", "correct?", "true?", "so?", "huh?",
    "eh?", "no?", "yes?", "yeah?", "it?", "i?", "you?", "he?", "she?", "we?", "they?", "there?", "not?",
))
# fmt: on
"""Folded words, cut at blanks, without one of which, or a "n't", a question leans no way."""
_LONGEST = 600
"""Characters; what is longer is a text, not a question."""
_AUXILIARY = r"(?:am|is|are|was|were|do|does|did|have|has|had|can|could|will|would|should|must)"
_PRONOUN = r"(?:i|you|he|she|it|we|they|there|that|this)"
_NOT = r"(?:n['’]t)"
_TAGS = (
    rf"(?:,| -)? (?:{_AUXILIARY}{_NOT}|ain['’]t|won['’]t|can['’]t) {_PRONOUN}\s?\?+$",
    rf"(?:,| -) {_AUXILIARY} {_PRONOUN}(?: not)?\s?\?+$",
    r"(?:,| -) (?:right|correct|true|huh|eh|no|yes|yeah|ok(?:ay)?|or not|is(?:n['’]t)? that (?:right|so|true)|am i right|don['’]t you think)\s?\?*$",
    r"(?<!^)(?<!\bis)(?<!\bare) (?:right|correct|huh|or not)\?+$",
)
_FRAME = rf"^(?:so |and |but )?(?:is{_NOT}? it (?:not )?(?:true|right|correct|the case)|am i (?:right|correct)(?: in thinking)?) that "
_ONLY_ASKS = r"^(?:so |and |but )?is it (?!not )"
_ASKS = rf"^(?:and |but |so |wait,? |hey,? )?(?:what|when|where|who|whom|whose|why|how|which|{_AUXILIARY}|won['’]t|can['’]t|{_AUXILIARY}{_NOT})\b"
_DENIES = rf"^(?P<lead>(?:and |but |so |wait,? |hey,? )?)(?:(?P<aux>{_AUXILIARY}){_NOT}|(?P<short>wo|ca)n['’]t)(?= )"
_ASKS_NOT = rf"^(?P<left>(?:and |but |so )?{_AUXILIARY} (?:{_PRONOUN}|the \w+|[A-Z]\w+) )not "
_DENIAL = (
    rf"\b(?:(?P<aux>{_AUXILIARY})(?:{_NOT}| not\b)|(?P<short>wo|ca|sha)n['’]t|(?P<can>can)not|never|"
    r"not(?! only)|no(?! longer| more| doubt| idea|,))\b"
)
_LEFT_OVER = r",? (?:any ?more|any longer|at all|either|yet)$"
_SHORTENED = {"wo": "will", "ca": "can", "sha": "shall"}


class Plain(NamedTuple):
    """A question as it is matched.

    Attributes:
        text: Without the words of negation and tag.
        polarity: Which way the speaker leans; neutral where the question only asks.
    """

    text: str
    polarity: Polarity


def may_be_rhetorical(text: str) -> bool:
    """Whether ``plain_question`` may change a question; loads and compiles nothing.

    >>> may_be_rhetorical("What does Mara want?"), may_be_rhetorical("Mara doesn't eat meat, does she?")
    (False, True)
    """
    if len(text) > _LONGEST:
        return False
    return "n't" in text or "n’t" in text or not MARKERS.isdisjoint(text.casefold().split())


def plain_question(text: str) -> Plain:
    """The question without rhetorical negation and tag; any other question as it is.

    >>> plain_question("I don't like outdoor sports, right?")
    Plain(text='I like outdoor sports', polarity='negative')
    >>> plain_question("Didn't I say that the port is 80?")
    Plain(text='Did I say that the port is 80?', polarity='positive')
    >>> plain_question("Which food does Mara not like?")
    Plain(text='Which food does Mara not like?', polarity='neutral')
    """
    if not may_be_rhetorical(text):
        return Plain(text, "neutral")
    words = " ".join(text.split())
    body = as_statement(words)
    if body is not None:
        found = without_negation(body)
        only_asks = re.search(_ONLY_ASKS, words, re.IGNORECASE)
        return (
            found._replace(polarity="neutral")
            if only_asks and found.polarity == "positive"
            else found
        )
    if match := re.search(_DENIES, words, re.IGNORECASE):
        verb = match["aux"] or _SHORTENED[match["short"].lower()]
        verb = verb.capitalize() if match.group()[0].isupper() and not match["lead"] else verb
        return Plain(f"{match['lead']}{verb}{words[match.end() :]}", "positive")
    if match := re.search(_ASKS_NOT, words, re.IGNORECASE):
        return Plain(match["left"] + words[match.end() :], "positive")
    return Plain(text, "neutral")


def as_statement(text: str) -> str | None:
    """What a question asserts or denies as a statement, without its tag; None where it does not.

    >>> as_statement("Isn't it true that Mara left?"), as_statement("You never told me?")
    ('Mara left', 'You never told me')
    """
    words = " ".join(text.split())
    if frame := re.search(_FRAME, words, re.IGNORECASE):
        return words[frame.end() :].rstrip(" ?.!") or None
    if re.search(_ASKS, words, re.IGNORECASE):
        return None
    for pattern in _TAGS:
        if tag := re.search(pattern, words, re.IGNORECASE):
            return words[: tag.start()].rstrip(" ,?.!") or None
    return words.rstrip(" ?") if words.endswith("?") and _denial(words) else None


def without_negation(statement: str) -> Plain:
    """A statement without its first negation, and whether there was one.

    >>> without_negation("Mara can't stand tea any more")
    Plain(text='Mara can stand tea', polarity='negative')
    """
    match = _denial(statement)
    if match is None:
        return Plain(statement, "positive")
    verb = match["aux"] or match["can"] or _SHORTENED.get((match["short"] or "").lower(), "")
    kept = "" if verb.lower() in {"do", "does", "did"} else verb
    text = f"{statement[: match.start()]}{kept}{statement[match.end() :]}"
    return Plain(" ".join(re.sub(_LEFT_OVER, "", text).split()), "negative")


def _denial(statement: str) -> re.Match[str] | None:
    """The first word that denies; "no longer" tells of a change instead."""
    return re.search(_DENIAL, statement, re.IGNORECASE)
