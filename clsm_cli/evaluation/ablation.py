"""Ablations: every mechanism of clsm that can be taken out, and how.

Settings of recall change how a store is asked; those of the night need the store consolidated again;
those of the ingest need it taken in again. What is made again is kept in the work folder.

Most are a setting at the value that switches it off, as a user could write it into ``clsm.yaml``;
two are a variation of the bench: the store as it was ingested, and no embedding model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from clsm_cli.config import Settings, defaults, with_changes
from clsm_cli.errors import BadInputError, ModelMissingError, RefusedError
from clsm_cli.evaluation import benches, stores
from clsm_cli.evaluation.dataset import Chat, Existing
from clsm_cli.evaluation.stores import MadeStore
from clsm_cli.evaluation.systems.system_registry import Recall
from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from clsm_cli.evaluation.benches import Bench, System
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.measures import Retrieved
    from clsm_cli.store.layout import Store

Stage = Literal["recall", "consolidate", "ingest"]
"""What has to be done again; a later one includes those before it."""
STAGES: tuple[Stage, ...] = ("recall", "consolidate", "ingest")

_STAGES: dict[str, Stage] = {
    "recall": "recall",
    "graph": "consolidate",
    "consolidation": "consolidate",
    "boundary": "ingest",
    "passage": "ingest",
    "store": "ingest",
}
"""Stage of each group of settings."""
_LONGEST = 1 << 10
"""Characters of a value."""
_ALIKE = 60
"""Similarity (per cent, rapidfuzz WRatio) from which a name is worth naming."""


def parse(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings given as ``KEY=VALUE`` by the rules of ``clsm.yaml``.

    Raises:
        BadInputError: No pair, an unknown setting, a value of the wrong type, or two for one.

    >>> parse(["recall.fold=1.1", "graph.retention = exponential"])
    {'recall.fold': 1.1, 'graph.retention': 'exponential'}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = (part.strip() for part in pair.partition("="))
        what = f"--set {safe(pair[:80])}"
        if not (key and sign and text):
            raise BadInputError(what, "is no KEY=VALUE", "write it like: --set recall.k=5")
        if key in found:
            raise BadInputError(what, "sets it for the second time", "give each setting once")
        try:
            value = yaml_text.load(text, _LONGEST)
            with_changes(Settings(), {key: value})
        except LineError as error:
            raise BadInputError(what, str(error), "give one plain value") from None
        except ValueError as error:
            raise BadInputError(what, safe(str(error)), _advice(key)) from None
        found[key] = value
    return found


def stage_of(changes: Iterable[str]) -> Stage:
    """What has to be done again when some settings change.

    >>> stage_of(["recall.k", "graph.min_npmi"]), stage_of([])
    ('consolidate', 'recall')
    """
    stages = (_STAGES[key.partition(".")[0]] for key in changes)
    return max(stages, key=STAGES.index, default="recall")


def is_rebuildable(bench: Bench) -> bool:
    """Whether the store of a bench is made by ingest and consolidate, and so can be made again.

    A store that was there already is asked as it is, and concepts that a set brings itself are in
    the store without a night.
    """
    return not isinstance(bench.case.source, Existing) and bench.dataset.kind != benches.PLANTED


def with_settings(bench: Bench, changes: Mapping[str, Any]) -> Bench:
    """The bench with some settings changed, its stores made again as far as they decide them.

    Raises:
        RefusedError: They decide what the store holds, and this one cannot be made again.
        DiskError: The work folder cannot be written.
    """
    settings = with_changes(bench.store.settings, dict(changes))
    stage = stage_of(changes)
    raw, store = bench.raw, bench.store
    if stage != "recall":
        if not is_rebuildable(bench):
            raise RefusedError(
                ", ".join(sorted(changes)),
                f"decides what a store holds, and that of {bench.case.name} is asked as it is",
                "leave it out, or evaluate a set that clsm ingests itself",
            )
        if stage == "ingest":
            raw = _ingested(bench, settings)
        store = _consolidated(bench, raw, settings)
    return replace(
        bench,
        raw=raw._replace(settings=settings),
        store=store._replace(settings=settings),
    )


def closest_name(name: str, known: Collection[str]) -> str | None:
    """The known name that is most like one; None where none is like it."""
    from rapidfuzz import process, utils

    found = process.extractOne(
        name, list(known), processor=utils.default_process, score_cutoff=_ALIKE
    )
    return None if found is None else str(found[0])


def _advice(key: str) -> str:
    """What to do about a setting that is refused."""
    known = list(defaults(Settings()))
    if key in known:
        return "give a value of that kind"
    alike = closest_name(key, known)
    return f"did you mean {alike}?" if alike else "see the settings in docs/format.md"


def _name(stage: Stage, settings: Settings) -> str:
    return f"{stage}-{digest(json.dumps(settings))}"


def _ingested(bench: Bench, settings: Settings) -> Store:
    """The store taken in again with other settings."""
    if isinstance(bench.case.source, Chat):
        source = bench.raw.root.with_name("conversation.jsonl")
        atomic.put(source, stores.json_lines(bench.case.source.turns))
        paths = [str(source)]
    else:
        assert not isinstance(bench.case.source, Existing), "is_made"
        root, names = bench.case.source
        paths = [str(root / name) for name in names if (root / name).is_dir()]

    def again(store: Store) -> None:
        # The index stays: it keeps the vectors of what comes again.
        for folder in (store.flow.parent, store.quarantine, store.derived / "runs"):
            atomic.remove_folder(folder)
        stores.ingest_files(bench.factory, store._replace(settings=settings), paths, bench.now)

    made = MadeStore(bench.raw, bench.now)
    return stores.cached_copy(bench.factory, made, _name("ingest", settings), again)


def _consolidated(bench: Bench, raw: Store, settings: Settings) -> Store:
    """A store consolidated with other settings."""

    def sleep(store: Store) -> None:
        stores.run_consolidation(bench.factory, store._replace(settings=settings), bench.now)

    made = MadeStore(raw, bench.now)
    return stores.cached_copy(bench.factory, made, _name("consolidate", settings), sleep)


class Variation(NamedTuple):
    """A change that no setting makes.

    Attributes:
        how: In a few words.
        apply: The bench with it.
        needs_night: Whether it means nothing where the store is no work of ``consolidate``.
    """

    how: str
    apply: Callable[[Bench], Bench]
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
        """How the mechanism is switched off, in one line."""
        if isinstance(self.off, Variation):
            return self.off.how
        return ", ".join(f"{key}: {value}" for key, value in self.off.items())

    @property
    def stage(self) -> Stage:
        """The stage that has to run again without the mechanism."""
        return "recall" if isinstance(self.off, Variation) else stage_of(self.off)

    def applies(self, bench: Bench) -> bool:
        """Whether it can be taken out of a bench: not everything can be done again on every store."""
        if isinstance(self.off, Variation):
            return is_rebuildable(bench) or not self.off.needs_night
        return self.stage == "recall" or is_rebuildable(bench)

    def without(self, bench: Bench) -> Bench:
        """The bench without it.

        Raises:
            RefusedError: It cannot be taken out of this one.
            DiskError: The work folder cannot be written.
        """
        if isinstance(self.off, Variation):
            return self.off.apply(bench)
        return with_settings(bench, self.off)

    def system(self) -> System:
        """The system that is clsm without it."""
        return Without(self)


@dataclass(frozen=True, slots=True)
class Without:
    """clsm without a mechanism; see ``benches.System``."""

    mechanism: Mechanism

    @property
    def name(self) -> str:
        """As in tables."""
        return f"clsm without {self.mechanism.name}"

    @property
    def about(self) -> str:
        """How it is switched off."""
        return f"clsm with {self.mechanism.how}"

    def ask(self, bench: Bench, queries: Sequence[Query]) -> Iterator[Retrieved]:
        """What the default preset returns on the changed bench."""
        return Recall("clsm").ask(self.mechanism.without(bench), queries)


class _NoModel:
    """An engine whose model is not installed, so that words alone are searched."""

    name = "none"

    def open(self) -> NoReturn:
        """Nothing to load."""
        raise ModelMissingError(Path("none"))

    def encode(self, *_: object) -> NoReturn:
        """Never called: there is no model."""
        self.open()

    def products(self, *_: object, **__: object) -> NoReturn:
        """Never called: there is no model."""
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
    Mechanism("consolidation", "the night: statements, gists and the graph", _AS_INGESTED),
    Mechanism(
        "statements",
        "sentences that are worth it become statements",
        {"consolidation.worth": 100},
    ),
    Mechanism(
        "prediction",
        "what is known already is reinforced, only what is new is learnt",
        {"consolidation.predict": 0},
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


ALL = "all"
"""The name that means every mechanism."""


def choose_mechanisms(names: Sequence[str]) -> list[Mechanism]:
    """The mechanisms of some names, each once, in the order in which they are named.

    Args:
        names: As they were given; "all" is every one.

    Raises:
        BadInputError: There is none of a name.

    >>> [each.name for each in choose_mechanisms(["echo", "words", "echo"])]
    ['echo', 'words']
    """
    found: dict[str, Mechanism] = {}
    for name in names:
        found |= MECHANISMS if name == ALL else {name: _named(name)}
    return list(found.values())


def _named(name: str) -> Mechanism:
    found = MECHANISMS.get(name)
    if found is None:
        alike = closest_name(name, MECHANISMS)
        raise BadInputError(
            f"--ablate {safe(name[:80])!r}",
            f"is no mechanism of clsm; there are {', '.join(MECHANISMS)}",
            f"did you mean {alike}?" if alike else "name one of them, or all",
        )
    return found
