"""Which slots have one value at a time, so that a newer one ends the older."""

from __future__ import annotations

_MANY = frozenset(
    {
        "allergic to", "diet", "dislikes", "favourite", "language", "likes", "member of", "owns",
        "plays", "prefers", "reads", "score", "uses", "visited",
    }
)  # fmt: skip
"""Slots that may have several values at a time: one of them denies no other."""


def is_single(slot: str) -> bool:
    """Whether a slot has one value at a time; what is used for one purpose has.

    >>> is_single("interval"), is_single("favourite/tea"), is_single("uses/database")
    (True, False, True)
    """
    name, _, about = slot.partition("/")
    return name not in _MANY or (name == "uses" and bool(about))
