"""Where known names stand in a text.

A name matches as a run of whole words, whatever mark stands between them. Every name
is looked for by itself, whatever else matches there, so that a new name changes nothing for the
others and the order in which names became known does not matter.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from clsm_cli.heads.relations import Named
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"\w+(?:\+\+|#(?!\w))?")
_GAP = 3
"""Characters between two words of a name, at most."""


class Form(NamedTuple):
    """A name of a node; ``is_exact``: it counts only with the capitals it is written with."""

    text: str
    node: str
    is_exact: bool


class _Known(NamedTuple):
    words: tuple[str, ...]
    spelled: tuple[str, ...]
    form: Form


class Matcher:
    """Finds the names it was made of.

    >>> matcher = Matcher([Form("clock key", "clock-key", False), Form("May", "may", True)])
    >>> [(each.start, each.end, each.node) for each in matcher.find("It may be May's Clock Key.")]
    [(10, 13, 'may'), (16, 25, 'clock-key')]
    """

    def __init__(self, forms: Iterable[Form]) -> None:
        self._by_first: dict[str, list[_Known]] = {}
        for form in sorted(set(forms)):
            spelled = tuple(_WORD.findall(form.text))
            words = tuple(word.casefold() for word in spelled)
            if words:
                known = _Known(words, spelled, form)
                self._by_first.setdefault(words[0], []).append(known)

    def find(self, text: str) -> list[Named]:
        """Every place where a name stands, by start, longer names first; each node once a place."""
        words = list(_WORD.finditer(text))
        plain = [match.group().casefold() for match in words]
        found: set[tuple[int, int, str]] = set()
        for place, word in enumerate(plain):
            for known in self._by_first.get(word, ()):
                end = place + len(known.words)
                if tuple(plain[place:end]) != known.words:
                    continue
                run = words[place:end]
                if known.form.is_exact and known.spelled != tuple(m.group() for m in run):
                    continue
                if all(_is_near(text, a, b) for a, b in itertools.pairwise(run)):
                    found.add((run[0].start(), -run[-1].end(), known.form.node))
        return [Named(start, -end, node) for start, end, node in sorted(found)]


def _is_near(text: str, before: re.Match[str], after: re.Match[str]) -> bool:
    gap = text[before.end() : after.start()]
    return len(gap) <= _GAP and ("\n" not in gap or (gap.isspace() and gap.count("\n") == 1))
