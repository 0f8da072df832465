"""The files of a report: JSON, Markdown, and a line for each query."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation.reporting.markdown import markdown
from clsm_cli.evaluation.result_json import dump
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clsm_cli.evaluation.result import Result


def write(folder: Path, result: Result) -> list[Path]:
    """Write all files of a report; each that was there is replaced whole.

    Args:
        folder: Made where it is missing.
        result: What was found.

    Returns:
        The files: ``report.json``, ``report.md`` and ``queries.jsonl``.

    Raises:
        DiskError: The operating system refused.
    """
    texts = {
        "report.json": f"{json.dumps(dump(result), ensure_ascii=False, indent=1)}\n",
        "report.md": markdown(result),
        "queries.jsonl": "".join(f"{_line(each)}\n" for each in queries(result)),
    }
    for name, text in texts.items():
        atomic.put(folder / name, text.encode("utf-8", "backslashreplace"))
    return [folder / name for name in texts]


def queries(result: Result) -> Iterator[dict[str, Any]]:
    """One object a query; the text of no query stands in it, since sets have licences of their own."""
    for found in result.sets:
        for each in found.queries:
            yield {
                "set": found.name,
                "case": each.case,
                "id": each.id,
                "category": each.category,
                "difficulty": each.difficulty,
                "gold": each.gold,
                "values": each.values,
                "ranks": {name: list(ranks) for name, ranks in each.ranks.items()},
            }


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
