"""The last figures of the long form: kept in ``figures.json``, shown in docs/promises.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from faults.rig import Outcome, Rig

FILE = Path(__file__).with_name("figures.json")
PAGE = Path(__file__).parents[2] / "docs" / "promises.md"
_BLOCK = re.compile(r"(<!-- figures of (\d+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)

_COUNT = re.compile(r"(of |)(\d[\d,]*) (.+)")
_MOST = re.compile(r"(slowest|at most|no room up to) ([\d.]+) (.+)")

Figures = dict[str, Any]
"""Rig → {"date", "outcomes": [a row each], "control": how many broken ones were tried and caught}."""


def load() -> Figures:
    """What is kept; empty before the first long run."""
    return dict(json.loads(FILE.read_text())) if FILE.exists() else {}


def keep(rig: Rig, day: str, outcomes: Sequence[Outcome], controls: Sequence[Outcome]) -> None:
    """Write down what a long run found, in place of what the last one did."""
    figures = load()
    figures[rig.name] = {
        "date": day,
        "promises": list(rig.promises),
        "outcomes": [_row(each) for each in outcomes],
        "control": {"tried": len(controls), "caught": sum(bool(c.violations) for c in controls)},
    }
    text = json.dumps(dict(sorted(figures.items())), indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n")
    PAGE.write_text(filled(PAGE.read_text(), figures))


def _row(outcome: Outcome) -> dict[str, Any]:
    row = asdict(outcome)
    row |= {name: len(row[name]) for name in ("violations", "missed")}
    return row | {"seconds": round(outcome.seconds)}


def filled(page: str, figures: Mapping[str, Any]) -> str:
    """The page with the figures of each promise in its block."""
    return _BLOCK.sub(lambda match: match[1] + table(int(match[2]), figures) + match[3], page)


def table(promise: int, figures: Mapping[str, Any]) -> str:
    """What the rigs of a promise did, a row a rig."""
    rows = [_line(name, found) for name, found in figures.items() if promise in found["promises"]]
    head = "| rig | last run | faults planned | fired | violations | broken ones caught | |\n"
    return head + "|---|---|---:|---:|---:|---:|---|\n" + "".join(rows) if rows else ""


def _line(name: str, found: Mapping[str, Any]) -> str:
    outcomes = found["outcomes"]
    planned, fired, wrong = (
        sum(each[key] for each in outcomes) for key in ("planned", "fired", "violations")
    )
    control = found["control"]
    more = summed(each["more"] for each in outcomes)
    return (
        f"| {name} | {found['date']} | {planned:,} | {fired:,} | {wrong} |"
        f" {control['caught']} of {control['tried']} | {more} |\n"
    )


def summed(told: Iterable[str]) -> str:
    """What outcomes tell of themselves ("; " between two things) as of one: counts are added.

    >>> summed(["3 notes; of 1,000 calls; slowest 0.2 s", "4 notes; of 20 calls; slowest 0.1 s"])
    '7 notes; of 1,020 calls; slowest 0.2 s'
    """
    found: dict[tuple[str, str], float | None] = {}
    for piece in (piece for text in told for piece in text.split("; ") if piece):
        if match := _COUNT.fullmatch(piece):
            key = (match[1], f" {match[3]}")
            found[key] = (found.get(key) or 0) + int(match[2].replace(",", ""))
        elif match := _MOST.fullmatch(piece):
            key = (f"{match[1]} ", f" {match[3]}")
            number = float(match[2]) if "." in match[2] else int(match[2])
            found[key] = max(found.get(key) or 0, number)
        else:
            found[piece, ""] = None
    return "; ".join(
        before + ("" if value is None else f"{value:,}") + behind
        for (before, behind), value in found.items()
    )
