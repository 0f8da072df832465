"""What one session shows of how things are to be done: the evidence of procedural memory.

An observation is counted once a session, however often it is said there; how many sessions make a
rule is the caller's matter. Text that a tool or a page brought in is never looked at: only the names
of tools, and the forms of what the agent wrote to files.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clsm_cli.model.episodes import Observation
from clsm_cli.text import rules
from clsm_cli.text.rule_patterns import Write, styles
from clsm_cli.text.rules import is_same_key, key_of
from clsm_cli.text.sameness import names_differ
from clsm_cli.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.model.episodes import Turn


def observe(turns: Sequence[Turn]) -> list[Observation]:
    """All observations of the turns of one session, each once, in the order of the session.

    Args:
        turns: of one session, or the blocks of one note, in order.
    """
    found: dict[tuple[str, str], Observation] = {}
    for observation in (*_said(turns), *_shown(turns)):
        known = found.get((observation.kind, observation.key))
        if known is None:
            found[observation.kind, observation.key] = observation
        else:
            found[observation.kind, observation.key] = replace(
                known,
                turns=tuple(dict.fromkeys((*known.turns, *observation.turns))),
                is_explicit=known.is_explicit or observation.is_explicit,
            )
    return list(found.values())


def is_same(a: Observation, b: Observation) -> bool:
    """Whether two observations are two wordings of one; see ``rule_keys.is_same_key``.

    What tools show is the same only where its key is. What names somebody or something else is not.
    """
    if a.kind != b.kind:
        return False
    if ":" in a.key or ":" in b.key:
        return a.key == b.key
    return is_same_key(a.key, b.key) and not names_differ(a.text, b.text)


def _said(turns: Sequence[Turn]) -> Iterator[Observation]:
    asked = False
    telling = _telling(turns)
    for turn in turns:
        if turn.tool is not None or turn.role not in {"user", "assistant"}:
            continue
        if turn.trust in {"user", "agent"}:
            if turn.speaker == "":
                yield from _of_note(turn, tells_correction=turn.key in telling)
            else:
                yield from _of_message(turn, asked=asked)
        asked = turn.text.rstrip(" \n\"')*_").endswith("?")


def _of_message(turn: Turn, *, asked: bool) -> Iterator[Observation]:
    """What a person or the agent says in a chat."""
    is_user = turn.role == "user" and turn.trust == "user"
    refused = False
    for number, said in enumerate(sentences(turn.text)):
        if is_user and rules.is_refusal(said):
            refused = not asked
            continue
        # The answer to a question corrects nothing; what follows its "no" may be a rule.
        is_answer = asked and number == 0 and rules.is_denial(said)
        sentence = rules.statement(said) if is_answer else said
        for kind, is_explicit in rules.sentence_rules(sentence):
            if not is_user and (kind != "decision" or _NARRATION.search(sentence)):
                continue
            refused = False
            yield from _observation(kind, sentence, turn, is_explicit=is_explicit)
        if refused and len(sentence.split()) >= 4 and not sentence.endswith("?"):
            refused = False
            yield from _observation("correction", sentence, turn, is_explicit=False)


_NARRATION = re.compile(r"\bI(?:['\u2019]ll|\swill)\suse\b.{1,80}\bto\b", re.IGNORECASE)
"""The agent tells its next step."""
_RULES = re.compile(
    r"(?:(?:my|our|the|house|working|ground|standing|writing|coding|style|her|his|their)\s){0,3}"
    r"(?:rules|preferences|conventions|guidelines)(?:\s(?:I|we)\s.{1,30}|\s(?:of|for)\s.{1,40})?|"
    r"how\s(?:\w{1,20}\s){1,2}(?:likes?|wants?|prefers?)\b.{0,40}|how\sto\swork\swith\s.{1,40}",
    re.IGNORECASE,
)
_TASK = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[.\]\s")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\S")
_DECISION_TAG = re.compile(r"(?<![\w#&/])#decisions?\b")


def _telling(turns: Sequence[Turn]) -> frozenset[str]:
    """Keys of the blocks that tell a correction: those that say so, and the paragraph before one."""
    found: set[str] = set()
    for before, turn in zip((None, *turns), turns, strict=False):
        if turn.speaker == "" and rules.tells_correction(turn.text):
            found.add(turn.key)
            if before and before.heading == turn.heading and not _ITEM.match(turn.text):
                found.add(before.key)
    return frozenset(found)


def _of_note(turn: Turn, *, tells_correction: bool) -> Iterator[Observation]:
    """What a note tells; "I" is the agent, so its own tastes count only where it is trusted so.

    Args:
        turn: a block.
        tells_correction: whether it tells how the author was corrected.
    """
    if _TASK.match(turn.text):
        return
    parts = sentences(turn.text)
    if tells_correction:
        is_marked = _CORRECTION_TAG.search(turn.text) is not None  # by the author, as a rule
        for sentence in rules.normative_sentences(parts):
            yield from _observation("correction", sentence, turn, is_explicit=is_marked)
        return
    if turn.heading and _RULES.fullmatch(turn.heading[-1]) and _ITEM.match(turn.text):
        yield from _observation("preference", parts[0], turn, is_explicit=True)
        return
    is_tagged = _DECISION_TAG.search(turn.text) is not None
    for sentence in parts:
        found = rules.sentence_rules(sentence)
        counts = found and (found[0][0] in _NOTED or _is_preference_of(turn, sentence))
        if not counts and rules.is_noted_decision(sentence, is_tagged=is_tagged):
            yield from _observation("decision", sentence, turn, is_explicit=False)
        elif counts and found[0][0] != "correction":
            yield from _observation(found[0][0], sentence, turn, is_explicit=found[0][1])


_CORRECTION_TAG = re.compile(r"(?<![\w#&/])#correct(?:ion|ed)\b")
_NOTED = frozenset({"decision", "convention"})
_PREFERS = re.compile(r"\b(?:prefers|insists\son)\b")


def _is_preference_of(turn: Turn, sentence: str) -> bool:
    """Whether a preference in a note is a person's: told of somebody, or in a person's own note."""
    return turn.trust == "user" or _PREFERS.search(sentence) is not None


def _observation(
    kind: rules.RuleKind, sentence: str, turn: Turn, *, is_explicit: bool
) -> Iterator[Observation]:
    text = rules.statement(sentence)
    if key := key_of(text):
        yield Observation(kind, text, key, (turn.key,), is_explicit)


def _shown(turns: Sequence[Turn]) -> Iterator[Observation]:
    """What the agent's use of tools shows."""
    for style in styles(write for turn in turns for write in _writes(turn)):
        yield Observation("convention", style.text, style.key, style.turns, is_explicit=False)
    for names, keys in _workflows(_runs(turns)):
        text = f"Usual sequence of tools: {', '.join(names)}."
        yield Observation("workflow", text, "tools:" + ">".join(names), keys, is_explicit=False)


def _runs(turns: Sequence[Turn]) -> list[list[tuple[str, str]]]:
    """Name and turn of the calls between two messages of a user, repeats at once left out.

    Results are passed over where a session tells calls and results.
    """
    tells_calls = any(turn.tool is not None and turn.tool.input is not None for turn in turns)
    runs: list[list[tuple[str, str]]] = [[]]
    for turn in turns:
        if turn.tool is None:
            if turn.role == "user":
                runs.append([])
        elif (turn.tool.input is not None or not tells_calls) and (
            not runs[-1] or runs[-1][-1][0] != turn.tool.name
        ):
            runs[-1].append((turn.tool.name, turn.key))
    return runs


_LEAST, _MOST = 2, 4
"""Tools in a sequence."""


def _workflows(
    runs: list[list[tuple[str, str]]],
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The sequences of two to four different tools, with the turns in which they were first used.

    Of the orders of the same tools only one that is clearly usual stays: at least two thirds of all.
    Of sequences that are equally frequent in the session and lie in one another, only the longest
    stays.
    """
    counts: dict[tuple[str, ...], int] = {}
    first: dict[tuple[str, ...], tuple[str, ...]] = {}
    orders: dict[frozenset[str], int] = {}
    for run, size in ((run, size) for run in runs for size in range(_LEAST, _MOST + 1)):
        for start in range(len(run) - size + 1):
            names = tuple(name for name, _ in run[start : start + size])
            if len(set(names)) == size:
                counts[names] = counts.get(names, 0) + 1
                orders[frozenset(names)] = orders.get(frozenset(names), 0) + 1
                first.setdefault(names, tuple(key for _, key in run[start : start + size]))
    usual = {names: n for names, n in counts.items() if 3 * n >= 2 * orders[frozenset(names)]}
    inner = {
        part
        for names, n in usual.items()
        for part in (names[1:], names[:-1], names[1:-1], names[2:], names[:-2])
        if usual.get(part) == n
    }
    return [(names, first[names]) for names in sorted(usual.keys() - inner)]


_WRITING = re.compile(r"(?:^|[_.\W])(?:edit|write|create|replace|patch|insert)", re.IGNORECASE)
_PATHS = ("path", "file_path", "filePath", "filename", "file", "target_file")
_TEXTS = (
    "content",
    "contents",
    "file_text",
    "text",
    "new_string",
    "newText",
    "new_str",
    "new_text",
)
_WHOLE = frozenset(_TEXTS[:4])


def _writes(turn: Turn) -> Iterator[Write]:
    """What a call of an editing tool writes to a file."""
    if turn.tool is None or turn.tool.input is None or not _WRITING.search(turn.tool.name):
        return
    given = _arguments(turn.tool.input) or _arguments(turn.text)  # the input may have been cut
    path = next((given[name] for name in _PATHS if isinstance(given.get(name), str)), None)
    if path is None:
        return
    edits = given.get("edits")
    for part in (given, *(edits if isinstance(edits, list) else ())):
        name = next((each for each in _TEXTS if isinstance(part.get(each), str)), None) if isinstance(part, dict) else None  # fmt: skip
        if name is not None:
            yield Write(path, part[name], name in _WHOLE and part is given, turn.key)


def _arguments(text: str) -> dict[str, Any]:
    if not text.startswith("{"):
        return {}
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}
