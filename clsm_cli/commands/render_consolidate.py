"""A consolidation as text: one line for the log, or the plan as a diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.consolidation.report import FileChange, Report

_SHARD = ".yaml"
_SHOWN = 200
"""Lines of a file's diff; a plan is read, not archived."""


def consolidate_lines(report: Report, *, verbose: bool) -> Iterator[str]:
    """What a person reads."""
    if report.is_busy:
        yield "not idle: nothing done"
        return
    if report.dry_run:
        for change in report.files:
            yield from _diff(change, whole=verbose)
        if not report.files:
            yield "nothing would change"
            return
    yield _summary(report)
    yield from _advice(report)
    if verbose:
        yield f"statements: {_counts(report.statements)}"
        yield f"nodes: {_counts(report.nodes)}"
        yield f"edges: {_counts(report.edges)}"
    if report.review:
        yield f"{counted(report.review, 'question')} for you: clsm review"


def consolidate_mapping(report: Report) -> dict[str, Any]:
    """The same as data."""
    return {
        "schema": "clsm.consolidate/1",
        "dry_run": report.dry_run,
        "run": report.run,
        "is_busy": report.is_busy,
        "episodes": {"pending": report.pending, "consolidated": report.consolidated},
        "unread": report.unread,
        "open_turns": report.open_turns,
        "statements": dict(sorted(report.statements.items())),
        "nodes": dict(sorted(report.nodes.items())),
        "edges": dict(sorted(report.edges.items())),
        "gists": report.gists,
        "answered": report.answered,
        "review": report.review,
        "files": report.files,
        "usage": report.usage,
        "adviser": {
            "taken": report.advised,
            "refused": [each._asdict() for each in report.refused],
            "stale": report.stale,
        },
        "warnings": report.warnings,
    }


def _summary(report: Report) -> str:
    verb = "would consolidate" if report.dry_run else "consolidated"
    found = report.statements
    parts = [
        f"{verb} {counted(report.consolidated, 'episode')}",
        f"statements: {found['new']} new, {found['predicted']} known, {found['corrected']} corrected",
        f"{counted(report.nodes['total'], 'node')}, {counted(report.edges['total'], 'edge')}",
    ]
    if found["tasks"]:
        parts.insert(2, counted(found["tasks"], "new task"))
    if report.answered:
        parts.append(f"{counted(report.answered, 'question')} answered")
    if report.consolidated < report.pending:
        parts.append(f"{report.pending - report.consolidated} left")
    if report.run:
        parts.append(report.run)
    return " · ".join(parts)


def _advice(report: Report) -> Iterator[str]:
    """What became of an adviser's answer; each refused proposal by name."""
    if report.advised or report.refused:
        yield f"adviser: {report.advised} taken, {len(report.refused)} refused"
    if report.stale:
        yield (
            f"{counted(report.stale, 'episode')} of the answer had been consolidated before: what was"
            " made of it stays beside what is new"
        )
    for each in report.refused:
        yield f"  refused: {each.part or 'no part'}: {each.proposal}: {each.reason}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"


def _diff(change: FileChange, *, whole: bool) -> Iterator[str]:
    """A Markdown file line by line, a shard by its numbers (``--verbose``: by its lines too)."""
    mark = " (new)" if change.is_new else ""
    if change.path.endswith(_SHARD) and not whole:
        yield f"{change.path}{mark}: +{len(change.added)} -{len(change.removed)}"
        return
    yield f"{change.path}{mark}"
    lines = [f"  - {line}" for line in change.removed] + [f"  + {line}" for line in change.added]
    yield from lines[:_SHOWN] if not whole else lines
    if len(lines) > _SHOWN and not whole:
        yield f"  … {len(lines) - _SHOWN} lines more (all of them: --verbose)"
