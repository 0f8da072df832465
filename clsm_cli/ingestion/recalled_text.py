"""Remove clsm's own recalled text from sources, if its fence verifies.

Otherwise it would be read back as a statement, and every recall would be its own evidence.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from clsm_cli.ingestion.jsonl_rows import (
    Dropped,
    FenceKey,
    Findings,
    RawTurn,
    Reading,
    TranscriptItem,
)
from clsm_cli.ingestion.messages import compact, machine_reason, tool_call
from clsm_cli.model.episodes import ToolCall
from clsm_cli.store.jsonlines import LineError, change_strings, load
from clsm_cli.text.fence_lines import OPENING, find_blocks

RECALLED_BLOCK = "recalled block"
UNVERIFIED = "recalled text whose fence does not verify, kept as text"

# Rest of a message that contained only a block, quoted or in a code block.
_WRAPPING = " \t\r\n>`~"


@dataclass(frozen=True, slots=True)
class StrippedText:
    """A text without verified blocks; ``doubtful``: first lines of blocks that do not verify."""

    text: str
    dropped: int = 0
    doubtful: tuple[int, ...] = ()


def strip_blocks(text: str, fence_key: FenceKey, *, keep_lines: bool = False) -> StrippedText:
    """``text`` without the blocks that verify; ``keep_lines`` leaves an empty line for each of theirs."""
    if OPENING not in text:
        return StrippedText(text)
    kept: list[str] = []
    doubtful: list[int] = []
    place, line, dropped = 0, 1, 0
    for block in find_blocks(text, fence_key()):
        before = text[place : block.start]
        line += before.count("\n")
        height = text.count("\n", block.start, block.end)
        if block.is_genuine:
            dropped += 1
            kept += [before, "\n" * height if keep_lines else ""]
        else:
            doubtful.append(line)
            kept.append(text[place : block.end])
        line += height
        place = block.end
    kept.append(text[place:])
    return StrippedText("".join(kept), dropped, tuple(doubtful))


def strip_items(items: Iterable[TranscriptItem], reading: Reading) -> Iterator[TranscriptItem]:
    """Pass ``items`` on, with turns stripped of verified blocks.

    A removed block gives a ``Dropped``, and so does a turn that is empty without it; a block that does not
    verify stays and is reported.
    """
    for item in items:
        if isinstance(item, RawTurn) and (
            OPENING in item.text or (item.tool and OPENING in (item.tool.input or ""))
        ):
            yield from _strip_turn(item, reading.fence_key, reading.findings)
        else:
            yield item


def _strip_turn(turn: RawTurn, fence_key: FenceKey, findings: Findings) -> Iterator[TranscriptItem]:
    strip = _strip_arguments if turn.tool else strip_blocks
    found = strip(turn.text, fence_key)
    for _ in found.doubtful:
        findings.add(UNVERIFIED, turn.line_start)
    for _ in range(found.dropped):
        yield Dropped(RECALLED_BLOCK, turn.line_start)
    text = found.text.strip("\n").rstrip() if found.dropped else turn.text
    if found.dropped and not text.strip(_WRAPPING):
        return
    if reason := machine_reason(turn.role, text):
        yield Dropped(reason, turn.line_start)
        return
    tool = _strip_tool(turn.tool, turn.text, text, fence_key) if turn.tool else None
    yield replace(turn, text=text, tool=tool)


def _strip_tool(tool: ToolCall, before: str, after: str, fence_key: FenceKey) -> ToolCall:
    """The tool of a turn whose text changed: its input may be the start of that text."""
    if tool.input is None:
        return tool
    if tool.input == tool_call(tool.name, before).input:
        return tool_call(tool.name, after, error=tool.error)
    return replace(tool, input=_strip_arguments(tool.input, fence_key).text)


def _strip_arguments(text: str, fence_key: FenceKey) -> StrippedText:
    """Strip text that may be tool arguments as JSON, in which line breaks are escaped."""
    try:
        value = load(text) if text.startswith(("{", "[")) else None
    except LineError:
        value = None
    if value is None:
        return strip_blocks(text, fence_key)
    cuts: list[StrippedText] = []

    def cut(text: str) -> str:
        cuts.append(strip_blocks(text, fence_key))
        return cuts[-1].text

    clean = change_strings(value, cut)
    dropped = sum(one.dropped for one in cuts)
    doubtful = tuple(line for one in cuts for line in one.doubtful)
    return StrippedText(compact(clean) if dropped else text, dropped, doubtful)
