"""An answer as JSON (schema ``clsm.recall/1``), as plain text, and for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import plain
from clsm_cli.retrieval.answer import SCHEMA
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from clsm_cli.retrieval.answer import Answer, Memory

BAR = 10
"""Cells of a score bar."""


def answer_mapping(answer: Answer) -> dict[str, Any]:
    """The JSON object of an answer; every key is always there, arrays are best first."""
    return {
        "schema": SCHEMA,
        "recall_id": answer.recall_id,
        "query": answer.query,
        "now": answer.now,
        "as_of": answer.as_of,
        "route": answer.route,
        "answered": answer.answered,
        "confidence": answer.confidence,
        "concepts": [plain(concept) for concept in answer.concepts],
        "memories": [_memory_mapping(memory) for memory in answer.memories],
        "budget": plain(answer.budget),
        "engine": {"embedder": answer.embedder, "preset": answer.preset},
        "warnings": list(answer.warnings),
    }


def _memory_mapping(memory: Memory) -> dict[str, Any]:
    names = (
        "id",
        "kind",
        "text",
        "stream",
        "score",
        "confidence",
        "tokens",
        "trust",
        "session",
        "sources",
        "why",
    )
    return {name: plain(getattr(memory, name)) for name in names}


def answer_lines(answer: Answer, *, explain: bool) -> list[str]:
    """Plain text for a pipe: concepts on one line, then the items with their sources."""
    lines: list[str] = []
    if answer.concepts:
        lines += ["concepts: " + ", ".join(concept.label for concept in answer.concepts), ""]
    for number, memory in enumerate(answer.memories, 1):
        lines.append(f"{number}. {_where(memory)} · {memory.score:.2f}")
        if memory.heading:
            lines.append(f"   {memory.heading}")
        lines += [f"   {line}" for line in _spoken(memory).split("\n")]
        if explain:
            lines.append(f"   because: {because(memory)}")
    if answer.budget.dropped:
        lines.append(_cut(answer))
    return lines


def because(memory: Memory) -> str:
    """What spoke for an item: the share of each signal in its score, largest first."""
    shares = memory.shares._asdict()
    whole = sum(share for share in shares.values() if share > 0) or 1.0
    ordered = sorted(shares.items(), key=lambda pair: -pair[1])
    said = [f"{round(100 * share / whole)} % {_REASONS[name]}" for name, share in ordered if share]
    return f"{', '.join(said)}; {round(100 * memory.confidence)} % sure"


_REASONS = {
    "bm25": "the same words",
    "maxsim": "words of like meaning",
    "context": "in what stands around it",
    "episode": "in the whole passage of talk or section",
    "participant": "the person asked about",
    "date": "the time asked about",
    "temporal": "it tells a time",
    "question": "is itself a question",
    "graph": "the concepts it mentions",
}


def _where(memory: Memory) -> str:
    source = memory.sources[0]
    # What came through standard input has no file; its conversation says more than "-".
    place = memory.session if source.path == "-" else f"{source.path}:{source.line_start}"
    words = [place, (source.timestamp or "")[:16].replace("T", " ")]
    if memory.trust not in ("user", "agent"):
        words.append(f"from {memory.trust}")
    return " · ".join(word for word in words if word)


def _spoken(memory: Memory) -> str:
    return f"{memory.speaker}: {memory.text}" if memory.speaker else memory.text


def _cut(answer: Answer) -> str:
    count = len(answer.budget.dropped)
    tokens = sum(item.tokens for item in answer.budget.dropped)
    return f"({count} more did not fit the budget: {tokens} tokens; raise it with --budget)"


def answer_renderables(answer: Answer, *, explain: bool) -> list[RenderableType]:
    """The same for a person at a terminal: a line of concepts, score bars, wrapped text."""
    from rich.padding import Padding
    from rich.text import Text

    found: list[RenderableType] = []
    if answer.concepts:
        line = Text()
        for number, concept in enumerate(answer.concepts):
            line.append(" · " if number else "", style="dim")
            line.append(safe(concept.label), style="bold cyan" if concept.seed else "cyan")
        found += [line, Text()]
    for memory in answer.memories:
        head = Text()
        full = round(memory.score * BAR)
        head.append("█" * full, style="green").append("░" * (BAR - full), style="dim")
        head.append(f" {memory.score:.2f}  ").append(safe(_where(memory)), style="bold")
        found.append(head)
        if memory.heading:
            found.append(Padding(Text(safe(memory.heading), style="dim italic"), (0, 0, 0, 2)))
        found.append(Padding(Text(safe(_spoken(memory))), (0, 0, 0 if explain else 1, 2)))
        if explain:
            reason = Text(f"because: {because(memory)}", style="dim")
            found.append(Padding(reason, (0, 0, 1, 2)))
    if answer.budget.dropped:
        found.append(Text(_cut(answer), style="dim"))
    return found
