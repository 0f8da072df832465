"""Select the lines of a briefing: none repeats another line, or a file that is read anyway.

A day ahead is perhaps no longer right if something later names another day for the same. Few of the
sentences that move an appointment are worth keeping as statements, so the night does not compare
them; a reminder of a day that was moved does harm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice

from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.heads import pair_head
from clsm_cli.retrieval.briefing_items import NEED, BriefingItem, RankedItem
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import sameness
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.time import expressions
from clsm_cli.text.time.expressions import TimeExpression
from clsm_cli.text.tokens import stems

MOST = 400
"""Lines that are kept, at most: nobody reads more at the start of a session."""
LIKE = 0.8
"""Share of an older line's words from which a line of a later day replaces it."""
SHARED = 2
"""Content words besides those of time that two lines about one thing share, at least."""
MOST_COMPARED = 4
"""Later lines that are compared with one that is due, at most: those that share the most."""
_ASKED = "When?"


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
    line = line.on(last)
    if last and (line.item.due or "") >= last:
        return line.worth_of_due(last) * NEED["due"]
    is_over = last and line.section == "due"
    return 0.0 if is_over else line.worth_on(last) * NEED.get(line.section, 1.0)


def with_doubts(lines: Sequence[RankedItem]) -> list[RankedItem]:
    """The lines; one that is due is worth less and marked where a later one probably moved it.

    Without the model, they stay as they are.
    """
    last = max((line.item.told_on for line in lines), default="")
    words = [(pair_head.content(pair_head.sentence(line.item.text)), line.item) for line in lines]
    try:
        return [
            _marked(line, max(_moves(line.item, words), default=None))
            if line.item.told_on and (line.on(last).item.due or "") >= last
            else line
            for line in lines
        ]
    except (ModelMissingError, ModelDigestError):
        return [*lines]


def _marked(line: RankedItem, move: tuple[float, str] | None) -> RankedItem:
    if move is None:
        return line
    item = line.item._replace(perhaps_until=line.item.perhaps_until or move[1])
    item = item.with_location(item.file, item.file_line)
    return line._replace(item=item, worth=round((1 - move[0]) * line.worth, 4))


def _moves(
    due: BriefingItem, others: Sequence[tuple[set[str], BriefingItem]]
) -> Iterator[tuple[float, str]]:
    """The probability of each later line that moves what is due, and its day."""
    own = pair_head.content(pair_head.sentence(due.text))
    own -= {key for day in _days(due) for key in pair_head.sentence(day.text).keys}
    later = [
        (len(own & words), item)
        for words, item in others
        if item.told_on > due.told_on and len(own & words) >= SHARED
    ]
    later.sort(key=lambda pair: (-pair[0], pair[1].id))
    moving = (
        new
        for _, new in later
        if not all(day.first.isoformat().endswith((due.due or "").strip("-")) for day in _days(new))
    )
    for new in islice(moving, MOST_COMPARED):
        before, after = (pair_head.joined(item.text, item.about) for item in (due, new))
        chance = pair_head.relation(before, after, _ASKED).update
        if chance >= pair_head.ASKED_P:
            yield chance, new.told_on


def _days(line: BriefingItem) -> list[TimeExpression]:
    """The days that a line names, whether or not its words place them."""
    time_expressions = expressions.find_expressions(line.text, date.fromisoformat(line.told_on))
    return [span for span in time_expressions if (span.until - span.first).days == 1]
