"""Which lines a briefing keeps: each says something that no other line and no file that is read anyway does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.retrieval.briefing_items import NEED
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import sameness
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.retrieval.briefing_items import RankedItem

MOST = 400
"""Lines that are kept: nobody reads more at the start of a session."""
LABEL = 40
"""Characters before a colon that are a label at most."""
LIKE = 0.8
"""Share of the words of a line from which one of a later day takes its place, whatever else that says."""


class Said(NamedTuple):
    """What a line says, as far as its words tell: those that say what it is about, and whether it denies."""

    words: frozenset[str]
    denies: bool

    def covers(self, other: Said) -> bool:
        """Whether it leaves nothing of another line unsaid, neither a word nor a number, and does not deny it.

        >>> said("The rent of the hall is 450 euros.").covers(said("Rent: 450 euros"))
        True
        >>> said("The rent of the hall is 450 euros.").covers(said("Rent of the hall: 520 euros"))
        False
        >>> said("Bills go to Rolf.").covers(said("Bills no longer go to Rolf."))
        False
        """
        return self.denies == other.denies and other.words <= self.words

    def is_like(self, other: Said) -> bool:
        """Whether it has nearly all words of another line."""
        return len(self.words & other.words) >= LIKE * len(other.words)


def said(text: str, about: str = "") -> Said:
    """Read a line, and what it stands under."""
    return Said(frozenset(stems(to_plain(text))), sameness.denies(f"{about}: {text}"))


def best_lines(found: Sequence[RankedItem], read: Iterable[Said]) -> list[RankedItem]:
    """The best lines: one of those that say the same, and the newest of a label or with other values.

    Args:
        read: What the agent reads anyway.
    """
    newest: dict[tuple[str, str], str] = {}
    for line in found:
        topic = _topic(line)
        newest[topic] = max(newest.get(topic, ""), _day(line))
    last = max(newest.values(), default="")
    known = list(read)
    kept: list[tuple[Said, RankedItem]] = []
    for line in sorted(found, key=lambda line: (-_need(line, last), line.item.id)):
        told = said(line.item.text, line.item.about)
        is_old = _topic(line)[1] != "" and _day(line) < newest[_topic(line)]
        if is_old or all(any(each.covers(part) for each in known) for part in _parts(line, told)):
            continue
        if any(_replaces(other, (told, line)) or _is_under(line, other[1]) for other in kept):
            continue
        kept = [other for other in kept if not _replaces((told, line), other)]
        kept.append((told, line))
        known.append(told)
        if len(kept) == MOST:
            break
    return [line for _, line in kept]


def _parts(line: RankedItem, told: Said) -> list[Said]:
    """What a line says that can be told apart: a summary is made of sentences that stand elsewhere."""
    is_summary = line.item.kind in ("person", "project")
    return [said(each) for each in sentences(line.item.text)] if is_summary else [told]


def _is_under(line: RankedItem, other: RankedItem) -> bool:
    """Whether a line says what another one does, under more headings."""
    return line.item.text.endswith(f" › {other.item.text}")


def _replaces(new: tuple[Said, RankedItem], old: tuple[Said, RankedItem]) -> bool:
    """Whether a line says of a later day what another one says with another value; of tasks each is one."""
    (told, line), (before, other) = new, old
    is_task = "task" in (line.item.kind, other.item.kind)
    return _day(other) != "" and _day(line) > _day(other) and not is_task and told.is_like(before)


def _need(line: RankedItem, last: str) -> float:
    """What a line is worth on the last day that anything was said; what is due then, as such."""
    section = "due" if (line.item.due or "") >= last else line.section
    return line.worth_on(last) * NEED.get(section, 1.0)


def _day(line: RankedItem) -> str:
    return (line.item.time or "")[:10]


def _topic(line: RankedItem) -> tuple[str, str]:
    """The heading and label of a line, as ``Mail › Open`` in the notes of many days."""
    label, colon, _ = line.item.text.partition(": ")
    is_label = colon and len(label) <= LABEL and line.item.kind != "task"
    return line.item.about, label if is_label else ""
