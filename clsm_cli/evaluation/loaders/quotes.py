"""Does a file say what a label quotes from it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation.dataset import single_blanks
from clsm_cli.evaluation.loaders import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Quotes:
    """Looks quotes up in the files below a root; each file is read once.

    Args:
        root: Folder that the names of files begin at.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, tuple[str, ...]] = {}

    def has(self, name: str, quote: str) -> bool:
        """Whether a file holds a quote; in a transcript, within one of its texts.

        Args:
            name: Of the file, below the root.
            quote: With single blanks; white space in the file may be any.
        """
        if name not in self._texts:
            self._texts[name] = self._read(name)
        return any(quote in text for text in self._texts[name])

    def _read(self, name: str) -> tuple[str, ...]:
        path = self._root / name
        if not files.is_file(path):
            return ()
        text = files.read(path).decode("utf-8", "replace")
        if path.suffix != ".jsonl":
            return (single_blanks(text),)
        return tuple(single_blanks(each) for row in text.splitlines() for each in _said(row))


def _said(row: str) -> Iterator[str]:
    """All texts in a row of a transcript; a row that is no JSON says nothing."""
    try:
        yield from _texts(json.loads(row))
    except (ValueError, RecursionError):
        return


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
