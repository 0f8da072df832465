"""``clsm forget``: remove something for good, or with ``--secrets`` mask what was stored in clear.

First the command, then the rendering of receipts.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import typer

from clsm_cli.commands import disambiguation
from clsm_cli.commands.command_line import Common, Option
from clsm_cli.commands.environment import UsageError, decode_words, parse_time
from clsm_cli.commands.options import DryRun, command
from clsm_cli.commands.output import Printer, count_noun, end_progress, is_terminal, plain, shorten
from clsm_cli.errors import RefusedError
from clsm_cli.forgetting import clean_writing, erasure, history_purge, masking
from clsm_cli.forgetting.clean_writing import Plan
from clsm_cli.forgetting.history_purge import RewrittenHistory
from clsm_cli.forgetting.masking import MaskingReport
from clsm_cli.forgetting.receipt import Receipt, Run
from clsm_cli.forgetting.references import Reference
from clsm_cli.forgetting.selection import Wanted
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.layout import Store
from clsm_cli.text.terminal import safe

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
    dry_run: DryRun = False,
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
    wanted = Wanted(
        (),
        source and decode_words([source]),
        session and decode_words([session]),
        person and decode_words([person]),
        None if since is None else parse_time(since, opened.zone, "--since"),
        None if until is None else parse_time(until, opened.zone, "--until"),
    )
    if ids and wanted != Wanted():
        raise UsageError("ID", "ids say it all; leave out --source, --session and the like")
    wanted = wanted._replace(ids=tuple(decode_words([each]) for each in ids or ()))
    if secrets:
        if wanted != Wanted():
            raise UsageError("--secrets", "looks through everything; name nothing beside it")
        _mask(printer, opened, moment, how)
        return
    if wanted == Wanted():
        raise UsageError("ID", "say what is to be forgotten, by id, in words or by an option")
    if wanted.ids:
        wanted = wanted._replace(ids=_meant(printer, opened, wanted.ids, moment, how))
    if wanted != Wanted():
        _forget(printer, opened, wanted, moment, how)


def _meant(
    printer: Printer, store: Store, ids: tuple[str, ...], now: datetime, how: How
) -> tuple[str, ...]:
    from clsm_cli.inspection.item_lookup import is_known

    if any(disambiguation.looks_like_id(each) or is_known(store, each) for each in ids):
        return ids
    words = " ".join(ids)
    fits = disambiguation.find_matches(printer, store, words, now)
    chosen = disambiguation.choose(printer, _COMMAND, words, fits, yes=how.yes, dry_run=how.dry_run)
    return tuple(fit.thing.id for fit in chosen)


def _forget(printer: Printer, store: Store, wanted: Wanted, now: datetime, how: How) -> None:
    from clsm_cli.commands import engine

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
    receipt = _applied(store, plan, now, tree, how)
    printer.warn_all(receipt.warnings)
    if receipt.refers and not how.dry_run:
        more = count_noun(len(receipt.refers), "more turn")
        printer.warn(f"{more} may be about them; to remove that too: {removal(receipt.refers)}")
    printer.show(
        {"schema": "clsm.forget/1", "dry_run": how.dry_run, **plain(receipt)},
        _receipt_lines(receipt, is_done=not how.dry_run, verbose=printer.verbose),
    )


def _mask(printer: Printer, store: Store, now: datetime, how: How) -> None:
    tree = history_purge.check_repository(store) if how.purge_history else None
    plan = masking.plan(store, now, purge_history=how.purge_history)
    if plan.receipt.files and how.asks:
        _can_ask(_MASKING)
        _show(_masked_lines(plan.receipt, is_done=False))
        if not typer.confirm("Mask all this for good?", err=True):
            raise RefusedError(_MASKING, "nothing was masked", "run it again if you want to")
    receipt = _applied(store, plan, now, tree, how)
    printer.warn_all(receipt.warnings)
    printer.show(
        {"schema": "clsm.forget/1", "dry_run": how.dry_run, **plain(receipt)},
        _masked_lines(receipt, is_done=not how.dry_run),
    )


def _applied(store: Store, plan: Plan, now: datetime, tree: Any, how: How) -> Any:
    """The receipt of a plan, which is carried out unless it is a dry run, in git's history too."""
    from clsm_cli.commands import engine
    from clsm_cli.retrieval import briefing

    receipt = plan.receipt
    if how.dry_run:
        return receipt
    if receipt.files:
        receipt = clean_writing.apply(store, plan, now, engine.embedder())
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
    if not refers:
        return ()
    _show(_refers_lines(refers, is_done=False))
    answer = ""
    while answer not in {"all", "none", "one"}:
        answer = typer.prompt("Forget that too? all, none, or one by one [all/none/one]", err=True)
    return tuple(
        each.id
        for each in (refers if answer != "none" else ())
        if answer == "all" or typer.confirm(safe(f"  {_refer_line(each)}?"), err=True)
    )


def _ask(printer: Printer, plan: Plan, how: How) -> None:
    turns = count_noun(plan.receipt.turns, "turn")
    if plan.receipt.is_mass_loss and how.yes and not how.force:
        reason = f"would remove {turns} of {plan.receipt.all_turns}"
        raise RefusedError(_COMMAND, reason, "add --force if that is what you want")
    if how.yes:
        return
    _show(_receipt_lines(plan.receipt, is_done=False, verbose=printer.verbose))
    if plan.receipt.is_mass_loss:
        answer = typer.prompt(f"This removes {turns}. Type their number to go on", err=True)
        is_meant = answer.strip() == str(plan.receipt.turns)
    else:
        is_meant = typer.confirm("Forget all this for good?", err=True)
    if not is_meant:
        raise RefusedError(_COMMAND, "nothing was forgotten", "run it again if you want to")


def _receipt_lines(receipt: Receipt, *, is_done: bool, verbose: bool) -> Iterator[str]:
    verb = "forgotten" if is_done else "would be forgotten"
    files = count_noun(len(receipt.files), "file")
    yield f"{count_noun(receipt.turns, 'turn')} of {receipt.all_turns} {verb}, {files} changed"
    for kind, group in groupby(receipt.gone, key=lambda each: each.kind):
        lines = [f"  {each.id}  {_when(each.time)}{shorten(each.text, WIDTH)}" for each in group]
        yield count_noun(len(lines), kind)
        yield from _first(lines, verbose=verbose)
    if receipt.remade:
        yield f"{count_noun(len(receipt.remade), 'episode')} made anew without them"
    if receipt.stays:
        yield "stays"
        lines = [f"  {e.id}  {shorten(e.text, WIDTH)}  ({e.why})" for e in receipt.stays]
        yield from _first(lines, verbose=verbose)
    yield from _refers_lines(receipt.refers, is_done=is_done)
    yield from _end_lines(receipt, is_done=is_done)


def _first(lines: Sequence[str], *, verbose: bool) -> Iterator[str]:
    shown = lines if verbose else lines[:FEW]
    yield from map(str.rstrip, shown)
    if len(lines) > len(shown):
        yield f"  and {len(lines) - len(shown)} more (--verbose lists them)"


def _masked_lines(masked: MaskingReport, *, is_done: bool) -> Iterator[str]:
    if not masked.files:
        yield "no secret lies here in clear"
        return
    verb = "masked" if is_done else "would be masked"
    held = f"{count_noun(masked.turns, 'turn')} and {count_noun(masked.statements, 'statement')}"
    yield f"{_kinds(masked.found)} {verb} in {held}; {count_noun(masked.files, 'file')} changed"
    for place in masked.places:
        yield f"  {place.path}  {_kinds(place.found)}"
    yield from _end_lines(masked, is_done=is_done)


def _kinds(found: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in found.items())


def _end_lines(receipt: Receipt | MaskingReport, *, is_done: bool) -> Iterator[str]:
    if receipt.beyond:
        yield "out of reach"
    for each in receipt.beyond:
        yield f"  {each.what}: {each.why}"
        yield from (f"    {command}" for command in each.commands)
    yield from _history_lines(receipt.history)
    nor = _nor_can(receipt.undoable)
    if is_done:
        yield f"run {receipt.run}; it cannot be undone{nor}"
    else:
        yield from (f"this cannot be undone{nor}", "nothing was written")


def _nor_can(undoable: Sequence[Run]) -> str:
    if not undoable:
        return ""
    named = _kinds(dict(sorted(Counter(run.command for run in undoable).items())))
    runs = count_noun(len(undoable), "earlier run")
    return f", nor can {runs} since {_when(undoable[0].at).strip()} UTC ({named}): what undo keeps goes too"


def _refers_lines(refers: Sequence[Reference], *, is_done: bool) -> Iterator[str]:
    if refers:
        yield "seems to be about them, and stays" if is_done else "seems to be about them"
        yield from (f"  {each.id}  {_refer_line(each)}" for each in refers)
        if is_done:
            yield f"  to remove it too: {removal(refers)}"


def _refer_line(each: Reference) -> str:
    return f"{each.place}  {_when(each.time)}{shorten(each.text, WIDTH)}  ({each.why})"


def _when(time: str | None) -> str:
    return f"{time[:16].replace('T', ' ')}  " if time else ""


def removal(refers: Sequence[Reference]) -> str:
    """The command line that removes these references."""
    return f"clsm forget {' '.join(each.id for each in refers)}"


def _history_lines(history: RewrittenHistory | None) -> list[str]:
    if history is None:
        return []
    return [f"git: {history.rewritten} of {count_noun(history.commits, 'commit')} written anew"]
