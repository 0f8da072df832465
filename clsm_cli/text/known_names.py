"""Find known names in texts.

A name matches as a run of whole words with any marks between them. Names are matched independently, so a
new name changes nothing for the others, and the order in which names became known does not matter.
"""

import itertools
import re
from collections.abc import Iterable

from clsm_cli.startup.records import NamedTuple

_WORD = re.compile(r"\w+(?:\+\+|#(?!\w))?")
_MAX_GAP = 3
"""Maximum characters between two words of a name."""
_CONTINUES = re.compile(r"@\w|\.[a-z0-9]")
"""Follows part of an address or file name: "index.html" and "ada@here.org" name nothing."""


class NameSpan(NamedTuple):
    """A node's name in a text: start, end (exclusive), node id and kind."""

    start: int
    end: int
    node: str
    kind: str = ""


class NameForm(NamedTuple):
    """A name of a node; ``is_exact``: it matches only with the same capitals."""

    text: str
    node: str
    is_exact: bool


class _KnownName(NamedTuple):
    words: tuple[str, ...]
    spelled: tuple[str, ...]
    mark: str
    form: NameForm


class Matcher:
    """Finds a set of names in texts.

    >>> matcher = Matcher([NameForm("clock key", "clock-key", False), NameForm("May", "may", True)])
    >>> [(each.start, each.end, each.node) for each in matcher.find("It may be May's Clock Key.")]
    [(10, 13, 'may'), (16, 25, 'clock-key')]
    """

    def __init__(self, forms: Iterable[NameForm]) -> None:
        self._by_first: dict[str, list[_KnownName]] = {}
        for form in sorted(set(forms)):
            spelled = tuple(_WORD.findall(form.text))
            words = tuple(word.casefold() for word in spelled)
            if words:
                mark = form.text[: form.text.index(spelled[0])]
                known = _KnownName(words, spelled, mark if mark == "." else "", form)
                self._by_first.setdefault(words[0], []).append(known)

    def find(self, text: str) -> list[NameSpan]:
        """All matches by start, longer names first; each node once per span."""
        words = list(_WORD.finditer(text))
        plain = [match.group().casefold() for match in words]
        found: set[tuple[int, int, str]] = set()
        for place, word in enumerate(plain):
            for known in self._by_first.get(word, ()):
                count = len(known.words)
                if count > 1 and tuple(plain[place : place + count]) != known.words:
                    continue
                run = words[place : place + count]
                if known.form.is_exact and known.spelled != tuple(m.group() for m in run):
                    continue
                start, end = run[0].start(), run[-1].end()
                if known.mark and not _begins_with_mark(text, start, known.mark):
                    continue
                if _CONTINUES.match(text, end):
                    continue
                if count == 1 or all(_is_near(text, a, b) for a, b in itertools.pairwise(run)):
                    found.add((start, -end, known.form.node))
        return [NameSpan(start, -end, node) for start, end, node in sorted(found)]


def _begins_with_mark(text: str, start: int, mark: str) -> bool:
    """Whether the leading mark of a name begins a word: "prod.env" does not contain ".env"."""
    before = text[:start][-len(mark) - 1 :]
    return before.endswith(mark) and not before[: -len(mark)].isalnum()


def _is_near(text: str, before: re.Match[str], after: re.Match[str]) -> bool:
    gap = text[before.end() : after.start()]
    return len(gap) <= _MAX_GAP and ("\n" not in gap or (gap.isspace() and gap.count("\n") == 1))
