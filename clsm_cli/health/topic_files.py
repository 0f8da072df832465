"""Checks of topic files: what stands in Markdown against what the records know of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.health import digests
from clsm_cli.health.codes import found, listed
from clsm_cli.health.places import kind_of
from clsm_cli.model.graph import Statement
from clsm_cli.store import settle
from clsm_cli.store.runs import Append

if TYPE_CHECKING:
    from clsm_cli.health.finding import Finding
    from clsm_cli.health.held import Held


def whole(held: Held) -> list[Finding]:
    """Front matter that cannot be read, ids that stand there twice, a cut end."""
    findings: list[Finding] = []
    for path, topic in sorted(held.topics.items()):
        heads = [problem for problem in topic.problems if problem.line is None]
        findings += [found("unreadable-head", path, problem.reason) for problem in heads]
        counts = Counter(item.id for item in topic.items if item.id is not None)
        again = sorted(i for i, count in counts.items() if count > 1)
        if again:
            findings.append(found("item-twice", path, f"two items carry {listed(again)}"))
        if not held.files[path].is_ended and (gone := missing(held, path)):
            reason = f"its end is missing, and with it {listed(gone)}"
            findings.append(found("cut-short", path, reason))
    return findings


def missing(held: Held, path: str) -> list[str]:
    """Statements that stand in a topic file by their records, and do not."""
    stream, _, name = path.partition("/")
    there = {item.id for item in held.topics[path].items}
    return sorted(
        record.id
        for record in held.records.values()
        if isinstance(record, Statement)
        and record.is_current
        and (record.stream, f"{record.topic}.md") == (stream, name)
        and record.id not in there
    )


def doubtful(held: Held) -> bool:
    """Whether what is missing in the Markdown may be damage, and not a person's decision."""
    names = (file for file in held.of_kind("topic"))
    if any(f.nul or f.broken or f.error or not f.is_regular for f in names):
        return True
    codes = ("unreadable-head", "cut-short")
    return any(each.code in codes for each in whole(held)) or any(
        each.code == "missing-file" and kind_of(each.path) == "topic"
        for each in digests.changed(held)
    )


def settled(held: Held, now: str) -> list[Finding]:
    """Hand edits that no command has settled yet."""
    writes, warnings = settle.plan(held.store, now)
    findings = [
        found("statements-gone", each.partition(":")[0], each.partition(": ")[2].partition(";")[0])
        for each in warnings
        if "nothing was withdrawn" in each
    ]
    paths = sorted(
        {
            w.path.relative_to(held.store.root).as_posix()
            for w in writes
            if not isinstance(w, Append)
        }
    )
    if paths:
        is_mended = not findings and not doubtful(held)
        step = "" if is_mended else "mend the damaged files first"
        reason = f"to be written: {listed(paths)}"
        findings.append(found("hand-edits", paths[0], reason, mends=is_mended, next_step=step))
    return findings
