"""A labelled set, whatever its source: memories to ingest, queries, and their gold evidence.

A loader (``loaders/``) reads one layout and gives a :class:`Dataset`; all that follows, the stores,
the systems, the measures and the report, knows nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from clsm_cli.evaluation.loaders.parsing import LabelledTurn

Unit = Literal["turn", "day", "quote", "memory"]
"""What a piece of evidence is: the id of a turn, an ISO date, a quote; with "memory" a quote too, or
the ids that stand for one memory, each with a newline behind it: any of them is the piece."""
Negative = Literal["", "wrong person", "near topic", "off topic"]
"""Why a query has no answer: asked of the wrong person, about what nobody recorded of a known
subject, about something else altogether; ``""`` for a query that has one."""

_SEPARATORS = re.compile(r"[\W_]+")


class Query(NamedTuple):
    """A query and its labels.

    Attributes:
        id: Unique in its case.
        gold: Pieces of evidence, in the unit of the set; empty where only concepts are labelled.
        concepts: Of each gold concept the keys of its names (see ``label_keys``).
        told: Those gold concepts of the answer that the question does not name.
        negative: Why it has no answer; its ``gold`` and ``concepts`` are empty then.
        answer: The right answer in words; empty: not known.
        at: ISO time at which it is asked; empty: that of the case.
    """

    id: str
    text: str
    category: str = ""
    difficulty: str = ""
    gold: tuple[str, ...] = ()
    concepts: tuple[frozenset[str], ...] = ()
    told: tuple[frozenset[str], ...] = ()
    negative: Negative = ""
    answer: str = ""
    at: str = ""


class Chat(NamedTuple):
    """Turns that become one store."""

    participants: tuple[str, ...]
    turns: tuple[LabelledTurn, ...]


class Folders(NamedTuple):
    """Notes and transcripts that become one store: some folders under a root."""

    root: Path
    names: tuple[str, ...]


class Existing(NamedTuple):
    """A store that is there already; it is asked as it is and nothing in it is touched."""

    root: Path


class Case(NamedTuple):
    """One store and the queries put to it."""

    name: str
    source: Chat | Folders | Existing
    queries: tuple[Query, ...]


class Dataset(NamedTuple):
    """A labelled set.

    Attributes:
        kind: Name of the loader.
        name: Of the file or folder it was read from, without the way to it.
        digest: SHA-256 of what was read, hexadecimal; two runs on different digests are never compared.
        headline: The measure that intervals, pairs and gates look at.
        notes: A sentence for each fault of the set that was mended, each query left out, each rule
            by which labels were made; shown in every report.
        k: Items that count as returned.
        whole: What a reduction of context is measured against, in words ("the whole conversation").
    """

    kind: str
    name: str
    digest: str
    unit: Unit
    headline: str
    cases: tuple[Case, ...]
    notes: tuple[str, ...] = ()
    k: int = 10
    whole: str = "the whole conversation"


def label_key(name: str) -> str:
    """A name without case, marks and blanks, to compare labels with what was found.

    >>> label_key("The Steward's Problem"), label_key("delegation-defect")
    ('thestewardsproblem', 'delegationdefect')
    """
    return _SEPARATORS.sub("", name).casefold()


def label_keys(names: Iterable[str]) -> frozenset[str]:
    """The keys of some names; a name of marks alone has none."""
    return frozenset(label_key(name) for name in names) - {""}


def single_blanks(text: str) -> str:
    r"""Text with every run of white space as one blank: quotes are looked for in that form.

    >>> single_blanks("one\n  two")
    'one two'
    """
    return " ".join(text.split())
