"""``clsm status``: counts and problems of a store, and the state of its automation."""

from datetime import tzinfo

from clsm_cli.commands import log_command
from clsm_cli.commands.command_line import Common, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun, plain
from clsm_cli.embedding import weights
from clsm_cli.errors import StaleError, file_line
from clsm_cli.inspection import morning_report
from clsm_cli.inspection.overview import Automation, Overview, automation_state, overview
from clsm_cli.model.clocks import local_time

RECENT_RUNS = 5  # runs that are listed without --verbose


@command(
    "clsm status",
    "clsm status --store notes/memory --json",
    "clsm status --check --quiet > /dev/null   # from cron, some hours after consolidate: mails why",
)
def status(
    *,
    check: bool = option(
        "--check",
        "Fail (exit code 18) when the last good consolidation is too old (status.max_age).",
    ),
    common: Common,
) -> None:
    """Say what the store holds and whether all is well.

    Counts, files that could not be read, the latest runs (--verbose: all), when a consolidation
    last succeeded and why none did since, and whether the model is installed. A consolidation that
    found nothing to do has succeeded.
    """
    printer, opened, moment = common.start()
    found = overview(opened)
    night = automation_state(opened, moment)
    if not common.verbose:
        found = found._replace(runs=found.runs[:RECENT_RUNS])
    model = weights.status(weights.default_folder())
    lines = _lines(found, night, opened.zone)
    nights = [] if common.as_json else morning_report.nights(opened, moment.isoformat())
    if nights and (news := log_command.brief_lines(opened, nights[-1], moment)):
        lines += ["since the last night", *(f"  {line}" for line in news)]
    state = "installed" if model.installed else "missing; install it with: clsm model install"
    lines.append(f"model {model.engine}: {state}")
    mapping = {"schema": "clsm.status/1", **plain(found), "automation": night, "model": model}
    printer.show(mapping, lines)
    if check and night.is_stale:
        raise StaleError(night.sentence(opened.zone))


def _lines(found: Overview, night: Automation, zone: tzinfo) -> list[str]:
    counts = found.counts

    def count(name: str, noun: str = "") -> str:
        return count_noun(counts[name], noun or name.removesuffix("s"))

    blocks = f"{count('blocks')} of {count('documents')}"
    lines = [
        f"store {found.root} (id {found.store_id}, device {found.device}, {found.time_zone})",
        f"{count('turns')} of {count('sessions', 'conversation')}, {blocks}, {count('statements')}",
        f"{count('episodes')}, {count('waiting', 'turn')} in open ones, {count('nodes')}",
        night.sentence(zone),
        *([night.held] if night.held else []),
    ]
    if found.unembedded:
        waiting = count_noun(found.unembedded, "passage")
        lines.append(f"{waiting} without a vector, found by words; the next ingest makes them")
    for each in found.problems:
        where = file_line(each["path"], each["line"])
        lines.append(f"{where}: {each['reason']}; mend it by hand or restore the file from git")
    for run in found.runs:
        state = run["state"]
        lost = "" if state["is_kept"] else "cannot be undone"
        undone = f"undone by {state['undone_by']}" if state["undone_by"] else lost
        undoes = f"undo of {state['undo_of']}" if state["undo_of"] else ""
        files = count_noun(state["files"], "file")
        parts = (local_time(state["at"], zone), run["command"], run["id"], files, undoes, undone)
        lines.append("  ".join(filter(None, parts)))
    return lines
