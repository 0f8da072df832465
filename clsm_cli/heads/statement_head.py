"""The statement head: whether a sentence, as it would stand in memory, is good, middling or junk.

The unit head (``heads/judge``) sees only a sentence's form and mean word embedding, which costs nearly
nothing. What passes it is read here by a cross-encoder, with its place. ``scripts/fit_statements.py`` fits
the head to readers' judgements of statements from public memories (``good``: true to its source,
understood alone, worth having months later; ``junk``: not understood, stock text, noise; ``middling``:
between them). Figures on held-out memories: ``weights/statement.json``.
"""

from collections.abc import Sequence
from typing import NamedTuple

from clsm_cli.heads import cross_encoder
from clsm_cli.heads.judge import FOLDERS

VERDICTS = ("good", "middling", "junk")
TALK, TRANSCRIPT = "talk", "session.jsonl"
"""The place of what a person says in a conversation, and of what an assistant says, which reports, as a log does."""


class Verdict(NamedTuple):
    """The probability of each of ``VERDICTS``."""

    good: float
    middling: float
    junk: float


def verdicts(statements: Sequence[tuple[str, str]]) -> list[Verdict]:
    """Judge statements.

    Args:
        statements: Each as it would stand in memory, with its ``place_of``.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    if not statements:
        return []
    return [
        Verdict(*each) for each in cross_encoder.load("statement", for_many=True).read(statements)
    ]


def place_of(path: str, heading: Sequence[str]) -> str:
    """The place of a sentence, as the head reads it: its file and its headings.

    The folder is included only if it has a meaning in agents' workspaces.

    >>> place_of("/home/kim/notes/memory/2026-03-02.md", ("Monday", "Garden"))
    'memory/2026-03-02.md › Monday › Garden'
    >>> place_of("/home/kim/notes/home.md", ())
    'home.md'
    """
    *folders, file = path.replace("\\", "/").split("/")
    if folders and folders[-1].lower() in FOLDERS:
        file = f"{folders[-1]}/{file}"
    return " › ".join([file, *heading])
