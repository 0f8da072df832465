"""Trust levels of a source: user, agent, tool, web."""

from __future__ import annotations

from typing import Literal

Trust = Literal["user", "agent", "tool", "web"]

TRUST_ORDER: tuple[Trust, ...] = ("web", "tool", "agent", "user")
"""From least to most trusted; a derived record has the lowest trust of its sources."""

UNTRUSTED: frozenset[Trust] = frozenset({"tool", "web"})
"""What a tool printed or a stranger wrote: it is recalled as what it is, and nothing is made of it."""

TRUSTED: frozenset[Trust] = frozenset(TRUST_ORDER) - UNTRUSTED
"""Whose word may become a statement, and stands unquoted before a model."""


def is_as_trusted(new: str, old: str) -> bool:
    """Whether a statement of one trust may supersede a statement of another.

    >>> is_as_trusted("user", "agent"), is_as_trusted("agent", "user")
    (True, False)
    """
    return TRUST_ORDER.index(new) >= TRUST_ORDER.index(old)
