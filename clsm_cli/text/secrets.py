"""Replace secrets by the name of their kind before a text is written anywhere.

Patterns are compiled at first need: the capture hook imports this module on every turn and most
turns hold no secret.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text.secret_rules import ASSIGNED, ISSUED
from clsm_cli.text.secret_vendors import VENDORS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.text.secret_rules import Rule


class MaskedText(NamedTuple):
    """A text without its secrets.

    Attributes:
        text: the text with every secret replaced by ``[masked:kind]``.
        found: kind → number of secrets of that kind.
    """

    text: str
    found: Mapping[str, int]


RULES = (*ISSUED, *VENDORS, *ASSIGNED)
"""All kinds, in the order in which they are looked for: the surest first."""
_HINTS = tuple((hint, number) for number, rule in enumerate(RULES) for hint in rule.hints)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def mask(text: str) -> MaskedText:
    """Replace every secret in ``text`` by ``[masked:kind]``.

    The result depends on the text alone, and masking a masked text changes nothing. Time is linear
    in the length of the text.

    Args:
        text: any text, of one or many lines.

    Returns:
        The masked text and how many secrets of each kind were found.

    >>> mask("token: " + "glpat-" + "a1B2" * 5)
    MaskedText(text='token: [masked:gitlab-token]', found={'gitlab-token': 1})
    >>> mask("password: see the vault").found
    {}
    """
    found: dict[str, int] = {}
    lowered = text.lower()
    for number in sorted({number for hint, number in _HINTS if hint in lowered}):
        text = _apply(RULES[number], text, found)
    return MaskedText(text, found)


def _apply(rule: Rule, text: str, found: dict[str, int]) -> str:
    pieces: list[str] = []
    done = 0
    for match in _compiled(rule.pattern).finditer(text):
        group = match.lastindex or 0
        secret = match.group(group)
        if "[masked:" in secret or (rule.accept and not rule.accept(secret)):
            continue
        pieces += text[done : match.start(group)], f"[masked:{rule.kind}]"
        done = match.end(group)
        found[rule.kind] = found.get(rule.kind, 0) + 1
    return "".join([*pieces, text[done:]]) if pieces else text
