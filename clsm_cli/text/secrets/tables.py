"""The tables beside this module: tab-separated, ``#`` begins a comment; each says its source."""

from __future__ import annotations

import os


def rows(name: str) -> list[list[str]]:
    """The rows of a table by its name, without ending."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.tsv")
    with open(path, encoding="utf-8") as stream:
        return [line.rstrip("\n").split("\t") for line in stream if line.strip() and line[0] != "#"]
