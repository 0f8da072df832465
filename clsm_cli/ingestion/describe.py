"""Describe an episode: derive its record (title, narrative, topic, …) from its turns.

Without a language model everything comes from the turns: the title is their key phrases, the narrative their
most informative sentences with speaker and time. Tool turns do not speak, and names in them are no mentions:
records are joined with those of other machines, which would keep them. ``digest_session`` summarises a
conversation that still goes on, without a model or a consolidation.
"""

from __future__ import annotations

import re
from datetime import date, datetime, tzinfo
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from clsm_cli.ingestion.boundaries import cosine
from clsm_cli.model.clocks import instant
from clsm_cli.model.episodes import Episode, EpisodeRecord, OpenQuestion, Turn
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import cues, mentions
from clsm_cli.text.markdown_marks import BOX, ITEM
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.plain import is_letter_head
from clsm_cli.text.sentences import ensure_full_stop, is_question, sentences
from clsm_cli.text.time import expressions
from clsm_cli.text.tokens import terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store

    Vector = NDArray[np.floating[Any]]

TITLE_PHRASES = 3  # key phrases of a title
SCORED_PHRASES = 8  # key phrases that raise the score of a sentence
MAX_SENTENCES = 4  # sentences of a narrative, at most
MAX_CHARS = 240  # characters of a sentence in a record; the turn has the whole
MAX_DECISIONS, MAX_QUESTIONS = 15, 10
"""Maximum kept of an episode (Smriti's session delta: 15 decisions, 10 open threads)."""
MIN_SHARED_STEMS = 2  # content stems that an answer shares with its question
FULL_STEMS = 6  # content stems below which a sentence has a lower score

_BLOCK_MARKER = re.compile(rf"^\s{{0,8}}(?:{ITEM}|#{{1,6}}|>)\s+(?:{BOX}\s+)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\b")
_NO_PROSE = ("```", "~~~", "|", "<")


def describe(
    episode: Episode,
    *,
    rev: tuple[int, str],
    vectors: Sequence[Vector],
    previous: Vector | None,
    surprise: float,
    zone: tzinfo,
) -> EpisodeRecord:
    """The record of an episode, pending consolidation.

    ``vectors`` has a unit vector for each turn, ``previous`` is the ``mean_vector`` of the previous
    episode of its session, None for the first, and ``zone`` the store's.
    """
    spoken = [turn for turn in episode.turns if turn.role != "tool"]
    phrases = cues.key_phrases([turn.text for turn in spoken], SCORED_PHRASES)
    heading = _heading(episode)
    return EpisodeRecord(
        id=episode.id,
        rev=rev,
        title=_title(episode, heading, phrases, zone),
        narrative=narrative(episode, vectors, phrases, zone),
        topic=phrases[0] if phrases else heading,
        valence=_valence(spoken),
        novelty=novelty(mean_vector(episode, vectors), previous),
        surprise=round(surprise, 4),
        decisions=decisions(spoken, zone),
        open_questions=open_questions(spoken),
        mentions=_mentions(spoken),
    )


def mean_vector(episode: Episode, vectors: Sequence[Vector]) -> Vector:
    """Mean vector of the spoken turns, or of the tool turns if nobody speaks; not normalised."""
    import numpy as np

    spoken = [
        v for turn, v in zip(episode.turns, vectors, strict=True) if turn.role != "tool"
    ] or vectors
    total = np.zeros(len(spoken[0]))
    for vector in spoken:  # one by one, since a note may have 100 MB of them
        total += vector
    mean: Vector = total / len(spoken)
    return mean


def novelty(mean: Vector, previous: Vector | None) -> float:
    """1 − cos(mean, previous), clipped to 0 … 1; 1 without a previous episode.

    >>> import numpy as np
    >>> one, half = np.array([2.0, 0.0]), np.array([3.0, 4.0])
    >>> novelty(one, half), novelty(one, -one), novelty(one, None)
    (0.4, 1.0, 1.0)
    """
    if previous is None:
        return 1.0
    return round(min(1.0, max(0.0, 1.0 - cosine(mean, previous))), 4)


def _title(episode: Episode, heading: str, phrases: Sequence[str], zone: tzinfo) -> str:
    """Date and key phrases; the heading of a document's blocks comes first."""
    names = [heading] if heading else []
    names += [p for p in phrases if p.casefold() not in heading.casefold()]
    names = names[:TITLE_PHRASES] or [_opening(episode)]
    named = _shorten(", ".join(names), MAX_CHARS // 2)
    start = episode.start and _local_time(episode.start, zone)
    title = named[:1].upper() + named[1:]
    return f"{start:%Y-%m-%d} · {title}" if start else title


def _heading(episode: Episode) -> str:
    """The innermost heading shared by all blocks of a document, other than a date."""
    if episode.document is None:
        return ""
    levels = zip(*(turn.heading for turn in episode.turns), strict=False)
    common = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    return next((title for title in reversed(common) if not _DAY.match(title)), "")


def _opening(episode: Episode) -> str:
    texts = (_plain(turn.text) for turn in episode.turns)
    return _shorten(next((text for text in texts if text), "untitled"), 60)


class _Candidate(NamedTuple):
    score: float
    place: int
    turn: Turn
    text: str
    stems: frozenset[str]


def narrative(
    episode: Episode, vectors: Sequence[Vector], phrases: Sequence[str], zone: tzinfo
) -> str:
    """At most four of the most informative sentences, in order, with speaker and time.

    A sentence's score is c · (1 + p) · l · q · o:
        c = 1 + cos(its turn, the episode's mean), 0 … 2;
        p = sum over the episode's key phrases in it, Σ 1/(1 + rank/4);
        l = min(1, content stems / 6); q = ½ for a question; o = ⅓ after the choice of a sentence
        with half of its stems (to avoid repetition).
    The best is chosen and the others scored again, until four are chosen. Equal scores keep the order.
    """
    left = _candidates(episode, vectors, phrases)
    chosen: list[_Candidate] = []
    while left and len(chosen) < MAX_SENTENCES:
        best = max(left, key=lambda each: (each.score, -each.place))
        chosen.append(best)
        left = [_rescored(each, best) for each in left if each is not best]
    return " ".join(_narrated(each, zone) for each in sorted(chosen, key=lambda each: each.place))


def _candidates(
    episode: Episode, vectors: Sequence[Vector], phrases: Sequence[str]
) -> list[_Candidate]:
    mean = mean_vector(episode, vectors) if episode.turns else None
    weights = [(phrase.casefold(), 1 / (1 + rank / 4)) for rank, phrase in enumerate(phrases)]
    found: list[_Candidate] = []
    for turn, vector in zip(episode.turns, vectors, strict=True):
        if turn.role == "tool" or is_letter_head(turn.text):
            continue
        closeness = 2.0 - novelty(vector, mean)
        for text in map(_plain, sentences(turn.text)):
            kept = terms(text)
            if not kept or text.startswith(_NO_PROSE):
                continue
            hits = sum(weight for phrase, weight in weights if phrase in text.casefold())
            score = closeness * (1 + hits) * min(1.0, len(kept) / FULL_STEMS)
            score *= 0.5 if is_question(text) else 1.0
            found.append(_Candidate(round(score, 4), len(found), turn, text, kept))
    return found


def _rescored(each: _Candidate, chosen: _Candidate) -> _Candidate:
    shared = len(each.stems & chosen.stems)
    return each._replace(score=each.score / 3) if 2 * shared >= len(each.stems) else each


def _narrated(each: _Candidate, zone: tzinfo) -> str:
    when = _local_time(each.turn.time, zone)
    text = _recorded(each.text, when)
    verb = "asked" if is_question(text) else "said"
    who = f"{each.turn.speaker} {verb}: " if each.turn.speaker else ""
    text = ensure_full_stop(text)
    if when is None:
        return who + text
    at = f" at {when:%H:%M}" if isinstance(when, datetime) else ""
    return f"On {when:%Y-%m-%d}{at}{', ' if who else ': '}{who}{text}"


def _recorded(text: str, when: datetime | date | None) -> str:
    """A sentence as a record keeps it: relative times made absolute, and shortened."""
    return _shorten(expressions.absolutise(text, when) if when else text, MAX_CHARS)


def _valence(turns: Sequence[Turn]) -> float:
    """Mean over the turns with any valence; 0 if none has."""
    felt = [v for v in (cues.valence(turn.text) for turn in turns) if v]
    return round(sum(felt) / len(felt), 4) if felt else 0.0


def decisions(turns: Sequence[Turn], zone: tzinfo) -> tuple[str, ...]:
    """The sentences that state a decision, with relative times made absolute."""
    found: dict[str, None] = {}
    for turn in turns:
        when = _local_time(turn.time, zone)
        for text in map(_plain, cues.find_decisions(turn.text)):
            found[_recorded(text, when)] = None
    return tuple(found)[:MAX_DECISIONS]


def open_questions(turns: Sequence[Turn]) -> tuple[OpenQuestion, ...]:
    """The questions of the turns, each with the turn that answers it, if any."""
    found: dict[str, OpenQuestion] = {}
    for place, turn in enumerate(turns):
        for text in map(_plain, cues.find_questions(turn.text)):
            asked = _shorten(text, MAX_CHARS)
            answer = _answer(text, turn.speaker, turns[place + 1 :])
            if asked not in found or found[asked].answered_by is None:
                found[asked] = OpenQuestion(asked, answer)
    return tuple(found.values())[:MAX_QUESTIONS]


def _answer(question: str, speaker: str, later: Sequence[Turn]) -> str | None:
    """The next turn of another speaker that repeats words of the question without asking."""
    wanted = terms(question)
    for turn in later:
        if turn.speaker == speaker:
            continue
        statements = [text for text in sentences(turn.text) if not is_question(text)]
        if len(wanted & terms(" ".join(statements))) >= MIN_SHARED_STEMS:
            return turn.key
    return None


def _mentions(turns: Sequence[Turn]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for turn in turns:
        for mention in mentions.find_mentions(turn.text):
            found.setdefault(node_id(mention.label), set()).add(turn.key)
    return {node: tuple(sorted(keys)) for node, keys in sorted(found.items())}


def _local_time(time: str | None, zone: tzinfo) -> datetime | date | None:
    """A turn's time in the store's zone, or only its day."""
    if time is None:
        return None
    moment = instant(time)
    if moment is None:
        return date.fromisoformat(time)
    try:
        return moment.astimezone(zone)
    except OverflowError:  # year 1 or 9999 in another zone
        return moment


def _plain(text: str) -> str:
    return " ".join(_BLOCK_MARKER.sub("", text).split())


def _shorten(text: str, limit: int) -> str:
    """The text, cut between words with an ellipsis if it is longer than ``limit``."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[limit // 2 :] else cut).rstrip(" ,;:") + "…"


class Outcome(NamedTuple):
    """An outcome of a conversation; ``kind``: decision, question, or that of a statement."""

    kind: str
    text: str
    passage: Passage
    file: str
    line: int


def digest_session(store: Store, session: str) -> tuple[Outcome, ...]:
    """Decisions, then unanswered questions, then current statements, each in order of time.

    For the moment when an agent's program compacts the conversation and drops most of it: turns captured a
    second ago count. Text of tools and pages is left out.
    """
    from clsm_cli.store.index import session_queries
    from clsm_cli.store.index.opening import open_index

    with open_index(store, None) as opened:
        index = opened.index
        rows = session_queries.session_rows(index.connection, [session]) - index.hidden()
        passages = index.passages(sorted(rows)).values()
        spoken = sorted(
            {each.id: each for each in passages if each.trust not in UNTRUSTED}.values(),
            key=lambda each: (each.time or "", each.line_start, each.part),
        )
        known = session_queries.statements_of_session(index.connection, session)
        stated = index.passages([row for row in known if row not in index.hidden()]).values()
        return (
            *_outcomes(index, spoken, store),
            *(_outcome(index, each, each.kind, each.text) for each in stated),
        )


def _outcomes(index: Index, spoken: list[Passage], store: Store) -> Iterator[Outcome]:
    """Yield decisions, then open questions, each with its turn."""
    turns = [Turn(p.key, p.speaker, "user", p.text, p.time) for p in spoken]
    for passage, turn in zip(spoken, turns, strict=True):
        for text in decisions([turn], store.zone):
            yield _outcome(index, passage, "decision", text)
    unanswered = {q.text for q in open_questions(turns) if q.answered_by is None}
    for passage, turn in zip(spoken, turns, strict=True):
        for question in open_questions([turn]):
            if question.text in unanswered:
                yield _outcome(index, passage, "question", question.text)


def _outcome(index: Index, passage: Passage, kind: str, text: str) -> Outcome:
    from clsm_cli.store.index import source_locations

    return Outcome(kind, text, passage, *source_locations.locate(index, passage))
