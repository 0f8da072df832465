"""Whether a sentence is worth keeping: good, middling or junk, read as it would stand in memory.

The unit head (``heads/judge``) looks at a sentence's shape and at what its words mean one by one, which
costs nearly nothing. What passes it is read here, by a cross-encoder, with the place it stands in: fitted
by ``scripts/fit_statements.py`` on what readers said of statements of public memories (``good``: true to
its source, understood alone, worth having months later; ``junk``: not understood, stock text, noise;
``middling``: between them). Conversations have a head of their own that is as good. Figures on memories that were left out: ``weights/statement.json``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clsm_cli.heads import cross_encoder
from clsm_cli.heads.judge import FOLDERS

VERDICTS = ("good", "middling", "junk")
CHAT = "chat"
"""Stands for the place of what was said in a conversation."""


class Verdict(NamedTuple):
    """How likely a sentence is each of ``VERDICTS``."""

    good: float
    middling: float
    junk: float


def verdicts(statements: Sequence[tuple[str, str]]) -> list[Verdict]:
    """What a reader would say of statements.

    Args:
        statements: Each as it would stand in memory, with ``place_of`` it.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    if not statements:
        return []
    return [Verdict(*each) for each in cross_encoder.load_for_many("statement").read(statements)]


def place_of(path: str, heading: Sequence[str]) -> str:
    """Where a sentence stands, as the head reads it: its file and its headings.

    The folder is named where agents' workspaces give it a meaning: others say what a store happens to
    lie in.

    >>> place_of("/home/kim/notes/memory/2026-03-02.md", ("Monday", "Garden"))
    'memory/2026-03-02.md › Monday › Garden'
    >>> place_of("/home/kim/notes/home.md", ())
    'home.md'
    """
    *folders, file = path.replace("\\", "/").split("/")
    if folders and folders[-1].lower() in FOLDERS:
        file = f"{folders[-1]}/{file}"
    return " › ".join([file, *heading])
