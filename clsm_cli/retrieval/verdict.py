"""The best passages, read with the question until one answers it.

Signs of nearness cannot tell what answers from what is only about the same: asked by people who live with
their notes, questions near the topic look as sure as others (an AUROC of about a half). So the first
passages are read (``heads/answer_head``), and signs and reading say together how likely each answers. A
passage is read in 13 ms on a desktop.
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
"""Words of a question that is read, at least: fewer are cues, which ask for all that is about them."""
MIN_READ_CONFIDENCE = 0.06
"""Confidence by signs below which nothing is read."""
MAX_READ, ANSWER_P = 4, 0.3
"""Candidates that are read, the first, and how likely one must answer that no more are."""


def read(index: Index, question: Question, ranked: Ranked) -> Ranked:
    """The candidates with the confidence that reading leaves them.

    What is not read is at most as sure as the surest of what is; where none of that answers, it counts as
    what answers least. The order stays. Where the model is gone in the meantime, the signs decide.

    Args:
        ranked: Found with the model.
    """
    if not _can_be_read(question) or ranked.confidence < MIN_READ_CONFIDENCE:
        return ranked
    best = ranked.candidates[:MAX_READ]
    told = index.passages([each.row for each in best])
    chances: list[float] = []
    try:
        for each in best:
            passage = told[each.row]
            chances.append(_chance(question, passage, each.evidence.coverage))
            if chances[-1] >= ANSWER_P:
                break
    except (ModelMissingError, ModelDigestError):
        return ranked
    sure = [
        confidence.read_probability(each.confidence, chance)
        for each, chance in zip(best, chances, strict=False)
    ]
    top, unread = max(sure), [each.confidence for each in ranked.candidates[len(sure) :]]
    if chances[-1] < ANSWER_P:
        unread = [confidence.read_probability(each, min(chances)) for each in unread]
    rest = [min(top, each) for each in unread]
    candidates: list[Candidate] = [
        each._replace(confidence=round(value, 6))
        for each, value in zip(ranked.candidates, [*sure, *rest], strict=True)
    ]
    first = candidates[:CONFIDENCE_SIZE]
    return ranked._replace(candidates=candidates, confidence=max(each.confidence for each in first))


def _chance(question: Question, passage: Passage, coverage: float) -> float:
    """How likely a passage answers, as it is read; the question itself, asked before, is no answer.

    What stands beside it in that turn may be one.

    Args:
        coverage: Share of the question's idf that the passage holds.
    """
    text, is_turn = passage.text, passage.document is None and passage.kind == "passage"
    is_same = is_turn and coverage >= SAME_QUESTION_COVERAGE
    rest = factuality.unasked(text, frozenset(question.terms)) if is_same else None
    if rest == "":
        return 0.0
    text = answer_head.shown(question.text, rest or text, passage.speaker, passage.heading)
    chance = answer_head.answers(question.text, text)
    return chance if rest is None or chance >= ANSWER_P else 0.0


def _can_be_read(question: Question) -> bool:
    """Whether it is a question in the language of the reader, English, which does not see when something was."""
    words = question.text.casefold().split()
    return (
        bool(question.terms)
        and not question.periods
        and len(words) >= MIN_WORDS
        and not tokens.STOP_WORDS.isdisjoint(words)
    )


SAME_QUESTION_COVERAGE = 0.5
"""Share of a question's idf from which a turn that only asks asks the same."""
LOOK_ALIKE_FACTOR = 0.1
"""How much of its confidence remains to what has another code than the one that is asked about."""


def discount_look_alikes(index: Index, question: Question, ranked: Ranked) -> Ranked:
    """The candidates, of which none is sure for a code that it does not hold and none other does."""
    rows = [each.row for each in ranked.candidates]
    look_alikes: set[int] = set()
    if question.n_content_terms:
        look_alikes = identifiers.look_alikes(index, question, ranked.codes, rows)
    if not look_alikes:
        return ranked
    candidates: list[Candidate] = [
        each._replace(confidence=round(LOOK_ALIKE_FACTOR * each.confidence, 6))
        if each.row in look_alikes
        else each
        for each in ranked.candidates
    ]
    surest = max(each.confidence for each in candidates[:CONFIDENCE_SIZE])
    return ranked._replace(candidates=candidates, confidence=surest)


HINT_SHARE = 0.5
"""Share of the floor above which, by signs, a question without an answer is still told the concepts that are
nearest to it: they claim nothing."""


def apply_threshold(
    index: Index, question: Question, ranked: Ranked, floor: float, least: float | None
) -> tuple[list[Candidate], bool]:
    """The candidates that may be told of, and whether they may be told: else only their concepts.

    Below the floor nothing is told, unless it is a gist that is asked for, or the best passage holds what
    the question identifies something by.

    Args:
        least: Confidence that each must have, whatever the floor.
    """
    kept, has_gist = _gists_first(question, ranked.candidates)
    if least is not None:
        return [each for each in kept if each.confidence >= least], False
    is_known = has_gist or _holds_identifiers(index, question, ranked)
    is_silent = not is_known and ranked.confidence < floor
    hints = ranked.unread >= HINT_SHARE * floor
    return kept if hints or not is_silent else [], is_silent


def _holds_identifiers(index: Index, question: Question, ranked: Ranked) -> bool:
    """Whether the best passage contains every number, code and address of the question, if any."""
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
"""Of a score, by which a gist that is asked for stands before the next item."""


def _gists_first(question: Question, ranked: list[Candidate]) -> tuple[list[Candidate], bool]:
    """The passages, and before them the gists of the months asked about; whether there are any.

    Gists of other months are left out.
    """
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


def filter_untrusted(
    index: Index, question: Question, candidates: Sequence[Candidate], settings: RecallSettings
) -> list[Candidate]:
    """Candidates without untrusted ones that only resemble an answer.

    Where a question asks for what a tool or a page said, all stay.
    """
    if not settings.untrusted_floor or factuality.asks_for_output(question.text):
        return list(candidates)
    untrusted = ranking_queries.untrusted_rows(index.connection, [each.row for each in candidates])
    best = next((each for each in candidates if each.row not in untrusted), None)
    if not untrusted or best is None:
        return list(candidates)
    least = settings.untrusted_floor * best.nearness
    terms = _terms_held(index, question, untrusted | {best.row})
    names = frozenset(tokens.stems(" ".join(capitals_inside(question.text)))) & terms[best.row]

    def stays(each: Candidate) -> bool:
        if each.row not in untrusted or best.confidence < settings.rivals * each.confidence:
            return True
        return terms[each.row] >= (terms[best.row] if each.nearness < least else names)

    return [each for each in candidates if stays(each)]


def _terms_held(index: Index, question: Question, rows: set[int]) -> dict[int, frozenset[str]]:
    """Which search terms of a question some passages contain."""
    having = {term: {row for row, _, _ in index.postings(term)} for term in question.terms}
    return {row: frozenset(t for t, found in having.items() if row in found) for row in rows}
