"""Whether the key of a turn is that of what it says: keys are hashes, so damage shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.ids import turn_key

if TYPE_CHECKING:
    from clsm_cli.model.episodes import Turn

_ORDINALS = 64
"""Equal turns of one session without an exact time that are told apart here."""


def fits(turn: Turn, session: str) -> bool:
    """Whether a key is H(session, speaker, time, text) (docs/format.md §3).

    >>> from clsm_cli.model.episodes import Turn
    >>> turn = Turn(turn_key("main", "Mara", None, "Hi."), "Mara", "user", "Hi.")
    >>> fits(turn, "main"), fits(turn, "other")
    (True, False)
    """
    if turn.time is not None and "T" in turn.time:
        return turn.key == turn_key(session, turn.speaker, turn.time, turn.text)
    return any(
        turn.key == turn_key(session, turn.speaker, turn.time, turn.text, ordinal)
        for ordinal in range(_ORDINALS)
    )
