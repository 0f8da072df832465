"""Read the best passages with the question until one answers it, then apply the threshold.

Similarity cannot distinguish an answer from a passage on the same subject: in questions that people
asked about their own notes, unanswerable ones near the topic look as confident as others (an AUROC
of about ½). So a cross-encoder reads the first passages (``heads/answer_head``), and its
probability is combined with that of the signs. Reading a passage takes 13 ms on a desktop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.heads import answer_head
from clsm_cli.retrieval import identifiers
from clsm_cli.scoring import confidence
from clsm_cli.store.index import ranking_queries
from clsm_cli.text import factuality, tokens
from clsm_cli.text.sentences import capitals_inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate, Ranked
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

MIN_READ_CONFIDENCE = 0.06
"""Confidence by signs below which no passage is read (own choice: reading hardly ever lifts it over the floor)."""
MAX_READ, ANSWER_P = 4, 0.5
"""Candidates that are read, at most, and the probability of an answer at which reading stops
(docs/experiments.md, Confidence: with eight, 2 to 4 points more among three, for twice the time).
"""


def judge_candidates(
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
        The candidates with their final confidences; those that stay; whether to return only the
        concepts of these.
    """
    if has_model:
        ranked = read_best(index, question, ranked, settings.weight_reading)
    ranked = _discount_look_alikes(index, question, ranked)
    kept, concepts_only = _above_floor(index, question, ranked, settings.floor, least)
    rows = [candidate.row for candidate in kept]
    is_wordless = not any(map(str.isalnum, question.text))
    if least is None and (is_wordless or identifiers.lacks_codes(index, question, rows)):
        kept = []
    return ranked, _without_untrusted(index, question, kept, settings), concepts_only


def read_best(index: Index, question: Question, ranked: Ranked, weight: float) -> Ranked:
    """Read the best candidates, update the confidences, and order the read ones anew.

    An unread candidate is at most as confident as the most confident read one; if none of these
    answers, it gets their lowest reading. If the model was removed meanwhile, the signs alone
    decide.

    Args:
        ranked: Ranked with the model.
        weight: Of the signal ``reading`` in the score.
    """
    if not question.is_readable or ranked.confidence < MIN_READ_CONFIDENCE:
        return ranked
    try:
        chances = _read_until_answered(index, question, ranked.candidates[:MAX_READ])
    except (ModelMissingError, ModelDigestError):
        return ranked
    has_own_order = bool(question.scope.rows)
    return _with_readings(ranked, chances, 0.0 if has_own_order else weight)


def _read_until_answered(
    index: Index, question: Question, candidates: Sequence[Candidate]
) -> list[float]:
    """The answer head's probability of each candidate, up to the first that answers."""
    passages = index.passages([candidate.row for candidate in candidates])
    chances: list[float] = []
    for candidate in candidates:
        passage = passages[candidate.row]
        chances.append(_chance(question, passage, candidate.evidence.coverage))
        if chances[-1] >= ANSWER_P:
            break
    return chances


def _with_readings(ranked: Ranked, chances: Sequence[float], weight: float) -> Ranked:
    """The candidates with what the answer head says of the first ones, in their new order.

    Args:
        chances: The head's probabilities, one for each of the first candidates.
        weight: Of the signal ``reading``.
    """
    by_signs = [candidate.confidence for candidate in ranked.candidates]
    read = [*map(confidence.read_probability, by_signs, chances)]  # as many as there are chances
    unread = by_signs[len(read) :]
    if chances[-1] < ANSWER_P:
        unread = [confidence.read_probability(sure, min(chances)) for sure in unread]
    confidences = [*read, *(min(max(read), sure) for sure in unread)]
    least = min(map(confidence.reading_signal, chances))
    readings = [confidence.reading_signal(chance) - least for chance in chances]
    readings += [0.0] * len(unread)
    candidates: list[Candidate] = [
        candidate._replace(
            score=round(candidate.score + weight * reading, 6),
            signals=candidate.signals._replace(reading=reading),
            shares=candidate.shares._replace(reading=weight * reading),
            confidence=round(sure, 6),
        )
        for candidate, reading, sure in zip(ranked.candidates, readings, confidences, strict=True)
    ]
    candidates.sort(key=lambda candidate: -candidate.score)  # stable
    return ranked.with_candidates(candidates)._replace(is_read=True)


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
    chance = passage_answer_probability(question, passage, rest)
    return chance if rest is None or chance >= ANSWER_P else 0.0


def passage_answer_probability(
    question: Question, passage: Passage, part: str | None = None
) -> float:
    """The answer head's probability that a passage, or a part of its text, answers a question.

    Raises:
        ModelMissingError: The model is not installed.
        ModelDigestError: A model file is not the right one.
    """
    text = part or passage.text
    text = answer_head.passage_text(question.text, text, passage.speaker, passage.heading)
    return answer_head.answer_probability(question.text, text)


SAME_QUESTION_COVERAGE = 0.5
"""Share of a question's idf from which a turn that only asks, asks the same (own choice)."""
LOOK_ALIKE_FACTOR = 0.1
"""Factor of the confidence of a passage with a look-alike of the code asked about (own choice; the
probe ``identifiers`` of ``clsm eval`` shows what it does).
"""


def _discount_look_alikes(index: Index, question: Question, ranked: Ranked) -> Ranked:
    """Lower the confidence of passages with a look-alike of a code that no passage contains, and of those below."""
    rows = [candidate.row for candidate in ranked.candidates]
    look_alikes: set[int] = set()
    if question.n_content_terms:
        look_alikes = identifiers.look_alikes(index, question, ranked.codes, rows)
    if not look_alikes:
        return ranked
    candidates: list[Candidate] = []
    most = 1.0
    for candidate in ranked.candidates:
        is_look_alike = candidate.row in look_alikes
        factor = LOOK_ALIKE_FACTOR if is_look_alike else 1.0
        confidence = min(most, round(factor * candidate.confidence, 6))
        most = confidence if is_look_alike else most
        candidates.append(candidate._replace(confidence=confidence))
    return ranked.with_candidates(candidates)


READ_FLOOR = 1.8
"""Factor of the floor for a question with which passages were read: of what is then still doubtful,
more does not answer. In memories left out of the fit and asked in their own language, it silences 2
% of the questions with an answer, and half of those near the topic (docs/experiments.md).
"""
HINT_SHARE = 0.5
"""Confidence by signs, as a share of the floor, from which a question without an answer still gets
the nearest concepts (own choice): these claim nothing.
"""


def _above_floor(
    index: Index, question: Question, ranked: Ranked, floor: float, least: float | None
) -> tuple[list[Candidate], bool]:
    """The candidates if one reaches the floor, and whether to return only their concepts.

    The floor, higher by ``READ_FLOOR`` if some were read, does not apply to a gist that is asked
    for, or if the best passage contains every identifier of the question.
    """
    kept, has_gist = _gists_first(question, ranked.candidates)
    if least is not None:
        return [candidate for candidate in kept if candidate.confidence >= least], False
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
        first, until = (edge.toordinal() for edge in periods.month(date.fromordinal(day)))
        return any(begin <= first and until <= end for begin, end in question.periods)

    retrieved = [candidate for candidate in ranked if candidate.traits.kind == "gist"]
    gists = [gist for gist in retrieved if gist.traits.day and is_of_asked_month(gist.traits.day)]
    left_out = retrieved if question.periods else gists
    top = ranked[0].score if ranked else 0.0
    first = [
        gist._replace(score=round(top + _GIST_STEP * (len(gists) - n), 6))
        for n, gist in enumerate(gists)
    ]
    return [*first, *(candidate for candidate in ranked if candidate not in left_out)], bool(gists)


def _without_untrusted(
    index: Index, question: Question, candidates: Sequence[Candidate], settings: RecallSettings
) -> list[Candidate]:
    """Drop untrusted candidates that only resemble the best trusted one.

    None is dropped if the question asks for what a tool or a page said.
    """
    if not settings.untrusted_floor or factuality.asks_for_output(question.text):
        return list(candidates)
    untrusted = ranking_queries.untrusted_rows(
        index.connection, [candidate.row for candidate in candidates]
    )
    best = next((candidate for candidate in candidates if candidate.row not in untrusted), None)
    if not untrusted or best is None:
        return list(candidates)
    least = settings.untrusted_floor * best.nearness
    having = {term: {row for row, _, _ in index.postings(term)} for term in question.terms}
    terms = {
        row: frozenset(term for term, rows in having.items() if row in rows)
        for row in untrusted | {best.row}
    }
    names = frozenset(tokens.stems(" ".join(capitals_inside(question.text)))) & terms[best.row]

    def stays(candidate: Candidate) -> bool:
        if (
            candidate.row not in untrusted
            or best.confidence < settings.rivals * candidate.confidence
        ):
            return True
        return terms[candidate.row] >= (terms[best.row] if candidate.nearness < least else names)

    return [candidate for candidate in candidates if stays(candidate)]
