"""What an adviser answers, checked one by one: what stands on its turns is taken, the rest is named.

The same for an endpoint, for a file and for MCP. Whoever wrote the answer may be a small model, or
may have been talked into something by what it read.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.consolidation import claims, grounds
from clsm_cli.consolidation.packet import KINDS, LONGEST
from clsm_cli.errors import BadInputError
from clsm_cli.integrations.data_block import one_line
from clsm_cli.model.episodes import lowest_trust
from clsm_cli.model.trust import TRUST_ORDER
from clsm_cli.records import NamedTuple
from clsm_cli.store import topics
from clsm_cli.text import secrets
from clsm_cli.text.characters import replace_lone
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.streams import stream_of
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.packet import Part
    from clsm_cli.model.episodes import Turn
    from clsm_cli.model.graph import Statement, StatementKind

MOST = 60
"""Statements, and relations, that are taken of one part; a part has 1500 tokens."""
_NAMED = 80
"""Characters of a refused proposal that the report shows."""
_LONGEST_NAME = 120
_TYPE = re.compile(r"[a-z]{1,20}(?:_[a-z]{1,20}){0,2}")
_NOT_TOLD = frozenset({"co_occurs", "next", "before", "after", "same_as"})
"""Edge types that are counted from episodes, or that would merge two nodes on somebody's word."""
_KINDS: dict[str, StatementKind] = {kind: kind for kind in KINDS}
_OF_OWNER = frozenset({"preference", "correction"})
"""Kinds of rule that only the owner can state."""


class Refused(NamedTuple):
    """A proposal that was not taken.

    Attributes:
        part: Handle of its part, as the answer has it.
        proposal: How it begins.
        reason: Why.
    """

    part: str
    proposal: str
    reason: str


class Answer(NamedTuple):
    """An answer as it was written: what is in it is not checked yet.

    Attributes:
        parts: By handle.
        refused: Entries that name no part.
    """

    parts: dict[str, dict[str, Any]]
    refused: tuple[Refused, ...] = ()

    @property
    def episodes(self) -> frozenset[str]:
        """Ids of the episodes of which it speaks."""
        return frozenset(handle.partition(".")[0] for handle in self.parts)


class Relation(NamedTuple):
    """What some turns say of two named things."""

    source: str
    type: str
    target: str
    turns: tuple[str, ...]


class Checked(NamedTuple):
    """What is taken of the answer to a part, and what is not.

    Attributes:
        claims: Statements.
        replaced: Ids of known statements that hold no longer → the text that says so.
    """

    claims: tuple[Claim, ...]
    relations: tuple[Relation, ...]
    replaced: dict[str, str]
    refused: tuple[Refused, ...]


class _UnfitError(Exception):
    """Why a proposal is not taken."""


def read(text: str, name: str) -> Answer:
    """The entries of an answer, which may have thoughts before it and a fence around it.

    Args:
        text: What the adviser wrote.
        name: Of the file, for messages.

    Raises:
        BadInputError: It is no JSON object with a list of parts.
    """
    told = text.rpartition("</think>")[2]
    try:
        value = json.loads(told[told.find("{") : told.rfind("}") + 1])
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise _no_answer(name, "is not one JSON object") from None
    return of_value(value, name)


def of_value(value: Any, name: str) -> Answer:
    """The entries of an answer that was read already.

    Raises:
        BadInputError: It has no list of parts.
    """
    entries = value.get("parts") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise _no_answer(name, "has no list named parts")
    parts: dict[str, dict[str, Any]] = {}
    refused = []
    for number, entry in enumerate(entries, 1):
        handle = entry.get("part") if isinstance(entry, dict) else None
        if not isinstance(handle, str):
            refused.append(Refused("", f"entry {number}", "names no part"))
        elif handle in parts:
            refused.append(
                Refused(_short(handle), f"entry {number}", "the part was answered before")
            )
        else:
            parts[handle] = entry
    return Answer(parts, tuple(refused))


def check(
    entry: Mapping[str, Any], part: Part, closed: Collection[str], known: Mapping[str, Statement]
) -> Checked:
    """Check every proposal of a part by itself.

    Args:
        entry: The answer to the part.
        part: What was asked about.
        closed: Keys of blocks that their documents hold no longer.
        known: The statements of the memory, by id.
    """
    check_one = _Check(part, closed, known)
    taken, one = _each(entry, "statements", "text", part.handle, check_one.statement)
    told, two = _each(entry, "relations", "source", part.handle, check_one.relation)
    found = {claim.text: claim for claim in taken}
    return Checked(tuple(found.values()), tuple(told), check_one.replaced, (*one, *two))


def _each(
    entry: Mapping[str, Any], name: str, key: str, handle: str, check_one: Callable[[Any], Any]
) -> tuple[list[Any], list[Refused]]:
    items = entry.get(name, [])
    if not isinstance(items, list):
        return [], [Refused(handle, name, "is no list")]
    taken, refused = [], []
    for number, item in enumerate(items, 1):
        shown = item.get(key) if isinstance(item, dict) else None
        called = _short(shown) if isinstance(shown, str) and shown.strip() else f"{name} {number}"
        try:
            if number > MOST:
                raise _UnfitError(f"the part has more than {MOST}")
            if not isinstance(item, dict):
                raise _UnfitError("is no object")
            taken.append(check_one(item))
        except _UnfitError as error:
            refused.append(Refused(handle, called, str(error)))
    return taken, refused


class _Check:
    """The checks of one part."""

    def __init__(self, part: Part, closed: Collection[str], known: Mapping[str, Statement]) -> None:
        pairs = zip(part.turns, part.shown, strict=True)
        self._turns = {turn.key: replace(turn, text=shown) for turn, shown in pairs}
        self._episode = {turn.key: turn for turn in part.episode.turns}
        self._recorded_at = part.episode.recorded_at
        self._closed = closed
        self._known = known
        self.replaced: dict[str, str] = {}

    def statement(self, item: Mapping[str, Any]) -> Claim:
        """One statement as a claim."""
        text = _sentence(item.get("text"))
        kind = _KINDS.get(str(item.get("kind")))
        if kind is None:
            raise _UnfitError("its kind is none of " + ", ".join(KINDS))
        cited = self._cited(item.get("turns"))
        reason = grounds.fault(text, cited)
        if reason is not None:
            raise _UnfitError(reason)
        trust = lowest_trust([turn.trust for turn in cited])
        if kind in claims.RULES:
            printed = [t for t in self._episode.values() if not claims.is_trusted(t.trust)]
            if grounds.is_echo(text, cited, printed):
                raise _UnfitError("a tool or a page says so, and nobody else: that makes no rule")
            if kind in _OF_OWNER and trust != "user":
                kind = "fact"  # what somebody else tells of what the owner wants
        subject = item.get("subject")
        told = " ".join(" ".join((turn.speaker, *turn.heading, turn.text)) for turn in cited)
        is_there = isinstance(subject, str) and grounds.share(subject, told) == 1.0
        named = node_id(one_line(str(subject), _LONGEST_NAME)) if is_there else None
        stream = "identity" if kind in _OF_OWNER else stream_of(text)
        first = cited[0]
        claim = claims.Claim(
            text=text,
            kind=kind,
            stream=stream,
            topic=claims.TOPICS.get(kind) or claims.FACTS[stream],
            turn=first.key,
            more_turns=tuple(turn.key for turn in cited[1:]),
            trust=trust,
            valid_from=first.time,
            observed=first.time or self._recorded_at,
            subject=named or None,
        )
        self._replace(item.get("replaces"), claim)
        return claim

    def relation(self, item: Mapping[str, Any]) -> Relation:
        """One relation."""
        names = [item.get(key) for key in ("source", "target")]
        cited = self._cited(item.get("turns"))
        told = " ".join(" ".join((t.speaker, *t.heading, t.text)) for t in cited).casefold()
        for name in names:
            if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
                raise _UnfitError("it does not name two things")
            if name.casefold() not in told:
                raise _UnfitError(f"the name {_short(name)!r} stands in no turn that it cites")
        kind = "_".join(re.findall(r"[^\W_]+", str(item.get("type")).casefold()))
        if not _TYPE.fullmatch(kind) or kind in _NOT_TOLD:
            raise _UnfitError("its type is not one to three English words, or one that is counted")
        return Relation(str(names[0]), kind, str(names[1]), tuple(turn.key for turn in cited))

    def _cited(self, keys: Any) -> list[Turn]:
        if not isinstance(keys, list) or not keys:
            raise _UnfitError("it cites no turn")
        found = []
        for key in dict.fromkeys(str(each) for each in keys):
            turn = self._turns.get(key)
            if turn is None and key in self._episode and key not in self._turns:
                other = self._episode[key]
                if other.role not in ("user", "assistant") or not claims.is_trusted(other.trust):
                    raise _UnfitError(f"the turn {key} is what a tool or a page said")
            if turn is None:
                raise _UnfitError(f"the turn {_short(key)!r} is not in its part")
            if key in self._closed:
                raise _UnfitError(f"its document holds the block {key} no longer")
            found.append(turn)
        order = list(self._turns)
        return sorted(found, key=lambda turn: order.index(turn.key))

    def _replace(self, wanted: Any, claim: Claim) -> None:
        """Note what a claim ends; the claim is taken all the same where it cannot end that."""
        if not isinstance(wanted, str) or not wanted:
            return
        row = self._known.get(wanted)
        if row is None or not row.is_current or row.pinned or row.kind in ("task", "gist"):
            raise _UnfitError(
                f"it replaces {_short(wanted)!r}, which is no statement that it could end"
            )
        if TRUST_ORDER.index(claim.trust) < TRUST_ORDER.index(row.trust):
            raise _UnfitError(f"it would end {row.id}, which somebody more trusted said")
        if (claim.valid_from or claim.observed) < (row.valid_from or ""):
            raise _UnfitError(f"it would end {row.id}, which is newer")
        if row.text.casefold() == claim.text.casefold() or not grounds.share(row.text, claim.text):
            raise _UnfitError(f"it would end {row.id}, of which it does not speak")
        self.replaced[row.id] = claim.text


def description(entry: Mapping[str, Any], part: Part) -> dict[str, Any] | None:
    """What an answer says of a whole conversation, if it is of the right form and on its turns."""
    told = entry.get("description")
    if not isinstance(told, dict) or part.episode.document is not None:
        return None
    texts = {name: told.get(name) for name in ("title", "narrative", "topic")}
    lists = {name: told.get(name, []) for name in ("decisions", "open_questions")}
    valence = told.get("valence", 0)
    if (
        not all(isinstance(text, str) for text in texts.values())
        or not all(_are_texts(each) for each in lists.values())
        or isinstance(valence, bool)
        or not isinstance(valence, int | float)
        or not -1 <= valence <= 1
    ):
        return None
    return {
        **{name: _plain(str(text)) for name, text in texts.items()},
        **{name: tuple(dict.fromkeys(map(_plain, each))) for name, each in lists.items()},
        "valence": round(float(valence), 4),
    }


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value)


def _sentence(value: Any) -> str:
    """A text that may stand in a topic file, and holds nothing that is not to be seen."""
    if not isinstance(value, str) or not value.strip():
        raise _UnfitError("it has no text")
    text = one_line(value)
    if safe(replace_lone(text)) != text:
        raise _UnfitError("it has characters that nobody sees")
    if len(text) > LONGEST:
        raise _UnfitError(f"it is longer than {LONGEST} characters")
    if secrets.mask(text).found:
        raise _UnfitError("it holds a secret")
    found = topics.parse(f"- {text}\n".encode(), Path("answer"))
    if [item.text for item in found.items] != [text] or found.items[0].id:
        raise _UnfitError("it cannot stand as an item of a Markdown list")
    return text


def _plain(value: str) -> str:
    return one_line(safe(replace_lone(value)))


def _short(text: str) -> str:
    return one_line(safe(replace_lone(text)), _NAMED)


def _no_answer(name: str, reason: str) -> BadInputError:
    return BadInputError(name, reason, "write what clsm consolidate --ask describes")
