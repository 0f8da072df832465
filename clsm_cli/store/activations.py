"""The log of recalls: which ids each returned. Separate from ``logs``, which takes 3 ms to load."""

from __future__ import annotations

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.jsonlines import dump


class Activation(NamedTuple):
    """A recall returned these ids; ``decay`` folds such lines to uses. Old lines end with ``ids``."""

    recall: str
    at: str
    ids: tuple[str, ...]
    led: tuple[str, ...] = ()  # the strongest signal for each id, "" if there was none
    concepts: tuple[str, ...] = ()  # ids of the returned nodes

    def render(self) -> bytes:
        """The line, without a newline."""
        return dump(self._asdict()).encode()
