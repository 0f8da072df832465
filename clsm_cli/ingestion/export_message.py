"""What the messages of exported conversations have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.items import Dropped, RawTurn
from clsm_cli.ingestion.noise import is_clsm_tool, machine_talk, runs_clsm
from clsm_cli.ingestion.openclaw import tool_call, trust_of_tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.ingestion.items import TranscriptItem
    from clsm_cli.ingestion.rows import Tally
    from clsm_cli.model.episodes import Role

LEFT_BRANCH = "message of another branch"
NO_TEXT = "part that is not text"


@dataclass(frozen=True, slots=True)
class Message:
    """Where a message stands: what it said is told with each of its turns."""

    session: str
    number: int
    id: str | None
    time: str | None
    tally: Tally

    def spoken(self, role: Role, text: str) -> TranscriptItem:
        """What a person, the agent or the system said."""
        text = text.strip("\n").rstrip()
        reason = machine_talk(role, text) or ("" if text.strip() else NO_TEXT)
        return Dropped(reason, self.number) if reason else self._turn(role, role, text, self.id)

    def called(self, tool: str, text: str, part: str | None) -> TranscriptItem:
        """What a tool was asked for."""
        if is_clsm_tool(tool) or runs_clsm(text):
            return Dropped("clsm call", self.number)
        return self._turn(tool, "tool", text, part, given=text)

    def returned(
        self, tool: str, text: str, part: str | None, *, error: bool = False
    ) -> TranscriptItem:
        """What a tool said."""
        if is_clsm_tool(tool):
            return Dropped("clsm result", self.number)
        if not text.strip():
            return Dropped(NO_TEXT, self.number)
        return self._turn(tool, "tool", text.strip("\n").rstrip(), part, error=error)

    def _turn(
        self,
        speaker: str,
        role: Role,
        text: str,
        turn_id: str | None,
        *,
        given: str | None = None,
        error: bool = False,
    ) -> RawTurn:
        if len(text.encode(errors="replace")) > MAX_MESSAGE:
            self.tally.add(f"longer than {MAX_MESSAGE >> 20} MiB, its beginning kept", self.number)
        is_result = role == "tool" and given is None
        return RawTurn(
            session=self.session,
            speaker=speaker,
            role=role,
            text=text,
            time=self.time,
            line_start=self.number,
            line_end=self.number,
            foreign_id=turn_id,
            tool=tool_call(speaker, given, error=error) if role == "tool" else None,
            trust=trust_of_tool(speaker) if is_result else None,
        )


def branch(parents: Mapping[str, str | None], leaf: str) -> list[str]:
    """The ids from the root of a tree to a leaf; a ring ends where it closes.

    >>> branch({"a": None, "b": "a", "c": "a", "d": "c"}, "d")
    ['a', 'c', 'd']
    """
    path: dict[str, None] = {}
    place: str | None = leaf
    while place is not None and place in parents and place not in path:
        path[place] = None
        place = parents[place]
    return list(path)[::-1]
