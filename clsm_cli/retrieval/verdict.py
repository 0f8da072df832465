"""Read the best passages with the question until one answers it, then apply the threshold.

Similarity cannot distinguish an answer from a passage on the same subject: in questions that people asked
about their own notes, unanswerable ones near the topic look as confident as others (an AUROC of about ½).
So a cross-encoder reads the first passages (``heads/answer_head``), and its probability is combined with
that of the signs. Reading a passage takes 13 ms on a desktop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.heads import answer_head
from clsm_cli.retrieval import identifiers
from clsm_cli.retrieval.entity_linking import capitals_inside
from clsm_cli.retrieval.ranking import CONFIDENCE_SIZE
from clsm_cli.scoring import confidence
from clsm_cli.store.index import ranking_queries
from clsm_cli.text import factuality, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate, Ranked
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

MIN_WORDS = 4
"""Words of a question that is read, at least: shorter ones are cues, which ask for everything about them."""
MIN_READ_CONFIDENCE = 0.06
"""Confidence by signs below which no passage is read."""
MAX_READ, ANSWER_P = 4, 0.5
"""Candidates that are read, at most, and the probability of an answer at which reading stops."""


def judge(
    index: Index,
    question: Question,
    ranked: Ranked,
    settings: RecallSettings,
    least: float | None,
    *,
    has_model: bool,
) -> tuple[Ranked, list[Candidate], bool]:
    """Decide which candidates answer: read them, and drop what is unlikely or planted.

    Args:
        least: Confidence that each candidate must have, instead of the floor.

    Returns:
        The candidates with their final confidences; those that stay; whether to return only the concepts
        of these.
    """
    if has_model:
        ranked = read(index, question, ranked, settings.weight_reading)
    ranked = _discount_look_alikes(index, question, ranked)
    kept, concepts_only = _above_floor(index, question, ranked, settings.floor, least)
    if least is None and identifiers.lacks_codes(index, question, [each.row for each in kept]):
        kept = []
    return ranked, _without_untrusted(index, question, kept, settings), concepts_only


def read(index: Index, question: Question, ranked: Ranked, weight: float) -> Ranked:
    """Read the best candidates, update the confidences, and order the read ones anew.

    An unread candidate is at most as confident as the most confident read one; if none of these answers,
    it gets their lowest reading. If the model was removed meanwhile, the signs alone decide.

    Args:
        ranked: Ranked with the model.
        weight: Of the signal ``reading`` in the score.
    """
    if not can_be_read(question) or ranked.confidence < MIN_READ_CONFIDENCE:
        return ranked
    best = ranked.candidates[:MAX_READ]
    passages = index.passages([each.row for each in best])
    chances: list[float] = []
    try:
        for each in best:
            passage = passages[each.row]
            chances.append(_chance(question, passage, each.evidence.coverage))
            if chances[-1] >= ANSWER_P:
                break
    except (ModelMissingError, ModelDigestError):
        return ranked
    read_confidences = [
        confidence.read_probability(each.confidence, chance)
        for each, chance in zip(best, chances, strict=False)
    ]
    top, unread = (
        max(read_confidences),
        [each.confidence for each in ranked.candidates[len(read_confidences) :]],
    )
    if chances[-1] < ANSWER_P:
        unread = [confidence.read_probability(each, min(chances)) for each in unread]
    rest = [min(top, each) for each in unread]
    if question.scope.rows:
        weight = 0.0  # these have an order of their own
    least = min(map(confidence.reading, chances))
    readings = [confidence.reading(chance) - least for chance in chances] + [0.0] * len(rest)
    confidences = [*read_confidences, *rest]
    candidates: list[Candidate] = [
        each._replace(
            score=round(each.score + weight * reading, 6),
            signals=each.signals._replace(reading=reading),
            shares=each.shares._replace(reading=weight * reading),
            confidence=round(value, 6),
        )
        for each, reading, value in zip(ranked.candidates, readings, confidences, strict=True)
    ]
    candidates.sort(key=lambda each: -each.score)  # stable
    first = candidates[:CONFIDENCE_SIZE]
    surest = max(each.confidence for each in first)
    return ranked._replace(candidates=candidates, confidence=surest, is_read=True)


def _chance(question: Question, passage: Passage, coverage: float) -> float:
    """The answer head's probability that a passage answers.

    A turn that asks the same question does not answer it, but the rest of that turn may.

    Args:
        coverage: Share of the question's idf in the passage.
    """
    text, is_turn = passage.text, passage.document is None and passage.kind == "passage"
    is_same = is_turn and coverage >= SAME_QUESTION_COVERAGE
    rest = factuality.without_questions(text, frozenset(question.terms)) if is_same else None
    if rest == "":
        return 0.0
    chance = answer_probability(question, passage, rest)
    return chance if rest is None or chance >= ANSWER_P else 0.0


def answer_probability(question: Question, passage: Passage, part: str | None = None) -> float:
    """The answer head's probability that a passage, or a part of its text, answers a question.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    text = part or passage.text
    text = answer_head.passage_text(question.text, text, passage.speaker, passage.heading)
    return answer_head.answer_probability(question.text, text)


def can_be_read(question: Question) -> bool:
    """Whether the answer head can read it: an English question without a time, which it cannot check."""
    words = question.text.casefold().split()
    return (
        bool(question.terms)
        and not question.periods
        and len(words) >= MIN_WORDS
        and not tokens.STOP_WORDS.isdisjoint(words)
    )


SAME_QUESTION_COVERAGE = 0.5
"""Share of a question's idf from which a turn that only asks, asks the same."""
LOOK_ALIKE_FACTOR = 0.1
"""Factor of the confidence of a passage with a look-alike of the code asked about."""


def _discount_look_alikes(index: Index, question: Question, ranked: Ranked) -> Ranked:
    """Lower the confidence of passages with a look-alike of a code that no passage contains, and of those below."""
    rows = [each.row for each in ranked.candidates]
    look_alikes: set[int] = set()
    if question.n_content_terms:
        look_alikes = identifiers.look_alikes(index, question, ranked.codes, rows)
    if not look_alikes:
        return ranked
    candidates: list[Candidate] = []
    most = 1.0
    for each in ranked.candidates:
        factor = LOOK_ALIKE_FACTOR if each.row in look_alikes else 1.0
        value = min(most, round(factor * each.confidence, 6))
        most = value if each.row in look_alikes else most
        candidates.append(each._replace(confidence=value))
    surest = max(each.confidence for each in candidates[:CONFIDENCE_SIZE])
    return ranked._replace(candidates=candidates, confidence=surest)


READ_FLOOR = 1.8
"""Factor of the floor for a question with which passages were read: of what is then still doubtful, more
does not answer. In memories left out of the fit and asked in their own language, it silences 2 % of the
questions with an answer, and half of those near the topic (docs/experiments.md).
"""
HINT_SHARE = 0.5
"""Confidence by signs, as a share of the floor, from which a question without an answer still gets the
nearest concepts: these claim nothing.
"""


def _above_floor(
    index: Index, question: Question, ranked: Ranked, floor: float, least: float | None
) -> tuple[list[Candidate], bool]:
    """The candidates if one reaches the floor, and whether to return only their concepts.

    The floor, higher by ``READ_FLOOR`` if some were read, does not apply to a gist that is asked for, or if
    the best passage contains every identifier of the question.
    """
    kept, has_gist = _gists_first(question, ranked.candidates)
    if least is not None:
        return [each for each in kept if each.confidence >= least], False
    is_known = has_gist or _holds_identifiers(index, question, ranked)
    needed = floor * READ_FLOOR if ranked.is_read else floor
    concepts_only = not is_known and ranked.confidence < needed
    hints = ranked.unread >= HINT_SHARE * floor
    return kept if hints or not concepts_only else [], concepts_only


def _holds_identifiers(index: Index, question: Question, ranked: Ranked) -> bool:
    """Whether the question has numbers, codes or addresses, and the best passage contains all of them."""
    mixed = [term for term in question.terms if not (term.isalpha() or term.isdigit())]
    written = [
        *question.keys,
        *(word for word in mixed if len(word) >= identifiers.MIN_CODE_LENGTH),
    ]
    postings = {word: index.postings(word) for word in written}
    postings |= {code.written: at for code, at in ranked.codes if code.form}
    return bool(postings) and all(
        any(row == candidate.row for row, _, _ in places)
        for candidate in ranked.candidates[:1]
        for places in postings.values()
    )


_GIST_STEP = 1e-3
"""Difference of scores by which a gist that is asked for precedes the next item."""


def _gists_first(question: Question, ranked: list[Candidate]) -> tuple[list[Candidate], bool]:
    """Move the gists of the months asked about to the front, drop others; and whether there are any."""
    if not question.asks_for_gist:
        return ranked, False
    from datetime import date

    from clsm_cli.text.time import periods

    def is_of_asked_month(day: int) -> bool:
        first, until = (each.toordinal() for each in periods.month(date.fromordinal(day)))
        return any(begin <= first and until <= end for begin, end in question.periods)

    known = [each for each in ranked if each.traits.kind == "gist"]
    gists = [each for each in known if each.traits.day and is_of_asked_month(each.traits.day)]
    left_out = known if question.periods else gists
    top = ranked[0].score if ranked else 0.0
    first = [
        each._replace(score=round(top + _GIST_STEP * (len(gists) - n), 6))
        for n, each in enumerate(gists)
    ]
    return [*first, *(each for each in ranked if each not in left_out)], bool(gists)


def _without_untrusted(
    index: Index, question: Question, candidates: Sequence[Candidate], settings: RecallSettings
) -> list[Candidate]:
    """Drop untrusted candidates that only resemble the best trusted one.

    None is dropped if the question asks for what a tool or a page said.
    """
    if not settings.untrusted_floor or factuality.asks_for_output(question.text):
        return list(candidates)
    untrusted = ranking_queries.untrusted_rows(index.connection, [each.row for each in candidates])
    best = next((each for each in candidates if each.row not in untrusted), None)
    if not untrusted or best is None:
        return list(candidates)
    least = settings.untrusted_floor * best.nearness
    having = {term: {row for row, _, _ in index.postings(term)} for term in question.terms}
    terms = {
        row: frozenset(term for term, found in having.items() if row in found)
        for row in untrusted | {best.row}
    }
    names = frozenset(tokens.stems(" ".join(capitals_inside(question.text)))) & terms[best.row]

    def stays(each: Candidate) -> bool:
        if each.row not in untrusted or best.confidence < settings.rivals * each.confidence:
            return True
        return terms[each.row] >= (terms[best.row] if each.nearness < least else names)

    return [each for each in candidates if stays(each)]
