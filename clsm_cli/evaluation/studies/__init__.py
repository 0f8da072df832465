"""Studies of one part of the program by itself; each gives sections of figures."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Section:
    """Figures, and lines that show what is behind them.

    Attributes:
        counts: Figure → how many, and of how many; of 0: a number by itself.
        lists: Title → lines; empty ones are not shown.
    """

    counts: dict[str, tuple[int, int]]
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
