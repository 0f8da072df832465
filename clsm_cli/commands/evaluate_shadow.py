"""``clsm eval shadow``: what memory would have given, beside the files that an agent loads."""

from collections.abc import Iterator

from clsm_cli.commands import engine
from clsm_cli.commands.command_line import Common, UsageError, option, parse_start
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Table, count_noun, plain, table_lines
from clsm_cli.evaluation import shadow_mode
from clsm_cli.evaluation.shadow_mode import Report


@command(
    "clsm eval shadow --static ~/.openclaw/workspace",
    "clsm eval shadow --static SOUL.md --static MEMORY.md --since 2026-03-01",
)
def shadow(
    *,
    static: list[str] | None = option(
        "--static FILE",
        "A file your agent loads at every start, or its workspace: SOUL.md, USER.md,"
        " MEMORY.md and the last two daily notes.",
    ),
    since: str = option("--since TIME", "Of the conversations that began since.", default="2w"),
    common: Common,
) -> None:
    """Say whether memory would have been better than the files your agent loads.

    Past conversations are replayed with what was known before each. Your agent is given nothing, and
    nothing is written. --json has each session.
    """
    if not all(each.strip() for each in static or ()):  # the working folder is not what was meant
        raise UsageError("--static", "it is empty; name a file or a workspace")
    printer, opened, now = common.start()
    start = parse_start(since, now, opened.zone)
    engines = engine.QueryEngine(), engine.embedder()
    found = shadow_mode.report(opened, static or (), start, now, *engines, printer.progress)
    printer.warn_all(f"not loaded beside memory: {each}" for each in found.missing)
    printer.show(
        {"schema": "clsm.eval-shadow/5", **plain(found)}, table_lines(shadow_tables(found))
    )


def shadow_tables(report: Report) -> Iterator[Table]:
    """What a person reads; shares in per cent."""
    if report.clsm is not None:
        headings = ("", "tokens at a prompt", "in a session", "used %", "replies %")
        rows = []
        for name, side in (("clsm", report.clsm), ("files", report.static)):
            if side is not None:
                sizes = (f"{side.prompt:,.0f}", f"{side.tokens:,.0f}")
                shares = (f"{100 * side.relevance:.1f}", f"{100 * side.retention:.1f}")
                rows.append((name, *sizes, *shares))
        yield Table(f"{count_noun(len(report.rows), 'session')} in shadow mode", headings, rows)
        if report.efficiency is not None:
            yield Table(f"{100 * report.efficiency:.1f} % of the context is saved at a prompt")
    yield Table(report.verdict)
