"""Any split of the same input gives the same turns, episodes and records (design §4, Ingest).

What may differ is where a turn was read (``path``, lines), ``rev``, and when it was recorded.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from conversations import Event, conversations, generic, header, openclaw
from hypothesis import event, given, note
from hypothesis import strategies as st
from ingesting import new_store, same, scratch, state_of, take
from strategies import examples

from clsm_cli.store.layout import Store


@dataclass
class Stream:
    """Rows that go into one file when they are ingested at once."""

    name: str
    session: str | None
    """For ``--session``, where the rows do not name it."""
    head: bytes
    rows: list[bytes]
    untimed: list[tuple[str, str, str] | None]
    """Session, speaker and text of the rows that have no exact time."""
    turns: list[bool]
    """Which rows are turns (a piece without any is not read again: its marks have no place)."""

    @property
    def has_untimed(self) -> bool:
        return any(self.untimed)


def streams_of(events: list[Event], kind: str) -> list[Stream]:
    """One stream for all sessions where the rows name theirs, else one a session."""
    groups = {"": events}
    if kind != "session field":
        groups = {name: [] for name in dict.fromkeys(each.session for each in events)}
        for each in events:
            groups[each.session].append(each)
    found = []
    for number, (session, members) in enumerate(groups.items()):
        stream = Stream(f"s{number}", session or None, b"", [], [], [])
        if kind == "openclaw":
            stream.head = header(session)
        for each in members:
            rows = (
                openclaw(each)
                if kind == "openclaw"
                else generic(each, with_session=kind == "session field")
            )
            stream.rows += rows
            mark = (each.session, each.speaker, each.text) if each.is_untimed else None
            stream.untimed += [mark] * len(rows)
            stream.turns += [each.kind in {"said", "tool"}] * len(rows)
        found.append(stream)
    return found


@dataclass
class Splitter:
    """Brings the rows of streams into a store in pieces that ``data`` chooses."""

    store: Store
    folder: Path
    data: st.DataObject
    piped: dict[tuple[str, int], tuple[str, str, str]] = field(default_factory=dict)
    """What stands where in what came last by standard input, of turns without exact time."""

    def run(self, streams: list[Stream]) -> None:
        draw = self.data.draw
        pieces = [piece for stream in streams for piece in self.cut(stream)]
        if draw(st.booleans()):  # sessions take turns, each in its order
            pieces.sort(key=lambda piece: piece[3])
        for number, piece in enumerate(pieces):
            self.ingest(*piece, number)
        for stream in streams:
            whole = self.folder / f"{stream.name}.jsonl"
            if not stream.has_untimed or whole.exists():
                whole.write_bytes(stream.head + b"".join(stream.rows))
                take(self.store, whole, session=stream.session)
        (self.folder / "nothing.jsonl").write_bytes(b"")
        take(self.store, self.folder / "nothing.jsonl")  # what was only captured is segmented

    def cut(self, stream: Stream) -> list[tuple[Stream, str, int, int]]:
        """Pieces of a stream, each with its route, first row and end; they may overlap."""
        draw = self.data.draw
        routes = ["grow", "file", "stdin"]
        if stream.has_untimed:
            routes = draw(st.sampled_from([["grow"], ["file", "stdin"]]))
        cuts = draw(st.sets(st.integers(1, len(stream.rows)), max_size=5))
        ends = sorted(cuts | {len(stream.rows)})
        found = []
        for start, end in zip([0, *ends], ends, strict=False):
            route = draw(st.sampled_from(routes))
            overlap = 0 if stream.has_untimed else draw(st.integers(0, 4))
            first = 0 if route == "grow" else max(0, start - overlap)
            found.append((stream, route, first, end))
        return found

    def ingest(self, stream: Stream, route: str, start: int, end: int, number: int) -> None:
        """One piece, once or twice."""
        draw = self.data.draw
        again = draw(st.booleans()) and any(stream.turns[start:end])
        head = stream.head if start == 0 or draw(st.booleans()) else b""
        if route == "stdin" and self.is_ambiguous(stream, start, end, has_head=bool(head)):
            route = "file"
        name = stream.name if route == "grow" else f"{stream.name}-{number}"
        for _ in range(1 + again):
            self.piece(stream, route, name, head + b"".join(stream.rows[start:end]))

    def piece(self, stream: Stream, route: str, name: str, content: bytes) -> None:
        capture_only = self.data.draw(st.booleans())
        said = f"{route}{' --capture' if capture_only else ''}"
        event(said)
        note(f"{name} {said} {len(content.splitlines())} rows")
        path = self.folder / f"{name}.jsonl"
        if route != "stdin":
            path.write_bytes(content)
        take(
            self.store,
            *([] if route == "stdin" else [path]),
            stdin=content if route == "stdin" else None,
            session=stream.session,
            capture_only=capture_only,
        )

    def is_ambiguous(self, stream: Stream, start: int, end: int, *, has_head: bool) -> bool:
        """Whether an untimed turn would stand where the same words stood in the input before.

        Standard input has no other name to tell them apart by: the documented limit of ``capture``.
        """
        at = {
            (mark[0], line): mark
            for line, mark in enumerate(stream.untimed[start:end], 1 + has_head)
            if mark
        }
        if any(self.piped.get(place) == mark for place, mark in at.items()):
            return True
        self.piped |= at
        return False


@examples(200)
@given(
    conversations(most=int(os.environ.get("CLSM_TURNS", "60"))),
    st.sampled_from(["session field", "--session", "openclaw"]),
    st.data(),
)
def test_any_split_gives_the_same(events: list[Event], kind: str, data: st.DataObject) -> None:
    event(kind)
    streams = streams_of(events, kind)
    with scratch() as folder:
        once, split = new_store(folder / "once"), new_store(folder / "split")
        (folder / "whole").mkdir()
        (folder / "pieces").mkdir()
        for stream in streams:
            path = folder / "whole" / f"{stream.name}.jsonl"
            path.write_bytes(stream.head + b"".join(stream.rows))
            take(once, path, session=stream.session)
        Splitter(split, folder / "pieces", data).run(streams)
        same(state_of(split), state_of(once))
