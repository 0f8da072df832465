"""The table of forms in which facts are told, and the names of their slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.text import (
    slot_amounts,
    slot_dates,
    slot_owned,
    slot_people,
    slot_systems,
    slot_tastes,
    slot_things,
)

if TYPE_CHECKING:
    from clsm_cli.text.slot_readers import Rule

RULES: tuple[Rule, ...] = (
    *slot_owned.RULES,
    *slot_people.RULES,
    *slot_tastes.RULES,
    *slot_dates.RULES,
    *slot_amounts.RULES,
    *slot_things.RULES,
    *slot_systems.RULES,
)
"""All rules; where two match the same words for one slot, the earlier wins."""

SLOTS: tuple[str, ...] = tuple(dict.fromkeys(rule.slot for rule in RULES))
"""Names of slots, without qualifiers."""
