"""Split a turn into units: list items, table rows, sentences."""

import re
from collections.abc import Sequence

from clsm_cli.heads.unit_features import Unit
from clsm_cli.model.episodes import Turn
from clsm_cli.text.markdown_marks import FENCE, ITEM
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import split_blocks

MAX_ITEM_CHARS = 320
"""Maximum characters of a whole list item; a longer one is split into sentences."""
MAX_LEAD_CHARS = 90
"""Maximum characters of a list's introduction."""
_FENCED = re.compile(rf"[ \t]*{FENCE}")
_ITEM = re.compile(rf"[ \t]*{ITEM}[ \t]+\S")
_RULED = re.compile(r"[\s|:*_=-]*")
_ROW = re.compile(r"[ \t]*\|[^\n]*\n[ \t]*")
"""Exactly one table row, with its line end."""
_IN_LIST = re.compile(rf"{ITEM}[ \t]|\|")
_HEADING = re.compile(r"[ \t]*#{1,6}\s")


def units(turns: Sequence[Turn]) -> list[Unit]:
    r"""The units of a document or chat, in order, without code and horizontal rules.

    >>> from clsm_cli.model.episodes import Turn
    >>> turn = Turn("k", "", "assistant", "- Rent is due. Pay it.\n  - By transfer")
    >>> [turn.text[unit.start : unit.end] for unit in units([turn])]
    ['- Rent is due. Pay it.', '- By transfer']
    """
    found: list[Unit] = []
    for place, turn in enumerate(turns):
        spans = spans_of(turn.text)
        found += [
            Unit(place, start, end, number, len(spans)) for number, (start, end) in enumerate(spans)
        ]
    return found


def lead_ins(turns: Sequence[Turn], units: Sequence[Unit]) -> list[str]:
    """For each unit, the introduction of its list: a preceding line that ends with a colon.

    >>> from clsm_cli.model.episodes import Turn
    >>> turns = [Turn("a", "", "agent", "Never report:"), Turn("b", "", "agent", "- Prices")]
    >>> lead_ins(turns, [Unit(0, 0, 13), Unit(1, 0, 8)])
    ['', 'Never report']
    """
    found: list[str] = []
    above: list[tuple[int, str]] = []
    heading: tuple[str, ...] = ()
    for unit in units:
        turn = turns[unit.turn]
        raw = turn.text[unit.start : unit.end]
        if turn.heading != heading:
            heading = turn.heading
            above.clear()
        line = turn.text.rfind("\n", 0, unit.start) + 1
        if turn.text[line : unit.start].strip() and above:  # a later sentence of an item
            found.append(above[-1][1])
            continue
        depth = unit.start - line if _IN_LIST.match(raw) else -1
        while above and above[-1][0] >= depth:
            above.pop()
        found.append(above[-1][1] if above else "")
        text = to_plain(raw).strip()
        if text.endswith((":", "：")) and len(text) <= MAX_LEAD_CHARS:
            above.append((depth, text[:-1].rstrip()))
    return found


def spans_of(text: str) -> list[tuple[int, int]]:
    r"""Start and end offsets of each unit of a text, in order.

    >>> spans_of("| Who | Role |\n|---|---|\n| Ada | lead |"), spans_of("```\nls -l\n```")
    ([(25, 39)], [])
    >>> spans_of("- Pay Bob. By bank.\nAda will work on Tuesdays.")
    [(0, 19), (20, 46)]
    >>> len(spans_of("| Rent | 900 |\n\n| | |\n|---|---|\n| Ada | lead |\n| | |\n| Bob | dev |"))
    3
    """
    spans: list[tuple[int, int]] = []
    for block in split_blocks(text):
        item = -1
        for start, end in block:
            piece = text[start:end]
            if _FENCED.match(piece) or _HEADING.match(piece) or _RULED.fullmatch(piece):
                if spans and _is_rule(piece) and _ROW.fullmatch(text[spans[-1][0] : start]):
                    spans.pop()  # the table's header
                item = -1
                continue
            if _ITEM.match(piece):
                item = start
            if -1 < item < start and end - item <= MAX_ITEM_CHARS and spans[-1][0] == item:
                spans[-1] = (item, end)
            else:
                spans.append((start, end))
    return spans


def _is_rule(line: str) -> bool:
    """Whether a line separates a table's header from its rows.

    >>> _is_rule("|---|:-:|"), _is_rule("| | |")
    (True, False)
    """
    return line.lstrip().startswith("|") and "-" in line
