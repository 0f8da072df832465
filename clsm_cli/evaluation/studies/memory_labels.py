"""What a consolidated memory should hold: labelled concepts, statements and facts that change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.dataset import key
from clsm_cli.evaluation.loaders.cases import malformed
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_ARTICLE = re.compile(r"\A(?:the|an?)\s+(?=\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Concept:
    """A thing that the memory should know.

    Attributes:
        names: Label and aliases in the form of ``normal``.
        kind: What it is; None where the label leaves that open.
    """

    label: str
    names: frozenset[str]
    kind: str | None


@dataclass(frozen=True, slots=True)
class Wording:
    """A sentence that should stand in memory, or must not.

    Attributes:
        stream: Where it belongs; empty for what must not stand anywhere.
        groups: Of each group one word or phrase must occur.
        quote: The evidence, with single blanks.
    """

    text: str
    stream: str
    groups: tuple[tuple[str, ...], ...]
    quote: str


@dataclass(frozen=True, slots=True)
class Value:
    """What a fact was, from one day up to another; None: still."""

    text: str
    valid_from: str
    valid_until: str | None
    quote: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that changed; its values in order of time."""

    id: str
    subject: str
    slot: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Labels:
    """Everything that is expected of one memory."""

    concepts: tuple[Concept, ...]
    keep: tuple[Wording, ...]
    junk: tuple[Wording, ...]
    facts: tuple[Fact, ...]


def load(path: Path) -> Labels:
    """Read ``concepts.yaml``, ``statements.yaml`` and ``facts.yaml`` of a labelled memory.

    Raises:
        BadInputError: A file is missing or not what it must be.
    """
    folder = path / "labels"
    return Labels(
        concepts=_read(folder / "concepts.yaml", lambda rows: tuple(map(_concept, rows))),
        keep=_read(folder / "statements.yaml", lambda rows: tuple(map(_wording, rows["keep"]))),
        junk=_read(folder / "statements.yaml", lambda rows: tuple(map(_wording, rows["junk"]))),
        facts=_read(folder / "facts.yaml", lambda rows: tuple(map(_fact, rows))),
    )


def normal(name: str) -> str:
    """A name to compare: without case, marks, blanks, a leading article and a plural s.

    >>> normal("The Steward's Problems"), normal("a heron"), normal("compass")
    ('stewardsproblem', 'heron', 'compass')
    """
    found = key(_ARTICLE.sub("", name.strip(), count=1))
    return found[:-1] if len(found) > 3 and found.endswith("s") and found[-2] != "s" else found


def normals(names: Iterable[str]) -> frozenset[str]:
    """The normal forms of some names; a name of marks alone has none."""
    return frozenset(map(normal, names)) - {""}


def _concept(row: dict[str, Any]) -> Concept:
    names = (row["label"], *row.get("aliases", ()))
    return Concept(str(row["label"]), normals(map(str, names)), row.get("kind"))


def _wording(row: dict[str, Any]) -> Wording:
    groups = tuple(tuple(map(str, group)) for group in row["must_contain"])
    return Wording(row["text"], row.get("stream", ""), groups, _quote(row))


def _fact(row: dict[str, Any]) -> Fact:
    values = tuple(
        Value(str(each["value"]), each["valid_from"], each["valid_until"], _quote(each))
        for each in row["values"]
    )
    return Fact(str(row["id"]), row["subject"], row["slot"], values)


def _quote(row: dict[str, Any]) -> str:
    return " ".join(str(row["evidence"]["quote"]).split())


def _read(path: Path, made: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
    data = atomic.read(path, MAX_FILE)
    if data is None:
        raise BadInputError(str(path), "is missing", "see docs/evaluation.md for the layout")
    try:
        return made(yaml_text.load(data.decode("utf-8"), MAX_FILE, values=None))
    except (LineError, UnicodeDecodeError) as error:
        raise BadInputError(str(path), str(error), "mend it") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise malformed(path, repr(error)) from error
