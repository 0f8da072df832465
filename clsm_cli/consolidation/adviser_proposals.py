"""Check an adviser's answer, proposal by proposal, against the turns that it cites.

The answer may come from an endpoint, a file or MCP, from a small model or one misled by an injected prompt.
So numbers, days, names, words and negation of a sentence are compared with its cited turns. This proves
nothing, but rejects what the turns cannot have said. A good sentence that is rejected only loses its
wording: recall still finds its turns. A draft of clsm is only removed if a proposal rewords it, or the
answer drops it by its id.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, tzinfo
from pathlib import Path
from typing import Any

from clsm_cli.consolidation import claims
from clsm_cli.consolidation.adviser_packet import MAX_CHARS, Part, one_line
from clsm_cli.consolidation.claims import KINDS, Claim
from clsm_cli.consolidation.consolidation_report import Answer, Refused
from clsm_cli.consolidation.statement_selection import EVEN_P
from clsm_cli.consolidation.supersession_check import since
from clsm_cli.errors import BadInputError
from clsm_cli.heads import judge
from clsm_cli.heads.judge import Meanings
from clsm_cli.heads.statement_head import TALK, TRANSCRIPT, place_of, verdicts
from clsm_cli.integrations.llm import objects_in
from clsm_cli.model.clocks import day_of, seconds
from clsm_cli.model.episodes import Turn, lowest_trust
from clsm_cli.model.graph import Statement
from clsm_cli.model.trust import TRUSTED, is_as_trusted
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import topics
from clsm_cli.text import sameness, secrets
from clsm_cli.text.name_matching import NON_NAMES
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.person_words import language_of, words_of
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.statement_streams import stream_of
from clsm_cli.text.terminal import replace_lone, safe
from clsm_cli.text.time import expressions
from clsm_cli.text.tokens import terms

MIN_SUPPORT = 0.5
"""Minimum share of a sentence's stems that its turns must contain."""
MIN_ECHO = 0.8
"""Share of a rule's stems in a tool's output from which the rule counts as the tool's."""
_BLOCK = re.compile(r"<!--|```|~~~|^#{1,6}\s")
"""The start of a Markdown comment, code block or section."""
_WORD = re.compile(r"\w+")
_ANY_DAY = date(2000, 1, 4)
"""Reference day of undated turns, of whose time expressions only absolute ones count."""
MAX_PROPOSALS = 60
"""Maximum statements, and relations, per part of 1500 tokens."""
_SHOWN_CHARS = 80
"""Maximum characters of a rejected proposal in the report."""
_MAX_NAME_CHARS = 120
_EDGE_TYPE = re.compile(r"[a-z]{1,20}(?:_[a-z]{1,20}){0,2}")
_RESERVED_TYPES = frozenset({"co_occurs", "next", "before", "after", "same_as"})
"""Edge types that are derived from episodes, or that would merge two nodes."""
_OWNER_KINDS = frozenset({"preference", "correction"})
"""Rule kinds that only the owner can state."""


class Relation(NamedTuple):
    """A relation between two named things that some turns state."""

    source: str
    type: str
    target: str
    turns: tuple[str, ...]


class _RejectedError(Exception):
    """Why a proposal is rejected."""


def parse_answer(text: str, name: str) -> Answer:
    """Parse an answer, which may be preceded by thoughts and surrounded by text or a fence.

    Of several answers, the first counts.

    Raises:
        BadInputError: There is no JSON object with a list of parts.
    """
    objects = objects_in(text.rpartition("</think>")[2])
    if not objects:
        raise _no_answer(name, "holds no JSON object")
    value, *more = [each for each in objects if "parts" in each] or objects
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise _no_answer(name, "has a number that JSON does not know") from None
    answer = parse_value(value, name)
    second = [each for each in more if each != value and "parts" in each]
    again = [Refused("", "a second answer", "the first one counts")] if second else []
    return Answer(answer.parts, (*answer.refused, *again))


def parse_value(value: Any, name: str) -> Answer:
    """The entries of an answer that was parsed from JSON.

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
                Refused(_shown(handle), f"entry {number}", "the part was answered before")
            )
        else:
            parts[handle] = entry
    return Answer(parts, tuple(refused))


class CheckedPart:
    """The answer to a part, with every proposal checked separately.

    Attributes:
        claims: Accepted statements; ``relations``: accepted relations.
        replaced: Ids of known statements that are ended → the claims that end them.
        removed_drafts: Ids of drafts that were dropped or reworded.
    """

    def __init__(
        self,
        entry: Mapping[str, Any],
        part: Part,
        known: Mapping[str, Statement],
        meanings: Meanings | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        """Check an entry against its part and the known statements; junk is only detected with ``meanings``."""
        pairs = zip(part.turns, part.shown, strict=True)
        self._turns = {turn.key: replace(turn, text=shown) for turn, shown in pairs}
        self._episode = {turn.key: turn for turn in part.episode.turns}
        self._part = part
        self._known = known
        self._meanings = meanings
        self._zone = zone
        self._drafts = {draft.id: draft for draft in part.drafts}
        self._reworded: dict[str, list[str]] = {}
        self.replaced: dict[str, Claim] = {}
        self.removed_drafts: set[str] = set()
        self.refused: list[Refused] = []
        accepted = self._check_items(entry, "statements", "text", self._statement)
        self.claims: list[Claim] = [*{claim.text: claim for claim in accepted}.values()]
        self.relations: list[Relation] = self._check_items(
            entry, "relations", "source", self._relation
        )
        self._reword()
        self._drop(entry.get("drop", []))

    def _refuse(self, proposal: str, reason: str) -> None:
        self.refused.append(Refused(self._part.handle, proposal, reason))

    def _check_items(
        self, entry: Mapping[str, Any], name: str, key: str, checked: Callable[[Any], Any]
    ) -> list[Any]:
        """Check the items of a list of an entry, and return the accepted ones; ``key``: field to name an item by."""
        items = entry.get(name, [])
        if not isinstance(items, list):
            self._refuse(name, "is no list")
            return []
        taken = []
        for number, item in enumerate(items, 1):
            shown = item.get(key) if isinstance(item, dict) else None
            called = f"{name} {number}"
            if isinstance(shown, str) and shown.strip():
                called = _shown(shown)
            try:
                if number > MAX_PROPOSALS:
                    raise _RejectedError(f"the part has more than {MAX_PROPOSALS}")
                if not isinstance(item, dict):
                    raise _RejectedError("is no object")
                taken.append(checked(item))
            except _RejectedError as error:
                self._refuse(called, str(error))
        return taken

    def _statement(self, item: Mapping[str, Any]) -> Claim:
        """Check one statement, and return it as a claim."""
        text = _checked_text(item.get("text"))
        kind = next((kind for kind in KINDS if kind == item.get("kind")), None)
        if kind is None:
            raise _RejectedError(f"its kind is none of {', '.join(KINDS)}")
        cited = self._cited(item.get("turns"))
        reason = citation_fault(text, cited) or self._junk_reason(text, cited[0])
        if _begins_with_pronoun(text):
            reason = "it does not say who it is about"
        if reason is not None:
            raise _RejectedError(reason)
        printed = [turn for turn in self._episode.values() if turn.trust not in TRUSTED]
        if kind in claims.RULE_KINDS and is_echo(text, cited, printed):
            raise _RejectedError("a tool or a page says so, and nobody else: that makes no rule")
        trust = lowest_trust([turn.trust for turn in cited])
        if kind in _OWNER_KINDS and trust != "user":
            kind = "fact"  # someone else's report of what the owner wants
        stream = "identity" if kind in _OWNER_KINDS else stream_of(text)
        first = cited[0]
        claim = claims.Claim(
            text=text,
            kind=kind,
            stream=stream,
            topic=claims.topic_of(kind, stream),
            sources=tuple(turn.key for turn in cited),
            trust=trust,
            valid_from=first.time,
            recorded_at=first.time or self._part.episode.recorded_at,
            subject=_subject(item.get("subject"), cited),
        )
        self._replace(item.get("replaces"), claim)
        return claim

    def _relation(self, item: Mapping[str, Any]) -> Relation:
        """Check one relation."""
        ends = [item.get(key) for key in ("source", "target")]
        cited = self._cited(item.get("turns"))
        source = _cited_text(cited).casefold()
        for name in ends:
            if not isinstance(name, str) or not name.strip() or len(name) > _MAX_NAME_CHARS:
                raise _RejectedError("it does not name two things")
            if name.casefold() not in source:
                raise _RejectedError(f"the name {_shown(name)!r} stands in no turn that it cites")
        kind = "_".join(re.findall(r"[^\W_]+", str(item.get("type")).casefold()))
        if not _EDGE_TYPE.fullmatch(kind) or kind in _RESERVED_TYPES:
            reason = "its type is not one to three English words, or one that is counted"
            raise _RejectedError(reason)
        return Relation(str(ends[0]), kind, str(ends[1]), tuple(turn.key for turn in cited))

    def _reword(self) -> None:
        """Remove the drafts that proposed statements replace completely."""
        for name, texts in self._reworded.items():
            draft = self._drafts[name]
            turn = self._turns[draft.turn]
            text = draft.text.removeprefix(f"{turn.speaker}: ")
            if citation_fault(text, [replace(turn, text=" ".join(texts))]) is None:
                self.removed_drafts.add(name)
            else:
                reason = "the draft stays: what would replace it does not say all of it"
                self._refuse(_shown(draft.text), reason)

    def _drop(self, dropped: Any) -> None:
        """Remove the drafts that the answer drops."""
        if not isinstance(dropped, list):
            self._refuse("drop", "is no list")
            return
        for each in dropped:
            known = self._drafts.get(each) if isinstance(each, str) else None
            if known is None:
                self._refuse(_shown(str(each)), "is no draft of its part")
            elif known.is_sure:
                self._refuse(_shown(known.text), "the draft stays: clsm is sure of it")
            else:
                self.removed_drafts.add(known.id)

    def _junk_reason(self, text: str, turn: Turn) -> str | None:
        """Why a sentence is junk; None if it may be useful.

        Both heads must agree: each alone rejects some good short sentences.
        """
        if self._meanings is None:
            return None
        unknown = dict.fromkeys(judge.DOCUMENT_LABELS, 0.0)
        found = judge.judge_units([Turn("", "", "assistant", text)], unknown, self._meanings)
        is_talk = self._part.episode.document is None
        said = TRANSCRIPT if turn.role == "assistant" else TALK
        place = said if is_talk else place_of(turn.path, turn.heading)
        (verdict,) = verdicts([(text, place)])
        is_clear = any(each.chances["alone"] >= EVEN_P for each in found)
        return None if is_clear or verdict.junk < EVEN_P else "nobody would understand it alone"

    def _cited(self, keys: Any) -> list[Turn]:
        if not isinstance(keys, list) or not keys:
            raise _RejectedError("it cites no turn")
        found = []
        for key in dict.fromkeys(str(each) for each in keys):
            turn = self._turns.get(key)
            other = self._episode.get(key)
            if turn is None and other is not None and not claims.is_spoken(other):
                raise _RejectedError(f"the turn {key} is what a tool or a page said")
            if turn is None:
                raise _RejectedError(f"the turn {_shown(key)!r} is not in its part")
            if key in self._part.closed:
                raise _RejectedError(f"its document holds the block {key} no longer")
            found.append(turn)
        order = list(self._turns)
        return sorted(found, key=lambda turn: order.index(turn.key))

    def _replace(self, wanted: Any, claim: Claim) -> None:
        """Record which draft or statement a claim replaces.

        Raises:
            _RejectedError: It cannot replace that.
        """
        if not isinstance(wanted, str) or not wanted:
            return
        if wanted in self._drafts:
            self._reworded.setdefault(wanted, []).append(claim.text)
            return
        row = self._known.get(wanted)
        if row is None or not row.is_current or row.pinned or row.kind not in KINDS:
            raise _RejectedError(
                f"it replaces {_shown(wanted)!r}, which is no statement that it could end"
            )
        if not is_as_trusted(claim.trust, row.trust):
            raise _RejectedError(f"it would end {row.id}, which somebody more trusted said")
        if seconds(since(claim), self._zone) < seconds(row.valid_from, self._zone):
            raise _RejectedError(f"it would end {row.id}, which is newer")
        if row.text.casefold() == claim.text.casefold() or not stem_overlap(row.text, claim.text):
            raise _RejectedError(f"it would end {row.id}, of which it does not speak")
        self.replaced[row.id] = claim


def _subject(name: Any, cited: Sequence[Turn]) -> str | None:
    """The node id of a proposed subject; None if the cited turns do not name it."""
    if not isinstance(name, str) or stem_overlap(name, _cited_text(cited)) < 1.0:
        return None
    return node_id(one_line(name, _MAX_NAME_CHARS)) or None


def _cited_text(cited: Sequence[Turn]) -> str:
    """The texts of turns, with speakers and headings."""
    return " ".join(" ".join((turn.speaker, *turn.heading, turn.text)) for turn in cited)


def _checked_text(value: Any) -> str:
    """A proposed text, checked: one plain Markdown item, without secrets or invisible characters."""
    if not isinstance(value, str) or not value.strip():
        raise _RejectedError("it has no text")
    text = one_line(value)
    if safe(replace_lone(text)) != text:
        raise _RejectedError("it has characters that nobody sees")
    if len(text) > MAX_CHARS:
        raise _RejectedError(f"it is longer than {MAX_CHARS} characters")
    if secrets.mask(text).counts:
        raise _RejectedError("it holds a secret")
    found = topics.parse(f"- {text}\n".encode(), Path("answer"))
    plain = to_plain(text, has_addresses=True)
    is_item = [item.text for item in found.items] == [text] and not found.items[0].id
    # Emphasis and backticks are removed; anything that hides or links words is rejected.
    if not is_item or _WORD.findall(plain) != _WORD.findall(text) or _BLOCK.search(text):
        raise _RejectedError("it cannot stand as plain text in a Markdown list")
    return plain


def _begins_with_pronoun(text: str) -> bool:
    """Whether the subject is a pronoun for a person, if that is the first word.

    >>> _begins_with_pronoun("He is proud."), _begins_with_pronoun("Ada says he is.")
    (True, False)
    """
    first = next(iter(words_of(text)), None)
    language = language_of(text)
    return first is not None and (
        language.is_third_person(first.low) or language.is_a("we", first.low)
    )


def _shown(text: str) -> str:
    return one_line(safe(replace_lone(text)), _SHOWN_CHARS)


def _no_answer(name: str, reason: str) -> BadInputError:
    return BadInputError(name, reason, "write what clsm consolidate --ask describes")


def citation_fault(text: str, cited: Sequence[Turn]) -> str | None:
    """Why turns do not support a sentence; None if they may.

    >>> from clsm_cli.model.episodes import Turn
    >>> told = [Turn("", "Mara", "user", "I have 3 cats, says Ada.", "2026-02-24T10:00:00+01:00")]
    >>> citation_fault("Mara has 3 cats.", told), citation_fault("Mara has 4 cats.", told)
    (None, "the number '4' stands in no turn that it cites")
    >>> citation_fault("Tomas has 3 cats.", told), citation_fault("Mara has no cats.", told)
    ("the name 'Tomas' stands in no turn that it cites", 'its turns say the opposite')
    """
    rest, days = _without_days(text, cited[0].time)
    undated = [_without_days(turn.text, turn.time) for turn in cited]
    cited_days = {day for _, found in undated for day in found} | {
        (day.isoformat(),) * 2 for turn in cited if (day := day_of(turn.time))
    }
    for first, last in days:
        if not any(first <= a and b <= last for a, b in cited_days):
            return f"the day {first} stands in no turn that it cites"
    around = [" ".join((turn.speaker, *turn.heading, turn.path)) for turn in cited]
    numbers = {n for each, _ in undated for n in sameness.numbers(each)}
    numbers |= {n for each in around for n in sameness.numbers(each)}
    for number in sameness.numbers(rest):
        if number not in numbers:
            return f"the number {number!r} stands in no turn that it cites"
    source = "\n".join([*around, *(turn.text for turn in cited)])
    name = _unknown_name(text, source)
    if name is not None:
        return f"the name {name!r} stands in no turn that it cites"
    if stem_overlap(text, source) < MIN_SUPPORT:
        return "most of its words stand in no turn that it cites"
    return "its turns say the opposite" if _is_denied(text, cited) else None


def stem_overlap(text: str, source: str) -> float:
    """The share of a text's stems that a source contains, 0 to 1; 1 for a text without stems."""
    wanted = terms(text)
    return len(wanted & terms(source)) / len(wanted) if wanted else 1.0


def is_echo(rule: str, cited: Iterable[Turn], printed: Iterable[Turn]) -> bool:
    """Whether a rule repeats a tool or a page, and no cited user turn supports it."""
    if any(turn.trust == "user" and stem_overlap(rule, turn.text) >= MIN_SUPPORT for turn in cited):
        return False
    return any(stem_overlap(rule, turn.text) >= MIN_ECHO for turn in printed)


def _without_days(text: str, time: str | None) -> tuple[str, list[tuple[str, str]]]:
    """A text without its certain days, and the first and last day of each."""
    pieces: list[str] = []
    days: list[tuple[str, str]] = []
    end = 0
    at = day_of(time) or _ANY_DAY
    for each in expressions.find_expressions(text, at):
        if not each.certain or (each.relative and at == _ANY_DAY):
            continue
        pieces.append(text[end : each.start])
        end = each.end
        last = date.fromordinal(each.until.toordinal() - 1)
        days.append((each.first.isoformat(), last.isoformat()))
    return " ".join([*pieces, text[end:]]), days


def _unknown_name(text: str, source: str) -> str | None:
    """The first word of a text that looks like a name and is not in the source."""
    words = {word.casefold() for word in _WORD.findall(source)}
    known = terms(source)
    for place, match in enumerate(_WORD.finditer(text)):
        word = match.group()
        is_coded = not word.isdigit() and any(c.isdigit() for c in word)
        if not (word[0].isupper() or any(c.isupper() for c in word) or is_coded):
            continue
        is_plain = word in NON_NAMES or (place == 0 and terms(word) <= known)
        if word.casefold() not in words and not is_plain:
            return word
    return None


def _is_denied(text: str, cited: Sequence[Turn]) -> bool:
    """Whether a text negates and no similar cited sentence does, or all of these do and the text does not."""
    every = [each for turn in cited for each in sentences(turn.text)]
    near = [each for each in every if stem_overlap(text, each) >= MIN_SUPPORT]
    if sameness.is_negated(text):
        return not any(map(sameness.is_negated, near or every))
    return bool(near) and all(map(sameness.is_negated, near))
