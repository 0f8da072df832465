"""A note: one turn of whoever writes it, captured like any other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clsm_cli.errors import BadInputError, LockedError
from clsm_cli.ingestion import times
from clsm_cli.ingestion.fence import FenceKey, cut, no_key
from clsm_cli.ingestion.items import RawTurn
from clsm_cli.ingestion.report import utc
from clsm_cli.ingestion.turns import Masker, from_message
from clsm_cli.model.episodes import TRUST_ROLE
from clsm_cli.store import inbox, runs
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.store.layout import Store

SESSION = "notes"
"""The conversation that notes belong to."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A note that is safe on disk."""

    id: str
    text: str
    is_new: bool
    masked: dict[str, int]


def write_note(
    store: Store,
    text: str,
    now: datetime,
    *,
    by: Literal["user", "agent"] = "user",
    dry_run: bool = False,
    fence_key: FenceKey = no_key,
) -> Noted:
    """Write a note down (a dry run: only say how it would be); it is found by its words at once.

    What clsm itself recalled (``ingestion.fence``) is left out of it.

    Args:
        store: Where it goes.
        text: What is to be remembered.
        now: When.
        by: Whose words they are: a person's, or those of an agent, who may repeat a stranger's.
        dry_run: Write nothing.
        fence_key: Gives the key by which recalled text is known.

    Raises:
        BadInputError: The text is empty.
        DiskError: The disk refused.
    """
    mask = Masker(Counter())
    text = cut(text, fence_key).text
    time = times.normalise(now.isoformat(), store.zone)
    role = TRUST_ROLE[by]
    raw = RawTurn(SESSION, role, role, text, time, 1, 1 + text.strip().count("\n"))
    turn = from_message(raw, "-", mask)
    if not turn.text:
        raise BadInputError("the note", "is empty", "give it some words")
    row = inbox.render([inbox.Captured(SESSION, turn, utc(now))])
    try:
        with locked(store.root, store.settings.store.capture_wait):
            is_new = _is_new(store, turn.key)
            if is_new and not dry_run:
                path = inbox.path_of(store.inbox, SESSION)
                runs.apply(store, "note", utc(now), [runs.Append(path, row)])
    except LockedError:
        is_new = _is_new(store, turn.key)
        if is_new and not dry_run:
            inbox.put_aside(store.inbox, SESSION, row)
    return Noted(turn.key, turn.text, is_new, dict(mask.found))


def _is_new(store: Store, key: str) -> bool:
    path = inbox.path_of(store.inbox, SESSION)
    parts = [path, *inbox.aside(store.inbox).get(path, ())]
    return all(item.turn.key != key for part in parts for item in inbox.read(part).turns)
