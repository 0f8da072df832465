"""Fills the figures of ``docs/evaluation.md`` from a kept run of ``clsm eval run``.

``python -m benchmarks.evaluation REPORT.json`` keeps a report of ``--out`` without its single
queries, and fills the document; without a report it fills it from what is kept.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import RESULTS, ROOT
from clsm_cli.evaluation import result_json, trial
from clsm_cli.evaluation.reporting import grids, markdown, summary
from clsm_cli.evaluation.systems import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clsm_cli.evaluation.reporting.grids import Grid
    from clsm_cli.evaluation.result import Result, SetResult

DOCUMENT = ROOT / "docs" / "evaluation.md"
KEPT = RESULTS / "evaluation" / "report.json"
_BLOCK = re.compile(r"(<!-- figures: ([^\n]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def keep(report: Path) -> None:
    """Keep a report: all but its single queries, which would tell of sets that are not ours."""
    found = result_json.load(report)
    trimmed = replace(found, sets=tuple(replace(each, queries=()) for each in found.sets))
    KEPT.parent.mkdir(exist_ok=True)
    text = json.dumps(result_json.dump(trimmed), indent=1, ensure_ascii=False)
    KEPT.write_text(f"{text}\n", encoding="utf-8")


def filled(document: str, result: Result) -> str:
    """The document with every block of figures as the result has it.

    Raises:
        KeyError: A block asks for what the result does not have.
    """
    return _BLOCK.sub(lambda found: found[1] + block(found[2], result) + found[3], document)


def block(name: str, result: Result) -> str:
    """The Markdown of one block: ``command``, ``probes``, or the name of a set and a table of it.

    Raises:
        KeyError: The result has no such set, or there is no such table.
    """
    if name == "command":
        facts = [f"- {what}: {value}" for what, value in summary.origin(result)]
        return "\n".join(["```", result.command, "```", "", *facts, ""])
    if name == "probes":
        return _joined(line for each in result.probes for line in markdown.probe(each))
    kind, _, what = name.partition(" ")
    found = {each.kind: each for each in result.sets}[kind]
    return _joined(_lines(found, what))


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
    return markdown.table(tables[what](found))


def _without_the_night(found: SetResult) -> Grid:
    """What the night adds, by category: clsm against itself on the store as it was ingested."""
    without = f"{registry.CLSM} without {trial.TESTED}"
    mine = tuple(each for each in found.pairs if each.against == without)
    return grids.pairs(replace(found, pairs=mine), is_full=True)


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Keep a report if one is named, and fill the document."""
    if len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(filled(text, result_json.load(KEPT)), encoding="utf-8")


if __name__ == "__main__":
    main()
