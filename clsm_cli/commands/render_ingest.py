"""An ingest's report as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clsm_cli.ingestion.capture import Tally
    from clsm_cli.ingestion.ingest import Report, SourceReport


def ingest_mapping(report: Report) -> dict[str, Any]:
    """Schema ``clsm.ingest/1``."""
    return {
        "schema": "clsm.ingest/1",
        "dry_run": report.dry_run,
        "files": [_file_mapping(source) for source in report.sources],
        "skipped": [{"path": s.path, "reason": s.reason} for s in report.skipped],
        "problems": [{"path": p.path, "line": p.line, "reason": p.reason} for p in report.problems],
        "masked": dict(sorted(report.masked.items())),
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
    }


def ingest_lines(report: Report, *, verbose: bool) -> list[str]:
    """A line a file that changed anything (all with ``verbose``), what was left out, and a sum."""
    lines = []
    for source in report.sources:
        said = _said(source.tally)
        if verbose or said != _said_unchanged(source.tally):
            lines.append(f"{source.path}: {said}")
    if verbose:
        lines += [f"{skipped.path}: skipped, {skipped.reason}" for skipped in report.skipped]
    for problem in report.problems:
        where = problem.path if problem.line is None else f"{problem.path}, line {problem.line}"
        lines.append(f"{where}: {problem.reason}")
    lines.append(_sum(report))
    return lines


def _said(tally: Tally) -> str:
    parts = [
        f"{count} {word}"
        for count, word in (
            (tally.added, "added"),
            (tally.changed, "changed"),
            (tally.closed, "closed"),
            (tally.known, "unchanged"),
        )
        if count
    ]
    parts += [f"{count} dropped ({reason})" for reason, count in sorted(tally.dropped.items())]
    parts += [f"{count} masked ({kind})" for kind, count in sorted(tally.masked.items())]
    return ", ".join(parts) or "nothing to remember"


def _said_unchanged(tally: Tally) -> str:
    return f"{tally.known} unchanged" if tally.known else "nothing to remember"


def _sum(report: Report) -> str:
    tallies = [source.tally for source in report.sources]
    added = sum(tally.added for tally in tallies)
    changed = sum(tally.changed for tally in tallies)
    closed = sum(tally.closed for tally in tallies)
    known = sum(tally.known for tally in tallies)
    verb = "would be" if report.dry_run else "were"
    text = (
        f"{len(tallies)} files: {added} turns and blocks {verb} added, {changed} changed,"
        f" {closed} closed, {known} unchanged"
    )
    if report.episodes:
        text += f"; {report.episodes} conversations' episodes closed"
    if report.open_turns:
        text += f"; {report.open_turns} turns in open episodes"
    if report.skipped:
        text += f"; {len(report.skipped)} skipped"
    return text
