"""Select the lines of a briefing: none repeats another line, or a file that is read anyway."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clsm_cli.retrieval.briefing_items import NEED, RankedItem
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import sameness
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import stems

MOST = 400
"""Lines that are kept, at most: nobody reads more at the start of a session."""
LIKE = 0.8
"""Share of an older line's words from which a line of a later day replaces it."""


class Said(NamedTuple):
    """The content of a line: its search terms, and whether it is negated."""

    words: frozenset[str]
    denies: bool

    def covers(self, other: Said) -> bool:
        """Whether it has every term and number of another line, and the same negation.

        >>> said("The rent of the hall is 450 euros.").covers(said("Rent: 450 euros"))
        True
        >>> said("The rent of the hall is 450 euros.").covers(said("Rent of the hall: 520 euros"))
        False
        >>> said("Bills go to Rolf.").covers(said("Bills no longer go to Rolf."))
        False
        """
        return self.denies == other.denies and other.words <= self.words

    def is_like(self, other: Said) -> bool:
        """Whether it has nearly all terms of another line."""
        return len(self.words & other.words) >= LIKE * len(other.words)


def said(text: str, about: str = "") -> Said:
    """The content of a line, under its headings."""
    return Said(frozenset(stems(to_plain(text))), sameness.is_negated(f"{about}: {text}"))


def best_lines(found: Sequence[RankedItem], read: Iterable[Said]) -> list[RankedItem]:
    """The best lines, without repeats and without older values.

    Args:
        read: Content of the files that the agent reads anyway.
    """
    last = max((line.item.told_on for line in found), default="")
    known = list(read)
    kept: list[tuple[Said, RankedItem]] = []
    for line in sorted(found, key=lambda line: (-_need(line, last), -line.rule, line.item.id)):
        told = said(line.item.text, line.item.about)
        if all(any(each.covers(part) for each in known) for part in _parts(line, told)):
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
    """The parts of a line: the sentences of a summary, which are quoted from elsewhere, or the line itself."""
    is_summary = line.item.kind in ("person", "project")
    return [said(each) for each in sentences(line.item.text)] if is_summary else [told]


def _is_under(line: RankedItem, other: RankedItem) -> bool:
    """Whether a line repeats another one under more headings."""
    return line.item.text.endswith(f" › {other.item.text}")


def _replaces(new: tuple[Said, RankedItem], old: tuple[Said, RankedItem]) -> bool:
    """Whether a line says of a later day what another one says with another value; of tasks each is one."""
    (told, line), (before, other) = new, old
    is_task = "task" in (line.item.kind, other.item.kind)
    is_later = line.item.told_on > other.item.told_on != ""
    return is_later and not is_task and told.is_like(before)


def _need(line: RankedItem, last: str) -> float:
    """Worth of a line on the last day with any line; a due one as such, and 0 if it is over and nothing else."""
    if last and (line.item.due or "") >= last:
        return line.worth_of_due(last) * NEED["due"]
    is_over = last and line.section == "due"
    return 0.0 if is_over else line.worth_on(last) * NEED.get(line.section, 1.0)
