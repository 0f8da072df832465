"""The sentences of a turn that are worth a line in memory, as they read on their own."""

from __future__ import annotations

import re
from collections import deque
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.text import gate, mentions, resolve
from clsm_cli.text import gate_words as forms
from clsm_cli.text.first_person import (
    ROLES,
    has_company,
    has_first_person,
    name_of,
    quoted,
    third_person,
)
from clsm_cli.text.labels import (
    Label,
    heading_subject,
    is_asking,
    is_meta,
    is_rule_heading,
    label_of,
)
from clsm_cli.text.plain import plain
from clsm_cli.text.rule_words import capital
from clsm_cli.text.rules import sentence_rules
from clsm_cli.text.sentences import split
from clsm_cli.text.worth import is_name, worth

if TYPE_CHECKING:
    from collections.abc import Iterator

WORTH = 0.5
"""Worth from which a sentence is kept."""


class Speech(NamedTuple):
    """Who speaks, and where.

    Attributes:
        speaker: name of the person or role who says "I"; empty where "I" is the agent itself.
        heading: the headings above a block.
        is_note: a block of a note, not a message of a chat.
    """

    speaker: str = ""
    heading: tuple[str, ...] = ()
    is_note: bool = False


class Proposition(NamedTuple):
    """A sentence that stands on its own.

    Attributes:
        text: one whole sentence, plain.
        start: its first character in the turn's text.
        end: the character after the last.
        worth: 0 to 1, how much it is worth keeping.
    """

    text: str
    start: int
    end: int
    worth: float


class _Place(NamedTuple):
    """A sentence in its block: what it may refer to.

    Attributes:
        raw: as it stands in the text.
        label: what the block defines, if it does.
        is_first: whether the sentence holds the label itself, or opens a block without one.
        is_item: whether the sentence opens a list item.
        subject: what a pronoun may stand for, from the sentence before.
    """

    raw: str
    label: Label | None
    is_first: bool
    is_item: bool
    subject: str


_HIDDEN = re.compile(r"^(?: {0,3}>| {4,}(?![-*+\d])|\t+(?![-*+\d])|\s*\|)[^\n]*$", re.MULTILINE)
_FENCE = re.compile(
    r"^ {0,3}(?:```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s")
_STRAIGHT = re.compile(r"[\"\u201c\u201d]")
_OPENING = re.compile(
    r"(?:(?i:so|and|but|then|also|yes|yeah|yep|no|nope|oh|well|ok|okay|right|hey|hi|hello|wow|anyway|however|still|besides|"
    r"by\sthe\sway|on\s(?:a|an|another)\s(?:different\s|other\s)?note|in\sthe\smeantime|btw|actually|honestly|plus|haha|hmm|ah|thanks|thank\syou|cool|nice|great|sure|good\smorning|one\smore\sthing|fyi|note)"
    r"(?:,?\s[A-Z][a-z]+(?=[,!.]))?(?:[,:!.]{1,3}\s|\s[\u2013-]\s)|(?i:so|and|but|then|also)\s(?=(?:I|[a-z]{1,20}|[A-Z]\w+)\b))"
)
_COMMON = (
    forms.BASES
    | forms.THIRDS
    | forms.PAST
    | forms.REGULAR_PASTS
    | forms.DETERMINERS
    | forms.PREPOSITIONS
    | forms.ADVERBS
    | forms.PARTICIPLES
)
_VOCATIVE = re.compile(r"(?<=[a-z]),\s[A-Z][a-z]{1,20}(?=[.!]+$)")
_ASIDE = re.compile(r"\s(?:by\sthe\sway|btw|though|tho|lol|haha)(?=[.!]+$)")
_GENERIC_THEY = re.compile(
    r"^They(?:'ve|\shave)?\s(just\s)?(asked|offered|invited|promoted|fired|told|accepted|chosen|hired)\sme\b"
)
_LAST_TALK = re.compile(
    r"^Since\s(?:we\slast\s\w+|(?:our|the)\slast\s\w+|we\s(?:talked|spoke|chatted)),?\s(?=[A-Z]|I\b)"
)
_LEFT_OVER = re.compile(r"\[\[|\]\]|\*\*|`|^\W*$|\?\s")
_TITLE = re.compile(r"(?<![\w*])\*([A-Z][^*\n]{2,80})\*(?![\w*])")
_WE = re.compile(r"(?:[\w-]+,?\s){0,3}?(?:We|we|I|My|my|Our|our)\b")
_DONE = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[[xX]\]")
_YOU = re.compile(r"\b(?:you|your|yours|yourself|ya|u)\b", re.IGNORECASE)
_STANDING = re.compile(
    r"\b(?:never|always|from\snow\son|don['’]t\sever|remember\sthat|in\sfuture|in\sthe\sfuture|as\sa\srule|whenever)\b",
    re.IGNORECASE,
)


def propositions(text: str, speech: Speech, before: str = "") -> list[Proposition]:
    """The statements of a turn, in its order.

    Args:
        text: a message, or a block of a note.
        speech: who speaks, and under which headings.
        before: the turn before in the same conversation, or the block before in the same section;
            it may say who "she" is.

    >>> [each.text for each in propositions("Hi! I moved to Leeds in 2019.", Speech("Ann"))]
    ['Ann moved to Leeds in 2019.']
    """
    named = deque(mentions.find(text))
    found: list[Proposition] = []
    for place, start, end in _places(text, speech, before):
        while named and named[0].end <= start:
            named.popleft()
        labels = [each.label for each in takewhile(lambda each, end=end: each.start < end, named)]
        readings = list(_statements(place, speech, labels))
        if readings:
            best = (
                readings[0] if readings[0][1] >= WORTH else max(readings, key=lambda each: each[1])
            )
            found.append(Proposition(best[0], start, end, best[1]))
    return found


def _places(text: str, speech: Speech, before: str) -> Iterator[tuple[_Place, int, int]]:
    """Each sentence of prose with what it may refer to."""
    hidden = deque(
        sorted(match.span() for pattern in (_FENCE, _HIDDEN) for match in pattern.finditer(text))
    )
    subject = _last_subject(before)
    label: Label | None = None
    end_before = 0
    is_open = is_done = False
    for start, end in split(text):
        raw = text[start:end]
        while hidden and hidden[0][1] <= start:
            hidden.popleft()
        if hidden and hidden[0][0] < end:
            label, subject, is_open, end_before = None, "", False, end
            continue
        is_item = _ITEM.match(raw) is not None
        is_new = is_item or "\n\n" in text[end_before:start] or end_before == 0
        if is_new:
            is_open = False
            is_done = _DONE.match(raw) is not None
            label = label_of(raw, is_item=is_item) if speech.is_note else None
            if is_item or end_before:
                subject = "" if is_item else subject
        was_open, is_open = is_open, is_open ^ (len(_STRAIGHT.findall(raw)) % 2 == 1)
        end_before = end
        if is_done or was_open or is_open or not gate.is_prose(raw):
            subject = ""
            continue
        yield _Place(raw, label, is_new, is_item, subject), start, end
        subject = _next_subject(raw, label if is_new else None, subject)


def _last_subject(before: str) -> str:
    last = [before[start:end] for start, end in split(before[-1000:])][-1:]
    return _next_subject(last[0], None, "") if last and gate.is_prose(last[0]) else ""


def _next_subject(raw: str, label: Label | None, subject: str) -> str:
    """What a pronoun in the sentence after ``raw`` stands for."""
    text = opened(plain(raw[label.end :] if label else raw))
    return resolve.antecedent(resolve.resolved(text, subject))


def opened(text: str) -> str:
    """A plain sentence without the words that only open it.

    >>> opened("Yeah, and so Ann came."), opened("Then it rained.")
    ('Ann came.', 'It rained.')
    """
    text = _LAST_TALK.sub("", text)
    for _ in range(4):
        found = _OPENING.match(text)
        if found is None or found.end() >= len(text):
            break
        text = text[found.end() :]
    return (
        capital(text)
        if not resolve.is_identifier(text.split()[0] if text.split() else "")
        else text
    )


def _statements(place: _Place, speech: Speech, labels: list[str]) -> Iterator[tuple[str, float]]:
    """The readings of a sentence that pass, best first."""
    for text, bonus, is_rule in _readings(place, speech):
        said = _spoken(text, speech, is_rule=is_rule)
        if said is None:
            continue
        text, cost = said
        if not _stands(text, place, speech, is_rule=is_rule):
            continue
        names = len({name for name in labels if name in text})
        subject = resolve.subject_of(text)
        own = (
            bool(place.label)
            or (bool(subject) and any(word in subject or subject in word for word in labels))
            or resolve.is_person(subject)
        )
        own = own or _acts(text, [*labels, place.subject], speech)
        bonus += 0.1 * (bool(subject) and not own)
        value = (
            worth(
                text,
                names=names,
                is_subject_named=own,
                is_rule=is_rule,
                is_told=bool(speech.speaker),
            )
            + bonus
            - cost
        )
        yield text, round(min(1.0, max(0.0, value)), 3)


def _acts(text: str, labels: list[str], speech: Speech) -> bool:
    """Whether somebody named does something in a sentence: the speaker, or a name before a verb."""
    name = name_of(speech.speaker)
    if name and text.startswith(f'{name}: "'):
        inner = text.split('"', 1)[1]
        return _WE.match(inner) is not None or gate.is_command(gate.tokens(inner))
    if gate.MEASURED.match(text) or (name and text.startswith(f"{name}'s ")):
        return True
    words = gate.tokens(gate.unquoted(text))
    known = (
        {word for label in labels for word in label.split() if word[0].isupper()}
        | set(name.split()[-1:])
        | {"I"}
    )
    return any(
        words[verb - 1].removesuffix("'s") in known for verb in gate.finite_verbs(words) if verb
    )


def _readings(place: _Place, speech: Speech) -> Iterator[tuple[str, float, bool]]:
    """Forms in which a sentence may stand, with what the form adds to its worth, and if it is a rule."""
    label = place.label
    under_rules = speech.is_note and place.is_item and is_rule_heading(speech.heading)
    if label and is_meta(label.name):
        if place.is_first and not is_asking(label.name):
            text = opened(_closed(plain(place.raw[label.end :])))
            if gate.is_whole(_without_titles(text, place.raw)):
                yield resolve.resolved(text, place.subject), 0.15, False
            elif label.name.lower() in {"rule", "rules"}:
                yield f"Rule: {text[:1].lower()}{text[1:]}", 0.2, True
        return
    if label and (label.is_marked or place.is_first):
        yield from _defined(place, label)
        return
    text = opened(_closed(plain(place.raw)))
    if not text:
        return
    if place.is_item and speech.is_note:
        subject = heading_subject(speech.heading)
        words = gate.tokens(text)
        if (
            subject
            and words
            and words[0].lower() in forms.THIRDS | {"is", "has"}
            and not gate.is_whole(text.split(",")[0])
        ):
            yield f"{subject} {text[:1].lower()}{text[1:]}", 0.1, False
    is_rule = under_rules or (
        speech.is_note and place.is_item and gate.is_command(gate.tokens(text))
    )
    yield resolve.resolved(text, place.subject), 0.0, is_rule
    yield from ((resolve.resolved(piece, place.subject), 0.0, False) for piece in _pieces(text))


def _defined(place: _Place, label: Label) -> Iterator[tuple[str, float, bool]]:
    """A sentence of a block that defines something: with the label as its subject."""
    text = _closed(plain(place.raw[label.end :] if place.is_first else place.raw))
    words = gate.tokens(text)
    if not words:
        return
    if re.match(r"(?:He|She|It|His|Her|Its)\b", text):
        yield resolve.resolved(text, label.name, is_label=True), 0.1, False
        return
    lowered = text[:1].lower() + text[1:]
    if label.is_marked and words[0].lower() in forms.THIRDS | forms.PAST | {"is", "was", "has"}:
        yield f"{label.name} {lowered}", 0.15, False
        return
    low = text if _keeps_capital(words[0]) else lowered
    bonus = 0.25 if place.is_first and label.is_marked else 0.1
    yield f"{label.name}: {low}", bonus, False


def _keeps_capital(word: str) -> bool:
    return word == "I" or word[1:2].isupper() or (is_name(word) and word.lower() not in _COMMON)


def _pieces(text: str) -> Iterator[str]:
    """Clauses behind a colon or between semicolons, each as a sentence."""
    for mark in (": ", "; "):
        parts = gate.unquoted(text).split(mark)
        if len(parts) > 1 and gate.unquoted(text) == text:
            for part in parts[1:] if mark == ": " else parts:
                piece = part.strip()
                if gate.is_whole(piece):
                    yield _closed(opened(piece))


def _closed(text: str) -> str:
    """``text`` with a full stop at its end, where it ends without a mark."""
    text = text.strip()
    return (
        text
        if not text or text[-1] in ".!?:\u2026" or text[-2:] in {'."', '!"', '?"'}
        else text.rstrip(",;") + "."
    )


def _spoken(text: str, speech: Speech, *, is_rule: bool) -> tuple[str, float] | None:
    """A sentence as its speaker's, and what that takes from its worth; None where nobody could tell."""
    if not speech.is_note:
        text = _ASIDE.sub("", _VOCATIVE.sub("", text))
    if gate.is_chatter(text):
        return None
    if speech.is_note or not speech.speaker:
        return None if _YOU.search(gate.unquoted(text)) else (text, 0.0)
    if _is_standing_order(text, speech.speaker):
        return quoted(text, speech.speaker), -0.3
    if gate.is_command(gate.tokens(text)) or _YOU.search(gate.unquoted(text)):
        return None
    text = _GENERIC_THEY.sub(r"I was \2", text)
    cost = 0.0
    if speech.speaker.lower() in {"assistant", "agent"}:
        cost = 0.25 if has_first_person(text) else 0.15
    if has_company(text):
        return quoted(text, speech.speaker), cost + 0.05
    if has_first_person(text):
        told = third_person(text, speech.speaker)
        return (told, cost) if told else (quoted(text, speech.speaker), cost + 0.1)
    return text, cost


def _without_titles(text: str, raw: str) -> str:
    """``text`` with each title in italics as one word, so that a verb in it is none of the sentence."""
    for title in _TITLE.findall(raw):
        text = text.replace(title, "Title")
    return text


def _is_standing_order(text: str, speaker: str) -> bool:
    """Whether somebody tells the agent how things are to be done for good."""
    if speaker.lower() not in ROLES or not (
        gate.is_command(gate.tokens(text)) or _YOU.search(text)
    ):
        return False
    return any(is_explicit for _, is_explicit in sentence_rules(text))


def _stands(text: str, place: _Place, speech: Speech, *, is_rule: bool) -> bool:
    """Whether a reading is whole, closed and no chatter."""
    if (
        len(text) > gate.LONGEST
        or not gate.is_balanced(text)
        or text.endswith(("?", ":", "\u2026", "...", '?"'))
    ):
        return False
    inner = text
    is_quote = bool(speech.speaker) and text.startswith(f'{name_of(speech.speaker)}: "')
    if is_quote:
        inner = text.split('"', 1)[1][:-1]
    speaker = name_of(speech.speaker)
    body = (
        inner[len(place.label.name) + 2 :]
        if place.label and inner.startswith(f"{place.label.name}: ")
        else inner
    )
    inner = _without_titles(inner, place.raw)
    if gate.is_chatter(body) or gate.open_reference(inner, speaker=speaker) or text.startswith("("):
        return False
    if _LEFT_OVER.search(text):
        return False
    if place.label or is_rule:
        return len(gate.tokens(text)) >= 3
    return gate.is_whole(inner) or (is_quote and gate.is_command(gate.tokens(inner)))
