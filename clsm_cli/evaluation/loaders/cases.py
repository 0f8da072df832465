"""What a labelled set is made of, whatever its source: turns to remember and questions about them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import BadInputError

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Said:
    """One turn.

    Attributes:
        id: Its id in the set.
        role: ``user`` or ``assistant``; people who talk to each other are both ``user``.
        time: ISO 8601 with offset.
        unit: What gold labels name: the turn itself in LoCoMo, its day in GVD.
    """

    id: str
    speaker: str
    role: str
    text: str
    time: str
    session: str
    unit: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the units that answer it."""

    id: str
    text: str
    category: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns that become one store, and the questions put to it.

    Attributes:
        participants: Names of the people, as speakers.
        turns: In the order in which they were said.
    """

    name: str
    participants: tuple[str, ...]
    turns: tuple[Said, ...]
    questions: tuple[Question, ...]


def load_json(path: Path) -> Any:
    """The JSON value of a file.

    Raises:
        BadInputError: It cannot be read, or is not JSON.
    """
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise BadInputError(
            str(path), error.strerror or str(error), "see docs/evaluation.md for the layout"
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInputError(str(path), f"is not JSON ({error})", "get the file again") from error


def malformed(path: Path, what: str) -> BadInputError:
    """The error for a file that is JSON or YAML but not of this set."""
    return BadInputError(
        str(path), f"is not laid out like the set: {what}", "see docs/evaluation.md for the layout"
    )
