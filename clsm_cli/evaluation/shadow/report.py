"""What the log of shadow mode says: CLS-M's measures (§5.1) for memory and for the files, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.shadow.log import Row, Side

FEW = 5
"""Sessions below which nothing should be decided."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One way to remember, over all sessions.

    Attributes:
        tokens: Loaded in a session, each item once; the mean.
        prompt: In front of the model at a prompt; the mean.
        relevance: Tokens of the sentences used / tokens loaded.
        retention: Prompts whose reply used something that was loaded / prompts. It stands for CLS-M's
            correct recalls / recall prompts, as nobody marks which prompts those were.
    """

    tokens: float
    prompt: float
    relevance: float
    retention: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """Shadow mode so far.

    Attributes:
        is_on: Whether it goes on.
        rows: The sessions by time.
        compared: Of them, those beside which files were loaded; all figures are over these, or over
            all sessions where there are none.
        again: Tokens of a session if an item counts as often as it came; the mean.
        efficiency: 1 - tokens of clsm / tokens of the files in front of the model at a prompt; CLS-M:
            1 - memory tokens / budget, the budget being what is loaded today.
        overlap: Of what was used of the files, the share that clsm would have loaded; None: nothing.
        beyond: Of what was used of clsm's, the share that is in no file; None: nothing.
        changed: Sessions whose files were written after they began.
        notes: What else should be known.
    """

    is_on: bool
    rows: tuple[Row, ...]
    compared: int
    clsm: Figures | None
    static: Figures | None
    again: float
    efficiency: float | None
    overlap: float | None
    beyond: float | None
    changed: int
    verdict: str
    notes: tuple[str, ...]


def relevance(used: int, loaded: int) -> float:
    """CLS-M's relevance: tokens referenced / tokens loaded; 0 where nothing was loaded.

    >>> relevance(96, 6400), relevance(0, 0)
    (0.015, 0.0)
    """
    return used / loaded if loaded else 0.0


def efficiency(tokens: float, budget: float) -> float | None:
    """CLS-M's efficiency: 1 - memory tokens / total budget; None without a budget.

    >>> efficiency(800, 6400), efficiency(800, 0)
    (0.875, None)
    """
    return 1 - tokens / budget if budget else None


def build(rows: Sequence[Row], notes: Sequence[str], *, is_on: bool) -> Report:
    """The figures of some sessions.

    Args:
        rows: Of the log, by time.
        notes: What the log itself gives reason to say.
        is_on: Whether shadow mode goes on.
    """
    beside = [(row, row.static) for row in rows if row.static is not None]
    counted = [row for row, _ in beside] or list(rows)
    clsm = _figures([(row, row.clsm) for row in counted])
    static = _figures(beside)
    return Report(
        is_on=is_on,
        rows=tuple(rows),
        compared=len(beside),
        clsm=clsm,
        static=static,
        again=sum(row.again for row in counted) / max(1, len(counted)),
        efficiency=efficiency(clsm.prompt, static.prompt) if clsm and static else None,
        overlap=_share(sum(row.both for row, _ in beside), sum(side.used for _, side in beside)),
        beyond=_share(
            sum(row.beyond for row, _ in beside), sum(row.clsm.used for row, _ in beside)
        ),
        changed=sum(row.changed for row, _ in beside),
        verdict=verdict(clsm, static, len(counted)),
        notes=tuple(notes),
    )


def verdict(clsm: Figures | None, static: Figures | None, sessions: int) -> str:
    """The result in one sentence.

    >>> print(verdict(Figures(900, 800, 0.23, 0.5), Figures(6400, 6400, 0.04, 0.5), 14))
    over 14 sessions clsm would have put 800 tokens before the model at a prompt instead of 6,400; \
23.0 % of what it loaded was used instead of 4.0 %, in 50.0 % of the replies instead of 50.0 %: \
better in 2 of 3
    """
    if clsm is None:
        return "no session was logged yet"
    over = "over 1 session" if sessions == 1 else f"over {sessions} sessions"
    told = f"{over} clsm would have put {clsm.prompt:,.0f} tokens before the model at a prompt"
    if static is None:
        return (
            f"{told}; {_percent(clsm.relevance)} of what it loaded was used, in"
            f" {_percent(clsm.retention)} of the replies; there are no files to compare with"
        )
    told += (
        f" instead of {static.prompt:,.0f}; {_percent(clsm.relevance)} of what it loaded was used"
        f" instead of {_percent(static.relevance)}, in {_percent(clsm.retention)} of the replies"
        f" instead of {_percent(static.retention)}"
    )
    if sessions < FEW:
        return f"{told}; fewer than {FEW} sessions decide nothing"
    wins = (
        clsm.prompt < static.prompt,
        clsm.relevance > static.relevance,
        (clsm.retention or 0.0) > (static.retention or 0.0),
    )
    return f"{told}: better in {sum(wins)} of 3"


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:.1f} %"


def _figures(sides: Sequence[tuple[Row, Side]]) -> Figures | None:
    if not sides:
        return None
    asked = sum(row.asked for row, _ in sides)
    loaded = sum(side.tokens for _, side in sides)
    prompt = (
        sum(side.prompt * row.asked for row, side in sides) / asked
        if asked
        else sum(side.prompt for _, side in sides) / len(sides)
    )
    return Figures(
        tokens=loaded / len(sides),
        prompt=prompt,
        relevance=relevance(sum(side.used for _, side in sides), loaded),
        retention=_share(sum(side.replies for _, side in sides), asked),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
