"""Checks of episode files: what cannot be read, turns without a text, texts that were changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.health.codes import found, listed
from clsm_cli.health.keys import fits

if TYPE_CHECKING:
    from clsm_cli.health.finding import Finding
    from clsm_cli.health.held import Held


def whole(held: Held) -> list[Finding]:
    """Files that are no episodes, or whose turns and texts differ."""
    findings: list[Finding] = []
    for path, episode in sorted(held.episodes.items()):
        if episode is None:
            why = held.why[path]
            findings.append(found("unreadable-episode", path, why.reason, line=why.line))
            continue
        keys = tuple(turn.key for turn in episode.turns)
        if held.headings[path] != keys:
            findings.append(found("turn-mismatch", path, _difference(held.headings[path], keys)))
        elif path in held.odd:
            reason = "is not as clsm would write it"
            findings.append(found("changed-outside", path, reason))
        if held.headings[path] == keys:
            odd = [turn.key for turn in episode.turns if not fits(turn, episode.session)]
            if odd:
                reason = f"the text of {listed(odd)} was changed"
                findings.append(found("edited-turn", path, reason))
    return findings


def _difference(headings: tuple[str, ...], keys: tuple[str, ...]) -> str:
    if missing := [key for key in keys if key not in headings]:
        return f"the text of {listed(missing)} is missing"
    if strange := [key for key in headings if key not in keys]:
        return f"the text of {listed(strange)} belongs to no turn"
    return "turns and texts stand in another order, or twice"


def twice(held: Held) -> list[Finding]:
    """Turns that lie in two episode files; each is counted once."""
    seen: dict[str, str] = {}
    again: dict[str, tuple[str, int]] = {}
    for path, episode in sorted(held.episodes.items()):
        for turn in episode.turns if episode is not None else ():
            first = seen.setdefault(turn.key, path)
            if first != path:
                again[path] = (first, again.get(path, (first, 0))[1] + 1)
    return [
        found("turn-twice", path, f"{count} of its turns lie in {first} too")
        for path, (first, count) in sorted(again.items())
    ]
