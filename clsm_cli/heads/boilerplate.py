"""Recognise boilerplate: sentences of the files that agent frameworks put into every new workspace."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources

from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences

_FEWEST = 3
"""Words of a sentence that is nobody else's by chance."""
_WORD = re.compile(r"\w+")


def stock_share(text: str) -> float:
    """How many of the sentences of a text are stock ones, 0 to 1.

    >>> stock_share("- **Be genuinely helpful, not performatively helpful.**"), stock_share("Ann came by.")
    (1.0, 0.0)
    """
    said = sentences(text)
    return sum(sentence_digest(each) in _digests() for each in said) / max(1, len(said))


def sentence_digest(sentence: str) -> str:
    """12 hexadecimal digits of the SHA-256 of its words; empty for one that is too short.

    >>> sentence_digest("You own **it** all!") == sentence_digest("you own it all"), sentence_digest("Be nice.")
    (True, '')
    """
    words = _WORD.findall(to_plain(sentence).lower())
    if len(words) < _FEWEST:
        return ""
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]


@cache
def _digests() -> frozenset[str]:
    text = (resources.files("clsm_cli.heads") / "weights" / "stock.txt").read_text("utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))
