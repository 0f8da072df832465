"""The result of an evaluation of consolidation as JSON, as tables, and as a sheet for a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import plain
from clsm_cli.commands.tables import Table
from clsm_cli.evaluation.reporting.grids import share
from clsm_cli.evaluation.studies.labelled import MemoryReport
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.studies.labelled import (
        ConceptFigures,
        Difference,
        FactFigures,
        Repeated,
        SheetRow,
        StatementFigures,
    )


def mapping(report: MemoryReport) -> dict[str, Any]:
    """The JSON object: everything, shares as 0 … 1 with all their digits."""
    return {"schema": "clsm.study-memory/1", **plain(report)}


def tables(report: MemoryReport, *, verbose: bool) -> list[Table]:
    """What a person reads; shares in per cent.

    Args:
        report: The result.
        verbose: Also each fact that is right.
    """
    return list(_memory(report, verbose=verbose))


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


def _memory(report: MemoryReport, *, verbose: bool) -> Iterator[Table]:
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
    """A list under a title; nothing where there is nothing."""
    if lines:
        yield Table(title, (f"({len(lines)} lines)",), tuple((line,) for line in lines))


def _percent(count: int, total: int) -> str:
    return share(count / total) if total else "-"


def _of(count: int, total: int) -> str:
    return f"{count} of {total}"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "NO"
