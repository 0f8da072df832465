"""Regular expressions for Markdown marks; each reader adds what may stand before and after them.

Cutting a document into blocks follows CommonMark exactly and has its own patterns (``ingestion/blocks``).
"""

ITEM = r"(?:[-*+\u2022]|\d{1,4}[.)])"
"""Marker of a list item. A longer number at the start of a line is an amount or a wrapped date."""
BOX = r"\[[ xX]\]"  # the box of a task, open or ticked
FENCE = r"(?:```|~~~)"  # opening or closing fence of a code block
CODE_BLOCK = rf"^ {{0,3}}{FENCE}[^\n]*\n[\s\S]*?(?:^ {{0,3}}{FENCE}[ \t]*$|\Z)"
"""A fenced code block (with ``re.MULTILINE``); an unclosed one runs to the end."""
ADDRESS = r"\b[a-z]{2,10}://[^\s<>()\[\]]+"
LINK_TARGET = r"\[\[([^\[\]\n|#]{1,200})(?:#[^\[\]\n|]{0,200})?"
"""A wiki link up to its display text, with its target; a heading in the target is left out."""
