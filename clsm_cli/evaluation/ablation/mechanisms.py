"""Every mechanism of clsm that can be taken out, and how.

Most are a setting at the value that switches it off, as a user could write it into ``clsm.yaml``;
two are a variation of the bench: the store as it was ingested, and no embedding model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from clsm_cli.errors import ModelMissingError
from clsm_cli.evaluation.ablation import overrides
from clsm_cli.evaluation.systems.recall import Recall
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clsm_cli.evaluation.ablation.overrides import Stage
    from clsm_cli.evaluation.bench import Bench, System
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.retrieved import Retrieved


class Variation(NamedTuple):
    """A change that no setting makes.

    Attributes:
        how: In a few words.
        of: The bench with it.
        needs_night: Whether it means nothing where the store is no work of ``consolidate``.
    """

    how: str
    of: Callable[[Bench], Bench]
    needs_night: bool


class Mechanism(NamedTuple):
    """Something that clsm does and could leave.

    Attributes:
        about: What it does, in one line.
        off: Settings that switch it off, or the variation that does.
    """

    name: str
    about: str
    off: Mapping[str, Any] | Variation

    @property
    def how(self) -> str:
        """What switches it off, in one line."""
        if isinstance(self.off, Variation):
            return self.off.how
        return ", ".join(f"{key}: {value}" for key, value in self.off.items())

    @property
    def stage(self) -> Stage:
        """What has to be done again without it."""
        return "recall" if isinstance(self.off, Variation) else overrides.stage_of(self.off)

    def applies(self, bench: Bench) -> bool:
        """Whether it can be taken out of a bench: not everything can be done again on every store."""
        if isinstance(self.off, Variation):
            return overrides.is_made(bench) or not self.off.needs_night
        return self.stage == "recall" or overrides.is_made(bench)

    def without(self, bench: Bench) -> Bench:
        """The bench without it.

        Raises:
            RefusedError: It cannot be taken out of this one.
            DiskError: The work folder cannot be written.
        """
        if isinstance(self.off, Variation):
            return self.off.of(bench)
        return overrides.applied(bench, self.off)

    def system(self) -> System:
        """The system that is clsm without it."""
        return Without(self)


@dataclass(frozen=True, slots=True)
class Without:
    """clsm without a mechanism; see ``bench.System``."""

    mechanism: Mechanism

    @property
    def name(self) -> str:
        """As in tables."""
        return f"clsm without {self.mechanism.name}"

    @property
    def about(self) -> str:
        """How it is switched off."""
        return f"clsm with {self.mechanism.how}"

    @property
    def is_confident(self) -> bool:
        """It has clsm's own."""
        return True

    def ask(self, bench: Bench, queries: Sequence[Query]) -> Iterator[Retrieved]:
        """What the default preset returns on the changed bench."""
        return Recall("clsm").ask(self.mechanism.without(bench), queries)


class _NoModel:
    """An engine whose model is not installed, so that words alone are searched."""

    name = "none"

    def open(self) -> NoReturn:
        """There is nothing to open."""
        raise ModelMissingError(Path("none"))

    def encode(self, *_: object) -> NoReturn:
        """Nothing encodes a query."""
        self.open()

    def products(self, *_: object, **__: object) -> NoReturn:
        """Nothing is compared."""
        self.open()


_AS_INGESTED = Variation(
    "the store as it was ingested", lambda bench: replace(bench, store=bench.raw), needs_night=True
)
_WORDS_ONLY = Variation(
    "no embedding model", lambda bench: replace(bench, engine=_NoModel()), needs_night=False
)

_ALL = (
    Mechanism("words", "BM25 of a passage", {"recall.weight_bm25": 0}),
    Mechanism(
        "late-interaction",
        "each word of the question against each word of a passage and the turn before it",
        {"recall.weight_maxsim": 0},
    ),
    Mechanism(
        "rare-words",
        "rare words of the question count more in late interaction",
        {"recall.least_idf": 100},
    ),
    Mechanism(
        "episode", "words and meaning of what stands around a passage", {"recall.weight_episode": 0}
    ),
    Mechanism(
        "participant",
        "what the person says who is asked about",
        {"recall.weight_participant": 0},
    ),
    Mechanism("dates", "told at the time that is asked about", {"recall.weight_date": 0}),
    Mechanism(
        "time-filter",
        "nothing from outside the days or conversations that a question leaves",
        {"recall.time_filter": 0},
    ),
    Mechanism(
        "temporal",
        "speaks of a time where a question asks for one",
        {"recall.weight_temporal": 0},
    ),
    Mechanism("questions", "what is a question itself answers none", {"recall.weight_question": 0}),
    Mechanism(
        "facts", "looks up the value that holds of what is asked for", {"recall.weight_fact": 0}
    ),
    Mechanism("echo", "what the turn before says already counts less", {"recall.weight_echo": 0}),
    Mechanism("names", "passages full of names count more", {"recall.weight_names": 0}),
    Mechanism(
        "rivals",
        "what is untrusted, denied, superseded or told of another name stands below what answers as well",
        {"recall.rivals": 0},
    ),
    Mechanism(
        "session",
        "the best passage of a conversation speaks for the others",
        {"recall.weight_session": 0},
    ),
    Mechanism(
        "outdated",
        "ranks what newer memories replaced lower, for questions about what holds",
        {"recall.weight_outdated": 0},
    ),
    Mechanism(
        "meaning",
        "plain nearness in meaning, for questions that ask for several things or name no speaker",
        {"recall.weight_meaning": 0},
    ),
    Mechanism(
        "activation",
        "the best passages lead to others over the concepts that both mention",
        {"recall.weight_graph": 0},
    ),
    Mechanism(
        "literal",
        "what the model does not know decides as it is written: codes, numbers, names, scripts",
        {"recall.weight_literal": 0},
    ),
    Mechanism(
        "alone",
        "where no speaker is named, what stands around a passage counts as far as it is near itself",
        {"recall.alone": 0},
    ),
    Mechanism(
        "breadth",
        "questions that ask for several things are ranked in their own way",
        {"recall.breadth": 0},
    ),
    Mechanism(
        "second-look",
        "all that a second look at the candidates adds: echo, names, session, meaning, breadth, activation",
        {
            "recall.weight_echo": 0,
            "recall.weight_names": 0,
            "recall.weight_session": 0,
            "recall.weight_meaning": 0,
            "recall.breadth": 0,
            "recall.weight_graph": 0,
            "recall.alone": 0,
        },
    ),
    Mechanism("windows", "a block of a note is shown with its neighbours", {"recall.window": 0}),
    Mechanism("folding", "what says the same is returned once", {"recall.fold": 1.1}),
    Mechanism("fading", "items far below the best one are left out", {"recall.faded": -10}),
    Mechanism("floor", "says nothing where nothing is sure enough", {"recall.floor": 0}),
    Mechanism(
        "passage-mediated-concepts",
        "concepts are found through the passages that mention them",
        {"recall.concept_passages": 0},
    ),
    Mechanism("concept-cut", "as few concepts as are likely right", {"recall.concept_beta": 1000}),
    Mechanism("model", "meaning: all that needs the embedding model", _WORDS_ONLY),
    Mechanism(
        "consolidation", "the night: statements, facts, rules, gists and the graph", _AS_INGESTED
    ),
    Mechanism(
        "statements",
        "sentences that are worth it become statements; values of slots still do without it",
        {"consolidation.worth": 100},
    ),
    Mechanism(
        "prediction",
        "what is known already is reinforced, only what is new is learnt",
        {"consolidation.predict": 0},
    ),
    Mechanism(
        "rules",
        "what several sessions show becomes a rule",
        {"consolidation.rule_sessions": 1_000_000},
    ),
    Mechanism(
        "gists",
        "what the episodes of a month were about",
        {"consolidation.gist_episodes": 1_000_000},
    ),
    Mechanism(
        "boundaries",
        "episodes end where the subject changes, not only where they are too long",
        {"boundary.confidence": 1},
    ),
    Mechanism("silence", "a silence speaks for a boundary", {"boundary.gap_ignored": 1e9}),
    Mechanism("surprise", "a surprising turn speaks for a boundary", {"boundary.gamma": 1e6}),
    Mechanism("refinement", "boundaries move to where modularity is best", {"boundary.refine": 0}),
    Mechanism(
        "splitting", "long turns and blocks are cut into passages", {"passage.max_tokens": 100_000}
    ),
)

MECHANISMS: dict[str, Mechanism] = {each.name: each for each in _ALL}
"""By name, in the order of recall, then of the night, then of the ingest."""
