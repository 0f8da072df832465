"""``clsm decay``: archive what was not used for long; using it again brings it back."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from clsm_cli.commands.command_line import DRY_RUN, Common
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun, dotted, fields, first, shorten
from clsm_cli.forgetting import archiving
from clsm_cli.forgetting.archiving import DecayedItem, DecayReport
from clsm_cli.model.streams import Stream

_MAX_ITEMS = 20  # items of each kind that are listed without ``--verbose``
_MAX_TEXT = 60  # characters shown of a text


@command(
    "clsm decay                        # once a month or every night, by cron",
    "clsm decay --dry-run              # what would fade, why, and since when",
    "clsm decay --dry-run --json       # all of it, as data",
    "clsm decay --now 2026-11-22       # the clock is right: say so once",
)
def decay(*, dry_run: bool = DRY_RUN, common: Common) -> None:
    """Archive what was not used for long; nothing is deleted.

    What was not recalled for long is archived: it answers only when nothing else does or a rare
    word names it. Identity, pinned items and open tasks never are, and of each stream only a share.
    Rows superseded long ago move to the archive. How often it runs makes no difference. If the clock
    seems wrong, nothing fades until you confirm it with --now.
    """
    printer, opened, moment = common.start()
    report = archiving.decay(opened, moment, explicit=common.now is not None, dry_run=dry_run)
    printer.warn_all(report.warnings)
    mapping = {
        "schema": "clsm.decay/1",
        **fields(report, "dry_run run"),
        "clock": fields(report.clock, "today newest is_believed future"),
        "folded": fields(report, "recalls days"),
        **fields(report, "streams archive revive compact preimages warnings"),
    }
    printer.show(mapping, _lines(report, verbose=common.verbose))


def _lines(report: DecayReport, *, verbose: bool) -> Iterator[str]:
    kinds = {"archive": report.archive, "revive": report.revive, "compact": report.compact}
    if report.dry_run or verbose:
        if report.recalls:
            folded = count_noun(report.recalls, "recall")
            yield f"fold {folded} of {count_noun(report.days, 'day')}"
        for verb, items in kinds.items():
            ordered = sorted(items, key=lambda item: item.stream)
            for stream, group in groupby(ordered, key=lambda item: item.stream):
                yield from _listed(report, verb, stream, list(group), whole=verbose)
        if report.preimages:
            yield f"{count_noun(report.preimages, 'run')} older than 30 days can no longer be undone"
    is_idle = not (any(kinds.values()) or report.recalls or report.preimages)
    yield "nothing would change" if report.dry_run and is_idle else _summary(report)


def _listed(
    report: DecayReport, verb: str, stream: Stream, items: Sequence[DecayedItem], *, whole: bool
) -> Iterator[str]:
    head = f"{verb} · {stream} · {count_noun(len(items), 'item')}"
    state = report.streams.get(stream)
    if verb == "archive" and state is not None and state.tokens:
        share, most = 100 * state.archived_tokens / state.tokens, 100 * state.most
        head += f" · then {share:.0f} % of its tokens, at most {most:.0f} %"
        head += f", {state.kept} more stay" if state.kept else ""
    yield head
    lines = []
    for item in items:
        why = item.why if item.left is None else f"{item.why}, retention {item.left:.2f}"
        text = shorten(item.text, _MAX_TEXT)
        lines.append(f'  {verb}  {item.id}  since {item.since}  {why}  "{text}"')
    yield from first(lines, _MAX_ITEMS, whole=whole)


def _summary(report: DecayReport) -> str:
    folded = f"folded {count_noun(report.recalls, 'recall')}"
    if not report.clock.is_believed:
        return f"nothing fades by a clock that may be wrong · {folded}"
    verb = "would archive" if report.dry_run else "archived"
    total = sum(state.archived for state in report.streams.values())
    return dotted(
        f"{verb} {count_noun(len(report.archive), 'item')} ({total} in all)",
        f"revived {len(report.revive)}" if report.revive else "",
        f"compacted {count_noun(len(report.compact), 'row')}" if report.compact else "",
        folded,
        report.run,
    )
