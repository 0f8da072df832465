"""The first look at candidates: their surroundings, their evidence, and nine signals."""

from __future__ import annotations

from functools import cached_property
from math import fsum  # the same sum in whatever order of rows
from typing import TYPE_CHECKING

from clsm_cli.retrieval import signals as signal
from clsm_cli.retrieval import words
from clsm_cli.retrieval.signals import Signals
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.scoring.fusion import spread

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from clsm_cli.retrieval.meaning import LateInteraction, Nearest
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.words import Group, Words
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.index.told import Told


class Surroundings:
    """What stands around the candidates: neighbours, and the members of their groups."""

    def __init__(self, index: Index, rows: list[int]) -> None:
        self._index = index
        self.rows = rows
        self.near = index.traits(rows)
        beside = {
            row
            for traits in self.near.values()
            for row in (traits.previous, traits.next)
            if row is not None
        }
        self.near |= index.traits(sorted(beside - self.near.keys()))
        self.members = index.members(sorted({self.near[row].group for row in rows}))
        self.group_of = {
            member.row: group for group, members in self.members.items() for member in members
        }
        self.lengths = {
            group: sum(member.length for member in members)
            for group, members in self.members.items()
        }

    def rests(self, rows: Iterable[int]) -> list[tuple[int, str]]:
        """On which turns and blocks the statements among some rows rest."""
        stated = [row for row in rows if self.near[row].kind == "statement"]
        from clsm_cli.store.index import rests

        return rests.turns_of(self._index.connection, sorted(stated))

    def sources(self, rows: Iterable[int]) -> dict[int, list[Told]]:
        """When the turns were told that statements rest on, by row of the statement."""
        from clsm_cli.store.index import told

        stated = [row for row in rows if self.near[row].kind == "statement"]
        return told.sources(self._index.connection, stated)


class View:
    """A question's evidence, looked up passage by passage."""

    def __init__(
        self,
        question: Question,
        found: Words,
        near: Nearest | None,
        plain: Sequence[float],
        late: LateInteraction | None,
        around: Surroundings,
        outdated: Collection[str],
    ) -> None:
        self._question = question
        self._words = found
        self._near = near
        self._plain = plain
        self._late = late
        self._outdated = outdated
        self._around = around
        self._groups = words.of_groups(found, question, around.group_of, around.lengths)
        self._coverage = words.coverage(found, question, around.near)
        self._about = {
            row
            for term in question.name_terms
            for row, _, _ in found.postings.get(term, ())
            if row in around.near
        }

    def evidence(self, row: int) -> Evidence:
        """What speaks for a passage in itself, and how well it fits the time that is asked about."""
        return Evidence(
            self._words.scores.get(row, 0.0),
            max(self._coverage.get(row, 0.0), self._words.literal.get(row, 0.0), self._of_day(row)),
            self._cosine(row),
            self.lead,
            self.fits[row],
            asked=self._as_asked(row),
            maxsim=self._around_it.get(row),
            unseen=self._unseen,
            terms=len(words.content(self._question)),
            document=float(self._around.near[row].is_document),
            passages=max(1, self._words.passages),
        )

    @cached_property
    def _unseen(self) -> float:
        return words.unseen(self._words, self._question)

    @cached_property
    def _around_it(self) -> dict[int, float]:
        """MaxSim of each candidate with both its neighbours."""
        return self._maxsim(after=True)

    @cached_property
    def _before_it(self) -> dict[int, float]:
        """MaxSim of each candidate with the one before it."""
        return self._maxsim(after=False)

    def _of_day(self, row: int) -> float:
        """Share of the question's terms that only say when, of a note of that time: it has them."""
        asked = len({*self._question.terms} - self._question.name_terms)
        if not asked or not self._around.near[row].is_document:
            return 0.0
        return self.fits[row] * max(0.0, 1 - self._question.besides / asked)

    @cached_property
    def fits(self) -> dict[int, float]:
        """How well each candidate fits the time that is asked about."""
        near, rows = self._around.near, self._around.rows
        if not self._question.periods:
            return dict.fromkeys(rows, 0.0)
        sources = self._around.sources(rows)
        return {row: signal.fit(self._question, near[row], sources.get(row, ())) for row in rows}

    @cached_property
    def lead(self) -> float:
        """By how much the person asked about says what is asked for, more than others do."""
        if self._late is None or len(self._question.named) != 1:
            return 0.0
        best: dict[bool, float] = {}
        for row, traits in self._around.near.items():
            if traits.speaker and not traits.is_document:
                is_meant = traits.speaker == self._question.named[0]
                best[is_meant] = max(best.get(is_meant, 0.0), self._late.over(row))
        return best[True] - best[False] if len(best) == 2 else 0.0

    def signals(self, rows: list[int]) -> list[Signals]:
        """The signals of candidates, brought to one scale over them."""
        near = self._around.near
        share = self._share()
        by_words = spread([self._words.scores.get(row, 0.0) for row in rows])
        own = self._over_windows(rows, by_words, after=False)
        around = self._over_windows(rows, by_words, after=True)
        group_words, group_meaning = (spread(values) for values in self._of_groups(rows))
        return [
            Signals(
                bm25=by_words[i] * (share if near[row].vector >= 0 else 1.0),
                maxsim=own[i],
                context=around[i],
                episode=(group_words[i] + group_meaning[i]) / 2,
                participant=signal.participant(
                    self._question, near[row], is_about=row in self._about
                ),
                date=signal.date(self._question, near[row], self.fits[row]),
                temporal=float(self._question.asks_when and bool(near[row].periods)),
                question=float(near[row].is_question),
                literal=self._words.literal.get(row, 0.0) / self._words.all,
                outdated=float(near[row].key in self._outdated),
            )
            for i, row in enumerate(rows)
        ]

    def _over_windows(self, rows: list[int], by_words: list[float], *, after: bool) -> list[float]:
        """MaxSim of each row's window, min-max; of what has no vector yet, the words speak for it."""
        if self._late is None:
            return [0.0] * len(rows)
        near = self._around.near
        known = [i for i, row in enumerate(rows) if near[row].vector >= 0]
        found = list(by_words)
        over = self._around_it if after else self._before_it
        measured = spread([over[rows[i]] for i in known])
        for i, value in zip(known, measured, strict=True):
            found[i] = value
        return found

    def _share(self) -> float:
        """What the question's words are worth: coverage², 1 where there is nothing else."""
        if self._late is None or self._question.name_terms.issuperset(self._question.terms):
            return 1.0
        return max((group.coverage for group in self._groups.values()), default=0.0) ** 2

    def _of_groups(self, rows: Iterable[int]) -> tuple[list[float], list[float]]:
        """BM25 and mean cosine of the group of each row."""
        by_words: list[float] = []
        by_meaning: list[float] = []
        means: dict[int, float] = {}
        for row in rows:
            group = self._around.near[row].group
            found: Group | None = self._groups.get(group)
            by_words.append(found.score if found else 0.0)
            if group not in means:
                members = self._around.members[group]
                known = [self._near.of(m.vector) for m in members] if self._near else []
                cosines = [cosine for cosine in known if cosine is not None]
                means[group] = fsum(cosines) / len(cosines) if cosines else 0.0
            by_meaning.append(means[group])
        return by_words, by_meaning

    def _as_asked(self, row: int) -> float | None:
        vector = self._around.near[row].vector
        return self._plain[vector] if 0 <= vector < len(self._plain) else None

    def _cosine(self, row: int) -> float | None:
        return self._near.of(self._around.near[row].vector) if self._near else None

    def _maxsim(self, *, after: bool) -> dict[int, float]:
        """MaxSim of each candidate that has a vector, taken as one text with what is beside it."""
        if self._late is None:
            return {}
        found = {}
        for row in self._around.rows:
            traits = self._around.near[row]
            if traits.vector >= 0:
                following = traits.next if after else None
                found[row] = self._late.over(row, traits.previous, following)
        return found
