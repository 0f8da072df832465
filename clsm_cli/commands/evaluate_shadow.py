"""``clsm eval shadow``: run memory beside the files that an agent loads, and measure both."""

from collections.abc import Iterator
from datetime import datetime

from clsm_cli.commands.command_line import Common, UsageError, option
from clsm_cli.commands.options import command, command_group
from clsm_cli.commands.output import Printer, Table, count_noun, plain, table_lines
from clsm_cli.evaluation.shadow import shadow_mode
from clsm_cli.evaluation.shadow.shadow_mode import Mode, Report
from clsm_cli.store.layout import Store

group = command_group("Run memory beside the files your agent loads, and measure both.")


def catch_up(store: Store, now: datetime, printer: Printer) -> None:
    """Log the sessions that are over, if shadow mode is on. It says what went wrong, and never fails."""
    from clsm_cli.commands import engine

    queries, embedder = engine.QueryEngine(), engine.embedder()
    try:
        printer.warn_all(shadow_mode.catch_up(store, queries, embedder, now, printer.progress))
    except Exception as error:  # noqa: BLE001  # a measurement must not stop a consolidation
        printer.warn(f"shadow mode logged nothing: {error}")


@command(
    "clsm eval shadow start --static ~/.openclaw/workspace",
    "clsm eval shadow start --static SOUL.md --static MEMORY.md",
    group=group,
)
def start(
    *,
    static: list[str] | None = option(
        "--static FILE",
        "A file your agent loads at every start, or its workspace: SOUL.md, USER.md,"
        " MEMORY.md and the last two daily notes.",
    ),
    common: Common,
) -> None:
    """Log from now on, for each session, what memory would have given.

    Your agent is not touched: nothing is given to it. The log stays on this machine and holds counts
    and hashes, no text. Started twice, only the files that are named change.
    """
    if not all(each.strip() for each in static or ()):  # the working folder is not what was meant
        raise UsageError("--static", "it is empty; name a file or a workspace")
    printer, opened, now = common.start()
    mode, is_new = shadow_mode.start(opened, static or (), now)
    result = {"schema": "clsm.eval-shadow-start/2", "started": is_new, **mode._asdict()}
    lines = _start_message(mode, opened.device, is_new=is_new)
    printer.show({**result, "device": opened.device}, lines)


@command("clsm eval shadow stop", "clsm eval shadow stop --delete", group=group, no_effect=("now",))
def stop(
    *, delete: bool = option("--delete", "Delete this machine's log too."), common: Common
) -> None:
    """End shadow mode on this machine; its log stays for the report, unless it is deleted."""
    found = shadow_mode.turn_off(common.opened(), delete=delete)
    log_is = "its log is deleted" if delete else "its log stays (delete it: --delete)"
    common.printer().show(
        {"schema": "clsm.eval-shadow-stop/1", "stopped": found, "deleted": delete},
        [f"shadow mode is off, {log_is}" if found else "shadow mode was off already"],
    )


@command("clsm eval shadow report", "clsm eval shadow report --json", group=group)
def report(*, common: Common) -> None:
    """Say whether memory would have been better than the files.

    Sessions that ended since are logged first. --json has each session.
    """
    printer, opened, now = common.start()
    catch_up(opened, now, printer)
    found = shadow_mode.report(opened)
    printer.warn_all(found.notes)
    mapping = {"schema": "clsm.eval-shadow/4", **plain(found)}
    printer.show(mapping, table_lines(shadow_tables(found)))


def _start_message(mode: Mode, device: str, *, is_new: bool) -> Iterator[str]:
    state = "is on" if is_new else "was on already"
    yield f"shadow mode {state} for this machine ({device}), since {mode.since}"
    beside = ", ".join(mode.static) or "no files: name those your agent loads with --static"
    yield f"beside: {beside}"
    yield (
        "logged for each session that is ingested, before `clsm consolidate` and by the report: counts"
        " of tokens, and hashes of memories; no text, in .clsm/shadow of the store, never in git"
    )
    yield "see it: clsm eval shadow report; end it: clsm eval shadow stop (--delete: the log too)"


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
