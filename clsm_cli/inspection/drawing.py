"""The elements of charts: words, names of colours, legends; and the style that all charts share."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

Colour = Literal["blue", "orange", "green", "pink", "vermilion", "grey"]
"""The hues of Okabe and Ito, which people with any colour vision tell apart. ``chart.css`` has each
for light paper and for dark; all stand out from it by 3 : 1 at least, as graphics must (WCAG 2.1)."""
LETTER, ROW, MARGIN = 6.6, 18.0, 18.0
"""Width of a letter as it is estimated, height of a row of text, and free space at the sides, in
pixels."""


def framed(title: str, drawn: Iterable[str], width: float, height: float) -> str:
    """Elements as one SVG element that says what it shows to who does not see it."""
    box = f'viewBox="0 0 {pixels(width)} {pixels(height)}"'
    head = f'<svg {box} role="img" aria-label="{escaped(title)}">'
    return "\n".join((head, *drawn, "</svg>\n"))


def legend(
    swatches: Iterable[tuple[str, str]], top: float, width: float
) -> tuple[list[str], float]:
    """A swatch for each name and its looks, each once, in as many rows as it takes; its end."""
    parts: list[str] = []
    x = MARGIN
    most = int((width - 2 * MARGIN - 42) / LETTER)
    for name, looks in dict.fromkeys((cut(name, most), looks) for name, looks in swatches):
        wide = 42 + LETTER * len(name)
        if x > MARGIN and x + wide > width - MARGIN:
            x, top = MARGIN, top + ROW
        parts.append(f'<path class="{looks}" d="M{pixels(x)} {pixels(top + 8)}h20"/>')
        parts.append(text(x + 26, top + 12, name, "small"))
        x += wide
    return parts, top + (ROW if parts else 0.0)


def text(x: float, y: float, words: str, kind: str) -> str:
    """Words at a place in one of the styles; nothing for no words."""
    if not words:
        return ""
    return f'<text class="{kind}" x="{pixels(x)}" y="{pixels(y)}">{escaped(words)}</text>'


def cut(words: str, most: int) -> str:
    """Words on one line in at most so many letters; what is left out stood in the middle.

    >>> cut("conversation number 41", 12), cut("short", 12)
    ('conversa… 41', 'short')
    """
    flat = " ".join(words.split())
    if len(flat) <= most:
        return flat
    last = (most - 1) // 3
    return f"{flat[: most - 1 - last].rstrip()}…{flat[len(flat) - last :]}"


def escaped(words: str) -> str:
    """Words that no element or attribute ends in, and that show whatever is hidden in them."""
    shown = safe(" ".join(words.split()))
    return escape(shown.replace("\ufffe", "\\u{fffe}").replace("\uffff", "\\u{ffff}"))


def pixels(value: float) -> str:
    """A coordinate, to a tenth of a pixel.

    >>> pixels(12.04), pixels(-0.01), pixels(3.55)
    ('12', '0', '3.5')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def css() -> str:
    """The style of all charts, light and dark."""
    return (files("clsm_cli.inspection") / "assets" / "chart.css").read_text(encoding="utf-8")
