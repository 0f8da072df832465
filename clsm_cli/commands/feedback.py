"""``clsm feedback``: say which items of a recall were good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from clsm_cli.commands.command_line import DRY_RUN, Option
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.options import Command, Common, command
from clsm_cli.commands.output import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.retrieval.feedback_log import FeedbackResult

LISTS = ("--good", "--bad")


class Lists(Command):
    """A command whose options ``--good`` and ``--bad`` take all the words that follow them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments, each word of a list as if its option stood before it."""
        found: list[str] = super().parse_args(ctx, repeat_options(args))
        return found


def repeat_options(words: Sequence[str]) -> list[str]:
    """The words of a command line with the name of a list before each of its items.

    >>> repeat_options(["r-1", "--good", "a", "b", "--bad=c", "d", "--json"])
    ['r-1', '--good', 'a', '--good', 'b', '--bad=c', '--bad', 'd', '--json']
    >>> repeat_options(["r-1", "--good"]), repeat_options(["--good", "a", "--", "-b"])
    (['r-1', '--good'], ['--good', 'a', '--', '-b'])
    """
    found: list[str] = []
    current, is_open = None, False  # the list that goes on, and whether its option waits for a word
    for place, word in enumerate(words):
        if word == "--":
            return [*found, *words[place:]]
        if word.startswith("-"):
            name = word.partition("=")[0]
            current = name if name in LISTS else None
            is_open = word in LISTS
        elif current is not None and not is_open:
            found.append(current)
        else:
            is_open = False
        found.append(word)
    return found


app = typer.Typer(add_completion=False, rich_markup_mode=None)


@command(
    "clsm feedback r-3a9c12d08e41 --good 0a532821e780 f-91ab77c0d2e4 --bad 5fe6a791c8cc",
    "clsm recall heartbeat --json      # gives the recall_id and the id of each item",
    group=app,
    cls=Lists,
    recall=Option("", "RECALL_ID", "The recall_id that clsm recall --json gave.", offers="recalls"),
    good=Option("--good", "ID...", "Items that were of use.", offers="ids"),
    bad=Option("--bad", "ID...", "Items that were not."),
    dry_run=DRY_RUN,
)
def feedback(
    recall: str,
    *,
    good: list[str] | None = None,
    bad: list[str] | None = None,
    dry_run: bool = False,
    common: Common,
) -> None:
    """Say which items of a recall were good.

    From ten judged items on, what led to the good ones weighs more in every recall, and what led to
    the bad ones less; a judgement counts half after seven days. No text is kept, only ids.
    """
    from clsm_cli.retrieval import feedback_log

    printer = common.printer()
    if not good and not bad:
        raise UsageError("--good", "name at least one item, with --good or --bad")
    opened = common.opened()
    done = feedback_log.record_feedback(
        opened,
        decode_words([recall]),
        _ids(good),
        _ids(bad),
        common.time(opened.zone),
        dry_run=dry_run,
    )
    if not all(each.led for each in (*done.good, *done.bad)):
        printer.warn("nothing is learnt of an item whose recall did not note what led to it")
    printer.show(given_mapping(done, dry_run=dry_run), given_lines(done, dry_run=dry_run))


def _ids(words: Iterable[str] | None) -> list[str]:
    return [decode_words([word]) for word in words or ()]


def given_mapping(done: FeedbackResult, *, dry_run: bool) -> dict[str, Any]:
    """Schema ``clsm.feedback/1``."""
    return {"schema": "clsm.feedback/1", "dry_run": dry_run, **plain(done)}


def given_lines(done: FeedbackResult, *, dry_run: bool) -> list[str]:
    """What was noted, and the weights it changed."""
    state = "known" if not done.is_new else "would be noted" if dry_run else "noted"
    lines = [f"{state} of {done.recall}: {len(done.good)} good, {len(done.bad)} bad"]
    for name, factor in (done.weights or {}).items():
        if factor != 1.0:
            lines.append(f"weight of {name}: {factor:.2f} times its default")
    return lines
