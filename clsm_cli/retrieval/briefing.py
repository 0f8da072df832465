"""What an agent reads when a session starts: who, what was going on, the last day, tasks and rules.

What depends on neither the time nor a query is read from one file (``store.briefing``), which is
made again when the store has changed; so a hook may ask before every turn. Nothing is touched.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from clsm_cli.model.ids import digest
from clsm_cli.records import NamedTuple
from clsm_cli.retrieval.briefing_share import SECTIONS, share_out
from clsm_cli.store import briefing as store_briefing
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from clsm_cli.retrieval.answer import Budget
    from clsm_cli.store.briefing import OpenTurn
    from clsm_cli.store.layout import Store

SCHEMA = "clsm.context/1"
OPEN_TURNS = 6
"""Last turns of a conversation that is still open."""
LONGEST = 500
"""Characters of such a turn that are shown: a page that was pasted in is found by recall."""
DAY = 86_400
FELT = 0.2
"""Valence from which a mood has a name."""


class Item(NamedTuple):
    """One thing to read.

    Attributes:
        kind: A statement's kind, or block, episode, narrative, mood, question, turn, concept.
        tokens: Estimated word pieces of ``text``.
        time: When it was said or became true, as it is written.
        path: The topic file of the store, or the ingested file as it was given; ``line`` from 1.
        state: Of tasks, open or blocked; ``due`` is a bare date.
        is_dated: Whether its words count from ``time``: "I see the dentist tomorrow".
    """

    id: str
    kind: str
    text: str
    stream: str
    trust: str
    tokens: int
    time: str | None = None
    path: str = ""
    line: int = 0
    state: str | None = None
    due: str | None = None
    is_dated: bool = False


class Past(NamedTuple):
    """An episode, in seconds since 1970.

    Attributes:
        at: Its place in time, see ``briefing_contents``.
        whole: Title and narrative as one item.
        details: The same apart, with its mood, open questions and decisions between them.
    """

    start: int
    end: int
    at: int
    whole: Item
    details: tuple[Item, ...]


class Contents(NamedTuple):
    """What depends on neither the time nor a query, best first; episodes newest first."""

    identity: tuple[Item, ...] = ()
    rules: tuple[Item, ...] = ()
    tasks: tuple[Item, ...] = ()
    episodes: tuple[Past, ...] = ()
    warnings: tuple[str, ...] = ()


class Section(NamedTuple):
    """Part of a briefing; ``share`` is its part of the budget before others left something."""

    name: str
    share: int
    items: tuple[Item, ...]


class Briefing(NamedTuple):
    """What there is to read, in the order of ``briefing_share.SECTIONS``."""

    context_id: str
    now: str
    query: str | None
    sections: tuple[Section, ...]
    budget: Budget
    warnings: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not any(section.items for section in self.sections)


class Concepts(NamedTuple):
    """What a query activates, and remarks about the recall."""

    items: tuple[Item, ...] = ()
    warnings: tuple[str, ...] = ()


def item(record_id: str, kind: str, text: str, *, stream: str, trust: str, **more: Any) -> Item:
    """An item with its size."""
    size = tokens.count_tokens(text)
    return Item(record_id, kind, text, stream, trust, size, **more)


def mood(valence: float) -> str:
    """A valence from −1 to 1 in words.

    >>> mood(0.43), mood(-0.1)
    ('Mood: pleasant (+0.43)', 'Mood: even (-0.10)')
    """
    word = "pleasant" if valence >= FELT else "unpleasant" if valence <= -FELT else "even"
    return f"Mood: {word} ({valence:+.2f})"


def brief(
    store: Store,
    now: datetime,
    limit: int,
    unit: str = "tokens",
    *,
    query: str | None = None,
    concepts: Callable[[], Concepts] = Concepts,
) -> Briefing:
    """What to read at this time, within a budget.

    Args:
        store: Of which memory.
        now: The last day ends here.
        limit: What the items may have together, in ``unit`` (tokens or characters).
        unit: tokens or characters.
        query: What the session is about.
        concepts: What that activates; asked after the store's own part is read.
    """
    contents = prepare(store)
    if any(past.start > now.timestamp() for past in contents.episodes):
        from clsm_cli.retrieval.briefing_contents import collect

        contents = contents._replace(episodes=collect(store, now).episodes)
    activated = concepts()
    sections = {
        "identity": contents.identity,
        "tasks": contents.tasks,
        "rules": contents.rules,
        "concepts": activated.items,
        **_lately(store, contents.episodes, int(now.timestamp())),
    }
    shares, kept, budget = share_out(sections, limit, unit)
    found = Briefing(
        context_id="",
        now=now.isoformat(),
        query=query,
        sections=tuple(
            Section(name, shares.get(name, 0), _as_read(kept.get(name, ()))) for name in SECTIONS
        ),
        budget=budget,
        warnings=(*contents.warnings, *activated.warnings),
    )
    return found._replace(context_id=f"c-{digest(json.dumps(found, ensure_ascii=False))}")


def _as_read(items: Sequence[Item]) -> tuple[Item, ...]:
    """In reading order: of an open conversation the newest turn is the best, and the last."""
    is_talk = items and items[0].kind == "turn"
    return tuple(reversed(items)) if is_talk else tuple(items)


def prepare(store: Store) -> Contents:
    """The contents as the store is now; kept in a file for the next one who asks.

    While a run is at work they are those of before it, as the answers of a recall are.
    """
    wanted = store_briefing.signature(store)
    found = _contents_from(store_briefing.fetch(store, wanted))
    if found is not None:
        return found
    from clsm_cli.retrieval.briefing_contents import collect
    from clsm_cli.store.index.publishing import is_at_work

    if is_at_work(store):
        return _contents_from(store_briefing.fetch(store, None)) or collect(store)
    found = collect(store)
    store_briefing.keep(store, wanted, found._asdict())
    return found


def _contents_from(kept: dict[str, Any] | None) -> Contents | None:
    """Contents that went through JSON; None if they are none."""
    if kept is None:
        return None
    try:
        return Contents(
            identity=_items(kept["identity"]),
            rules=_items(kept["rules"]),
            tasks=_items(kept["tasks"]),
            episodes=tuple(
                Past(start, end, at, Item(*whole), _items(details))
                for start, end, at, whole, details in kept["episodes"]
            ),
            warnings=tuple(kept["warnings"]),
        )
    except (LookupError, TypeError, ValueError):
        return None


def _items(rows: Iterable[Sequence[Any]]) -> tuple[Item, ...]:
    return tuple(Item(*row) for row in rows)


def _lately(store: Store, episodes: Sequence[Past], moment: int) -> dict[str, list[Item]]:
    """The sections ``now``, the last episode or open conversation, and ``day``, the rest."""
    begun = [past for past in episodes if past.start <= moment]
    talks = [(time, turns) for time, turns in _open(store) if time <= moment]
    last = max(begun, key=lambda past: past.at, default=None)
    newest = max(talks, key=lambda talk: talk[0], default=None)
    if newest is not None and (last is None or newest[0] >= last.at):
        last = None
        talks.remove(newest)
        here = [*(_of_turn(turn) for turn in reversed(newest[1])), _mood_of(newest[1])]
    else:
        here = list(last.details) if last is not None else []
    past = [(each.at, [each.whole]) for each in begun if each != last and each.end > moment - DAY]
    past += [(time, [_of_turn(t) for t in turns]) for time, turns in talks if time > moment - DAY]
    past.sort(key=lambda part: (-part[0], part[1][0].id))
    return {"now": here, "day": [each for _, items in past for each in items]}


def _open(store: Store) -> list[tuple[int, list[OpenTurn]]]:
    """Open conversations with the time of their last turn, in seconds since 1970."""
    found = []
    for turns in store_briefing.open_turns(store, OPEN_TURNS):
        last = turns[-1]
        try:
            moment = datetime.fromisoformat(last.time or last.at)
        except ValueError:
            continue
        moment = moment if moment.tzinfo else moment.replace(tzinfo=store.zone)
        found.append((int(moment.timestamp()), turns))
    return found


def _mood_of(turns: Sequence[OpenTurn]) -> Item:
    """The mean over the turns in which any feeling shows, as in an episode's record."""
    from clsm_cli.text.affect import valence

    felt = [v for v in (valence(turn.text[:LONGEST]) for turn in turns) if v]
    text = mood(sum(felt) / len(felt) if felt else 0.0)
    return _of_turn(turns[-1])._replace(kind="mood", text=text, tokens=tokens.count_tokens(text))


def _of_turn(turn: OpenTurn) -> Item:
    text = turn.text if len(turn.text) <= LONGEST else f"{turn.text[:LONGEST].rstrip()} …"
    text = f"{turn.speaker}: {text}" if turn.speaker else text
    return item(
        turn.key,
        "turn",
        text,
        stream="flow",
        trust=turn.trust,
        time=turn.time,
        path=turn.session if turn.path == "-" else turn.path,
        line=turn.line,
    )
