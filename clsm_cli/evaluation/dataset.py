"""A labelled set, whatever its source: memories to ingest, queries, and their gold evidence.

A loader (``loaders/``) reads one layout, with the helpers below, and gives a :class:`Dataset`; all that
follows, the stores, the systems, the measures and the report, knows nothing else.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError, without_surrogates

EvidenceUnit = Literal["turn", "day", "quote"]
"""What a piece of evidence is: the id of a turn, an ISO date, a quote."""
# Why a query has no answer: asked of the wrong person, about what nobody recorded of a known
# subject, about something else altogether, the same without names; "" for a query that has one.
Negative = Literal["", "wrong person", "near topic", "off topic", "nameless"]

_SEPARATORS = re.compile(r"[\W_]+")


class LabelledQuery(NamedTuple):
    """A query and its labels."""

    id: str
    text: str
    category: str = ""
    gold: tuple[str, ...] = ()  # pieces of evidence; empty where only concepts are labelled
    concepts: tuple[frozenset[str], ...] = ()  # of each the keys of its names (``label_keys``)
    negative: Negative = ""  # if it has no answer, neither gold nor concepts
    answer: str = ""
    at: str = ""  # ISO time at which it is asked; empty: that of the case


class LabelledTurn(NamedTuple):
    """One turn; ``time`` is ISO 8601 with offset, people who talk to each other are both ``user``."""

    id: str
    speaker: str
    role: str
    text: str
    time: str
    session: str


def turns_of(
    session: str, begin: datetime, rows: Iterable[tuple[str, str, str, str]]
) -> Iterator[LabelledTurn]:
    """The turns of a session (id, speaker, role, text) a second apart; those without text are left out."""
    for second, (id_, speaker, role, text) in enumerate(rows):
        time = (begin + timedelta(seconds=second)).isoformat()
        if text.strip():
            yield LabelledTurn(id_, speaker, role, text, time, session)


class Chat(NamedTuple):
    """Turns that become one store."""

    participants: tuple[str, ...]
    turns: tuple[LabelledTurn, ...]


class Folders(NamedTuple):
    """Notes and transcripts that become one store: some folders under a root."""

    root: Path
    names: tuple[str, ...]


class Case(NamedTuple):
    """One store and the queries put to it."""

    name: str
    source: Chat | Folders
    queries: tuple[LabelledQuery, ...]


class Dataset(NamedTuple):
    """A labelled set."""

    kind: str
    name: str
    digest: str  # SHA-256 of what was read; two runs on different digests are never compared
    unit: EvidenceUnit
    headline: str  # the measure that intervals and pairs look at
    cases: tuple[Case, ...]
    # A sentence for each fault that was mended, each query left out, each rule of the labels.
    notes: tuple[str, ...] = ()


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


LAYOUT = "see docs/evaluation.md for the layout"
NO_GOLD = "query is left out, nothing that answers it is known"
SHOWN = 10  # places that a sentence names at most
_LONGEST = 80  # characters of a place


class Faults(dict[str, list[str]]):
    """The faults of a set: what is wrong → the ids of what has it.

    >>> faults = Faults()
    >>> faults.add(NO_GOLD, "26-3")
    >>> faults.sentences()
    ('query is left out, nothing that answers it is known (1): 26-3',)
    """

    def add(self, fault: str, where: str) -> None:
        """Count one more fault."""
        self.setdefault(fault, []).append(where[:_LONGEST])

    def sentences(self) -> tuple[str, ...]:
        """One sentence for each kind, in the order in which they were met."""
        more = {fault: len(places) - SHOWN for fault, places in self.items()}
        return tuple(
            f"{fault} ({len(places)}): {'; '.join(places[:SHOWN])}"
            + (f"; and {more[fault]} more" if more[fault] > 0 else "")
            for fault, places in self.items()
        )


def read_bytes(path: Path) -> bytes:
    """The bytes of a file; BadInputError if it is missing or cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BadInputError(str(path), "is missing", LAYOUT) from None
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise BadInputError(str(path), reason, "check its permissions") from error


def made_dataset(
    kind: str,
    root: Path,
    read: Iterable[Path],
    cases: Iterable[Case],
    notes: tuple[str, ...],
    unit: EvidenceUnit,
    headline: str,
) -> Dataset:
    """A set that was read from some files at a path, whose name it gets.

    Its digest is what ``sha256sum FILES | sha256sum`` gives in ``root``, the files sorted by name.
    """
    folder = root if root.is_dir() else root.parent
    found = {each.relative_to(folder).as_posix(): atomic.sha256(read_bytes(each)) for each in read}
    listed = "".join(f"{found[name]}  {name}\n" for name in sorted(found))
    digest = atomic.sha256(listed.encode())
    return Dataset(kind, root.resolve().name, digest, unit, headline, tuple(cases), notes)


def load_json(path: Path) -> Any:
    """The JSON value of a file; half of a surrogate pair, which no file can hold, becomes U+FFFD."""
    data = read_bytes(path)
    try:
        return without_surrogates(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise BadInputError(str(path), f"is not JSON ({error})", "get the file again") from error


def load_yaml(path: Path) -> Any:
    """The value of a YAML file; an empty list for none."""
    try:
        return yaml_text.load(read_bytes(path).decode("utf-8"), MAX_FILE, values=None) or []
    except (LineError, UnicodeDecodeError) as error:
        raise BadInputError(str(path), str(error), "mend it") from error


@cache
def packaged_yaml(name: str) -> Any:
    """The value of a YAML file of this package, by its path in it."""
    text = files("clsm_cli.evaluation").joinpath(name).read_text(encoding="utf-8")
    return yaml_text.load(text, 1 << 16)


@contextlib.contextmanager
def reading(path: Path, where: str) -> Iterator[None]:
    """What is not as it must be in a part of a file becomes a BadInputError that names both."""
    try:
        yield
    except KeyError as error:
        raise malformed_error(path, f"{where}: it has no {error.args[0]}") from error
    except ValueError as error:
        raise malformed_error(path, f"{where}: {error}") from error
    except (TypeError, AttributeError) as error:
        raise malformed_error(path, f"{where}: something is of another type") from error


def malformed_error(path: Path, what: str) -> BadInputError:
    """The error for a file that is JSON or YAML but not of this set."""
    return BadInputError(str(path), f"is not laid out like the set: {what}", LAYOUT)
