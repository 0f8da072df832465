"""The log of recalls: which ids each returned. Apart from the other logs, to load fast."""

from __future__ import annotations

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.jsonlines import dump


class Activation(NamedTuple):
    """A recall returned these ids; ``decay`` folds such lines into uses. Older ones end with ``ids``."""

    recall: str
    at: str
    ids: tuple[str, ...]
    led: tuple[str, ...] = ()  # the signal that spoke most for each id, "" where none did
    concepts: tuple[str, ...] = ()  # ids of the nodes that it returned

    def render(self) -> bytes:
        """Its line, without a newline."""
        return dump(self._asdict()).encode()
