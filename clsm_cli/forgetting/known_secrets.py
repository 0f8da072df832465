"""What secrets a store was found to hold, to recognise them where nothing gives them away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.ingestion.clear import masked_text
from clsm_cli.text.secrets import secrets_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.ingestion.turns import Masker

SURE = 8
"""Characters from which a secret is recognised wherever it stands; a shorter one, a PIN, only in
what rests on the text that held it."""
_LEAST = 3
"""Characters that a secret has at least."""


class Known:
    """The secrets of some texts, by what each text was.

    Attributes:
        lines: Lines that held one, as they were.
    """

    def __init__(self) -> None:
        self.lines: set[str] = set()
        self._by_key: dict[str, frozenset[str]] = {}
        self._sure: set[str] = set()

    def note(self, key: str, text: str) -> None:
        """Remember the secrets of a text: of a turn or a statement, by its id."""
        found = {text[each.start : each.end].strip() for each in secrets_of(text)}
        found = {each for each in found if len(each) >= _LEAST}
        self._by_key[key] = self._by_key.get(key, frozenset()) | found
        self._sure |= {each for each in found if len(each) >= SURE}
        self.lines |= {line for line in text.split("\n") if any(each in line for each in found)}

    def of(self, keys: Iterable[str]) -> frozenset[str]:
        """The secrets that some texts held."""
        return frozenset(each for key in keys for each in self._by_key.get(key, ()))

    def masked(self, text: str, mask: Masker, secrets: frozenset[str] = frozenset()) -> str:
        """A text without secrets: those that show, those that are given, and those that are sure."""
        text = masked_text(text, mask)
        for secret in sorted(secrets | self._sure, key=len, reverse=True):
            if secret in text:
                whole = re.compile(rf"(?<!\w){re.escape(secret)}(?!\w)")
                text, count = whole.subn("[masked:secret]", text)
                mask.found["secret"] += count
        return text
