"""An agent's notes with labels: cues, the concepts that they mean, and quotes that answer them.

The folder is laid out as ``fixtures/sample``: ``workspace/`` and ``sessions/`` to remember, and in
``labels/`` the files ``queries.yaml``, ``concepts.yaml`` and, if there are questions without an
answer, ``probes.yaml`` and ``off-topic.yaml``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.loaders.cases import malformed
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDERS = ("workspace", "sessions")
"""What is ingested."""
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Cue:
    """A query with its labels.

    Attributes:
        quotes: Evidence, with single blanks.
        concepts: Of each gold concept the keys of its names (see ``key``).
    """

    id: str
    text: str
    category: str
    difficulty: str
    quotes: tuple[str, ...]
    concepts: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """The labels of one memory.

    Attributes:
        unanswerable: Questions on what the memory knows, to which it holds no answer.
        off_topic: Questions about something else altogether.
    """

    cues: tuple[Cue, ...]
    unanswerable: tuple[str, ...]
    off_topic: tuple[str, ...]


def load(path: Path) -> Notes:
    """Read the labels of a folder.

    Raises:
        BadInputError: A file is missing or not what it must be.
    """
    labels = path / "labels"
    concepts_file, queries_file = labels / "concepts.yaml", labels / "queries.yaml"
    try:
        names = {
            row["id"]: keys((row["id"], row["label"], *row.get("aliases", ())))
            for row in _rows(concepts_file)
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise malformed(concepts_file, repr(error)) from error
    try:
        cues = tuple(
            Cue(
                id=str(row["id"]),
                text=row["query"],
                category=row["category"],
                difficulty=row["difficulty"],
                quotes=tuple(single_blanks(each["quote"]) for each in row["evidence"]),
                concepts=tuple(names.get(each, keys((each,))) for each in row["concepts"]),
            )
            for row in _rows(queries_file)
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise malformed(queries_file, repr(error)) from error
    near, far = labels / "probes.yaml", labels / "off-topic.yaml"
    return Notes(cues, tuple(_without_evidence(near)), tuple(_without_evidence(far)))


def single_blanks(text: str) -> str:
    r"""Text with every run of white space as one blank.

    >>> single_blanks("one\n  two")
    'one two'
    """
    return " ".join(text.split())


def key(name: str) -> str:
    """A name without case, marks and blanks, to compare labels with what was found.

    >>> key("The Steward's Problem"), key("delegation-defect")
    ('thestewardsproblem', 'delegationdefect')
    """
    return _SEPARATORS.sub("", name).casefold()


def keys(names: Iterable[str]) -> frozenset[str]:
    """The keys of some names; a name of marks alone has none."""
    return frozenset(key(name) for name in names) - {""}


def _without_evidence(path: Path) -> list[str]:
    if not path.exists():
        return []
    try:
        return [str(row["query"]) for row in _rows(path) if not row.get("evidence")]
    except (KeyError, TypeError, AttributeError) as error:
        raise malformed(path, repr(error)) from error


def _rows(path: Path) -> list[dict[str, Any]]:
    data = atomic.read(path, MAX_FILE)
    if data is None:
        raise BadInputError(str(path), "is missing", "see docs/evaluation.md for the layout")
    try:
        rows = yaml_text.load(data.decode("utf-8"), MAX_FILE)
    except (LineError, UnicodeDecodeError) as error:
        raise BadInputError(str(path), str(error), "mend it") from error
    if not isinstance(rows, list):
        raise malformed(path, "it holds no list")
    return rows
