"""What came out of one conversation: its decisions, its open questions, and what is known by it.

For the moment at which an agent's program compacts the conversation and drops most of it. Turns that
were captured a second ago count: nothing here needs a model or a night.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.ingestion import describe
from clsm_cli.model.episodes import Turn
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import session_queries, source_locations
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store


class Outcome(NamedTuple):
    """A sentence that came out of a conversation.

    Attributes:
        kind: decision, question, or the kind of a statement.
        passage: The turn or statement that holds it.
        file: Absolute path of what can be opened; ``line`` in it.
    """

    kind: str
    text: str
    passage: Passage
    file: str
    line: int


def digest_session(store: Store, session: str) -> tuple[Outcome, ...]:
    """Decisions, then questions that nobody answered, then current statements; each in order of time.

    What tools and pages said is left out.
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
        return (
            *_told(index, said, store),
            *(_outcome(index, each, each.kind, each.text) for each in stated),
        )


def _told(index: Index, said: list[Passage], store: Store) -> Iterator[Outcome]:
    """Decisions, then open questions, each at the turn that holds it."""
    turns = [
        Turn(key=p.key, speaker=p.speaker, role="user", text=p.text, time=p.time) for p in said
    ]
    for passage, turn in zip(said, turns, strict=True):
        for text in describe.decisions([turn], store.zone):
            yield _outcome(index, passage, "decision", text)
    unanswered = {q.text for q in describe.open_questions(turns) if q.answered_by is None}
    for passage, turn in zip(said, turns, strict=True):
        for question in describe.open_questions([turn]):
            if question.text in unanswered:
                yield _outcome(index, passage, "question", question.text)


def _outcome(index: Index, passage: Passage, kind: str, text: str) -> Outcome:
    place = source_locations.locate(index, passage)
    file, line = (place.file, place.line) if place else ("", 0)
    return Outcome(kind, text, passage, file, line)
