"""``clsm forget``: remove something for good, or with ``--secrets`` mask what was stored in clear.

First the command, then the rendering of receipts.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from clsm_cli.commands import disambiguation
from clsm_cli.commands.command_line import DRY_RUN, Common, Option
from clsm_cli.commands.environment import UsageError, decode_words, parse_time
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, count_noun, end_progress, is_terminal, plain, shorten
from clsm_cli.errors import RefusedError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from clsm_cli.forgetting.erasure import Plan
    from clsm_cli.forgetting.history_purge import RewrittenHistory
    from clsm_cli.forgetting.masking import MaskingReport
    from clsm_cli.forgetting.receipt import Receipt, RemovedItem, Run
    from clsm_cli.forgetting.references import Reference
    from clsm_cli.forgetting.selection import Wanted
    from clsm_cli.store.layout import Store

WIDTH = 72
"""Characters of a text that a line shows."""
FEW = 20
"""Things of a kind that are listed without --verbose."""
_COMMAND, _MASKING = "clsm forget", "clsm forget --secrets"


class How(NamedTuple):
    """The options that say how, not what."""

    yes: bool
    force: bool
    purge_history: bool
    dry_run: bool

    @property
    def asks(self) -> bool:
        """Whether a person is asked first."""
        return not (self.yes or self.dry_run)


@command(
    'clsm forget "the Berlin trip"         # lists what that may mean, and asks',
    "clsm forget 0f3a9c12d08e --dry-run    # all that would go with it",
    "clsm forget --source https://example.org/page --yes",
    "clsm forget --person Mara             # offers what only refers to her, too",
    "clsm forget --person Mara --since 2026-02-01 --until 2026-03-01",
    "clsm forget 0f3a9c12d08e --purge-history   # in git, every old commit too",
    "clsm forget --secrets --dry-run       # what older versions stored in clear",
    ids=Option(
        "",
        "[ID|WORDS]...",
        "Ids of turns, episodes, statements, documents or concepts; or words to find them.",
    ),
    source=Option("--source", "PATH|URL", "Everything ingested from there, or from below it."),
    session=Option("--session", "NAME", "A whole conversation."),
    person=Option("--person", "NAME", "Everything that a person said, and that names them."),
    since=Option("--since", "TIME", "What was said at this time or later."),
    until=Option("--until", "TIME", "What was said before this time."),
    secrets=Option("--secrets", "", "Only mask secrets that are stored in clear."),
    yes=Option("--yes", "", "Do not ask."),
    force=Option("--force", "", "With --yes: even if a fifth of all turns would go."),
    purge_history=Option("--purge-history", "", "Also from the history of its git repository."),
    dry_run=DRY_RUN,
)
def forget(
    ids: list[str] | None = None,
    *,
    source: str | None = None,
    session: str | None = None,
    person: str | None = None,
    since: str | None = None,
    until: str | None = None,
    secrets: bool = False,
    yes: bool = False,
    force: bool = False,
    purge_history: bool = False,
    dry_run: bool = False,
    common: Common,
) -> None:
    """Remove something for good, and what rests on it alone.

    Turns go, and every statement, concept, edge, log line and copy that nothing else supports. A
    hash stays, so that neither the same source nor an old copy of the store brings them back. This
    cannot be undone, so you see everything first and are asked. The receipt says what stayed and
    why, what is out of reach, and which earlier runs can no longer be undone. Sentences that refer
    to a person without the name ("he pays 900 euros") are listed, and you are asked whether they go
    too; with --yes they stay, and the command that removes them is shown.

    With --secrets, only passwords, keys, PINs and numbers of cards, accounts and people go that an
    older version did not recognise: each is replaced by the name of its kind.
    """
    printer, opened, moment = common.start()
    how = How(yes, force, purge_history, dry_run)
    wanted = _wanted(opened, ids or [], source, session, person, since, until)
    if secrets:
        if any(each not in ((), None) for each in wanted):
            raise UsageError("--secrets", "looks through everything; name nothing beside it")
        _mask(printer, opened, moment, how)
        return
    if all(each in ((), None) for each in wanted):
        raise UsageError("ID", "say what is to be forgotten, by id, in words or by an option")
    if wanted.ids:
        meant = _meant(printer, opened, wanted.ids, moment, how)
        if not meant:
            return
        wanted = wanted._replace(ids=meant)
    _forget(printer, opened, wanted, moment, how)


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
        tuple(decode_words([each]) for each in ids),
        source and decode_words([source]),
        session and decode_words([session]),
        person and decode_words([person]),
        None if since is None else parse_time(since, store.zone, "--since"),
        None if until is None else parse_time(until, store.zone, "--until"),
    )


def _meant(
    printer: Printer, store: Store, ids: tuple[str, ...], now: datetime, how: How
) -> tuple[str, ...]:
    """The ids, or those of what plain words mean."""
    from clsm_cli.inspection.item_lookup import is_known

    if any(disambiguation.looks_like_id(each) or is_known(store, each) for each in ids):
        return ids
    words = " ".join(ids)
    fits = disambiguation.find_matches(printer, store, words, now)
    chosen = disambiguation.choose(printer, _COMMAND, words, fits, yes=how.yes, dry_run=how.dry_run)
    return tuple(fit.id for fit in chosen)


def _forget(printer: Printer, store: Store, wanted: Wanted, now: datetime, how: How) -> None:
    from clsm_cli.commands import engine
    from clsm_cli.forgetting import erasure, history_purge

    tree = history_purge.check_repository(store) if how.purge_history else None

    def planned(wanted: Wanted) -> Plan | None:
        embedder, past = engine.embedder(), how.purge_history
        return erasure.plan(store, wanted, now, embedder, printer.progress, purge_history=past)

    plan = planned(wanted)
    if plan is not None and how.asks:
        _can_ask(_COMMAND)
        if also := _also(plan.receipt.refers):
            plan = planned(wanted._replace(also=also))
    if plan is None:
        again = None
        if tree is not None and not how.dry_run:
            again = history_purge.purge(store, tree)
        printer.show(
            {"schema": "clsm.forget/1", "known": True, "history": plain(again)},
            ["it was forgotten already", *_history_lines(again)],
        )
        return
    if not how.dry_run:
        _ask(printer, plan, how)
    receipt = plan.receipt if how.dry_run else _applied(store, plan, erasure.apply, now, tree)
    printer.warn_all(receipt.warnings)
    if receipt.refers and not how.dry_run:
        more = count_noun(len(receipt.refers), "more turn")
        printer.warn(f"{more} may be about them; to remove that too: {removal(receipt.refers)}")
    printer.show(
        _receipt_mapping(receipt, dry_run=how.dry_run),
        _receipt_lines(receipt, is_done=not how.dry_run, verbose=printer.verbose),
    )


def _mask(printer: Printer, store: Store, now: datetime, how: How) -> None:
    from clsm_cli.forgetting import history_purge, masking

    tree = history_purge.check_repository(store) if how.purge_history else None
    plan = masking.plan(store, now, purge_history=how.purge_history)
    if plan.receipt.files and how.asks:
        _can_ask(_MASKING)
        _show(_masked_lines(plan.receipt, is_done=False))
        if not typer.confirm("Mask all this for good?", err=True):
            raise RefusedError(_MASKING, "nothing was masked", "run it again if you want to")
    apply = masking.apply if plan.receipt.files else None
    receipt = plan.receipt if how.dry_run else _applied(store, plan, apply, now, tree)
    printer.warn_all(receipt.warnings)
    printer.show(
        _receipt_mapping(receipt, dry_run=how.dry_run),
        _masked_lines(receipt, is_done=not how.dry_run),
    )


def _applied(
    store: Store, plan: Any, apply: Callable[..., Any] | None, now: datetime, tree: Any
) -> Any:
    """The receipt of a plan that was carried out, in git's history too."""
    from clsm_cli.commands import engine
    from clsm_cli.forgetting import history_purge
    from clsm_cli.retrieval import briefing

    receipt = plan.receipt
    if apply is not None:
        receipt = apply(store, plan, now, engine.embedder())
        briefing.prepare(store)
    if tree is not None:
        receipt = receipt._replace(history=history_purge.purge(store, tree, plan.writes))
    return receipt


def _can_ask(command: str) -> None:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise RefusedError(command, "cannot be undone and asks first", "say so with --yes")


def _show(lines: Iterable[str]) -> None:
    end_progress()
    for line in lines:
        typer.echo(safe(line), err=True)


def _also(refers: Sequence[Reference]) -> tuple[str, ...]:
    """Which sentences that only seem to be about the person go too: all, none, or one by one."""
    if not refers:
        return ()
    _show(_refers_lines(refers, is_done=False))
    answer = ""
    while answer not in {"all", "none", "one"}:
        answer = typer.prompt("Forget that too? all, none, or one by one [all/none/one]", err=True)
    if answer == "one":
        kept = [r for r in refers if typer.confirm(safe(f"  {_refer_line(r)}?"), err=True)]
        return tuple(each.id for each in kept)
    return tuple(each.id for each in refers) if answer == "all" else ()


def _ask(printer: Printer, plan: Plan, how: How) -> None:
    """Have it confirmed; a large loss by its number."""
    turns = count_noun(plan.receipt.turns, "turn")
    if plan.is_mass_loss and how.yes and not how.force:
        reason = f"would remove {turns} of {plan.receipt.all_turns}"
        raise RefusedError(_COMMAND, reason, "add --force if that is what you want")
    if how.yes:
        return
    _show(_receipt_lines(plan.receipt, is_done=False, verbose=printer.verbose))
    if plan.is_mass_loss:
        answer = typer.prompt(f"This removes {turns}. Type their number to go on", err=True)
        is_meant = answer.strip() == str(plan.receipt.turns)
    else:
        is_meant = typer.confirm("Forget all this for good?", err=True)
    if not is_meant:
        raise RefusedError(_COMMAND, "nothing was forgotten", "run it again if you want to")


def _receipt_lines(receipt: Receipt, *, is_done: bool, verbose: bool) -> list[str]:
    verb = "forgotten" if is_done else "would be forgotten"
    files = count_noun(len(receipt.files), "file")
    lines = [f"{count_noun(receipt.turns, 'turn')} of {receipt.all_turns} {verb}, {files} changed"]
    lines += _gone(receipt.gone, verbose=verbose)
    if receipt.remade:
        lines.append(f"{count_noun(len(receipt.remade), 'episode')} made anew without them")
    if receipt.stays:
        lines.append("stays")
        shown = receipt.stays if verbose else receipt.stays[:FEW]
        lines += [f"  {each.id}  {shorten(each.text, WIDTH)}  ({each.why})" for each in shown]
        lines += _more(len(receipt.stays) - len(shown))
    lines += _refers_lines(receipt.refers, is_done=is_done)
    return [*lines, *_end_lines(receipt, is_done=is_done)]


def _masked_lines(masked: MaskingReport, *, is_done: bool) -> list[str]:
    """What was masked, or would be: kinds, numbers and places, never a secret."""
    if not masked.files:
        return ["no secret lies here in clear"]
    verb = "masked" if is_done else "would be masked"
    kinds = ", ".join(f"{count} {kind}" for kind, count in masked.found.items())
    held = f"{count_noun(masked.turns, 'turn')} and {count_noun(masked.statements, 'statement')}"
    lines = [f"{kinds} {verb} in {held}; {count_noun(masked.files, 'file')} changed"]
    for place in masked.places:
        found = ", ".join(f"{count} {kind}" for kind, count in place.found.items())
        lines.append(f"  {place.path}  {found}")
    return [*lines, *_end_lines(masked, is_done=is_done)]


def _end_lines(receipt: Receipt | MaskingReport, *, is_done: bool) -> list[str]:
    """What is out of reach, and what can no longer be undone."""
    lines: list[str] = []
    if receipt.beyond:
        lines.append("out of reach")
        for each in receipt.beyond:
            lines.append(f"  {each.what}: {each.why}")
            lines += [f"    {command}" for command in each.commands]
    lines += _history_lines(receipt.history)
    if is_done:
        return [*lines, f"run {receipt.run}; it cannot be undone{_nor_can(receipt.undoable)}"]
    return [*lines, f"this cannot be undone{_nor_can(receipt.undoable)}", "nothing was written"]


def _nor_can(undoable: Sequence[Run]) -> str:
    if not undoable:
        return ""
    commands = Counter(run.command for run in undoable)
    named = ", ".join(f"{count} {command}" for command, count in sorted(commands.items()))
    runs = count_noun(len(undoable), "earlier run")
    first = undoable[0].at[:16].replace("T", " ")
    return f", nor can {runs} since {first} UTC ({named}): what undo keeps goes too"


def _refers_lines(refers: Sequence[Reference], *, is_done: bool) -> list[str]:
    """What seems to be about the person and stays, and how to remove it."""
    if not refers:
        return []
    lines = ["seems to be about them, and stays" if is_done else "seems to be about them"]
    lines += [f"  {each.id}  {_refer_line(each)}" for each in refers]
    return [*lines, f"  to remove it too: {removal(refers)}"] if is_done else lines


def _refer_line(each: Reference) -> str:
    when = f"{each.time[:16].replace('T', ' ')}  " if each.time else ""
    return f"{each.place}  {when}{shorten(each.text, WIDTH)}  ({each.why})"


def removal(refers: Sequence[Reference]) -> str:
    """The command line that removes these references."""
    return f"clsm forget {' '.join(each.id for each in refers)}"


def _history_lines(history: RewrittenHistory | None) -> list[str]:
    if history is None:
        return []
    return [f"git: {history.rewritten} of {count_noun(history.commits, 'commit')} written anew"]


def _gone(gone: Sequence[RemovedItem], *, verbose: bool) -> Iterator[str]:
    for kind, group in groupby(gone, key=lambda each: each.kind):
        found = list(group)
        yield count_noun(len(found), kind)
        shown = found if verbose else found[:FEW]
        for each in shown:
            when = f"{each.time[:16].replace('T', ' ')}  " if each.time else ""
            yield f"  {each.id}  {when}{shorten(each.text, WIDTH)}".rstrip()
        yield from _more(len(found) - len(shown))


def _more(count: int) -> list[str]:
    return [f"  and {count} more (--verbose lists them)"] if count > 0 else []


def _receipt_mapping(receipt: Receipt | MaskingReport, *, dry_run: bool) -> dict[str, Any]:
    return {"schema": "clsm.forget/1", "dry_run": dry_run, **plain(receipt)}
