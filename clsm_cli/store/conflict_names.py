"""Names that synchronising programs give to the second version of a file.

Syncthing renames one of the two to ``<name>.sync-conflict-<date>-<time>-<device>.<extension>``
(docs.syncthing.net/users/syncing.html, "Conflicting Changes"); Dropbox and Nextcloud put
"conflicted copy", whose it is and when into brackets before the extension
(help.dropbox.com/syncing-uploads/conflicted-copy). Files that people or editors set aside
(``.orig``, ``~``) are not meant to be merged, and no reader takes them for anything.
"""

from __future__ import annotations

import re
from functools import cache

_SYNCTHING = r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?"
_BRACKETS = r" \([^()]*conflicted copy[^()]*\)"


@cache
def _mark() -> re.Pattern[str]:
    """Compiled when first needed: hardly any store holds such a file, and every recall looks."""
    return re.compile(rf"({_SYNCTHING}|{_BRACKETS})+(?=\.[a-z]+\Z)", re.IGNORECASE)


def is_conflict_copy(name: str) -> bool:
    """Whether a file is another version of the one beside it.

    >>> is_conflict_copy("3.sync-conflict-20260101-120000-ABCDEFG.yaml"), is_conflict_copy("3.yaml")
    (True, False)
    """
    return "conflict" in name.lower() and _mark().search(name) is not None


def original_name(name: str) -> str:
    """The name of the file that a copy is another version of.

    >>> original_name("people (Mara's conflicted copy 2026-01-01).md")
    'people.md'
    """
    return _mark().sub("", name, count=1)
