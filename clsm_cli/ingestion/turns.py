"""Raw items to turns: clean the text, mask secrets, and give each turn its key.

``masked_turn`` masks a stored turn again, since older versions recognised fewer kinds of secrets. It gets the
key that its source would give it now, so that reading the source again adds nothing.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Any

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.jsonl_rows import Problem, RawBlock, RawTurn, TranscriptItem
from clsm_cli.model.clocks import seconds
from clsm_cli.model.codec import Record, encode
from clsm_cli.model.episodes import (
    ROLE_TRUST,
    TRUST_ROLE,
    Episode,
    EpisodeRecord,
    ToolCall,
    Turn,
)
from clsm_cli.model.graph import Node
from clsm_cli.model.ids import digest, turn_key
from clsm_cli.model.tombstones import episode_ids, first_free
from clsm_cli.model.trust import Trust
from clsm_cli.store.jsonlines import strings
from clsm_cli.text import secrets
from clsm_cli.text.terminal import replace_lone


@dataclass(slots=True)
class Masker:
    """Masks secrets and counts them by kind, before anything is written."""

    counts: Counter[str] = field(default_factory=Counter)
    _names: dict[str, str] = field(default_factory=dict)

    def __call__(self, text: str) -> str:
        """``text`` cleaned and without secrets."""
        return masked_text(clean(text), self)

    def name(self, name: str) -> str:
        """A name or an id without secrets; a digest keeps masked ones distinct."""
        known = self._names.get(name)
        if known is None:
            masked = secrets.mask_name(name)
            self.counts.update(masked.counts)
            known = name if masked.text == name else f"{masked.text} {digest('name', name)}"
            self._names[name] = known
        return known

    def mask_names(self, item: TranscriptItem) -> TranscriptItem:
        """An item of a transcript without secrets in its names and ids."""
        if isinstance(item, Problem) or item.session is None:
            return item
        session = self.name(item.session)
        if not isinstance(item, RawTurn):
            return item if session == item.session else replace(item, session=session)
        return replace(
            item,
            session=session,
            speaker=self.name(item.speaker),
            foreign_id=item.foreign_id and self.name(item.foreign_id),
            tool=item.tool and replace(item.tool, name=self.name(item.tool.name)),
        )


def clean(text: str) -> str:
    r"""Newlines as ``\n``, no NUL, no lone surrogate, no blank ends; at most 1 MiB."""
    text = text.replace("\r\n", "\n").replace("\0", "")
    text = replace_lone(text).strip("\n").rstrip()
    data = text.encode()
    if len(data) > MAX_MESSAGE:
        text = data[:MAX_MESSAGE].decode("utf-8", "ignore").rstrip()
    return text


def turn_from_message(raw: RawTurn, path: str, mask: Masker, origin: str = "") -> Turn:
    """The turn of a message; its key has ordinal 0 (see ``with_ordinal``)."""
    text = mask(raw.text)
    tool = raw.tool
    if tool is not None and tool.input is not None:
        tool = ToolCall(tool.name, mask(tool.input), tool.error)
    speaker = clean(raw.speaker)
    return Turn(
        key=turn_key(raw.session, speaker, raw.time, text),
        speaker=speaker,
        role=raw.role,
        text=text,
        time=raw.time,
        path=path,
        line_start=raw.line_start,
        line_end=raw.line_end,
        foreign_id=raw.foreign_id,
        trust=raw.trust or ROLE_TRUST[raw.role],
        tool=tool,
        origin="" if os.path.isabs(path) or raw.session == origin else origin,
    )


def turn_from_block(raw: RawBlock, origin: str, path: str, trust: Trust, mask: Masker) -> Turn:
    """The turn of a block of a document; its key has ordinal 0 (see ``with_ordinal``)."""
    lines = raw.line_start, raw.line_end
    message = RawTurn(origin, "", TRUST_ROLE[trust], raw.text, raw.time, *lines, trust=trust)
    turn = turn_from_message(message, path, mask, origin)
    return replace(turn, heading=tuple(map(mask, raw.heading)))


def make_episode(
    turns: Sequence[Turn], session: str, zone: tzinfo, forgotten: frozenset[str], **facts: Any
) -> Episode:
    """The episode of some turns, with its id, start and end; ``facts`` are its other fields."""
    times = sorted((t.time for t in turns if t.time), key=lambda time: seconds(time, zone))
    return Episode(
        id=first_free(episode_ids(turns[0].key), forgotten),
        session=session,
        turns=tuple(turns),
        start=times[0] if times else None,
        end=times[-1] if times else None,
        **facts,
    )


def without_dumps(episode: Episode) -> Episode:
    """An episode for description and learning: its turns without their dumps."""
    from clsm_cli.text import dumps

    turns = (replace(turn, text=dumps.without_dumps(turn.text)) for turn in episode.turns)
    return replace(episode, turns=tuple(turns))


def has_exact_time(turn: Turn) -> bool:
    """Whether its time is an instant, so that its key needs no ordinal."""
    return turn.time is not None and "T" in turn.time


def with_ordinal(turn: Turn, session: str, ordinal: int) -> Turn:
    """The turn as the ``ordinal``-th of equal turns in the session."""
    key = turn_key(session, turn.speaker, turn.time, turn.text, ordinal)
    return replace(turn, key=key)


_MAX_ORDINALS = 64  # equal turns without an exact time that a conversation can distinguish


def ordinal_of(turn: Turn, session: str) -> int | None:
    """The ordinal of a turn among its equals in the session; None if its key is not that of its text.

    >>> turn = Turn(turn_key("main", "Mara", None, "Hi.", 2), "Mara", "user", "Hi.")
    >>> ordinal_of(turn, "main"), ordinal_of(turn, "other")
    (2, None)
    """
    parts = (session, turn.speaker, turn.time, turn.text)
    count = 1 if has_exact_time(turn) else _MAX_ORDINALS
    return next((n for n in range(count) if turn_key(*parts, n) == turn.key), None)


def masked_text(text: str, mask: Masker) -> str:
    """A stored text without secrets: it is already clean, and may be a whole file."""
    made = secrets.mask(text)
    mask.counts.update(made.counts)
    return made.text


def own_texts(record: Record) -> Iterator[str]:
    """The strings of a record in which a secret may stand that none of its turns shows.

    The rest of nodes and records of episodes only repeats words of turns, out of their context, where any
    may look like a code.
    """
    if isinstance(record, Node):
        yield from (record.label, *record.aliases)
    elif not isinstance(record, EpisodeRecord):
        yield from strings(encode(record))


def masked_turn(turn: Turn, session: str, mask: Masker) -> tuple[Turn, str]:
    """The turn and its conversation (of a block: the origin of its document) without secrets."""
    tool = turn.tool
    if tool is not None:
        masked_input = None if tool.input is None else masked_text(tool.input, mask)
        tool = replace(tool, name=mask.name(tool.name), input=masked_input)
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
    return with_ordinal(made, name, ordinal_of(turn, session) or 0), name
