"""Score the sentences of documents and conversations by the heads, and select statements."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from clsm_cli.config import ConsolidationSettings
from clsm_cli.consolidation.store_state import StoreState
from clsm_cli.heads import judge, pair_head
from clsm_cli.heads.judge import Meanings, UnitProbabilities
from clsm_cli.heads.owner_model import Owner, is_unsure
from clsm_cli.heads.statement_head import TALK, TRANSCRIPT, place_of, verdicts
from clsm_cli.heads.units import lead_ins
from clsm_cli.ingestion.capture import NOTES_SESSION as NOTES
from clsm_cli.model.episodes import Document, Episode, Turn
from clsm_cli.model.grouping import grouped
from clsm_cli.text import factuality, sameness, todo
from clsm_cli.text.plain import is_letter_head, to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.time import expressions
from clsm_cli.text.todo import Todo

EVEN_P = 0.5
"""Probability from which a label applies."""
MIN_KIND_P = 0.7
"""Probability from which a statement is a preference or a decision; otherwise, and without the model, a fact."""
MIN_DOCUMENT_P = 0.75
"""Probability from which a label of a whole document excludes its sentences."""
MAX_STEPS_P = 1 / 3
"""Probability of being instructions from which a document's boxes are steps, unless it calls them tasks. None of 20
pages of owners exceeds 0.31; most instructions and forms do (own choice)."""
TALK_WORTH_SHARE = 0.55
"""Factor of the worth threshold for what a person says in a conversation."""
DIARY_WORTH_SHARE = 0.75
"""Factor of the worth threshold for a person's dated notes."""
TALK_NOISE_SHARE = 2.0
"""Factor of the noise limit in a conversation: the statement head doubts short plain sentences ("My sister is called
Ines.")."""
MIN_READ_KEEP, MAX_READ_NOISE = 0.2, 0.5
"""A sentence is read by ``heads/statement_head`` if the unit head gives at least this ``keep`` and, in a document, at
most this ``noise``. The unit head sees a form, and takes short plain facts for less than they are."""
DOUBTED_KEEP = 0.4
"""``keep`` by the unit head below which a sentence of a document must be as much surer of being good: those that a
reader then calls good are as many as among the others."""
MIN_SUCCESSOR_P = 0.3
"""Probability of "same" plus "update" from which a sentence of a rewritten block succeeds a kept one: nine of ten
successors reach it, and a third of the sentences that say something else."""
MAX_CHARS = 420
"""Maximum characters of a statement; anything longer is a paragraph without full stops."""
_REPLY_SENTENCES = 3
"""First sentences of a reply that are checked for a contradiction."""
ROLE_NAMES = frozenset({"user", "assistant", "agent"})
"""Speakers that are roles, not names."""
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget)\s(?:all\s|any\s|the\s|your\s){0,2}(?:previous|prior|above|earlier|other)\s"
    r"(?:instructions?|prompts?|rules|messages?)|\byou\sare\snow\s(?:in|an?|the)\b|\bsystem\sprompt\b"
    r"|\b(?:developer|jailbreak|god)\smode\b",
    re.IGNORECASE,
)
"""A prompt injection; see docs/poisoning.md."""
Kind = Literal["fact", "preference", "decision"]
Verdict = Literal[
    "kept",
    "noted",
    "heir",
    "worth",
    "unclear",
    "noise",
    "untold",
    "document",
    "task",
    "gone",
    "unsaid",
]
"""Why a sentence is kept (``KEPT_VERDICTS``) or not. ``worth`` and ``noise`` are thresholds that it fails;
``commands/review`` words each."""
KEPT_VERDICTS = frozenset({"kept", "noted", "heir"})
"""Verdicts by which a sentence becomes a statement."""
_KINDS: tuple[Kind, ...] = ("preference", "decision")
_FORM = re.compile(r"(?:.*[ _-])?(?:template|form)", re.IGNORECASE)


class ScoredUnit(NamedTuple):
    """A sentence, item or row of a turn.

    Attributes:
        turn: Key of the turn.
        title: The speaker, or the headings above it.
        keep: Probability of being worth keeping; 0 if even the headings do not make it clear.
        noise: Probability of being junk.
        chance: ``keep`` before the correction by the owner's decisions.
        worth: Threshold of ``keep``.
    """

    turn: str
    start: int
    end: int
    text: str
    title: str
    keep: float
    noise: float
    chance: float
    kind: Kind = "fact"
    worth: float = 0.0

    @property
    def statement(self) -> str:
        """The text of the statement: title and text.

        >>> ScoredUnit("k", 0, 9, "900 euros.", "Rent", 0.7, 0.1, 0.7).statement
        'Rent: 900 euros.'
        """
        return f"{self.title}: {self.text}" if self.title else self.text


@dataclass(frozen=True)
class UnitScores:
    """The scored sentences of a document or conversation.

    Attributes:
        about: ``judge.about_document`` of the document; None for a conversation.
        pieces: Key of a turn → its sentences, in order.
        is_noted: The turns are from ``clsm note``: all are kept.
        is_diary: A person's dated notes. They are written as people talk, and the unit head, fitted to
            agents' notes, scores most of them as trivial; the statement head knows such notes.
        current: Keys of current turns; blocks removed from a document make no claims.
        successors: Sentences that succeed a kept one; they are kept too.
    """

    settings: ConsolidationSettings
    about: Mapping[str, float] | None = None
    pieces: Mapping[str, Sequence[ScoredUnit]] = field(default_factory=dict)
    is_noted: bool = False
    is_diary: bool = False
    current: Collection[str] = ()
    successors: Collection[ScoredUnit] = ()

    @property
    def is_talk_like(self) -> bool:
        """Whether it is a conversation or a diary."""
        return self.about is None or self.is_diary

    @property
    def noise_limit(self) -> float:
        """Maximum probability of being noise of a kept sentence."""
        return self.settings.noise * (TALK_NOISE_SHARE if self.about is None else 1.0)

    @property
    def states_nothing(self) -> bool:
        """Whether it is a template, a reference or someone else's text, with nothing about the owner."""
        about = self.about
        return about is not None and (
            about["template"] >= MIN_DOCUMENT_P
            or about["owner"] <= 1 - MIN_DOCUMENT_P
            or about["reference"] >= MIN_DOCUMENT_P
        )

    def verdict(self, piece: ScoredUnit) -> Verdict:
        """Why a sentence is kept or not."""
        if self.is_noted:
            return "noted"
        if piece in self.successors:
            return "heir"
        if self.is_talk_like and (
            factuality.asserts_nothing(piece.text) or factuality.is_rumour(piece.text)
        ):  # the talk head scores rumours and ideas as informative
            return "untold"
        if piece.keep < piece.worth:
            return "worth" if piece.chance else "unclear"
        return "kept" if piece.noise <= self.noise_limit else "noise"

    def needs_reading(self, turn: Turn, piece: ScoredUnit) -> bool:
        """Whether the statement head decides. It reads what an assistant says only if the talk head keeps it."""
        if self.about is None and turn.role == "assistant":
            return self.verdict(piece) in KEPT_VERDICTS
        return piece.keep >= MIN_READ_KEEP and (self.about is None or piece.noise <= MAX_READ_NOISE)

    def place_of(self, turn: Turn) -> str:
        """The place of a turn's sentences, as the statement head reads them."""
        if self.about is not None:
            return place_of(turn.path, turn.heading)
        return TRANSCRIPT if turn.role == "assistant" else TALK

    def is_task(self, turn: Turn, task: Todo) -> bool:
        """Whether an item that looks like a task is one of the owner's.

        In a document, a step of instructions for any reader or a box of a form is not, unless it is under a
        dated heading. In a log, in a list called tasks, or with a date, the threshold for instructions is
        ``EVEN_P`` instead of ``MAX_STEPS_P``. Done items pass: an unknown one makes no statement anyway.
        """
        found = self._pieces_of(turn, task)
        if not found or self.about is None or task.state == "done":
            return bool(found)
        titles = (Path(turn.path).stem, *turn.heading[:1], *turn.heading[-1:])
        if any(expressions.is_day(title, turn.time) for title in titles):
            return True
        is_called_one = (
            self.about["log"] >= EVEN_P
            or any(map(todo.is_list_title, titles))
            or any(expressions.find_expressions(task.text, date(2000, 1, 1)))
        )
        is_form = any(map(_FORM.fullmatch, titles[:2]))
        steps_p = self.about["instruction"] + self.about["reference"]
        return not is_form and steps_p < (EVEN_P if is_called_one else MAX_STEPS_P)

    def title_of(self, turn: Turn, task: Todo) -> str:
        """The headings needed to understand an item of a note, without one that only says "tasks"."""
        found = self._pieces_of(turn, task)
        titles = found[0].title.split(" › ") if found and not turn.speaker else []
        return " › ".join([title for title in titles if not todo.is_list_title(title)])

    def _pieces_of(self, turn: Turn, task: Todo) -> list[ScoredUnit]:
        return [
            piece
            for piece in self.pieces.get(turn.key, ())
            if piece.start < task.end and task.start < piece.end
        ]


def _is_contradicted(piece: ScoredUnit, after: Sequence[Turn]) -> bool:
    """Whether the user's next turn updates what an agent said."""
    reply = next((turn.text for turn in after if turn.role == "user"), "")
    assertions = [
        each for each in sentences(reply)[:_REPLY_SENTENCES] if not factuality.asserts_nothing(each)
    ]
    relations = pair_head.relations([(piece.text, each) for each in assertions])
    return any(each.update >= pair_head.ASKED_P for each in relations)


@dataclass
class StatementScorer:
    """Scores episodes.

    The unit head scores a document once, in its current form; the statement head reads its candidates
    episode by episode.
    """

    state: StoreState
    owner: Owner

    def __post_init__(self) -> None:
        self._documents: dict[str, UnitScores] = {}
        self._episodes: dict[str, list[str]] = {}
        for name, file in self.state.files.items():
            if file.document:
                self._episodes.setdefault(file.document, []).append(name)
        self._kept: dict[str, set[str]] = {}
        for row in self.state.statements.values():
            if len(row.sources) == 1 and row.text and row.kind != "task":
                self._kept.setdefault(row.sources[0], set()).add(row.text)

    def score(self, episode: Episode, current: Collection[str]) -> UnitScores:
        """Score the units of an episode; ``current``: keys of current turns."""
        if episode.document is None:
            found = self._scores(episode.turns, None)
            found = replace(found, is_noted=episode.session == NOTES)
        elif episode.document in self._documents:
            found = self._documents[episode.document]
        else:
            turns = self._document_turns(episode)
            found = self._scores(turns, judge.about_document(turns))
            self._documents[episode.document] = found
        read = self._reread(replace(found, current=current), episode.turns)
        weighed = self._corrected(read, episode.document or episode.session)
        return replace(weighed, successors=self._successors(weighed))

    def _scores(self, turns: Sequence[Turn], about: Mapping[str, float] | None) -> UnitScores:
        """Scores by the unit head; the threshold is lower for conversations and diaries, which say less at once."""
        settings = self.state.settings
        is_diary = about is not None and all(turn.time and turn.trust == "user" for turn in turns)
        share = TALK_WORTH_SHARE if about is None else DIARY_WORTH_SHARE if is_diary else 1.0
        worth = settings.worth * share
        found = scored_units(turns, None if is_diary else about, self.state.meanings)
        pieces = grouped((turn.key, piece._replace(worth=worth)) for turn, piece in found)
        return UnitScores(settings, about, pieces, is_diary=is_diary)

    def _reread(self, scores: UnitScores, turns: Sequence[Turn]) -> UnitScores:
        """The scores of some turns, replaced by those of the statement head where it applies."""
        pieces = {turn.key: [*scores.pieces.get(turn.key, ())] for turn in turns}
        if self.state.meanings is None or scores.states_nothing:
            return replace(scores, pieces=pieces)
        chosen = [
            (turn, row, piece)
            for turn in turns
            for row, piece in enumerate(pieces[turn.key])
            if scores.needs_reading(turn, piece)
        ]
        read = verdicts([(piece.statement, scores.place_of(turn)) for turn, _, piece in chosen])
        for (turn, row, piece), found in zip(chosen, read, strict=True):
            keep = found.good
            if scores.about is None and turn.role == "assistant":
                place = turns.index(turn)
                said = next((t.key for t in reversed(turns[:place]) if t.role == "user"), "")
                kept = [p.text for p in pieces.get(said, ()) if scores.verdict(p) in KEPT_VERDICTS]
                is_known = sameness.echoes(piece.text, kept)
                is_gone = is_known or _is_contradicted(piece, turns[place + 1 :])
                keep *= 0.0 if is_gone else TALK_WORTH_SHARE
            doubt = 0.0 if scores.is_talk_like else max(0.0, DOUBTED_KEEP - piece.keep)
            pieces[turn.key][row] = piece._replace(
                keep=keep, noise=found.junk, chance=keep, worth=piece.worth + doubt
            )
        return replace(scores, pieces=pieces)

    def _successors(self, scores: UnitScores) -> frozenset[ScoredUnit]:
        """Sentences of rewritten blocks that repeat a statement of the old block, or succeed one, the likeliest."""
        successors: set[ScoredUnit] = set()
        pairs = []
        for key, pieces in scores.pieces.items():
            earlier = self.state.earlier_blocks(key)
            kept = {text for old in earlier for text in self._kept.get(old, ())}
            again = {piece for piece in pieces if piece.statement in kept}
            gone = kept - {piece.statement for piece in again}
            successors |= again
            pairs += [(text, each) for text in sorted(gone) for each in pieces if each not in again]
        if self.state.meanings is not None:
            relations = pair_head.relations([(text, piece.statement) for text, piece in pairs])
            chances = [each.same + each.update for each in relations]
            succeeded: set[str] = set()
            for chance, (text, piece) in sorted(zip(chances, pairs, strict=True), reverse=True):
                if chance >= MIN_SUCCESSOR_P and text not in succeeded and piece not in successors:
                    succeeded.add(text)
                    successors.add(piece)
        return frozenset(successors)

    def _corrected(self, scores: UnitScores, place: str) -> UnitScores:
        """The scores corrected by the owner's decisions, where these may change the outcome."""
        if not self.owner.decisions:
            return scores
        every = chain.from_iterable(scores.pieces.values())
        texts = [each.statement for each in every if is_unsure(each.chance, each.worth)]
        known = self.state.vectors_of(texts)

        def corrected(piece: ScoredUnit) -> ScoredUnit:
            if piece.statement not in known:
                return piece
            keep = self.owner.chance(piece.chance, known[piece.statement], place)
            left = (1 - keep) / max(1 - piece.chance, 1e-4)  # of the probability not to keep
            return piece._replace(keep=keep, noise=min(1.0, piece.noise * left))

        pieces = {key: [*map(corrected, found)] for key, found in scores.pieces.items()}
        return replace(scores, pieces=pieces)

    def _document_turns(self, episode: Episode) -> Sequence[Turn]:
        document = self.state.records.get(episode.document or "")
        if not isinstance(document, Document):
            return episode.turns
        names = self._episodes.get(document.id, ())
        read = [self.state.read_episode(name) for name in names if name != episode.id]
        turns = {turn.key: turn for each in (*read, episode) if each for turn in each.turns}
        return [
            replace(turns[block.key], heading=block.heading)
            for block in document.blocks
            if block.key in turns
        ]


def scored_units(
    turns: Sequence[Turn], about: Mapping[str, float] | None, meanings: Meanings | None
) -> Iterator[tuple[Turn, ScoredUnit]]:
    """The candidate sentences of some turns, in order, with their turns; the head of a letter has none."""
    judged = judge.judge_units(turns, about, meanings)
    leads = lead_ins(turns, [each.unit for each in judged])
    heads = {row for row, turn in enumerate(turns) if is_letter_head(turn.text)}
    for each, lead in zip(judged, leads, strict=True):
        turn = turns[each.unit.turn]
        piece = _piece(turn, each, lead)
        if piece is not None and each.unit.turn not in heads:
            yield turn, piece


def _piece(turn: Turn, each: UnitProbabilities, lead: str) -> ScoredUnit | None:
    unit, chances = each
    text = to_plain(turn.text[unit.start : unit.end], has_addresses=True)
    title = _title(turn, lead)
    is_clear = max(chances["alone"], chances["with headings"]) >= EVEN_P
    if not text or len(text) > MAX_CHARS or _ORDER.search(f"{title}: {text}"):
        return None
    keep = chances["keep"] if is_clear else 0.0
    kind: Kind = next((k for k in _KINDS if chances.get(k, 0.0) >= MIN_KIND_P), "fact")
    return ScoredUnit(
        turn.key, unit.start, unit.end, text, title, keep, chances["noise"], keep, kind
    )


def _title(turn: Turn, lead: str) -> str:
    """The title of a sentence: its speaker, or the headings and the list introduction that it stands below.

    Headings are not omitted where the unit head says that a sentence stands alone: of 673 labelled candidates of
    left-out workspaces it says so of 34 (from .8), and five of these need them.
    """
    if turn.speaker:
        return "" if turn.speaker.lower() in ROLE_NAMES else turn.speaker
    titles = [to_plain(title).strip(" :#") for title in turn.heading[-2:]]
    return " › ".join(
        [title for title in (*titles, lead) if title and not expressions.is_day(title, turn.time)]
    )
