"""``clsm decay``: archive what was not used for long; using it again brings it back.

First the command, then the rendering of a report.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.command_line import DRY_RUN, Common
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun, fields, shorten
from clsm_cli.forgetting import archiving

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.forgetting.archiving import Item, Report
    from clsm_cli.model.streams import Stream

_SHOWN = 20
"""Items of each kind that are listed; all of them with ``--verbose``."""
_WIDTH = 60
"""Characters of a text that are shown."""


@command(
    "clsm decay                        # once a month or every night, by cron",
    "clsm decay --dry-run              # what would fade, why, and since when",
    "clsm decay --dry-run --json       # all of it, as data",
    "clsm decay --now 2026-11-22       # the clock is right: say so once",
    dry_run=DRY_RUN,
)
def decay(*, dry_run: bool = False, common: Common) -> None:
    """Archive what was not used for long; nothing is deleted.

    What was not recalled for long is archived: it answers only when nothing else does or a rare
    word names it. Identity, pinned items and open tasks never are, and of each stream only a share.
    Rows superseded long ago move to the archive. How often it runs makes no difference. If the clock
    seems wrong, nothing fades until you confirm it with --now.
    """
    printer, opened, moment = common.start()
    report = archiving.decay(opened, moment, explicit=common.now is not None, dry_run=dry_run)
    printer.warn_all(report.warnings)
    printer.show(_decay_mapping(report), _decay_lines(report, verbose=common.verbose))


def _decay_lines(report: Report, *, verbose: bool) -> Iterator[str]:
    if report.dry_run or verbose:
        yield from _plan(report, verbose=verbose)
    if report.dry_run and _is_idle(report):
        yield "nothing would change"
        return
    yield _summary(report)


def _decay_mapping(report: Report) -> dict[str, Any]:
    return {
        "schema": "clsm.decay/1",
        **fields(report, "dry_run run"),
        "clock": fields(report.clock, "today newest is_believed future"),
        "folded": fields(report, "recalls days"),
        **fields(report, "streams archive revive compact preimages warnings"),
    }


def _plan(report: Report, *, verbose: bool) -> Iterator[str]:
    if report.recalls:
        yield f"fold {count_noun(report.recalls, 'recall')} of {count_noun(report.days, 'day')}"
    for verb, items in _kinds(report):
        for stream, group in groupby(items, key=lambda item: item.stream):
            members = list(group)
            yield f"{verb} · {stream} · {count_noun(len(members), 'item')}{_share(report, verb, stream)}"
            yield from _listed(verb, members, whole=verbose)
    if report.preimages:
        yield f"{count_noun(report.preimages, 'run')} older than 30 days can no longer be undone"


def _kinds(report: Report) -> Iterable[tuple[str, Sequence[Item]]]:
    kinds = ("archive", "revive", "compact")
    for verb in kinds:
        items: Sequence[Item] = getattr(report, verb)
        yield verb, sorted(items, key=lambda item: item.stream)


def _share(report: Report, verb: str, stream: Stream) -> str:
    """Where it leaves the stream: what may be archived of it, and what is."""
    state = report.streams.get(stream)
    if verb != "archive" or state is None or not state.tokens:
        return ""
    share = 100 * state.archived_tokens / state.tokens
    kept = f", {state.kept} more stay" if state.kept else ""
    return f" · then {share:.0f} % of its tokens, at most {100 * state.most:.0f} %{kept}"


def _listed(verb: str, items: Sequence[Item], *, whole: bool) -> Iterator[str]:
    shown = items if whole else items[:_SHOWN]
    for item in shown:
        why = item.why if item.left is None else f"{item.why}, retention {item.left:.2f}"
        text = shorten(item.text, _WIDTH)
        yield f'  {verb}  {item.id}  since {item.since}  {why}  "{text}"'
    if len(items) > len(shown):
        yield f"  … and {len(items) - len(shown)} more (all of them: --verbose)"


def _is_idle(report: Report) -> bool:
    lists = (report.archive, report.revive, report.compact)
    return not any(lists) and not report.recalls and not report.preimages


def _summary(report: Report) -> str:
    folded = f"folded {count_noun(report.recalls, 'recall')}"
    if not report.clock.is_believed:
        return f"nothing fades by a clock that may be wrong · {folded}"
    verb = "would archive" if report.dry_run else "archived"
    total = sum(state.archived for state in report.streams.values())
    parts = [f"{verb} {count_noun(len(report.archive), 'item')} ({total} in all)"]
    if report.revive:
        parts.append(f"revived {len(report.revive)}")
    if report.compact:
        parts.append(f"compacted {count_noun(len(report.compact), 'row')}")
    parts.append(folded)
    if report.run:
        parts.append(report.run)
    return " · ".join(parts)
