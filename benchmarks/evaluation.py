"""Fills the figures of ``docs/evaluation.md`` from kept runs of ``clsm eval run``.

``python -m benchmarks.evaluation REPORT.json…`` keeps reports of ``--out`` without their single
queries, each set and the probes by themselves, and fills the document; without a report it fills it
from what is kept.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import RESULTS, ROOT
from clsm_cli.evaluation import run
from clsm_cli.evaluation.reporting import grids, report, summary
from clsm_cli.evaluation.result import Result, dump
from clsm_cli.evaluation.result import load as load_report
from clsm_cli.evaluation.systems import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clsm_cli.evaluation.reporting.grids import Grid
    from clsm_cli.evaluation.result import SetResult

DOCUMENT = ROOT / "docs" / "evaluation.md"
KEPT = RESULTS / "evaluation"
PROBES = "probes"
_BLOCK = re.compile(r"(<!-- figures: ([^\n]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Kept = Mapping[str, Result]
"""Kind of a set, or ``probes``, → the run that measured it, without all else."""


def keep(report: Path, folder: Path = KEPT) -> None:
    """Keep a report: all but its single queries, which would tell of sets that are not ours."""
    found = load_report(report)
    parts = {each.kind: replace(found, sets=(_trimmed(each),), probes=()) for each in found.sets}
    if found.probes:
        parts[PROBES] = replace(found, sets=())
    folder.mkdir(exist_ok=True)
    for name, part in parts.items():
        text = json.dumps(dump(part), indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def load(folder: Path = KEPT) -> dict[str, Result]:
    """What is kept."""
    return {path.stem: load_report(path) for path in sorted(folder.glob("*.json"))}


def _trimmed(found: SetResult) -> SetResult:
    return replace(found, queries=())


def filled(document: str, kept: Kept) -> str:
    """The document with every block of figures as the kept runs have it.

    Raises:
        KeyError: A block asks for what they do not have.
    """
    return _BLOCK.sub(lambda found: found[1] + block(found[2], kept) + found[3], document)


def block(name: str, kept: Kept) -> str:
    """The Markdown of one block: a set, or ``probes``, and ``command`` or a table of it.

    Raises:
        KeyError: There is no such set or table.
    """
    kind, _, what = name.partition(" ")
    result = kept[kind]
    if what == "command":
        facts = [f"- {what}: {value}" for what, value in summary.origin(result)]
        return "\n".join(["```", result.command, "```", "", *facts, ""])
    if kind == PROBES:
        return _joined(line for each in result.probes for line in report.probe(each))
    return _joined(_lines(result.sets[0], what))


def _lines(found: SetResult, what: str) -> Iterable[str]:
    tables: dict[str, Callable[[SetResult], Grid]] = {
        "systems": grids.headline,
        "everything": grids.everything,
        "categories": lambda each: grids.group(each, "category", each.headline),
        "ablation": lambda each: grids.ablation(each, is_full=True),
        "abstention": grids.abstention,
        "paper": grids.paper,
        "pairs": lambda each: grids.pairs(each, is_full=False),
        "consolidation": _without_the_night,
    }
    if what == "notes":
        return [*(f"- {note}" for note in found.notes), ""]
    if what == "sizes":
        facts = (*grids.sizes(found), ("SHA-256", found.digest))
        return [*(f"- {name}: {value}" for name, value in facts), ""]
    return report.table(tables[what](found))


def _without_the_night(found: SetResult) -> Grid:
    """What the night adds, by category: clsm against itself on the store as it was ingested."""
    without = f"{registry.CLSM} without {run.TESTED}"
    mine = tuple(each for each in found.pairs if each.against == without)
    return grids.pairs(replace(found, pairs=mine), is_full=True)


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Keep the reports that are named, and fill the document."""
    for name in sys.argv[1:]:
        keep(Path(name))
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(filled(text, load()), encoding="utf-8")


if __name__ == "__main__":
    main()
