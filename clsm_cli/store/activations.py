"""The log of recalls: which ids each returned. Apart from the other logs, to load fast."""

from __future__ import annotations

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.jsonlines import dump


class Activation(NamedTuple):
    """A recall returned these ids; ``decay`` folds such lines into uses.

    Attributes:
        led: The signal that spoke most for each id, in their order; "" where none did. Older lines
            have none.
        concepts: The ids of the nodes that it returned; older lines have none.
    """

    recall: str
    at: str
    ids: tuple[str, ...]
    led: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()

    def render(self) -> bytes:
        """Its line, without a newline."""
        return dump(self._asdict()).encode()
