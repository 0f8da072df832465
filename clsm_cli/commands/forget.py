"""``clsm forget``: remove something for good, or with ``--secrets`` mask plaintext secrets.

The command comes first, then the rendering of receipts.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

import typer

from clsm_cli.commands import disambiguation
from clsm_cli.commands.command_line import DRY_RUN, Common, UsageError, option, parse_time
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, count_noun, first, has_person, plain, shorten
from clsm_cli.errors import RefusedError
from clsm_cli.forgetting import clean_writing, erasure, masking
from clsm_cli.forgetting.clean_writing import ErasurePlan
from clsm_cli.forgetting.masking import MaskingReport
from clsm_cli.forgetting.receipt import Receipt
from clsm_cli.forgetting.references import Reference
from clsm_cli.forgetting.selection import ForgetRequest
from clsm_cli.inspection.item_lookup import is_known
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.layout import Store
from clsm_cli.text.terminal import safe

MAX_TEXT = 72  # characters shown of a text
MAX_ITEMS = 20  # items of a kind that are listed without --verbose
_COMMAND, _MASKING = "clsm forget", "clsm forget --secrets"


class ForgetMode(NamedTuple):
    """Options that control how to forget, not what."""

    yes: bool
    force: bool
    dry_run: bool

    @property
    def asks(self) -> bool:
        """Whether to ask for confirmation."""
        return not (self.yes or self.dry_run)


@command(
    'clsm forget "the Berlin trip"         # lists what that may mean, and asks',
    "clsm forget 0f3a9c12d08e --dry-run    # all that would go with it",
    "clsm forget --source https://example.org/page --yes",
    "clsm forget --person Mara             # offers what only refers to her, too",
    "clsm forget --person Mara --since 2026-02-01 --until 2026-03-01",
    "clsm forget --secrets --dry-run       # what older versions stored in clear",
)
def forget(
    ids: tuple[str, ...] = option(
        "[ID|WORDS]...",
        "Ids of turns, episodes, statements, documents or concepts; or words to find them.",
    ),
    *,
    source: str | None = option(
        "--source PATH|URL", "Everything ingested from there, or from below it."
    ),
    session: str | None = option("--session NAME", "A whole conversation."),
    person: str | None = option(
        "--person NAME", "Everything that a person said, and that names them."
    ),
    since: str | None = option("--since TIME", "What was said at this time or later."),
    until: str | None = option("--until TIME", "What was said before this time."),
    secrets: bool = option("--secrets", "Only mask secrets that are stored in clear."),
    yes: bool = option("--yes", "Do not ask."),
    force: bool = option("--force", "With --yes: even if a fifth of all turns would go."),
    dry_run: bool = DRY_RUN,
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
    how = ForgetMode(yes, force, dry_run)
    begin = None if since is None else parse_time(since, opened.zone, "--since")
    end = None if until is None else parse_time(until, opened.zone, "--until")
    wanted = ForgetRequest((), source, session, person, begin, end)
    if ids and wanted != ForgetRequest():
        raise UsageError("ID", "ids say it all; leave out --source, --session and the like")
    wanted = wanted._replace(ids=ids)
    if secrets and wanted != ForgetRequest():
        raise UsageError("--secrets", "looks through everything; name nothing beside it")
    if not secrets and wanted == ForgetRequest():
        raise UsageError("ID", "say what is to be forgotten, by id, in words or by an option")
    if secrets:
        _mask(printer, opened, moment, how)
        return
    is_named = any(map(disambiguation.looks_like_id, ids)) or all(is_known(opened, i) for i in ids)
    if not is_named:
        words = " ".join(ids)
        fits = disambiguation.find_matches(printer, opened, words, moment)
        found = disambiguation.choose(printer, _COMMAND, words, fits, yes=yes, dry_run=dry_run)
        wanted = wanted._replace(ids=tuple(fit.thing.id for fit in found))
    if wanted != ForgetRequest():
        _forget(printer, opened, wanted, moment, how)


def _forget(
    printer: Printer, store: Store, wanted: ForgetRequest, now: datetime, how: ForgetMode
) -> None:
    from clsm_cli.commands import engine

    def planned(wanted: ForgetRequest) -> ErasurePlan | None:
        return erasure.plan(store, wanted, now, engine.embedder(), printer.progress)

    plan = planned(wanted)
    if plan is not None and how.asks:
        _require_person(_COMMAND)
        if also := _choose_references(printer, plan.receipt.refers):
            plan = planned(wanted._replace(also=also))
    if plan is None:
        printer.show({"schema": "clsm.forget/1", "known": True}, ["it was forgotten already"])
        return
    if not how.dry_run:
        _confirm(printer, plan, how)
    receipt = _apply(printer, store, plan, now, how)
    if receipt.refers and not how.dry_run:
        more, step = count_noun(len(receipt.refers), "more turn"), removal_command(receipt.refers)
        printer.warn(f"{more} may be about them; to remove that too: {step}")
    lines = _receipt_lines(receipt, is_done=not how.dry_run, verbose=printer.verbose)
    printer.show({"schema": "clsm.forget/1", "dry_run": how.dry_run, **plain(receipt)}, lines)


def _mask(printer: Printer, store: Store, now: datetime, how: ForgetMode) -> None:
    plan = masking.plan(store, now)
    if plan.receipt.files and how.asks:
        _require_person(_MASKING)
        printer.tell(_masked_lines(plan.receipt, is_done=False))
        if not typer.confirm("Mask all this for good?", err=True):
            raise RefusedError(_MASKING, "nothing was masked", "run it again if you want to")
    receipt = _apply(printer, store, plan, now, how)
    lines = _masked_lines(receipt, is_done=not how.dry_run)
    printer.show({"schema": "clsm.forget/1", "dry_run": how.dry_run, **plain(receipt)}, lines)


def _apply(
    printer: Printer, store: Store, plan: ErasurePlan, now: datetime, how: ForgetMode
) -> Any:
    """Apply a plan; a dry run only returns the receipt."""
    from clsm_cli.commands import engine
    from clsm_cli.retrieval import briefing

    receipt = plan.receipt
    if receipt.files and not how.dry_run:
        receipt = clean_writing.apply(store, plan, now, engine.embedder())
        briefing.prepare(store)
    printer.warn_all(receipt.warnings)
    return receipt


def _require_person(command: str) -> None:
    if not has_person():
        raise RefusedError(command, "cannot be undone and asks first", "say so with --yes")


def _choose_references(printer: Printer, refers: Sequence[Reference]) -> tuple[str, ...]:
    if not refers:
        return ()
    printer.tell(_refers_lines(refers, is_done=False))
    answer = ""
    while answer not in {"all", "none", "one"}:
        answer = typer.prompt("Forget that too? all, none, or one by one [all/none/one]", err=True)
    return tuple(
        each.id
        for each in (refers if answer != "none" else ())
        if answer == "all" or typer.confirm(safe(f"  {_refer_line(each)}?"), err=True)
    )


def _confirm(printer: Printer, plan: ErasurePlan, how: ForgetMode) -> None:
    turns = count_noun(plan.receipt.turns, "turn")
    if plan.receipt.is_mass_loss and how.yes and not how.force:
        reason = f"would remove {turns} of {plan.receipt.all_turns}"
        raise RefusedError(_COMMAND, reason, "add --force if that is what you want")
    if how.yes:
        return
    printer.tell(_receipt_lines(plan.receipt, is_done=False, verbose=printer.verbose))
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
        lines = [f"  {e.id}  {_when(e.time)}{shorten(e.text, MAX_TEXT)}".rstrip() for e in group]
        yield count_noun(len(lines), kind)
        yield from first(lines, MAX_ITEMS, whole=verbose)
    if receipt.remade:
        yield f"{count_noun(len(receipt.remade), 'episode')} made anew without them"
    if receipt.stays:
        yield "stays"
        lines = [f"  {e.id}  {shorten(e.text, MAX_TEXT)}  ({e.why})" for e in receipt.stays]
        yield from first(lines, MAX_ITEMS, whole=verbose)
    yield from _refers_lines(receipt.refers, is_done=is_done)
    yield from _end_lines(receipt, is_done=is_done)


def _masked_lines(masked: MaskingReport, *, is_done: bool) -> Iterator[str]:
    if not masked.files:
        yield "no secret lies here in clear"
        return
    verb = "masked" if is_done else "would be masked"
    held = f"{count_noun(masked.turns, 'turn')} and {count_noun(masked.statements, 'statement')}"
    secrets = f"{count_noun(sum(masked.found.values()), 'secret')} ({_kinds(masked.found)})"
    yield f"{secrets} {verb} in {held}; {count_noun(masked.files, 'file')} changed"
    for place in masked.places:
        yield f"  {place.path}  {_kinds(place.found)}"
    yield from _end_lines(masked, is_done=is_done)


def _kinds(found: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in found.items())


def _end_lines(receipt: Receipt | MaskingReport, *, is_done: bool) -> Iterator[str]:
    if receipt.beyond:
        yield "out of reach"
    for each in receipt.beyond:
        yield f"  {each.what}: {each.why}"
        yield from (f"    {command}" for command in each.commands)
    nor = ""
    if lost := receipt.undoable:
        named = _kinds(dict(sorted(Counter(run.command for run in lost).items())))
        runs = f"{count_noun(len(lost), 'earlier run')} since {_when(lost[0].at).strip()} UTC"
        nor = f", nor can {runs} ({named}): what undo keeps goes too"
    if is_done:
        yield f"run {receipt.run}; it cannot be undone{nor}"
    else:
        yield from (f"this cannot be undone{nor}", "nothing was written")


def _refers_lines(refers: Sequence[Reference], *, is_done: bool) -> Iterator[str]:
    if refers:
        yield "seems to be about them, and stays" if is_done else "seems to be about them"
        yield from (f"  {each.id}  {_refer_line(each)}" for each in refers)
        if is_done:
            yield f"  to remove it too: {removal_command(refers)}"


def _refer_line(each: Reference) -> str:
    return f"{each.place}  {_when(each.time)}{shorten(each.text, MAX_TEXT)}  ({each.why})"


def _when(time: str | None) -> str:
    return f"{time[:16].replace('T', ' ')}  " if time else ""


def removal_command(refers: Sequence[Reference]) -> str:
    """The command line that removes these references."""
    return f"clsm forget {' '.join(each.id for each in refers)}"
