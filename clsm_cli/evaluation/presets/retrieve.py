"""Retrieve as a published system does, by its preset: channels, fusion, filter, pack, answer.

Smriti splits any long text and any with a conjunction or relative word, two quotations or two names;
it ends when a round brings no new document and the top score rises by less than a fixed amount.

What a system publishes is reproduced with clsm's own records, vectors and scores; where a language
model chose or judged, a rule stands for it (docs/evaluation.md). Its crashes and losses are not.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import ceil, exp, fsum
from typing import TYPE_CHECKING

from clsm_cli.evaluation import formulas
from clsm_cli.evaluation.formulas import best_first, reciprocal_ranks
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.presets import library
from clsm_cli.evaluation.presets.channels import Context, TextView
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.retrieval import time_scope
from clsm_cli.retrieval.recall import STEEPNESS
from clsm_cli.retrieval.retrieve import matching_text
from clsm_cli.scoring import packing
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from clsm_cli.evaluation.measures import Item
    from clsm_cli.evaluation.presets.library import Pool, Unit
    from clsm_cli.evaluation.presets.preset import Channel, Preset, Rounds
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.retrieval.retrieve import Query
    from clsm_cli.store.index.index_queries import Index

    Scores = dict[int, float]
    Search = Callable[[str], Scores]


class Part(NamedTuple):
    """A question, or one of those it is made of; ``weight`` is 1 for the question itself."""

    text: str
    weight: float


_MOST_PARTS = 4
_LONGEST = 600
"""Characters; what is longer is a text, not a question."""
_RULES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<a>.+\?)\s+(?P<b>.+\?)",
        r"(?P<a>.+?)\s(?:vs\.?|versus|(?:as )?compared (?:to|with))\s(?P<b>.+)",
        r".*\b(?:differences?|similarit(?:y|ies)|contrast) between (?P<a>.+?) and (?P<b>.+)",
        r".*\bcompare (?P<a>.+?) (?:and|with|to) (?P<b>.+)",
        r".*\b(?:better|worse|more|less|rather)\b(?P<a>.+?) than (?P<b>.+)",
        r"(?P<a>.+?)\s(?:because(?: of)?|due to)\s(?P<b>.+)",
        r".*\b(?:why|reasons? (?:for|behind)|causes? of|what (?:caused|led to))\b(?P<a>.+)",
    )
)
_ITEMS = re.compile(r",\s*(?:(?:and|or)\s+)?|\s(?:and|or|but)\s", re.IGNORECASE)


def question_parts(text: str) -> list[Part]:
    """The question, then the questions it is made of, at most four in all.

    Comparison, cause, list, conjunction: the first rule that fires decides
    (``query-decomposition.ts``). The i-th weighs max(0.4, 1 − 0.2·i).

    >>> [part.text for part in question_parts("REST vs GraphQL for mobile apps?")][1:]
    ['REST', 'GraphQL for mobile apps']
    >>> [part.text for part in question_parts("What do we know about tea, soup, and bread?")][1:]
    ['What do we know about tea', 'soup', 'bread']
    """
    if len(text) > _LONGEST:
        return [Part(text, 1.0)]
    matches = (rule.fullmatch(text.strip()) for rule in _RULES)
    found = next((match for match in matches if match), None)
    pieces = [*found.groupdict().values()] if found else _ITEMS.split(text)
    parts: dict[str, None] = {}
    for piece in pieces:
        part = piece.strip(" ,;:.!?")
        if part != text.strip(" ?.!") and tokens.stems(part):
            parts[part] = None
    asked = list(parts)[: _MOST_PARTS - 1]
    weights = (max(0.4, round(1 - 0.2 * at, 1)) for at in range(1, _MOST_PARTS))
    return [Part(text, 1.0), *map(Part, asked, weights)]


def follow_up(text: str, seen_terms: AbstractSet[str]) -> Part | None:
    """The words of a question of which nothing that was found tells, as a next question.

    Args:
        text: The question.
        seen_terms: Search terms (``tokens.stems``) of everything that was found.

    Returns:
        Its key words (three letters and more) that are missing, at weight 0.6; None when none is,
        or when all are, which would ask the same again.

    >>> follow_up("Mara's boat in Haarlem", {"mara", "boat"})
    Part(text='Haarlem', weight=0.6)
    """
    missing: dict[str, str] = {}
    is_seen = False
    for word in text.split():
        terms = [term for term in tokens.stems(word) if len(term) > 2]
        unseen = [term for term in terms if term not in seen_terms]
        is_seen = is_seen or len(unseen) < len(terms)
        if unseen:
            missing.setdefault(unseen[0], word.strip("\"'.,;:!?()“”’‘"))
    return Part(" ".join(missing.values()), 0.6) if missing and is_seen else None


LONG = 8
"""Words beyond which a question counts as complex."""
# fmt: off
_SPLITS = frozenset((
    "and", "or", "but", "that", "which", "who", "where", "when", "while", "although",
    "before", "after", "since", "until", "then", "vs", "versus", "than", "compared", "difference",
))
# fmt: on
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'"[^"\n]+"|“[^”\n]+”')


def is_complex(text: str) -> bool:
    """Whether Smriti takes a question apart.

    >>> is_complex("Why we switched to SQLite"), is_complex("tabs or spaces")
    (False, True)
    >>> is_complex("did Ilse meet Joris")
    True
    """
    words = _WORD.findall(text)
    names = [word for word in words[1:] if word[0].isupper() and len(word) > 1]
    return (
        len(words) > LONG
        or not _SPLITS.isdisjoint(word.casefold() for word in words)
        or len(_QUOTED.findall(text)) >= 2
        or len(names) >= 2
    )


def queries(text: str, rounds: Rounds) -> list[tuple[str, float]]:
    """The question and its parts with their weights; a longer part tells more and weighs more."""
    if not is_complex(text):
        return [(text, 1.0)]
    found = question_parts(text)[: rounds.queries]
    return [
        (part.text, part.weight + (_bonus(part.text, rounds) if at else 0.0))
        for at, part in enumerate(found)
    ]


def _bonus(text: str, rounds: Rounds) -> float:
    """The bonus of a part: of three words the first, of five the second."""
    words = len(text.split())
    three, five = rounds.specific
    return five if words >= 5 else three if words >= 3 else 0.0


def retrieve_in_rounds(
    text: str, rounds: Rounds, search: Search, texts_of: Callable[[Mapping[int, float]], str]
) -> Scores:
    """What all rounds find, best first.

    score = Σ weight · score × boost^(n − 1),  for a document that n texts found
    """
    asked = queries(text, rounds)
    found = [(weight, search(part)) for part, weight in asked]
    fused = _fused(found, rounds.boost)
    for _ in range(rounds.most - 1):
        seen = frozenset(tokens.stems(texts_of(fused)))
        follow = follow_up(text, seen)
        if follow is None or follow.text in {part for part, _ in asked}:
            break
        asked.append((follow.text, rounds.follow))
        found.append((rounds.follow, search(follow.text)))
        before, fused = fused, _fused(found, rounds.boost)
        gained = max(fused.values(), default=0.0) - max(before.values(), default=0.0)
        if not fused.keys() - before.keys() and gained < rounds.gain:
            break
    return fused


def _fused(found: Sequence[tuple[float, Scores]], boost: float) -> Scores:
    """What several texts found, each with its weight, as one list, best first."""
    parts: dict[int, list[float]] = {}
    for weight, scores in found:
        for name, score in scores.items():
            parts.setdefault(name, []).append(weight * score)
    return best_first({name: fsum(each) * boost ** (len(each) - 1) for name, each in parts.items()})


USUAL_K = 10
"""The ``-k`` that a preset's numbers of units are meant for; others change them in proportion."""
SURPRISE = 3.0
"""Standard deviations from which on a surprise counts in full."""
_DAY = 86_400.0


def retrieve(index: Index, query: Query, engine: Engine, preset: Preset) -> Retrieved:
    """Concepts and items as a published system would return them, best first.

    Args:
        index: Of a store that is consolidated; what is archived counts as everything else.
        query: What is asked, when, and how much may come back; nothing else of it counts.
        engine: Makes the vectors; open.
        preset: The system.
    """
    index.look_into_archive(shown=True)
    held = library.library(index, engine)
    seeker = _Retrieval(Context(held, preset, query.at, _periods(index, query)))
    view = seeker.view(query.text)
    if preset.controller and _is_needless(view):
        return Retrieved(())
    found: list[tuple[Unit, float]] = []
    for units in preset.units:
        pool = held.pool(units.kinds, preset.episodes)
        found += seeker.found(query.text, pool, _scaled(units.k, query.k), query)
    items = library.as_items(view, [unit for unit, _ in found], preset.episodes.raw)
    best = max((score for _, score in found), default=0.0) or 1.0
    scored = [
        (item, round(max(0.0, min(1.0, score / best)), 4))
        for item, (_, score) in zip(items, found, strict=True)
    ]
    if preset.pack.characters:
        scored = _within(scored, preset.pack.characters)
    shown = {item.id for item, _ in scored}
    is_graph = "activation" in preset.channels
    named = [unit for unit, _ in found if is_graph or unit.id in shown]
    concepts = library.as_concepts(view, named, index.store.settings.recall.concepts)
    costs = [item.tokens for item, _ in scored]
    if sum(costs) > query.budget:
        worth = [exp(STEEPNESS * score) for _, score in scored]
        scored = [scored[at] for at in sorted(packing.knapsack(worth, costs, query.budget))]
    return Retrieved(tuple(item for item, _ in scored), concepts)


def _periods(index: Index, query: Query) -> tuple[tuple[int, int], ...]:
    when = time_scope.resolve(index, matching_text(query), query.at)
    return when.periods if when is not None else ()


def _is_needless(view: TextView) -> bool:
    from clsm_cli.text import route

    known = any(view.names(row) for row in view.library.nodes.values())
    return route.choose_route(view.text, has_current=False, known=known).route == "none"


def _scaled(k: int, asked: int) -> int:
    return max(1, ceil(k * asked / USUAL_K))


def _within(scored: Iterable[tuple[Item, float]], characters: int) -> list[tuple[Item, float]]:
    kept = []
    for item, score in scored:
        if len(item.text) <= characters:
            kept.append((item, score))
            characters -= len(item.text)
    return kept


class _Retrieval:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._preset = context.preset
        self._views: dict[str, TextView] = {}

    def view(self, text: str) -> TextView:
        """The view of a text, cached."""
        if text not in self._views:
            self._views[text] = TextView(self._context, text)
        return self._views[text]

    def found(self, text: str, pool: Pool, k: int, query: Query) -> list[tuple[Unit, float]]:
        """The best units of a pool with their scores."""
        preset = self._preset
        if preset.rounds is not None:
            scores = retrieve_in_rounds(
                text,
                preset.rounds,
                lambda part: _first(self._search(part, pool), k, pool),
                lambda held: " ".join(pool.units[at].text for at in held),
            )
        else:
            scores = self._search(text, pool)
        if preset.filter is not None:
            scores = self._relevant(text, pool, scores)
        if preset.gain is not None:
            scores = self._gains(text, pool, _first(scores, k, pool))
        best = list(_first(scores, k, pool))
        if preset.diversity is not None:
            best = self._diverse(pool, scores, best, _scaled(preset.diversity.k, query.k))
        if preset.pack.knapsack:
            best = _packed(pool, scores, best, query)
        return [(pool.units[at], scores[at]) for at in best]

    def _search(self, text: str, pool: Pool) -> Scores:
        """One text through all channels: votes, then what is added and multiplied."""
        view = self.view(text)
        rankings: list[list[int]] = []
        single: Scores = {}
        for name, channel in self._preset.channels.items():
            single = view.channel(name, pool)
            rankings.append(self._ranking(single, channel, pool))
        fusion = self._preset.fusion
        if fusion.rule == "single":
            return {at: single[at] for at in rankings[0]}
        if fusion.rule == "union":
            named = {at for ranking in rankings for at in ranking}
            return {at: view.cosine(pool.units[at]) for at in named}
        weights = [channel.weight for channel in self._preset.channels.values()]
        constant = fusion.constant + fusion.first - 1
        votes = reciprocal_ranks(rankings, weights, constant)
        voters = [sum(at in ranking for ranking in rankings) for at in votes]
        last = len(fusion.agreed)
        return {
            at: self._weighed(pool.units[at], vote * fusion.agreed[min(n, last) - 1])
            for (at, vote), n in zip(votes.items(), voters, strict=True)
        }

    def _ranking(self, scores: Scores, channel: Channel, pool: Pool) -> list[int]:
        kept = {at: score for at, score in scores.items() if score >= channel.least}
        return list(_first(kept, channel.fetch or len(kept), pool))

    def _weighed(self, unit: Unit, score: float) -> float:
        """A fused score with the kind of knowledge added, then times what age leaves."""
        trusted = self._preset.reliability
        if trusted is not None:
            derived = unit.kind in ("statement", "gist")
            told = trusted.tool if unit.trust == "tool" else trusted.told
            score += trusted.weight * (trusted.derived if derived else told)
        if self._preset.recency:
            score *= 0.5 + 0.5 * recency(unit.time, self._context.now, self._preset.recency)
        return score

    def _relevant(self, text: str, pool: Pool, scores: Scores) -> Scores:
        """What a filter keeps: near, or with a word of the text; and not far below the best."""
        limits = self._preset.filter
        assert limits is not None
        view = self.view(text)
        shared = view.words(pool)
        kept = {at: near for at, near in scores.items() if near >= limits.least or at in shared}
        best = max(kept.values(), default=0.0)
        return {at: near for at, near in kept.items() if near >= limits.share * best}

    def _gains(self, text: str, pool: Pool, scores: Scores) -> Scores:
        """The information gain of units, times their importance; what does not help is left out."""
        how = self._preset.gain
        assert how is not None
        view = self.view(text)
        counts = view.counts(pool)
        total = sum(pool.lengths) or 1
        shares = {term: min(1.0, sum(held.values()) / total) for term, held in counts.items()}
        found: Scores = {}
        for at in scores:
            unit = pool.units[at]
            terms = [(held.get(at, 0), shares[term]) for term, held in counts.items()]
            old = sum(key in self._context.library.outdated for key in unit.keys) / max(
                1, len(unit.keys)
            )
            gain = formulas.gain(terms, pool.lengths[at], how.mu)
            value = (gain - how.outdated * old) * self._importance(unit)
            if value > 0:
                found[at] = value
        return found

    def _importance(self, unit: Unit) -> float:
        """Factor for an episode: less for one that was consolidated, more for a surprising one."""
        how = self._preset.episodes
        record = self._context.library.records.get(unit.id)
        if unit.kind != "episode" or not isinstance(record, EpisodeRecord):
            return 1.0
        factor = how.consolidated if record.stage == "consolidated" else 1.0
        return factor * (1 + how.surprise * min(1.0, max(0.0, record.surprise / SURPRISE)))

    def _diverse(self, pool: Pool, scores: Scores, best: Sequence[int], k: int) -> list[int]:
        how = self._preset.diversity
        assert how is not None
        texts = [pool.units[at].text for at in best]
        likeness = self._context.library.likeness
        chosen = formulas.mmr(
            [scores[at] for at in best],
            lambda i, j: likeness(texts[i], texts[j]),
            how.lambda_,
            k=k,
        )
        return [best[at] for at in chosen]


def recency(time: str | None, now: str, parts: Sequence[tuple[float, float]]) -> float:
    """Σ weight · 2^(−age / half-life): Smriti's temporal relevance; 0 for what has no time.

    >>> recency("2026-02-10", "2026-02-17", [(7.0, 0.5), (7.0, 0.5)])
    0.5
    """
    told, asked = _instant(time), _instant(now)
    if told is None or asked is None:
        return 0.0
    age = max(0.0, (asked - told).total_seconds() / _DAY)
    return sum(weight * 2 ** -(age / half_life) for half_life, weight in parts)


def _instant(time: str | None) -> datetime | None:
    """The instant that a text names, without an offset in UTC; None if it is none."""
    try:
        moment = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _first(scores: Mapping[int, float], k: int, pool: Pool) -> Scores:
    order = sorted(scores, key=lambda at: (-scores[at], pool.units[at].id, at))
    return {at: scores[at] for at in order[:k]}


def _packed(
    pool: Pool, scores: Mapping[int, float], best: Sequence[int], query: Query
) -> list[int]:
    texts = [pool.units[at].text for at in best]
    costs = list(map(tokens.count_tokens, texts))
    chosen = packing.knapsack([scores[at] for at in best], costs, query.budget)
    return [best[at] for at in chosen]
