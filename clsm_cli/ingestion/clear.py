"""What a turn that is stored in clear would be had its secrets been masked when it came.

Older versions knew fewer kinds of secrets. A turn is masked again as ``turns`` does it at first, and
gets the key that the source would give it now, so that reading the source again brings nothing new.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.ingestion.turns import has_exact_time, numbered
from clsm_cli.model.ids import turn_key
from clsm_cli.text import secrets

if TYPE_CHECKING:
    from clsm_cli.ingestion.turns import Masker
    from clsm_cli.model.episodes import Turn

_EQUALS = 64
"""Equal turns of a conversation without an exact time that are told apart."""


def masked_text(text: str, mask: Masker) -> str:
    """A stored text without secrets: it was made clean when it came, and may be a whole file."""
    made = secrets.mask(text)
    mask.found.update(made.found)
    return made.text


def masked_turn(turn: Turn, session: str, mask: Masker) -> tuple[Turn, str]:
    """The turn and its conversation without secrets; the same where there are none.

    Args:
        turn: As it is stored.
        session: Its conversation; of a block where its document lives.
        mask: Masks and counts secrets.
    """
    tool = turn.tool
    if tool is not None:
        told = None if tool.input is None else masked_text(tool.input, mask)
        tool = replace(tool, name=mask.name(tool.name), input=told)
    made = replace(
        turn,
        speaker=mask.name(turn.speaker),
        text=masked_text(turn.text, mask),
        path=mask.name(turn.path),
        origin=mask.name(turn.origin),
        foreign_id=turn.foreign_id and mask.name(turn.foreign_id),
        tool=tool,
        heading=tuple(masked_text(title, mask) for title in turn.heading),
    )
    name = mask.name(session)
    if (made.speaker, made.text, name) == (turn.speaker, turn.text, session):
        return made, session
    if has_exact_time(made):
        key = turn_key(name, made.speaker, made.time, made.text)
        return replace(made, key=key), name
    equals = (n for n in range(_EQUALS) if numbered(turn, session, n).key == turn.key)
    return numbered(made, name, next(equals, 0)), name
