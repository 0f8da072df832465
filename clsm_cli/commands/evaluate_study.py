"""``clsm eval study``: measure one part of the program by itself.

First the command, then the rendering of each study: consolidation, time expressions.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clsm_cli.commands import tables
from clsm_cli.commands.evaluate_shared import (
    EvalNowOption,
    FreshOption,
    SeedOption,
    WorkOption,
    make_factory,
    open_engine,
)
from clsm_cli.commands.options import (
    Command,
    Common,
    examples,
    takes_common,
)
from clsm_cli.commands.output import plain
from clsm_cli.commands.tables import Table
from clsm_cli.evaluation.reporting.grids import format_share
from clsm_cli.evaluation.studies.labelled import MemoryReport
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from clsm_cli.evaluation.stores import StoreFactory

    Shown = tuple[dict[str, Any], list[Table]]
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.studies.labelled import (
        ConceptFigures,
        Difference,
        FactFigures,
        Repeated,
        SheetRow,
        StatementFigures,
    )
    from clsm_cli.evaluation.studies.times import Answer, Reading, TimesReport

EXAMPLES = examples(
    "clsm eval study memory fixtures/sample",
    "clsm eval study memory fixtures/sample --sheet 50 > sheet.md",
    "clsm eval study times fixtures/time",
)


class Study(StrEnum):
    """The studies there are."""

    memory = "memory"
    times = "times"


@takes_common(store=False)
def study(
    name: Annotated[
        Study,
        typer.Argument(
            metavar="STUDY",
            help="memory (what consolidation makes of labelled notes), times (time expressions).",
        ),
    ],
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Where its set lies; see docs/evaluation.md.")
    ],
    *,
    without_markup: Annotated[
        bool,
        typer.Option("--plain", help="memory: take all markup out of the notes; concepts only."),
    ] = False,
    sheet: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="memory: print N statements for a judge, as Markdown."
        ),
    ] = 0,
    work: WorkOption = None,
    fresh: FreshOption = False,
    seed: SeedOption = 0,
    now: EvalNowOption = None,
    common: Common,
) -> None:
    """Measure one part of the program by itself.

    No store of yours is touched; stores are made in the work folder and found again.
    """
    if (without_markup or sheet) and name is not Study.memory:
        raise typer.BadParameter("go with memory alone", param_hint="--plain, --sheet")
    printer = common.printer()
    judged: list[str] = []
    try:
        factory = make_factory(printer, work, now, fresh=fresh)
        if name is Study.memory:
            report = _memory(path, factory, seed, is_plain=without_markup, sheet=sheet)
            shown = _of_memory(report, verbose=common.verbose)
            judged = _sheet(report) if sheet and not common.as_json else []
        else:
            shown = _times(path, factory, verbose=common.verbose)
    finally:
        printer.end_progress()
    if judged:
        printer.lines(judged)
    else:
        tables.show(printer, *shown)


def register(app: typer.Typer) -> None:
    """Add the command to ``clsm eval``."""
    app.command("study", cls=Command, epilog=EXAMPLES)(study)


def _memory(
    path: Path, factory: StoreFactory, seed: int, *, is_plain: bool, sheet: int
) -> MemoryReport:
    from clsm_cli.evaluation.studies import distillation

    open_engine()  # ingest does without a model; what is then consolidated is no measure
    return distillation.run_memory(path, factory, seed, is_plain=is_plain, sheet=sheet)


def _of_memory(report: MemoryReport, *, verbose: bool) -> Shown:

    return memory_mapping(report), memory_tables(report, verbose=verbose)


def _sheet(report: MemoryReport) -> list[str]:

    return sheet(report.sheet)


def _times(path: Path, factory: StoreFactory, *, verbose: bool) -> Shown:
    from clsm_cli.evaluation.studies import times

    report = times.run_times(path, factory)
    return times_mapping(report), times_tables(report, verbose=verbose)


def memory_mapping(report: MemoryReport) -> dict[str, Any]:
    """The JSON object: everything, shares as 0 … 1 with all their digits."""
    return {"schema": "clsm.study-memory/1", **plain(report)}


def memory_tables(report: MemoryReport, *, verbose: bool) -> list[Table]:
    """What a person reads; shares in per cent.

    Args:
        report: The result.
        verbose: Also each fact that is right.
    """
    return list(_contents(report, verbose=verbose))


def sheet(drawn: Sequence[SheetRow]) -> list[str]:
    """The drawn statements as Markdown, with boxes for a judge to mark."""
    lines = ["# Statements to judge", ""]
    for number, row in enumerate(drawn, 1):
        dates = f"{row.valid_from or '?'} – {row.valid_until or 'still'}"
        lines += [
            f"## {number}. `{row.id}`",
            "",
            f"{row.kind} · {row.stream} · {dates}",
            "",
            f"**{safe(row.text)}**",
            "",
            *(f"> {safe(text)}\n" for text in row.sources),
            "- [ ] true and of use  - [ ] junk  - [ ] wrong",
            "",
        ]
    return lines


def _contents(report: MemoryReport, *, verbose: bool) -> Iterator[Table]:
    yield Table(
        "memory", ("data", "count"), tuple((name, str(n)) for name, n in report.data.items())
    )
    yield from _concepts(report.concepts)
    if report.statements is not None:
        yield from _statements(report.statements)
        yield from _facts(report.facts, verbose=verbose)
    if report.repeated is not None:
        yield from _repeated(report.repeated)
    for head, figures in report.heads.items():
        rows = tuple((name, f"{value:g}") for name, value in figures.items())
        yield Table(f"head of {head}, on memories left out", ("figure", "value"), rows)


def _concepts(found: ConceptFigures) -> Iterator[Table]:
    per_label = found.unmatched / found.labels if found.labels else 0.0
    yield Table(
        "concepts",
        ("figure", "value", ""),
        (
            ("labels found %", _percent(found.found, found.labels), _of(found.found, found.labels)),
            ("unmatched nodes per label", f"{per_label:.2f}", _of(found.unmatched, found.nodes)),
            ("labels with several nodes", str(len(found.split)), ""),
            ("wrong merges", str(len(found.merges)), ""),
            (
                "kinds right %",
                _percent(found.kinds_right, found.kinded),
                _of(found.kinds_right, found.kinded),
            ),
        ),
    )
    yield from _listed("labels without a node", found.missing)
    yield from _listed(
        "labels with several nodes", [f"{a}: {', '.join(b)}" for a, b in found.split.items()]
    )
    yield from _listed("wrong merges", [f"{a}: {', '.join(b)}" for a, b in found.merges.items()])


def _statements(found: StatementFigures) -> Iterator[Table]:
    yield Table(
        "statements",
        ("figure", "value", ""),
        (
            ("kept %", _percent(found.present, found.keep), _of(found.present, found.keep)),
            (
                "stream right %",
                _percent(found.stream_right, found.present),
                _of(found.stream_right, found.present),
            ),
            ("junk promoted", str(len(found.promoted)), f"of {found.junk}"),
        ),
    )
    streams = sorted({stream for by_stream in found.counts.values() for stream in by_stream})
    yield Table(
        "statements by kind and stream",
        ("kind", *streams, "all"),
        tuple(
            (kind, *(str(by.get(stream, 0)) for stream in streams), str(sum(by.values())))
            for kind, by in found.counts.items()
        ),
    )
    yield from _listed(
        "not kept, and what was made of the turn",
        [
            line
            for each in found.missing
            for line in (
                f"{each.text} <- {each.quote}",
                *(f"    {text}" for text in each.instead or ("(nothing)",)),
            )
        ],
    )
    yield from _listed(
        "in another stream",
        [f"{text} ({was}, not {wanted})" for text, wanted, was in found.misplaced],
    )
    yield from _listed("junk promoted", [f"{label} -> {text}" for label, text in found.promoted])


def _facts(facts: Sequence[FactFigures], *, verbose: bool) -> Iterator[Table]:
    values = [value for fact in facts for value in fact.values]
    old = [value for value in values if value.valid_until is not None]
    sums = (
        ("values with both dates right", sum(v.is_right for v in values), len(values)),
        ("values stated", sum(v.is_stated for v in values), len(values)),
        ("old values closed at the right date", sum(v.ends_right for v in old), len(old)),
        ("current value right", sum(fact.is_current_right for fact in facts), len(facts)),
    )
    yield Table(
        "facts that changed",
        ("figure", "%", ""),
        tuple((name, _percent(n, total), _of(n, total)) for name, n, total in sums),
    )
    lines: list[str] = []
    for fact in facts:
        wrong = [value for value in fact.values if value.why]
        if wrong or not fact.is_current_right or verbose:
            right = len(fact.values) - len(wrong)
            current = "right" if fact.is_current_right else "WRONG"
            lines.append(f"{fact.id}: {_of(right, len(fact.values))} values, current {current}")
        for value in wrong:
            until = value.valid_until or "still"
            lines.append(f"  {value.value} ({value.valid_from} to {until}): {value.why}")
            lines += [f"    {row}" for row in value.found]
        lines += [f"  stale: {row}" for row in fact.stale]
    yield from _listed("facts by value" if verbose else "facts that fail", lines)


def _repeated(found: Repeated) -> Iterator[Table]:
    rebuilt = sum(each.count for each in found.rebuilt)
    nightly = sum(each.count for each in found.nightly)
    yield Table(
        "repeated",
        ("run", "same", ""),
        (
            ("second run", _yes(not found.changed_files), f"{len(found.changed_files)} files"),
            ("rebuild of the graph", _yes(not found.rebuilt), f"{rebuilt} differences"),
            (
                f"{found.nights} nights against one run",
                _yes(not found.nightly),
                f"{nightly} differences, {found.refused} runs refused at first",
            ),
        ),
    )
    yield from _listed("files changed by a second run", found.changed_files)
    yield from _listed("changed by a rebuild", _examples(found.rebuilt))
    yield from _listed("different after nights", _examples(found.nightly))


def _examples(differences: Sequence[Difference]) -> list[str]:
    return [
        line
        for each in differences
        for line in (f"{each.count} {each.what}", *(f"    {example}" for example in each.examples))
    ]


def _listed(title: str, lines: Sequence[str]) -> Iterator[Table]:
    """A list under a title; nothing if it is empty."""
    if lines:
        yield Table(title, (f"({len(lines)} lines)",), tuple((line,) for line in lines))


def _percent(count: int, total: int) -> str:
    return format_share(count / total) if total else "-"


def _of(count: int, total: int) -> str:
    return f"{count} of {total}"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "NO"


def times_mapping(report: TimesReport) -> dict[str, Any]:
    """The JSON object: every expression."""
    return {"schema": "clsm.study-times/1", **plain(report)}


def times_tables(report: TimesReport, *, verbose: bool) -> list[Table]:
    """What a person reads.

    Args:
        report: The result.
        verbose: Also the expressions that were read right.
    """
    kinds = list(dict.fromkeys(each.kind for each in report.readings))
    rows = [_counts(kind, [e for e in report.readings if e.kind == kind]) for kind in kinds]
    shown = [each for each in report.readings if verbose or not (each.is_right and each.is_firm)]
    found = [
        Table(
            f"times, over a store of {report.sessions} conversations",
            ("expressions", "count", "right", "hard or soft right too"),
            (*rows, _counts("all", report.readings)),
        )
    ]
    if shown:
        found.append(
            Table(
                "expressions" if verbose else "read otherwise",
                ("expression", "expected", "found", "hard or soft"),
                tuple(
                    (
                        f"{each.id} {each.query}",
                        _said(each.expected),
                        "right" if each.is_right else _said(each.found),
                        "right" if each.is_firm else "wrong",
                    )
                    for each in shown
                ),
            )
        )
    return found


def _counts(name: str, readings: Sequence[Reading]) -> tuple[str, ...]:
    right = [each for each in readings if each.is_right]
    firm = sum(each.is_firm for each in right)
    return name, str(len(readings)), str(len(right)), str(firm)


def _said(answer: Answer) -> str:
    return " ".join(each or "open" for each in answer) or "nothing"
