"""Checks of episode files: what cannot be read, turns without a text, texts that were changed.

Checks of topic files: what stands in Markdown against what the records know of it.

Whether the key of a turn is that of what it says: keys are hashes, so damage shows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.health import digests
from clsm_cli.health.findings import found, listed
from clsm_cli.health.places import kind_of
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import turn_key
from clsm_cli.store import settle
from clsm_cli.store.runs import Append

if TYPE_CHECKING:
    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Held
    from clsm_cli.model.episodes import Turn

_ORDINALS = 64
"""Equal turns of one session without an exact time that are told apart here."""


def fits(turn: Turn, session: str) -> bool:
    """Whether a key is H(session, speaker, time, text) (docs/format.md §3).

    >>> from clsm_cli.model.episodes import Turn
    >>> turn = Turn(turn_key("main", "Mara", None, "Hi."), "Mara", "user", "Hi.")
    >>> fits(turn, "main"), fits(turn, "other")
    (True, False)
    """
    if turn.time is not None and "T" in turn.time:
        return turn.key == turn_key(session, turn.speaker, turn.time, turn.text)
    return any(
        turn.key == turn_key(session, turn.speaker, turn.time, turn.text, ordinal)
        for ordinal in range(_ORDINALS)
    )


def episode_findings(held: Held) -> list[Finding]:
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


def topic_findings(held: Held) -> list[Finding]:
    """Front matter that cannot be read, ids that stand there twice, a cut end."""
    findings: list[Finding] = []
    for path, topic in sorted(held.topics.items()):
        heads = [problem for problem in topic.problems if problem.line is None]
        findings += [found("unreadable-head", path, problem.reason) for problem in heads]
        counts = Counter(item.id for item in topic.items if item.id is not None)
        again = sorted(i for i, count in counts.items() if count > 1)
        if again:
            findings.append(found("item-twice", path, f"two items carry {listed(again)}"))
        if not held.files[path].is_ended and (gone := missing(held, path)):
            reason = f"its end is missing, and with it {listed(gone)}"
            findings.append(found("cut-short", path, reason))
    return findings


def missing(held: Held, path: str) -> list[str]:
    """Statements that stand in a topic file by their records, and do not."""
    stream, _, name = path.partition("/")
    there = {item.id for item in held.topics[path].items}
    return sorted(
        record.id
        for record in held.records.values()
        if isinstance(record, Statement)
        and record.is_current
        and (record.stream, f"{record.topic}.md") == (stream, name)
        and record.id not in there
    )


def doubtful(held: Held) -> bool:
    """Whether what is missing in the Markdown may be damage, and not a person's decision."""
    names = (file for file in held.of_kind("topic"))
    if any(f.nul or f.broken or f.error or not f.is_regular for f in names):
        return True
    codes = ("unreadable-head", "cut-short")
    return any(each.code in codes for each in topic_findings(held)) or any(
        each.code == "missing-file" and kind_of(each.path) == "topic"
        for each in digests.changed(held)
    )


def settled(held: Held, now: str) -> list[Finding]:
    """Hand edits that no command has settled yet."""
    writes, warnings = settle.plan(held.store, now)
    findings = [
        found("statements-gone", each.partition(":")[0], each.partition(": ")[2].partition(";")[0])
        for each in warnings
        if "nothing was withdrawn" in each
    ]
    paths = sorted(
        {
            w.path.relative_to(held.store.root).as_posix()
            for w in writes
            if not isinstance(w, Append)
        }
    )
    if paths:
        is_mended = not findings and not doubtful(held)
        step = "" if is_mended else "mend the damaged files first"
        reason = f"to be written: {listed(paths)}"
        findings.append(found("hand-edits", paths[0], reason, mends=is_mended, next_step=step))
    return findings
