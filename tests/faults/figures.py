"""The last figures of the long form of a rig: a row of docs/promises.md, which keeps them."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from faults.rig import Outcome, Rig

PAGE = Path(__file__).parents[2] / "docs" / "promises.md"
BLOCK = re.compile(r"<!-- figures of (\d+) -->\n(.*?)<!-- end of figures -->", re.DOTALL)
_COUNT = re.compile(r"(of |)(\d[\d,]*) (.+)")
_MOST = re.compile(r"(slowest|at most|no room up to) ([\d.]+) (.+)")


def rows(page: str) -> dict[int, list[list[str]]]:
    """Promise → the cells of the row of each of its rigs: name, day, planned, fired, violations, caught."""
    return {
        int(promise): [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
        for promise, table in BLOCK.findall(page)
    }


def keep(rig: Rig, day: str, outcomes: Sequence[Outcome], controls: Sequence[Outcome]) -> None:
    """Write what a long run found in place of what the last one did."""
    planned, fired = sum(each.planned for each in outcomes), sum(each.fired for each in outcomes)
    wrong = sum(len(each.violations) for each in outcomes)
    caught = f"{sum(bool(each.violations) for each in controls)} of {len(controls)}"
    row = (
        f"| {rig.name} | {day} | {planned:,} | {fired:,} | {wrong} | {caught} |"
        f" {summed(each.more for each in outcomes)} |"
    )
    old = re.compile(rf"^\| {rig.name} \|.*$", re.MULTILINE)
    PAGE.write_text(old.sub(lambda _: row, PAGE.read_text()))


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
