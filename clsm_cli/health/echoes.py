"""How much of what was taken in is clsm's own: blocks that a recall made, what it holds said again.

Ingest leaves out what it can prove to be its own (``ingestion/fence``). What came by another way, or
whose fence does not verify, is counted here, so that a loop of recall and ingest shows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.health.codes import found, listed
from clsm_cli.ingestion.noise import is_clsm_tool, runs_clsm
from clsm_cli.model.graph import Statement
from clsm_cli.text.fence import OPENING

if TYPE_CHECKING:
    from collections.abc import Collection

    from clsm_cli.health.finding import Finding, Severity
    from clsm_cli.health.held import Held
    from clsm_cli.model.episodes import Turn

MANY = 5.0
"""Percent of turns and blocks from which it is worth a warning."""
_LEAST = 24
"""Characters of a sentence that nobody says again by chance."""


def self_ingested(held: Held) -> list[Finding]:
    """The share of turns and blocks that clsm itself had recalled."""
    said = _statements(held)
    sources: Counter[str] = Counter()
    for key, turn in held.turns.items():
        if _is_own(turn) or _repeats(key, turn, said):
            sources[turn.path] += 1
    if not sources:
        return []
    share = 100 * sources.total() / len(held.turns)
    top = [f"{path} ({count})" for path, count in sources.most_common()]
    reason = f"{sources.total()} of {len(held.turns)} texts ({share:.1f} %) from {listed(top)}"
    severity: Severity | None = "warning" if share >= MANY else None
    return [found("self-ingested", "", reason, severity=severity)]


def _is_own(turn: Turn) -> bool:
    """Whether it holds a recalled block, or is what clsm printed."""
    if OPENING in turn.text:
        return True
    tool = turn.tool
    return tool is not None and (is_clsm_tool(tool.name) or runs_clsm(tool.input or ""))


def _statements(held: Held) -> dict[str, Collection[str]]:
    """Folded text of a statement → the turns that it rests on."""
    texts = {i.id: i.text for topic in held.topics.values() for i in topic.items if i.id}
    return {
        " ".join(text.lower().split()): record.sources
        for record in held.records.values()
        if isinstance(record, Statement)
        and len(text := record.text or texts.get(record.id, "")) >= _LEAST
    }


def _repeats(key: str, turn: Turn, said: dict[str, Collection[str]]) -> bool:
    """Whether an agent or a tool said, word for word, a statement that rests on others alone."""
    if turn.role == "user" or turn.trust == "user":
        return False
    for line in turn.text.split("\n"):
        words = " ".join(line.lower().removeprefix("- ").partition("  ^")[0].split())
        sources = said.get(words)
        if sources and key not in sources:
            return True
    return False
