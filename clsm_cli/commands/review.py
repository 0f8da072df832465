"""``clsm review``: decide what only a person can decide."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from clsm_cli.commands import editor, engine, render_review
from clsm_cli.commands.command_line import DRY_RUN, Common, Option
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, is_terminal
from clsm_cli.consolidation import review_queue, selection_reasons

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from clsm_cli.consolidation.review_queue import Outcome, State
    from clsm_cli.inspection.item_lookup import QuestionSources
    from clsm_cli.store.layout import Store
    from clsm_cli.store.logs import ReviewItem


@command(
    "clsm review                       # decide in $EDITOR",
    "clsm review --json                # what is open, as data",
    "clsm review --accept v-3a9c12d08e41 --reject v-91ab",
    "clsm review --why f-3a9c12d08e41  # what made this sentence a statement",
    accept=Option("--accept", "ID", "Accept this item; repeat for more."),
    reject=Option("--reject", "ID", "Reject this item; repeat for more."),
    why=Option("--why", "ID", "Say how a statement, or a sentence of the list, was weighed."),
    everything=Option("--all", "", "List also what expired or was decided."),
    dry_run=DRY_RUN,
)
def review(
    *,
    accept: list[str] | None = None,
    reject: list[str] | None = None,
    why: str | None = None,
    everything: bool = False,
    dry_run: bool = False,
    common: Common,
) -> None:
    """Decide what only a person can decide.

    Contradictions, sentences that may be worth keeping, names that may mean one thing, statements that
    may say the same. At a terminal the list opens in $VISUAL or $EDITOR; else it is printed,
    the most important first. What you decide about sentences, and what you pin, correct or delete,
    changes how similar ones are judged.
    """
    from clsm_cli.inspection.item_lookup import question_sources

    printer, opened, moment = common.start()
    if why is not None:
        if accept or reject:
            raise UsageError(
                "--why", "explains, and decides nothing; leave out --accept and --reject"
            )
        if not decode_words([why]).strip():
            raise UsageError("--why", "is empty; name a statement or a sentence of the list")
        told = selection_reasons.explain(
            opened, decode_words([why]), moment, engine.static_vectors()
        )
        printer.show(render_review.explanation_mapping(told), render_review.explanation_lines(told))
        return
    wanted: list[tuple[str, State]] = [(decode_words([each]), "accepted") for each in accept or ()]
    wanted += [(decode_words([each]), "rejected") for each in reject or ()]
    items: list[ReviewItem] = []
    sources: Mapping[str, QuestionSources] = {}
    outcome: Outcome | None = None
    if wanted:
        outcome = review_queue.decide(opened, wanted, moment, printer.warn, dry_run=dry_run)
    else:
        items = review_queue.list_items(opened, moment, everything=everything)
        sources = question_sources(opened, items)
        if items and not everything and not common.as_json and _is_at_terminal(printer):
            outcome = _in_editor(opened, items, sources, moment, printer, dry_run=dry_run)
    if common.as_json:
        printer.json(render_review.review_mapping(items, sources, outcome, dry_run=dry_run))
    elif outcome is not None:
        printer.lines(render_review.decision_lines(outcome, dry_run=dry_run))
    else:
        lines = render_review.review_lines(items, sources, opened.zone)
        printer.lines(lines if items else ["nothing to decide"])
    if outcome is not None and outcome.problems:
        printer.warn_all(str(problem) for problem in outcome.problems[1:])
        raise outcome.problems[0]


def _is_at_terminal(printer: Printer) -> bool:
    return printer.is_terminal and is_terminal(sys.stdin)


def _in_editor(
    store: Store,
    items: list[ReviewItem],
    sources: Mapping[str, QuestionSources],
    now: datetime,
    printer: Printer,
    *,
    dry_run: bool,
) -> Outcome:
    """Let a person decide in a file like that of an interactive rebase."""

    def take(text: str) -> Outcome:
        wanted = render_review.read_todo(text, items)
        if not wanted:
            return review_queue.Outcome()
        return review_queue.decide(store, wanted.items(), now, printer.warn, dry_run=dry_run)

    text = render_review.todo_file(items, sources, store.zone)
    return editor.edit_text(store.derived / "edit", "review", text, take, printer)
