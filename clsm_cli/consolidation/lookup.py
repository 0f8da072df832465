"""An index of the statements during a run: by meaning, by words, as tasks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from typing import Any

from clsm_cli.consolidation.store_state import StoreState
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import normalise_text, statement_id
from clsm_cli.model.tombstones import birth_ids, first_free
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.topics import text_sha
from clsm_cli.text import todo

MAX_NEAREST = 5
"""Maximum similar statements that a claim is compared with."""
MIN_COSINE = 0.80
"""Cosine below which two sentences cannot say the same."""


class _TaskIndex:
    """Tasks by their words, to compare an item with few of them.

    Attributes:
        unread: Id → text of tasks that are not yet in the index.
    """

    def __init__(self) -> None:
        self.unread: dict[str, str] = {}
        self._wordings: dict[str, list[todo.Wording]] = {}
        # "" stands for no stem, and for no number.
        self._by_stem: defaultdict[str, set[str]] = defaultdict(set)
        self._by_number: defaultdict[str, set[str]] = defaultdict(set)

    def named_by(self, item: str) -> list[str]:
        """Ids of the tasks whose words an item has."""
        while self.unread:
            self._read(*self.unread.popitem())
        wordings = todo.wordings(item)
        stems, numbers = wordings[0].stems or {""}, wordings[0].numbers
        alike = [self._by_stem[stem] for stem in stems]
        if numbers:
            numbered = set().union(*(self._by_number[number] for number in (*numbers, "")))
            alike = [each & numbered for each in alike]
        shared = Counter(chain.from_iterable(alike))
        near = (i for i, count in shared.items() if count >= min(2, len(stems)))
        return [i for i in near if todo.names_task(self._wordings[i], wordings)]

    def _read(self, record: str, text: str) -> None:
        wordings = self._wordings[record] = todo.wordings(text)
        for each in wordings:
            for stem in each.stems or ("",):
                self._by_stem[stem].add(record)
            for number in each.numbers or ("",):
                self._by_number[number].add(record)


class StatementIndex:
    """Statements by id, current or not, with look-ups that are updated as they change.

    Args:
        vectors: Unit vectors by id; rows without one are only found by their words.
        forgotten: Hashes of ids with a tombstone, which no new row gets.
        speakers: Speaker names that may precede a text.
    """

    def __init__(
        self,
        statements: Iterable[Statement],
        vectors: dict[str, Any],
        forgotten: frozenset[str] = frozenset(),
        speakers: frozenset[str] = frozenset(),
    ) -> None:
        self.forgotten, self.speakers = forgotten, speakers
        self.rows: dict[str, Statement] = {}
        self._by_text: dict[str, str] = {}
        self._withdrawn: set[str] = set()
        self._successors: dict[str, list[str]] = {}
        self._tasks = _TaskIndex()
        self._places: dict[str, int] = {}
        self._ids: list[str] = []
        self._matrix: Any = None
        self._last: Any = (None, None)  # a vector, and its cosines to the rows
        for statement in statements:
            self.put(statement, vectors.get(statement.id))

    def put(self, row: Statement, vector: Any = None) -> None:
        """Add a row, or replace the one with its id."""
        is_new = row.id not in self.rows
        self.rows[row.id] = row
        if not is_new:
            return
        if row.is_current:
            self._by_text[normalise_text(row.text)] = row.id
        if row.withdrawn and row.text_sha:
            self._withdrawn.add(row.text_sha)
        if row.supersedes:
            self._successors.setdefault(row.supersedes, []).append(row.id)
        if row.kind == "task":
            self._tasks.unread[row.id] = row.text
        if vector is not None:
            self._add_vector(row.id, vector)

    def birth_id(self, text: str, *salts: str | None) -> str:
        """The id of a new row: from its text alone, or with the salts if another row has that id."""
        plain = statement_id(normalise_text(text))
        first = (plain,) if plain not in self.rows else ()
        return first_free(chain(first, birth_ids(normalise_text(text), *salts)), self.forgotten)

    def successors_of(self, record: str | None) -> list[Statement]:
        """The current pinned rows that supersede a row, by a person's decision on each machine."""
        rows = [self.rows[i] for i in self._successors.get(record or "", ())]
        return [row for row in rows if row.pinned and row.is_current]

    def task_of(self, item: str) -> Statement | None:
        """The newest current task with the words of an item, with or without its headings."""
        found = [row for i in self._tasks.named_by(item) if (row := self.rows[i]).is_current]
        return max(found, key=lambda row: (row.valid_from or "", row.id), default=None)

    def was_withdrawn(self, text: str) -> bool:
        """Whether a person withdrew a statement with this text; only its hash is kept."""
        return text_sha(text) in self._withdrawn

    def nearest(self, text: str, vector: Any) -> list[tuple[Statement, float]]:
        """Rows that may say the same as a text, with their cosines; 1 for equal words."""
        found: dict[str, float] = {}
        same = self._by_text.get(normalise_text(text))
        if same is not None:
            found[same] = 1.0
        if vector is not None:
            for row, cosine in islice(self.alike(vector, MIN_COSINE), MAX_NEAREST):
                found.setdefault(row.id, cosine)
        return [(self.rows[i], cosine) for i, cosine in found.items()]

    def alike(self, vector: Any, floor: float) -> Iterator[tuple[Statement, float]]:
        """Rows with at least a cosine to a vector, the most similar first."""
        if not self._ids:
            return
        import numpy as np

        cosines = self._cosines(vector)
        near = np.flatnonzero(cosines >= floor)
        ranked = near[np.argsort(-cosines[near], kind="stable")]
        for cosine, tied in groupby(ranked, key=cosines.__getitem__):
            for record in sorted(map(self._ids.__getitem__, tied)):
                yield self.rows[record], float(cosine)

    def _cosines(self, vector: Any) -> Any:
        """The cosines of all rows, computed once for the several searches of a claim."""
        last, found = self._last
        if last is not vector or len(found) < len(self._ids):
            found = (self._matrix[: len(self._ids)] @ vector).round(4)
            self._last = (vector, found)
        return found

    def vector_of(self, record: str) -> Any:
        """The unit vector of a row; None without one."""
        return self._matrix[self._places[record]] if record in self._places else None

    def _add_vector(self, record: str, vector: Any) -> None:
        import numpy as np

        place = self._places[record] = len(self._ids)
        self._ids.append(record)
        if self._matrix is None:
            self._matrix = np.zeros((256, len(vector)), np.float32)
        elif place == len(self._matrix):
            self._matrix = np.concatenate([self._matrix, np.zeros_like(self._matrix)])
        self._matrix[place] = vector


def index_statements(state: StoreState, rows: Iterable[Statement]) -> StatementIndex:
    """An index of some statements of a store, with their vectors."""
    found = list(rows)
    known = state.vectors_of([row.text for row in found if row.text])
    by_id = {row.id: known.get(row.text) for row in found}
    speakers = evidence_queries.named_speakers(state.connection)
    return StatementIndex(found, by_id, state.forgotten, speakers)
