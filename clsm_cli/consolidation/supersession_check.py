"""Which statements a claim supersedes or repeats, and which superseded a claim that arrives late.

CMA (section 3.4) closes what a newer memory contradicts. The pair head judges each statement similar to a
claim. A probable update closes the statement; a possible one goes to review, as one question with both
sentences, if a person would find the question sensible. If a block of a document changed, statements of the
old text are judged against the new text.
An agent or a page never ends what the owner said, and an agent's answer that the owner's words contradict
is not kept.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.consolidation.claims import KINDS
from clsm_cli.heads import pair_head
from clsm_cli.model.clocks import day_of, seconds
from clsm_cli.model.trust import is_as_trusted
from clsm_cli.store.index.passages import HEADING_SEPARATOR
from clsm_cli.text import factuality, sameness

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo
    from typing import Any

    from clsm_cli.consolidation.claims import Claim
    from clsm_cli.consolidation.lookup import StatementIndex
    from clsm_cli.heads.pair_head import Relation, Sentence
    from clsm_cli.model.graph import Statement

NEAR = 0.40
"""Minimum cosine of two sentences about one thing."""
ALONE = 0.50
"""The same if they share only names: sentences by or about one person are always similar."""
SUBJECT_ALONE = 0.55
"""The same if they share only the name that both begin with (fixtures/labels/told_held.jsonl: of 10 updates that
end a statement none is lost, of 12 other pairs that would end one 5)."""
MOST = 4
"""Maximum statements judged against a claim, the most similar ones."""
OVER, ASKED = pair_head.SUPERSEDED_P, pair_head.ASKED_P
"""Probabilities of an update from which it closes a statement, and from which a person may be asked. A claim repeats
a statement from ``OVER`` on."""
ASKING_WEIGHTS, ASKING_LIMIT = (0.9, 1.2, 0.8, 0.4), 3.3
"""Weights of ``asking_signs``, and the sum from which a person is asked: ``scripts/fit_doubts.py``."""
REWRITTEN = 0.3
"""The closing probability for a statement of a rewritten block and a sentence of its replacement."""

_PROPERTY = re.compile(r".*\w: \[.*\]")
"""Matches a list among the properties of a note ("attendees: [Ann, Ben]"), which is about that note alone."""


class Rival(NamedTuple):
    """A statement that a claim updates, or that updates the claim (``is_later``), with the probability."""

    chance: float
    row: Statement
    is_later: bool = False


def since(row: Statement) -> str:
    """The start of a row's validity; without one, its recording time.

    A closed row without a start sorts before all others, as it held before it was recorded.
    """
    return row.valid_from or ("" if row.valid_until else row.recorded_at or "")


def rivals(
    known: StatementIndex,
    rewritten: Mapping[str, str],
    claim: Statement,
    vector: Any,
    zone: tzinfo,
) -> list[Rival]:
    """The statements that a claim may replace, and those that may have replaced it; the most probable last.

    Args:
        rewritten: Key of a block → key of the removed block that it replaced.
        vector: The unit vector of the claim's text; nothing is found without one.
    """
    if vector is None or claim.kind not in KINDS:
        return []
    gone = _of_old_block(known, rewritten, claim)
    every = list(islice(_comparable(known, claim, vector, gone, zone), None if gone else MOST))
    asked = every[:MOST] + [each for each in every[MOST:] if each[0].id in gone]
    told = pair_head.relations([texts for _, _, texts in asked])
    found = []
    for (row, is_later, texts), read in zip(asked, told, strict=True):
        one, two = map(pair_head.sentence, texts)
        relation = with_numbers(read, one, two, is_rewritten=row.id in gone)
        if relation.update < (REWRITTEN if row.id in gone else ASKED):
            continue  # its clauses can only lower it
        chance = pair_head.update_of(one, two, relation, pair_head.relations)
        if row.id in gone and chance >= REWRITTEN:
            chance = 1.0
        if chance >= OVER and (row.pinned or factuality.is_hearsay(texts[1])):
            found.append(Rival(ASKED, row, is_later))
        elif chance >= OVER or (
            chance >= ASKED and _is_worth_asking(chance, *texts, _days_apart(row, claim, zone))
        ):
            found.append(Rival(chance, row, is_later))
    return sorted(found, key=lambda each: (each.chance, each.row.id))


def with_numbers(
    relation: Relation, old: Sentence, new: Sentence, *, is_rewritten: bool = False
) -> Relation:
    """A relation in which sentences about one thing with different numbers never say the same.

    The head hardly sees the last digits of addresses and versions, and takes most such updates for
    repetitions. Unless the one was rewritten as the other, a number that both have is what they repeat.
    """
    before, after = ({*sameness.numbers(each.text)} for each in (old, new))
    is_other = before - after and after - before and (is_rewritten or not before & after)
    if is_other and pair_head.content(old) & pair_head.content(new):
        return relation._replace(same=0.0, update=relation.update + relation.same)
    return relation


def _comparable(
    known: StatementIndex, claim: Statement, vector: Any, gone: frozenset[str], zone: tzinfo
) -> Iterator[tuple[Statement, bool, tuple[str, str]]]:
    """Statements comparable with a claim, the most similar first, with ``is_later`` and the texts, earlier first."""
    at = seconds(since(claim), zone)
    for row, cosine in known.alike(vector, NEAR):
        is_rewritten, then = row.id in gone, seconds(since(row), zone)
        is_later = then > at and not is_rewritten
        if row.text == claim.text or (then == at and not is_rewritten):
            continue  # the same words about two days are two statements
        if not _may_rival(row, claim, is_later=is_later):
            continue
        who, old = pair_head.without_speaker(row.text, known.speakers)
        other, new = pair_head.without_speaker(claim.text, known.speakers)
        if who and other and who != other:
            old, new = row.text, claim.text
        if cosine < ALONE and _share_names_alone(old, new, said=bool(who or other)):
            continue
        if cosine < SUBJECT_ALONE and _share_subject_alone(old, new):
            continue
        if _PROPERTY.fullmatch(row.text) or _PROPERTY.fullmatch(claim.text):
            continue
        if not sameness.has_same_preference(row.text, claim.text):
            yield row, is_later, (new, old) if is_later else (old, new)


def said_before(known: StatementIndex, claim: Claim, vector: Any) -> Statement | None:
    """The current statement that a claim paraphrases, with the same numbers and names."""
    if vector is None or claim.kind not in KINDS:
        return None
    new = _particulars(claim.text)
    alike = (
        row
        for row, _ in known.alike(vector, NEAR)
        if row.is_current
        and row.kind in KINDS
        and row.text != claim.text  # the same words about two days are two statements
        and _particulars(row.text) == new
        and not _differ_in_subject(row.text, claim.text)
    )
    near = list(islice(alike, MOST))
    told = pair_head.relations([(row.text, claim.text) for row in near])
    rated = [(each.same, row.id, row) for each, row in zip(told, near, strict=True)]
    found = max(rated, key=lambda each: each[:2], default=None)
    return found[2] if found is not None and found[0] >= OVER else None


@lru_cache(maxsize=1 << 17)
def _particulars(text: str) -> frozenset[str]:
    """``pair_head.particulars`` of a statement, which many claims are compared with."""
    return frozenset(pair_head.particulars(pair_head.sentence(text)))


def owner_says_otherwise(known: StatementIndex, claim: Claim, vector: Any) -> bool:
    """Whether an agent's answer contradicts a current statement of the owner."""
    if vector is None or not claim.is_answer:
        return False
    said = pair_head.content(pair_head.sentence(claim.text))
    alike = (
        row.text
        for row, _ in known.alike(vector, NEAR)
        if row.is_current
        and row.kind in KINDS
        and row.trust == "user"
        and not said <= pair_head.content(pair_head.sentence(row.text))  # a mere repetition
    )
    pairs = [
        pair for text in islice(alike, MOST) for pair in ((text, claim.text), (claim.text, text))
    ]
    return any(each.update >= ASKED for each in pair_head.relations(pairs))


def _days_apart(row: Statement, claim: Statement, zone: tzinfo) -> float | None:
    """Days between the times of two statements; 0 unless both have one, None if that is one day."""
    if not (row.valid_from and claim.valid_from):
        return 0.0
    if day_of(row.valid_from, zone) == day_of(claim.valid_from, zone):
        return None
    return abs(seconds(claim.valid_from, zone) - seconds(row.valid_from, zone)) / 86400


def asking_signs(chance: float, old: str, new: str, days: float) -> tuple[float, ...]:
    """What tells a sensible question about two sentences from nonsense.

    The log odds of an update, the content words that both have below their headings, whether both have
    numbers or days, and different ones, and the time between them.

    Args:
        chance: The probability of an update.
        days: Days between the two sentences.

    >>> asking_signs(0.5, "Flat › Rent: 900 euros.", "The rent is 950 euros.", 0)
    (0.0, 0.6931471805599453, 1.0, 0.0)
    """
    old, new = map(_without_path, (old, new))
    one, two = map(pair_head.content, map(pair_head.sentence, (old, new)))
    before, after = (
        {*sameness.numbers(text), *sameness.calendar_words(text)} for text in (old, new)
    )
    has_other_values = float(bool(before and after) and before != after)
    odds = math.log(chance / (1 - chance))
    return odds, math.log1p(len(one & two)), has_other_values, math.log1p(days)


def _is_worth_asking(chance: float, old: str, new: str, days: float | None) -> bool:
    """Whether a person is more likely than not to find a question sensible.

    What was told on one day (None) is two accounts of one thing.
    """
    if days is None:
        return False
    signs = asking_signs(chance, old, new, days)
    return sum(w * sign for w, sign in zip(ASKING_WEIGHTS, signs, strict=True)) >= ASKING_LIMIT


def _without_path(text: str) -> str:
    """A statement without the headings of its note, if there are several.

    >>> _without_path("Plan › Flat: Rent: 900"), _without_path("Rent: 900")
    ('Rent: 900', 'Rent: 900')
    """
    path, _, rest = text.partition(": ")
    return rest if HEADING_SEPARATOR in path else text


def _share_names_alone(one: str, two: str, *, said: bool) -> bool:
    """Whether two sentences share nothing but names, inside them or of the speaker (``said``).

    >>> _share_names_alone("Call her Mara.", "Never wake Mara before ten.", said=False)
    True
    >>> _share_names_alone("We use PostgreSQL.", "We migrated to SQLite.", said=False)
    False
    """
    first, second = map(pair_head.sentence, (one, two))
    shared = pair_head.content(first) & pair_head.content(second)
    names = pair_head.particulars(first) | pair_head.particulars(second)
    return (said or bool(shared)) and shared <= names


def _share_subject_alone(one: str, two: str) -> bool:
    """Whether two sentences share nothing but a capitalised first word; before a colon that is a label.

    >>> _share_subject_alone("Ivo lives in Gouda.", "Ivo works as a baker.")
    True
    >>> _share_subject_alone("Rent: 900", "Rent: none")
    False
    """
    first, second = map(pair_head.sentence, (one, two))
    shared = pair_head.content(first) & pair_head.content(second)
    return (
        one[:1].isupper()
        and ":" not in one
        and first.keys[:1] == second.keys[:1]
        and shared == {*first.keys[:1]}
    )


def _of_old_block(
    known: StatementIndex, rewritten: Mapping[str, str], claim: Statement
) -> frozenset[str]:
    """Ids of the statements whose only sources are blocks that the claim's block replaced."""
    old = {rewritten[key] for key in claim.sources if key in rewritten}
    rows = known.rows.values() if old else ()
    return frozenset(row.id for row in rows if row.sources and {*row.sources} <= old)


def _may_rival(row: Statement, claim: Statement, *, is_later: bool) -> bool:
    """Whether the later of the two (the row if ``is_later``) may end the earlier.

    The row must be current and of a kind that can change, they must share no source, and the later one must
    be at least as trusted.
    """
    later, earlier = (row, claim) if is_later else (claim, row)
    return (
        row.is_current
        and row.kind in KINDS
        and not {*claim.sources} & {*row.sources}
        and is_as_trusted(later.trust, earlier.trust)
    )


def _differ_in_subject(old: str, new: str) -> bool:
    """Whether two sentences share a longer end than beginning, and so may have different subjects.

    >>> _differ_in_subject("My cousin Ada lives in Ghent.", "My uncle Bruno lives in Ghent.")
    True
    >>> _differ_in_subject("Ada lives in Ghent.", "Ada lives in Leiden now.")
    False
    """
    one, two = old.casefold().split(), new.casefold().split()
    return sameness.common_prefix(one[::-1], two[::-1]) > sameness.common_prefix(one, two)
