"""Pieces of patterns for marks of Markdown: each reader adds what may stand before and behind them.

How a document is cut into blocks is CommonMark's to say, to the letter, and has patterns of its own
(``ingestion/blocks``).
"""

from __future__ import annotations

ITEM = r"(?:[-*+]|\d{1,4}[.)])"
"""Begins a list item. A longer number at the start of a line is an amount or a date that was wrapped."""
BOX = r"\[[ xX]\]"
"""The box of a task, open or ticked."""
FENCE = r"(?:```|~~~)"
"""Begins or ends a block of code."""
CODE_BLOCK = rf"^ {{0,3}}{FENCE}[^\n]*\n[\s\S]*?(?:^ {{0,3}}{FENCE}[ \t]*$|\Z)"
"""A whole one, with ``re.MULTILINE``; one that is not closed runs to the end."""
ADDRESS = r"\b[a-z]{2,10}://[^\s<>()\[\]]+"
LINK_TARGET = r"\[\[([^\[\]\n|#]{1,200})(?:#[^\[\]\n|]{0,200})?"
"""A wiki link up to its own wording, with what it leads to; a heading there is left out."""
