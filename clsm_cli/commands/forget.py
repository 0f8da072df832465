"""``clsm forget``: remove something for good."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands import completion, forget_secrets, which
from clsm_cli.commands.options import (
    DryRunOption,
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer, counted, is_terminal, plain
from clsm_cli.commands.render_forget import (
    history_lines,
    receipt_lines,
    receipt_mapping,
    refer_line,
    refers_lines,
    removal,
)
from clsm_cli.commands.runtime import UsageError, chosen_store, current_time, given, parse_time
from clsm_cli.errors import RefusedError
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.forgetting.forget import Plan
    from clsm_cli.forgetting.refers import Refers
    from clsm_cli.forgetting.selection import Wanted
    from clsm_cli.store.layout import Store

EXAMPLES = examples(
    'clsm forget "the Berlin trip"         # lists what that may mean, and asks',
    "clsm forget 0f3a9c12d08e --dry-run    # all that would go with it",
    "clsm forget --source https://example.org/page --yes",
    "clsm forget --person Mara             # offers what only refers to her, too",
    "clsm forget --person Mara --since 2026-02-01 --until 2026-03-01",
    "clsm forget 0f3a9c12d08e --purge-history   # in git, every old commit too",
    "clsm forget --secrets --dry-run       # what older versions stored in clear",
)
_COMMAND = "clsm forget"


def forget(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID|WORDS]...",
            help="Of turns, episodes, statements, documents or concepts; or what you remember of it.",
            autocompletion=completion.ids,
        ),
    ] = None,
    *,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|URL", help="All that was ingested from there, or from below it."
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="NAME", help="A whole conversation.")
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="All that a person said, and all that names them."),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="What was told at this time or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="What was told before this time.")
    ] = None,
    secrets: Annotated[
        bool,
        typer.Option("--secrets", help="Only mask the secrets that lie here in clear."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --yes: also where a fifth of all turns would go.")
    ] = False,
    purge_history: Annotated[
        bool, typer.Option("--purge-history", help="From the past of its git repository too.")
    ] = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Remove something for good, and what rests on it alone.

    Turns go, then every statement, concept, connection, log line and copy that nothing else
    supports. A hash stays, so that neither the same source nor an old copy of the store brings it
    back. It cannot be undone, so it is shown first, and you are asked. The receipt says what stayed
    and why, what is out of reach, and which earlier runs cannot be undone any more. What only
    refers to a person ("he pays 900 euros") is listed, and you are asked whether it goes too; with
    --yes it stays, and the command that removes it is named.

    With --secrets nothing goes but passwords, keys, PINs and numbers of cards, accounts and people
    that an older version did not know: each becomes the name of its kind, the text around it stays.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    moment = current_time(now, opened.zone)
    wanted = _wanted(opened, ids or [], source, session, person, since, until)
    if secrets:
        if any(each not in ((), None) for each in wanted):
            raise UsageError("--secrets", "looks through everything; name nothing beside it")
        forget_secrets.run(
            printer, opened, moment, yes=yes, purge_history=purge_history, dry_run=dry_run
        )
        return
    if all(each in ((), None) for each in wanted):
        raise UsageError("ID", "say what is to be forgotten, by id, in words or by an option")
    if wanted.ids:
        meant = _meant(printer, opened, wanted.ids, moment, yes=yes, dry_run=dry_run)
        if not meant:
            return
        wanted = wanted._replace(ids=meant)
    _forget(
        printer,
        opened,
        wanted,
        moment,
        yes=yes,
        force=force,
        purge_history=purge_history,
        dry_run=dry_run,
    )


def _wanted(
    store: Store,
    ids: list[str],
    source: str | None,
    session: str | None,
    person: str | None,
    since: str | None,
    until: str | None,
) -> Wanted:
    from clsm_cli.forgetting.selection import Wanted

    options = (source, session, person, since, until)
    if ids and any(option is not None for option in options):
        raise UsageError("ID", "ids say it all; leave out --source, --session and the like")
    return Wanted(
        tuple(given([each]) for each in ids),
        source and given([source]),
        session and given([session]),
        person and given([person]),
        None if since is None else parse_time(since, store.zone, "--since"),
        None if until is None else parse_time(until, store.zone, "--until"),
    )


def _meant(
    printer: Printer, store: Store, ids: tuple[str, ...], now: datetime, *, yes: bool, dry_run: bool
) -> tuple[str, ...]:
    """The ids, or those of what is meant where they are none but plain words."""
    from clsm_cli.inspection.lookup import is_known

    if any(which.is_shaped(each) or is_known(store, each) for each in ids):
        return ids
    words = " ".join(ids)
    fits = which.fits(printer, store, words, now)
    chosen = which.choose(printer, _COMMAND, words, fits, yes=yes, dry_run=dry_run)
    return tuple(fit.id for fit in chosen)


def _forget(
    printer: Printer,
    store: Store,
    wanted: Wanted,
    now: datetime,
    *,
    yes: bool,
    force: bool,
    purge_history: bool,
    dry_run: bool,
) -> None:
    from clsm_cli.commands import engine
    from clsm_cli.forgetting import forget as use_case
    from clsm_cli.forgetting import past, writing
    from clsm_cli.retrieval import briefing

    tree = past.check(store) if purge_history else None
    embedder = engine.embedder()

    def planned(wanted: Wanted) -> Plan | None:
        try:
            return use_case.plan(
                store, wanted, now, embedder, printer.progress, purge_history=purge_history
            )
        finally:
            printer.end_progress()

    plan = planned(wanted)
    if plan is not None and not (yes or dry_run):
        _can_ask()
        if also := _also(plan.receipt.refers):
            plan = planned(wanted._replace(also=also))
    if plan is None:
        again = (
            None if tree is None or dry_run else past.purge(store, tree, writing.traces_of(store))
        )
        if printer.as_json:
            known = {"schema": "clsm.forget/1", "known": True}
            printer.json({**known, "history": plain(again)})
        else:
            printer.lines(["it was forgotten already", *history_lines(again)])
        return
    receipt = plan.receipt
    if not dry_run:
        _ask(printer, plan, yes=yes, force=force)
        receipt = use_case.apply(store, plan, now, embedder)
        briefing.prepare(store)
        if tree is not None:
            told = writing.traces_of(store, plan.writes)
            receipt = receipt._replace(history=past.purge(store, tree, told))
    printer.warn_all(receipt.warnings)
    if receipt.refers and not dry_run:
        more = counted(len(receipt.refers), "more turn")
        printer.warn(f"{more} may be about them; to remove that too: {removal(receipt.refers)}")
    if printer.as_json:
        printer.json(receipt_mapping(receipt, dry_run=dry_run))
    else:
        printer.lines(receipt_lines(receipt, is_done=not dry_run, verbose=printer.verbose))


def _can_ask() -> None:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise RefusedError(_COMMAND, "cannot be undone and asks first", "say so with --yes")


def _also(refers: Sequence[Refers]) -> tuple[str, ...]:
    """Which of what only seems to be about the person is to go too: all, none, or one by one."""
    if not refers:
        return ()
    for line in refers_lines(refers, is_done=False):
        typer.echo(safe(line), err=True)
    answer = ""
    while answer not in {"all", "none", "one"}:
        answer = typer.prompt("Forget that too? all, none, or one by one [all/none/one]", err=True)
    if answer == "one":
        kept = [r for r in refers if typer.confirm(safe(f"  {refer_line(r)}?"), err=True)]
        return tuple(each.id for each in kept)
    return tuple(each.id for each in refers) if answer == "all" else ()


def _ask(printer: Printer, plan: Plan, *, yes: bool, force: bool) -> None:
    """Have it confirmed; a large loss by its number.

    Raises:
        RefusedError: It was not, or nobody can be asked.
    """
    turns = counted(plan.receipt.turns, "turn")
    if plan.is_mass_loss and yes and not force:
        reason = f"would remove {turns} of {plan.receipt.all_turns}"
        raise RefusedError(_COMMAND, reason, "add --force if that is what you want")
    if yes:
        return
    for line in receipt_lines(plan.receipt, is_done=False, verbose=printer.verbose):
        typer.echo(safe(line), err=True)
    if plan.is_mass_loss:
        answer = typer.prompt(f"This removes {turns}. Type their number to go on", err=True)
        is_meant = answer.strip() == str(plan.receipt.turns)
    else:
        is_meant = typer.confirm("Forget all this for good?", err=True)
    if not is_meant:
        raise RefusedError(_COMMAND, "nothing was forgotten", "run it again if you want to")
