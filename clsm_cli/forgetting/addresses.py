"""What a tool brought from an address: the calls that name it, and their results.

A transcript keeps a call and its result as two turns, and the result of a fetch rarely tells where it
is from. Of one conversation the results of a tool come in the order of its calls.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.forgetting.memory import Told
    from clsm_cli.model.episodes import Turn

_ENDS = frozenset("\"'`<>()[]{}\\|^,;/?#")
"""What may follow an address in a text; after ``/``, ``?`` and ``#`` comes what lies below it."""


def brought(told: Iterable[Told], address: str) -> frozenset[str]:
    """Keys of the turns of tools that were called with an address, or one below it.

    Args:
        told: The turns of a store; of a conversation in its order, those that wait last.
        address: A URL.
    """
    address = address.rstrip("/")
    waiting: dict[tuple[str, str], deque[bool]] = {}
    found: set[str] = set()
    for each in sorted(told, key=lambda one: one.episode is None):
        tool = each.turn.tool
        if tool is None:
            continue
        calls = waiting.setdefault((each.session, tool.name), deque())
        if tool.input is None:
            is_from = bool(calls) and calls.popleft()
        else:
            is_from = names(tool.input, address) or names(each.turn.text, address)
            if _is_call(each.turn, tool.input):
                calls.append(is_from)
        if is_from:
            found.add(each.turn.key)
    return frozenset(found)


def names(text: str, address: str) -> bool:
    """Whether a text has an address, or one below it.

    >>> names('{"url":"https://a.org/page#top"}', "https://a.org/page")
    True
    >>> names("see https://a.org/pages", "https://a.org/page")
    False
    """
    place = text.find(address)
    while place >= 0:
        after = text[place + len(address) : place + len(address) + 1]
        if not after or after in _ENDS or after.isspace():
            return True
        place = text.find(address, place + 1)
    return False


def _is_call(turn: Turn, given: str) -> bool:
    """Whether a turn is the call alone, its result still to come."""
    return turn.text.startswith(given.removesuffix("…"))
