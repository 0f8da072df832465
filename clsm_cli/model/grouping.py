"""Group pairs by their first values; put chains in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The second values of pairs, by the first, in order.

    >>> grouped([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def in_order(previous: Mapping[str, str | None]) -> list[str]:
    """Names, each after its previous one; else in the order given.

    >>> in_order({"c": "b", "a": None, "b": "a", "d": "lost"})
    ['a', 'b', 'c', 'd']
    """
    followers = grouped(
        (before if before in previous else None, name) for name, before in previous.items()
    )
    ordered: dict[str, None] = {}
    waiting = followers.get(None, [])[::-1]
    while waiting:
        name = waiting.pop()
        ordered[name] = None
        waiting += reversed(followers.get(name, []))
    return [*ordered, *(name for name in previous if name not in ordered)]
