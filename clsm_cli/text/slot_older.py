"""Older values that a sentence names beside the newer one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text import slot_values
from clsm_cli.text.slot_rules import RULES
from clsm_cli.text.slot_times import earlier_days

if TYPE_CHECKING:
    from datetime import date

    from clsm_cli.text.slot_readers import Reading

_WAS = re.compile(
    r"^(?:it |which |that |he |she )?(?:(?=\d+(?: [a-z]{3,8})? (?:until|till|before)\b)|(?:was|were|had been|previously|formerly|before(?: that)?|earlier|used to be|until [\w ]{2,15},?)(?: at| in| on)? )(?P<old>.{1,80})",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"(?:(?! (?:because|which|who|but)\b)[^.;!?]){0,40}?,? (?:instead of|in place of|rather than|and no longer|no longer|and not|not(?= (?:every|on|at|in|to|from|by)\b))(?: (?:at|in|on|to|from|with|by|port|version))? (?P<old>[^,;!?]{1,60}?)(?= (?:from|since|as of|for|until|now)\b|[,;!?]|[.](?!\d)|$)"
)
_PRESENT = {
    "was": "is", "were": "are", "lived": "lives", "worked": "works", "ran": "runs", "came": "comes",
    "went": "goes", "met": "meets", "used": "uses", "cost": "costs", "belonged": "belongs",
    "drank": "drinks", "looked": "looks", "stood": "stands", "lay": "lies", "risked": "risks",
    "charged": "charges", "listened": "listens", "rang": "rings", "started": "starts",
    "began": "begins", "weighed": "weighs", "polled": "polls",
}  # fmt: skip
_PAST = re.compile(rf"\b(?:{'|'.join(_PRESENT)})\b(?!(?<=used) to\b)")
_UNTIL = re.compile(r"\b(?:until|till|up to)\b", re.IGNORECASE)
_NO_LONGER_BUT = re.compile(
    r"\bno longer (?P<what>[^.,;!?]{0,30}?)\b(?P<p>on|at|in|to|from|by|with|every) (?P<old>[^.,;!?]{1,40}?)"
    r"(?:,? but (?:now )?|, (?:it|he|she|they) (?:now )?(?P=what)(?:now )?)(?P=p) (?P<new>[^.,;!?]{1,40})"
)
_REPLACED = re.compile(
    r"[\"\u201c\ue000](?P<w>[^\"\u201c\u201d\ue000\ue001]{3,60})[\"\u201d\ue001] (?:(?:is|was|has been|now) ){0,2}replaced (?:by|with) [\"\u201c\ue000](?P<v>[^\"\u201c\u201d\ue000\ue001]{3,60})[\"\u201d\ue001]"
)


def named_in(aside: str, slot: str, value: str) -> tuple[str, ...]:
    """Return the older values that stand in brackets behind a newer one.

    Args:
        aside: the text in brackets.
        slot: name of the slot, with its qualifier.
        value: the newer value.

    >>> named_in("was 5, then 15", "interval", "10 minutes")
    ('5 minutes', '15 minutes')
    """
    match = _WAS.match(aside)
    return _values(match.group("old"), slot, value) if match else ()


def beside(rest: str, slot: str, value: str) -> tuple[str, ...]:
    """Return the value that a newer one takes the place of, in the words behind it.

    >>> beside(" in the town hall instead of the chapel from now on", "venue", "town hall")
    ('chapel',)
    >>> beside(" every 4 hours, not every 6", "interval", "4 hours")
    ('6 hours',)
    """
    match = _INSTEAD.match(rest)
    found = _values(match.group("old"), slot, value) if match else ()
    return found[:1] if found and found[0].casefold() != value.casefold() else ()


def _values(old: str, slot: str, value: str) -> tuple[str, ...]:
    if slot.startswith(("due", "appointment")):
        return earlier_days(old, value)
    if slot.startswith("workdays"):
        days = slot_values.weekdays(old)
        return (days,) if days else ()
    if slot.startswith(("interval", "rate", "weight", "price", "size")):
        unit = value.split(" ", 1)[-1]
        counts = re.findall(r"(?:^|then )(?:every |for )?(\d+(?:[.,]\d+)?)", old)
        return tuple(slot_values.quantity(count, unit) for count in counts)
    older = slot_values.phrase(old)
    return (older,) if older and len(older.split()) <= 5 else ()


def reworded(text: str) -> str:
    """Return "no longer A but B" with the newer value first, as the forms for facts read it.

    >>> reworded("The CI no longer runs on Jenkins but on Drone.")
    'The CI now runs on Drone instead of on Jenkins.'
    """
    match = _NO_LONGER_BUT.search(text)
    if match is None:
        return text
    said = f"now {match.group('what')}{match.group('p')} {match.group('new')}"
    old = f" instead of {match.group('p')} {match.group('old')}"
    return text[: match.start()] + said + old + text[match.end() :]


def present(text: str) -> str:
    """Return a clause about what was so until some day as if it still were; "" for any other.

    >>> present("The backup went to the mill until Thursday.")
    'The backup goes to the mill until Thursday.'
    """
    if _UNTIL.search(text) is None:
        return ""
    told = _PAST.sub(lambda match: _PRESENT[match.group()], text)
    return told if told != text else ""


def replaced(text: str, at: date | None) -> tuple[Reading, Reading] | None:
    """Return the new and the old reading of a rule that replaces one of the same form.

    >>> replaced('"no calls before nine" replaced by "no calls before ten"', None)[0].value
    'ten'
    """
    match = _REPLACED.search(text)
    if match is None:
        return None
    new, old = _rule_in(match.group("v"), at), _rule_in(match.group("w"), at)
    return (new, old) if new and old and new.qualifier == old.qualifier else None


def _rule_in(text: str, at: date | None) -> Reading | None:
    for rule in RULES:
        if rule.slot == "rule" and (match := rule.pattern.search(text)):
            return rule.read(match, at)
    return None
