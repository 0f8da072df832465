"""What came out of one conversation: its decisions, its open questions, and what is known by it.

For the moment at which an agent's program compacts the conversation and drops most of it. Turns that
were captured a second ago count: nothing here needs a model or a night.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.ingestion import describe
from clsm_cli.model.episodes import Turn
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.retrieval.briefing import SessionDigest, make_item
from clsm_cli.store.index import session_queries, source_locations
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.retrieval.briefing import Item
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store


def digest_session(store: Store, session: str) -> SessionDigest:
    """Decisions, then questions that nobody answered, then current statements; each in order of time.

    What tools and pages said is left out.

    Args:
        store: Only read.
        session: Id of the conversation.
    """
    with open_index(store, None) as opened:
        index = opened.index
        rows = session_queries.session_rows(index.connection, [session]) - index.hidden()
        passages = index.passages(sorted(rows)).values()
        said = sorted(
            {each.id: each for each in passages if each.trust not in UNTRUSTED}.values(),
            key=lambda each: (each.time or "", each.line_start, each.part),
        )
        known = session_queries.statements_of_session(index.connection, session)
        stated = index.passages([row for row in known if row not in index.hidden()]).values()
        items = (
            *_told(index, said, store),
            *(_item(index, each, each.kind, each.text) for each in stated),
        )
    none = f"no turn of a conversation {session!r} is known; see: clsm recall --json, session"
    return SessionDigest(items, () if said else (none,))


def _told(index: Index, said: list[Passage], store: Store) -> Iterator[Item]:
    """Decisions, then open questions, each at the turn that holds it."""
    turns = [
        Turn(key=p.key, speaker=p.speaker, role="user", text=p.text, time=p.time) for p in said
    ]
    for passage, turn in zip(said, turns, strict=True):
        for text in describe.decisions([turn], store.zone):
            yield _item(index, passage, "decision", text)
    unanswered = {q.text for q in describe.open_questions(turns) if q.answered_by is None}
    for passage, turn in zip(said, turns, strict=True):
        for question in describe.open_questions([turn]):
            if question.text in unanswered:
                yield _item(index, passage, "question", question.text)


def _item(index: Index, passage: Passage, kind: str, text: str) -> Item:
    place = source_locations.locate(index, passage)
    return make_item(
        passage.id,
        kind,
        text,
        stream=passage.stream,
        trust=passage.trust,
        time=passage.time,
        path=passage.session if passage.path == "-" else passage.path,
        line=passage.line_start,
        about=passage.speaker,
        file=place.file if place else "",
        file_line=place.line if place else 0,
    )
