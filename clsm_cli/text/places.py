"""A turn as the sentences of prose in it, each with what it may refer to."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text import gate, resolve
from clsm_cli.text.labels import Label, label_of
from clsm_cli.text.plain import plain
from clsm_cli.text.rule_words import capital
from clsm_cli.text.sentences import split

if TYPE_CHECKING:
    from collections.abc import Iterator


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


class Place(NamedTuple):
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


_HIDDEN = re.compile(r"^(?: {0,3}>| {4,}(?![-*+\d])|\t+(?![-*+\d])|[ \t]*\|)[^\n]*$", re.MULTILINE)
_FENCE = re.compile(
    r"^ {0,3}(?:```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s")
_DONE = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[[xX]\]")
_QUOTES = re.compile(r"[\"\u201c\u201d]")
_OPENING = re.compile(
    r"(?:(?:(?:[Pp]lease\s)?(?:[Rr]emember|[Nn]ote|[Kk]eep\sin\smind)[,:]?\sthat\s)|(?i:so|and|but|then|also|yes|yeah|yep|no|nope|oh|well|ok|okay|right|hey|hi|hello|wow|anyway|however|still|besides|"
    r"by\sthe\sway|on\s(?:a|an|another)\s(?:different\s|other\s)?note|in\sthe\smeantime|btw|actually|honestly|plus|haha|hmm|ah|thanks|thank\syou|cool|nice|great|sure|good\smorning|one\smore\sthing|fyi|note)"
    r"(?:,?\s[A-Z][a-z]+(?=[,!.]))?(?:[,:!.]{1,3}\s|\s[\u2013-]\s)|(?i:so|and|but|then|also)\s(?=(?:I|[a-z]{1,20}|[A-Z]\w+)\b))"
)
_LAST_TALK = re.compile(
    r"^Since\s(?:we\slast\s\w+|(?:our|the)\slast\s\w+|we\s(?:talked|spoke|chatted)),?\s(?=[A-Z]|I\b)"
)


def places(text: str, speech: Speech, before: str) -> Iterator[tuple[Place, int, int]]:
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
        was_open, is_open = is_open, is_open ^ (len(_QUOTES.findall(raw)) % 2 == 1)
        end_before = end
        if is_done or raw.count(" ") < 2 or was_open or is_open or not gate.is_prose(raw):
            subject = ""
            continue
        yield Place(raw, label, is_new, is_item, subject), start, end
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
