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


class LineContent(NamedTuple):
    """The content of a line: its search terms, and whether it is negated."""

    words: frozenset[str]
    denies: bool

    def covers(self, other: LineContent) -> bool:
        """Whether it has every term and number of another line, and the same negation.

        >>> line_content("The rent of the hall is 450 euros.").covers(line_content("Rent: 450 euros"))
        True
        >>> line_content("The rent of the hall is 450 euros.").covers(line_content("Rent of the hall: 520 euros"))
        False
        >>> line_content("Bills go to Rolf.").covers(line_content("Bills no longer go to Rolf."))
        False
        """
        return self.denies == other.denies and other.words <= self.words

    def is_like(self, other: LineContent) -> bool:
        """Whether it has nearly all terms of another line."""
        return len(self.words & other.words) >= LIKE * len(other.words)


def line_content(text: str, about: str = "") -> LineContent:
    """The content of a line, under its headings."""
    return LineContent(frozenset(stems(to_plain(text))), sameness.is_negated(f"{about}: {text}"))


def best_lines(lines: Sequence[RankedItem], read: Iterable[LineContent]) -> list[RankedItem]:
    """The best lines, without repeats and without older values.

    Args:
        read: Content of the files that the agent reads anyway.
    """
    last = max((line.item.told_on for line in lines), default="")
    covered = list(read)
    kept: list[tuple[LineContent, RankedItem]] = []
    for line in sorted(lines, key=lambda line: (-_need(line, last), -line.rule, line.item.id)):
        content = line_content(line.item.text, line.item.about)
        if all(any(earlier.covers(part) for earlier in covered) for part in _parts(line, content)):
            continue
        if any(_replaces(other, (content, line)) or _is_under(line, other[1]) for other in kept):
            continue
        kept = [other for other in kept if not _replaces((content, line), other)]
        kept.append((content, line))
        covered.append(content)
        if len(kept) == MOST:
            break
    return [line for _, line in kept]


def _parts(line: RankedItem, content: LineContent) -> list[LineContent]:
    """The parts of a line: the sentences of a summary, which are quoted from elsewhere, or the line itself."""
    is_summary = line.item.kind in ("person", "project")
    return (
        [line_content(sentence) for sentence in sentences(line.item.text)]
        if is_summary
        else [content]
    )


def _is_under(line: RankedItem, other: RankedItem) -> bool:
    """Whether a line repeats another one under more headings."""
    return line.item.text.endswith(f" › {other.item.text}")


def _replaces(new: tuple[LineContent, RankedItem], old: tuple[LineContent, RankedItem]) -> bool:
    """Whether a line says of a later day what another one says with another value; of tasks each is one."""
    (content, line), (old_content, other) = new, old
    is_task = "task" in (line.item.kind, other.item.kind)
    is_later = line.item.told_on > other.item.told_on != ""
    return is_later and not is_task and content.is_like(old_content)


def _need(line: RankedItem, last: str) -> float:
    """Worth of a line on the last day with any line; a due one as such, and 0 if it is over and nothing else."""
    if last and (line.item.due or "") >= last:
        return line.worth_of_due(last) * NEED["due"]
    is_over = last and line.section == "due"
    return 0.0 if is_over else line.worth_on(last) * NEED.get(line.section, 1.0)
