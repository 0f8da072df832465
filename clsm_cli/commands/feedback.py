"""``clsm feedback``: say which items of a recall were good."""

from typing import Any

from clsm_cli.commands.command_line import DRY_RUN, Common, UsageError, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import plain
from clsm_cli.retrieval.learned_weights import FeedbackResult, record_feedback


@command(
    "clsm feedback r-3a9c12d08e41 --good 0a532821e780 --good f-91ab77c0d2e4 --bad 5fe6a791c8cc",
    "clsm recall heartbeat --json      # gives the recall_id and the id of each item",
)
def feedback(
    recall: str = option("RECALL_ID", "The recall_id that clsm recall --json gave."),
    *,
    good: tuple[str, ...] = option("--good ID", "Items that were of use; repeat for more."),
    bad: tuple[str, ...] = option("--bad ID", "Items that were not."),
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Say which items of a recall were good.

    From ten judged items on, what led to the good ones weighs more in every recall, and what led to
    the bad ones less; a judgement counts half after seven days. No text is kept, only ids.
    """
    if not good and not bad:
        raise UsageError("--good", "name at least one item, with --good or --bad")
    printer, opened, now = common.start()
    done = record_feedback(opened, recall, good, bad, now, dry_run=dry_run)
    if not all(each.led for each in (*done.good, *done.bad)):
        printer.warn("nothing is learnt of an item whose recall did not note what led to it")
    printer.show(*feedback_output(done, dry_run=dry_run))


def feedback_output(
    done: FeedbackResult, *, dry_run: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Schema ``clsm.feedback/1``, and the recorded items and changed weights as text."""
    state = "known" if not done.is_new else "would be noted" if dry_run else "noted"
    lines = [f"{state} of {done.recall}: {len(done.good)} good, {len(done.bad)} bad"]
    for name, factor in (done.weights or {}).items():
        if factor != 1.0:
            lines.append(f"weight of {name}: {factor:.2f} times its default")
    return {"schema": "clsm.feedback/1", "dry_run": dry_run, **plain(done)}, lines
