"""Checks of Markdown: episode files against the keys of their turns, topic files against their records.

A key is a hash of what a turn says, so damage shows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.health import digests
from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.places import kind_of
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import turn_key
from clsm_cli.store import settle
from clsm_cli.store.runs import Append

if TYPE_CHECKING:
    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Snapshot
    from clsm_cli.model.episodes import Turn

_ORDINALS = 64
"""Equal turns of one session without an exact time that are told apart here."""


def has_right_key(turn: Turn, session: str) -> bool:
    """Whether a key is H(session, speaker, time, text) (docs/format.md §3).

    >>> from clsm_cli.model.episodes import Turn
    >>> turn = Turn(turn_key("main", "Mara", None, "Hi."), "Mara", "user", "Hi.")
    >>> has_right_key(turn, "main"), has_right_key(turn, "other")
    (True, False)
    """
    if turn.time is not None and "T" in turn.time:
        return turn.key == turn_key(session, turn.speaker, turn.time, turn.text)
    return any(
        turn.key == turn_key(session, turn.speaker, turn.time, turn.text, ordinal)
        for ordinal in range(_ORDINALS)
    )


def episode_findings(snapshot: Snapshot) -> list[Finding]:
    """Files that are no episodes, or whose turns and texts differ."""
    findings: list[Finding] = []
    for path, episode in sorted(snapshot.episodes.items()):
        if episode is None:
            why = snapshot.why[path]
            findings.append(make_finding("unreadable-episode", path, why.reason, line=why.line))
            continue
        keys = tuple(turn.key for turn in episode.turns)
        if snapshot.headings[path] != keys:
            findings.append(
                make_finding("turn-mismatch", path, _difference(snapshot.headings[path], keys))
            )
        elif path in snapshot.odd:
            reason = "is not as clsm would write it"
            findings.append(make_finding("changed-outside", path, reason))
        if snapshot.headings[path] == keys:
            odd = [turn.key for turn in episode.turns if not has_right_key(turn, episode.session)]
            if odd:
                reason = f"the text of {list_names(odd)} was changed"
                findings.append(make_finding("edited-turn", path, reason))
    return findings


def _difference(headings: tuple[str, ...], keys: tuple[str, ...]) -> str:
    if missing := [key for key in keys if key not in headings]:
        return f"the text of {list_names(missing)} is missing"
    if strange := [key for key in headings if key not in keys]:
        return f"the text of {list_names(strange)} belongs to no turn"
    return "turns and texts stand in another order, or twice"


def duplicate_turns(snapshot: Snapshot) -> list[Finding]:
    """Turns that lie in two episode files; each is counted once."""
    seen: dict[str, str] = {}
    again: dict[str, tuple[str, int]] = {}
    for path, episode in sorted(snapshot.episodes.items()):
        for turn in episode.turns if episode is not None else ():
            first = seen.setdefault(turn.key, path)
            if first != path:
                again[path] = (first, again.get(path, (first, 0))[1] + 1)
    return [
        make_finding("turn-twice", path, f"{count} of its turns lie in {first} too")
        for path, (first, count) in sorted(again.items())
    ]


def topic_findings(snapshot: Snapshot) -> list[Finding]:
    """Front matter that cannot be read, ids that stand there twice, a cut end."""
    findings: list[Finding] = []
    for path, topic in sorted(snapshot.topics.items()):
        heads = [problem for problem in topic.problems if problem.line is None]
        findings += [make_finding("unreadable-head", path, problem.reason) for problem in heads]
        counts = Counter(item.id for item in topic.items if item.id is not None)
        again = sorted(i for i, count in counts.items() if count > 1)
        if again:
            findings.append(
                make_finding("item-twice", path, f"two items carry {list_names(again)}")
            )
        if not snapshot.files[path].is_ended and (gone := missing_statements(snapshot, path)):
            reason = f"its end is missing, and with it {list_names(gone)}"
            findings.append(make_finding("cut-short", path, reason))
    return findings


def missing_statements(snapshot: Snapshot, path: str) -> list[str]:
    """Statements that stand in a topic file by their records, and do not."""
    stream, _, name = path.partition("/")
    there = {item.id for item in snapshot.topics[path].items}
    return sorted(
        record.id
        for record in snapshot.records.values()
        if isinstance(record, Statement)
        and record.is_current
        and (record.stream, f"{record.topic}.md") == (stream, name)
        and record.id not in there
    )


def is_doubtful(snapshot: Snapshot) -> bool:
    """Whether what is missing in the Markdown may be damage, and not a person's decision."""
    names = (file for file in snapshot.of_kind("topic"))
    if any(f.nul or f.broken or f.error or not f.is_regular for f in names):
        return True
    codes = ("unreadable-head", "cut-short")
    return any(each.code in codes for each in topic_findings(snapshot)) or any(
        each.code == "missing-file" and kind_of(each.path) == "topic"
        for each in digests.changed_files(snapshot)
    )


def unsettled_edits(snapshot: Snapshot, now: str) -> list[Finding]:
    """Hand edits that no command has settled yet."""
    writes, warnings = settle.plan(snapshot.store, now)
    findings = [
        make_finding(
            "statements-gone", each.partition(":")[0], each.partition(": ")[2].partition(";")[0]
        )
        for each in warnings
        if "nothing was withdrawn" in each
    ]
    paths = sorted(
        {
            w.path.relative_to(snapshot.store.root).as_posix()
            for w in writes
            if not isinstance(w, Append)
        }
    )
    if paths:
        is_mended = not findings and not is_doubtful(snapshot)
        step = "" if is_mended else "mend the damaged files first"
        reason = f"to be written: {list_names(paths)}"
        findings.append(
            make_finding("hand-edits", paths[0], reason, mends=is_mended, next_step=step)
        )
    return findings
