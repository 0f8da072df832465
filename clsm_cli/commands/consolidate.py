"""``clsm consolidate``: episodes become statements, rules and a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands import advise, machine_settings, render_news
from clsm_cli.commands.options import (
    DryRunOption,
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    YesOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.render_consolidate import consolidate_lines, consolidate_mapping
from clsm_cli.commands.runtime import chosen_store, current_time, environment, parse_time
from clsm_cli.config import LlmSettings
from clsm_cli.consolidation import consolidate as use_case
from clsm_cli.consolidation import packet
from clsm_cli.consolidation.report import Request
from clsm_cli.errors import BadInputError, ClsmError, ModelMissingError
from clsm_cli.ingestion.report import utc
from clsm_cli.store import nights

if TYPE_CHECKING:
    from clsm_cli.consolidation.report import Report
    from clsm_cli.store.layout import Store

EXAMPLES = examples(
    "clsm consolidate                  # every night, by cron",
    "clsm consolidate --dry-run        # read the plan first",
    "clsm consolidate --if-idle 30 --limit 20   # from a heartbeat",
    "clsm consolidate --rebuild        # the graph anew, from the episodes",
    "clsm consolidate --ask packet.txt          # for a language model, or yourself, to answer",
    "clsm consolidate --answer answer.json      # what it wrote, checked and taken in",
)


def consolidate(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="With --ask: where to; else standard output."),
    ] = None,
    *,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Take at most N episodes, the most salient first."),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Leave out episodes before this time.")
    ] = None,
    if_idle: Annotated[
        float | None,
        typer.Option(
            "--if-idle", min=0, metavar="MINUTES", help="Do nothing if somebody spoke since."
        ),
    ] = None,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Work out nodes and edges anew, from all episodes."),
    ] = False,
    ask: Annotated[
        bool,
        typer.Option(
            "--ask", help="Write what waits as a packet for an adviser to answer; change nothing."
        ),
    ] = False,
    answer: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Consolidate what an adviser's answer is about, and take of it what stands on its"
            " turns; - is standard input.",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help=f"Tokens of the packet at most; default {packet.BUDGET}."
        ),
    ] = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Distil what was said into statements, rules and a graph.

    Nothing is replaced by its summary: every statement names the turns it rests on, and what is no
    longer true is closed, not deleted. An interrupted run goes on where it was; a run over the same
    episodes changes nothing.

    An adviser, which may be any language model or a person, gets a packet and answers it. Each of
    its proposals is checked by itself; what fails is named, and its part is left to the rules.
    """
    from clsm_cli.commands import engine, evaluate_shadow
    from clsm_cli.retrieval import briefing

    advise.check(file, budget, answer, ask=ask, whole=rebuild or limit is not None or bool(since))
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    llm, warnings = _adviser(opened)
    request = Request(
        now=current_time(now, opened.zone),
        limit=limit,
        since=None if since is None else parse_time(since, opened.zone, "--since"),
        if_idle=if_idle,
        rebuild=rebuild,
        allow_loss=yes,
        llm=llm,
        llm_key=environment().get(llm.api_key_env),
        answer=None if answer is None else advise.read(answer),
        dry_run=dry_run,
    )
    engine.offer(printer)
    if ask:
        advise.write(opened, request, file, budget, engine.embedder(), printer)
        return
    try:
        if not dry_run:
            evaluate_shadow.catch_up(opened, request.now, printer)
        report = use_case.consolidate(opened, request, engine.embedder(), printer.progress)
        if not dry_run:
            briefing.prepare(opened)  # the next session starts with one file read
    except ClsmError as error:
        if not dry_run:
            nights.failed(opened, utc(request.now), str(error))
        raise
    finally:
        printer.end_progress()
    report.warnings += warnings
    if not (dry_run or report.is_busy or answer is not None):  # a part of the night is no night
        _write_down(opened, utc(request.now), report)
    printer.warn_all(report.warnings)
    if as_json:
        printer.json(consolidate_mapping(report))
    else:
        told = list(consolidate_lines(report, verbose=verbose))
        if report.run is not None:
            told += render_news.brief(opened, utc(request.now), request.now)
        printer.lines(told)
    if report.bad_model is not None:
        raise report.bad_model


def _adviser(store: Store) -> tuple[LlmSettings, list[str]]:
    """The language model that this machine is set to ask, and what is wrong with that."""
    warnings = machine_settings.told(store.misplaced)
    try:
        return machine_settings.load(store.root, environment()).llm, warnings
    except BadInputError as error:  # a wrong word there must not cost the night
        return LlmSettings(), [*warnings, f"{error}; no language model is asked"]


def _write_down(store: Store, at: str, report: Report) -> None:
    """How the run ended, for ``clsm status --check``; without its model, or a text, it is only half."""
    from clsm_cli.embedding import weights

    if report.bad_model is not None:
        nights.failed(store, at, str(report.bad_model))
    elif report.lacks_model:
        nights.failed(store, at, str(ModelMissingError(weights.default_folder())))
    elif report.unread:
        nights.failed(store, at, "; ".join(f"{path}: {how}" for path, how in report.unread.items()))
    else:
        nights.succeeded(store, at)
