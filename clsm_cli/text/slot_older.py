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
    if match is None:
        return ()
    old = match.group("old")
    if slot.startswith(("due", "appointment")):
        return earlier_days(old, value)
    if slot.startswith("workdays"):
        days = slot_values.weekdays(old)
        return (days,) if days else ()
    if slot == "interval" or slot.startswith(("rate", "weight", "price", "size")):
        unit = value.split(" ", 1)[-1]
        counts = re.findall(r"(?:^|then )(\d+(?:[.,]\d+)?)", old)
        return tuple(slot_values.quantity(count, unit) for count in counts)
    older = slot_values.phrase(old)
    return (older,) if older and len(older.split()) <= 5 else ()


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
