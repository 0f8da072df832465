"""An ingest's report as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import counted

if TYPE_CHECKING:
    from clsm_cli.ingestion.capture import Tally
    from clsm_cli.ingestion.items import Problem
    from clsm_cli.ingestion.report import Report, SourceReport


def ingest_mapping(report: Report) -> dict[str, Any]:
    """Schema ``clsm.ingest/1``."""
    return {
        "schema": "clsm.ingest/1",
        "dry_run": report.dry_run,
        "files": [_file_mapping(source) for source in report.sources],
        "skipped": [{"path": s.path, "reason": s.reason} for s in report.skipped],
        "excluded": report.excluded,
        "problems": [{"path": p.path, "line": p.line, "reason": p.reason} for p in report.problems],
        "masked": dict(sorted(report.masked.items())),
        "up_to_date": report.up_to_date,
        "episodes": report.episodes,
        "open_turns": report.open_turns,
        "warnings": report.warnings,
    }


def _file_mapping(source: SourceReport) -> dict[str, Any]:
    tally = source.tally
    return {
        "path": source.path,
        "format": source.format,
        "added": tally.added,
        "changed": tally.changed,
        "closed": tally.closed,
        "known": tally.known,
        "dropped": dict(sorted(tally.dropped.items())),
        "masked": dict(sorted(tally.masked.items())),
        "encoding": tally.encoding or "UTF-8",
        "by_words": tally.by_words,
    }


def ingest_lines(report: Report, *, verbose: bool) -> list[str]:
    """A line a file that changed anything (all with ``verbose``), what was left out, and a sum."""
    lines = []
    for source in report.sources:
        tally = source.tally
        if verbose or tally.added or tally.changed or tally.closed:
            lines.append(f"{source.path}: {_said(tally)}")
    if verbose:
        lines += [f"{skipped.path}: skipped, {skipped.reason}" for skipped in report.skipped]
    if report.sources or not report.problems:
        lines.append(_sum(report))
    return lines


def problem_line(problem: Problem) -> str:
    """What could not be read as it stands: one sentence with the place and the next step."""
    where = problem.path if problem.line is None else f"{problem.path}, line {problem.line}"
    return f"{where}: {problem.reason}; all else is read, mend it and ingest again"


def _said(tally: Tally) -> str:
    counts = (
        (tally.added, "added"),
        (tally.changed, "changed"),
        (tally.closed, "closed"),
        (tally.known, "unchanged"),
    )
    said = ", ".join(f"{count} {word}" for count, word in counts if count) or "nothing new"
    for word, found in (("left out", tally.dropped), ("masked", tally.masked)):
        kinds = [f"{count} {kind}" if count > 1 else kind for kind, count in sorted(found.items())]
        if kinds:
            said += f"; {word}: {', '.join(kinds)}"
    if tally.encoding:
        said += f"; decoded from {tally.encoding}"
    if tally.by_words:
        said += f"; {_size(tally.by_words)} of dumps found by their words alone"
    return said


def _size(characters: int) -> str:
    """Characters in thousands or millions.

    >>> _size(8300), _size(1_996_000)
    ('8,000 characters', '2.0 million characters')
    """
    if characters < 1_000_000:
        return f"{round(characters, -3):,} characters"
    return f"{characters / 1e6:.1f} million characters"


def _sum(report: Report) -> str:
    tallies = [source.tally for source in report.sources]
    added = sum(tally.added for tally in tallies)
    changed = sum(tally.changed for tally in tallies)
    closed = sum(tally.closed for tally in tallies)
    known = sum(tally.known for tally in tallies)
    noun = "turn or block" if added == 1 else "turns and blocks"
    verb = "would be added" if report.dry_run else "added"
    text = f"{counted(len(tallies), 'file')}: {added} {noun} {verb}"
    text += f", {changed} changed, {closed} closed, {known} unchanged"
    skipped = len(report.skipped) - report.excluded
    parts = (
        (report.up_to_date, f"{counted(report.up_to_date, 'transcript')} without anything new"),
        (report.episodes, f"{counted(report.episodes, 'episode')} made of conversations"),
        (report.open_turns, f"{counted(report.open_turns, 'turn')} in open episodes"),
        (report.forgotten, f"{report.forgotten} left out as forgotten"),
        (report.excluded, f"{report.excluded} excluded"),
        (skipped, f"{skipped} skipped"),
        (len(report.problems), counted(len(report.problems), "problem")),
    )
    return "; ".join([text, *(said for count, said in parts if count)])
