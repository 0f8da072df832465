"""The forms in which a sentence may stand on its own, and whether it does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text import gate, resolve
from clsm_cli.text import gate_words as forms
from clsm_cli.text.first_person import (
    ROLES,
    has_company,
    has_first_person,
    name_of,
    quoted,
    third_person,
)
from clsm_cli.text.labels import heading_subject, is_asking, is_attribute, is_meta, is_rule_heading
from clsm_cli.text.places import opened
from clsm_cli.text.plain import plain
from clsm_cli.text.references import open_reference
from clsm_cli.text.rules import sentence_rules
from clsm_cli.text.worth import is_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.text.labels import Label
    from clsm_cli.text.places import Place, Speech

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
_LEFT_OVER = re.compile(r"\[\[|\]\]|\*\*|`|^\W*$|\?\s")
_TITLE = re.compile(r"(?<![\w*])\*([A-Z][^*\n]{2,80})\*(?![\w*])")
_EVER = re.compile(r"\b(?:do\snot|don't)\sever\b", re.IGNORECASE)
_HERE = re.compile(r"\bthis\s(?:repo|repository|project|workspace|codebase|house|machine|team)\b")
_YOU = re.compile(r"\b(?:you|your|yours|yourself|ya|u)\b", re.IGNORECASE)


class Reading(NamedTuple):
    """A form in which a sentence may stand.

    Attributes:
        text: as it would stand, still in its speaker's person.
        bonus: what the form adds to its worth.
        is_rule: it stands as a rule, which needs no verb.
        is_entry: it stands as an entry, "name: what holds", which needs none either.
    """

    text: str
    bonus: float = 0.0
    is_rule: bool = False
    is_entry: bool = False


def readings(place: Place, speech: Speech) -> Iterator[Reading]:
    """The forms in which a sentence may stand, the fullest first."""
    label = place.label
    if label and is_meta(label.name):
        yield from _entered(place, label)
        return
    owner = heading_subject(speech.heading) if speech.is_note and place.is_item else ""
    if label and owner and is_attribute(label.name):
        held = _closed(plain(place.raw[label.end :]))
        yield Reading(f"{owner}'s {label.name.lower()}: {held}", 0.2, is_entry=True)
        return
    if label and not is_attribute(label.name) and (label.is_marked or place.is_first):
        yield from _defined(place, label)
        return
    text = opened(_closed(plain(place.raw)))
    if not text:
        return
    if owner:
        yield from _owned(text, owner)
    is_rule = (
        speech.is_note
        and place.is_item
        and (is_rule_heading(speech.heading) or gate.is_command(gate.tokens(text)))
    )
    yield Reading(resolve.resolved(text, place.subject), is_rule=is_rule)
    yield from (Reading(resolve.resolved(piece, place.subject)) for piece in _pieces(text))


def _entered(place: Place, label: Label) -> Iterator[Reading]:
    """A line that a word such as "Decision:" opens: by itself, or with the word where it is no sentence."""
    if not place.is_first or is_asking(label.name):
        return
    text = opened(_closed(plain(place.raw[label.end :])))
    kind = label.name.partition(" ")[0].capitalize()
    if gate.is_whole(_without_titles(text, place.raw)) and not gate.is_command(gate.tokens(text)):
        yield Reading(resolve.resolved(text, place.subject), 0.15)
    elif kind in {"Rule", "Rules", "Decision", "Convention"}:
        yield Reading(f"{kind}: {_behind_label(text)}", 0.2, is_rule=True)


def _owned(text: str, owner: str) -> Iterator[Reading]:
    """A line under the heading of a person or thing: a verb takes it as subject, a fragment as label."""
    words = gate.tokens(text)
    verbs = gate.finite_verbs(words)
    lowered = f"{text[:1].lower()}{text[1:]}"
    if re.match(r"(?:He|She|It|His|Her|Its)\b", text):
        yield Reading(resolve.resolved(text, owner, is_label=True), 0.1)
    elif words and words[0].lower() in forms.THIRDS | {"is", "has"} and verbs[:1] != [1]:
        yield Reading(f"{owner} {lowered}", 0.3)
    elif words and not verbs and not gate.is_command(words):
        yield Reading(f"{owner}: {_behind_label(text)}", 0.15, is_entry=True)


def _defined(place: Place, label: Label) -> Iterator[Reading]:
    """A sentence of a block that defines something: with the label as its subject."""
    text = _closed(plain(place.raw[label.end :] if place.is_first else place.raw))
    words = gate.tokens(text)
    if not words:
        return
    if re.match(r"(?:He|She|It|His|Her|Its)\b", text):
        yield Reading(resolve.resolved(text, label.name, is_label=True), 0.1)
        return
    lowered = text[:1].lower() + text[1:]
    if label.is_marked and words[0].lower() in forms.THIRDS | forms.PAST | {"is", "was", "has"}:
        yield Reading(f"{label.name} {lowered}", 0.15)
        return
    _, *more = label.name.split()
    is_aside = not label.is_marked and len(more) > 1 and " ".join(more).islower()
    if is_aside and not gate.finite_verbs(words):  # "Forty metres on: the quay, the bridge."
        return
    bonus = 0.25 if place.is_first and label.is_marked else 0.1
    yield Reading(f"{label.name}: {_behind_label(text)}", bonus, is_entry=True)


def _behind_label(text: str) -> str:
    """A text as it goes on behind a label: a small letter, unless a name or a title begins it."""
    first, second, *_ = (*gate.tokens(text), "", "")
    is_title = first.istitle() and second[:1].isupper()
    is_named = first == "I" or first[1:2].isupper() or is_title
    if is_named or (is_name(first) and first.lower() not in _COMMON):
        return text
    return text[:1].lower() + text[1:]


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


def spoken(text: str, speech: Speech) -> tuple[str, float] | None:
    """A sentence as its speaker's, and what that takes from its worth; None where nobody could tell."""
    if not speech.is_note:
        text = _ASIDE.sub("", _VOCATIVE.sub("", text))
    if gate.is_chatter(text):
        return None
    is_for_somebody = _YOU.search(gate.unquoted(text)) is not None
    if speech.is_note or not speech.speaker:
        return None if is_for_somebody else (text, 0.0)
    if is_for_somebody or gate.is_command(gate.tokens(text)):
        is_standing = speech.speaker.lower() in ROLES and (
            _EVER.search(text) is not None
            or any(is_explicit for _, is_explicit in sentence_rules(text))
        )
        return (quoted(text, speech.speaker), -0.3) if is_standing else None
    return _told(_GENERIC_THEY.sub(r"I was \2", text), speech.speaker)


def _told(text: str, speaker: str) -> tuple[str, float]:
    """A speaker's sentence about himself or the world; an assistant's is rarely worth keeping."""
    is_own = has_first_person(text)
    cost = 0.0
    if name_of(speaker) == ROLES["assistant"]:
        cost = 0.25 if is_own else 0.1
    if has_company(text):
        return quoted(text, speaker), cost + 0.05
    told = third_person(text, speaker) if is_own else text
    return (told, cost) if told else (quoted(text, speaker), cost + 0.1)


def stands(text: str, place: Place, speech: Speech, *, needs_verb: bool) -> bool:
    """Whether a reading is whole, closed and no chatter."""
    if (
        len(text) > gate.LONGEST
        or not gate.is_balanced(text)
        or text.endswith(("?", ":", "\u2026", "...", '?"', ':"', '\u2026"'))
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
    if is_quote and gate.is_command(gate.tokens(inner)):
        inner = _HERE.sub("the project", inner)  # an order for the place where it is given
    if gate.is_chatter(body) or open_reference(inner, speaker=speaker) or text.startswith("("):
        return False
    if _LEFT_OVER.search(text):
        return False
    if not needs_verb:
        return len(gate.tokens(text)) >= 3
    return gate.is_whole(inner) or (is_quote and gate.is_command(gate.tokens(inner)))


def _without_titles(text: str, raw: str) -> str:
    """``text`` with each title in italics as one word, so that a verb in it is none of the sentence."""
    for title in _TITLE.findall(raw):
        text = text.replace(title, "Title")
    return text
