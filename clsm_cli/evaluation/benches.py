"""Benches: a case with its stores, ready to be queried, and the same with other settings.

Settings of recall change how a store is asked; those of the night need the store consolidated again;
those of the ingest need it taken in again. An ablation takes out one mechanism of clsm, mostly by a
setting at the value that switches it off, as a user could write it into ``clsm.yaml``.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from clsm_cli.config import MAX_FILE, Settings, defaults, with_changes
from clsm_cli.errors import BadInputError, ModelMissingError, RefusedError
from clsm_cli.evaluation import nodes, stores
from clsm_cli.evaluation.dataset import Case, Chat, Dataset, LabelledQuery, packaged_yaml
from clsm_cli.evaluation.measures import passage_item
from clsm_cli.evaluation.stores import MadeStore, StoreFactory, files_in
from clsm_cli.model.ids import digest
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.retrieval.question import Query
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.passages import Passage
from clsm_cli.store.layout import Store
from clsm_cli.text.terminal import safe
from clsm_cli.text.tokens import count_tokens

PLANTED = "nodes"  # the sets whose concepts are written into the store, not consolidated
ITEMS = 50  # items that recall is asked for: every measure cuts the same ranking
UNLIMITED = 1 << 30  # tokens
SAID = "passage"  # the passages that were said or written; all other kinds consolidation made


@dataclass(frozen=True, eq=False)
class Bench:
    """One case with its stores, which are never written again."""

    dataset: Dataset
    case: Case
    store: Store  # as consolidated
    raw: Store  # as ingested
    now: datetime
    factory: StoreFactory
    engine: Engine

    @cached_property
    def turn_texts(self) -> dict[str, str]:
        """Id → text of each turn of a conversation; of notes the labels are not of turns."""
        source = self.case.source
        return {turn.id: turn.text for turn in source.turns} if isinstance(source, Chat) else {}

    @cached_property
    def passages(self) -> list[Passage]:
        """All current passages of the consolidated store."""
        with open_index(self.store, self.factory.embedder) as opened:
            return list(opened.index.current_passages().values())

    @cached_property
    def whole(self) -> int:
        """Tokens of what an agent without a memory would load.

        Of a workspace its static files, or everything where there are none; of a conversation all.
        """
        source = self.case.source
        if isinstance(source, Chat):
            return sum(count_tokens(turn.text) for turn in source.turns)
        files = files_in(source.root, source.names)
        if found := startup_files(str(file) for file in files):
            contents = (atomic.read(Path(file), MAX_FILE) or b"" for file in found)
            return sum(count_tokens(data.decode("utf-8", "replace")) for data in contents)
        return sum(count_tokens(each.text) for each in self.passages if each.kind == SAID)

    @property
    def is_rebuildable(self) -> bool:
        """Whether its store is made by ingest and consolidate, and so can be made again.

        Concepts that a set brings itself are in the store without a night.
        """
        return self.dataset.kind != PLANTED

    def query(self, query: LabelledQuery, k: int = ITEMS, budget: int = UNLIMITED) -> Query:
        """A query as recall is asked it: at its own time, or at that of the case."""
        return Query(query.text, query.at or self.now.isoformat(), k, budget)


ALWAYS = ("SOUL.md", "USER.md", "MEMORY.md")  # what an OpenClaw agent loads at every start
DAYS = 2  # daily notes that it loads besides, the last ones
_DAILY = re.compile(r"(?:.*/)?(\d{4}-\d\d-\d\d)\.md\Z", re.DOTALL)


def startup_files(paths: Iterable[str]) -> list[str]:
    """Those of some files that an agent loads at every start, in the order in which it does.

    >>> startup_files(["m/2026-02-01.md", "USER.md", "m/2026-02-03.md", "m/2026-02-02.md", "x/SOUL.md"])
    ['x/SOUL.md', 'USER.md', 'm/2026-02-02.md', 'm/2026-02-03.md']
    """
    known = sorted(set(paths))
    always = [path for name in ALWAYS for path in known if path.split("/")[-1] == name]
    daily = sorted((match[1], path) for path in known if (match := _DAILY.match(path)))
    return [*always, *(path for _, path in daily[-DAYS:])]


def make_benches(dataset: Dataset, factory: StoreFactory, engine: Engine) -> list[Bench]:
    """A bench for each case; stores of an earlier run are found again.

    Raises:
        BadInputError: Something in the set could not be ingested.
    """
    benches = []
    for number, case in enumerate(dataset.cases):
        factory.progress(f"stores of {dataset.name}", number, len(dataset.cases))
        raw = stores.make_store(case, factory)
        if dataset.kind == PLANTED:
            store = nodes.plant_nodes(factory, case, raw)
        else:
            store = consolidated(factory, raw)
        benches.append(Bench(dataset, case, store, raw.store, raw.now, factory, engine))
    return benches


def unlabelled(case: Case) -> Dataset:
    """A case as a set without labels."""
    return Dataset("unlabelled", case.name, "", "turn", "recall@10", (case,))


def consolidated(factory: StoreFactory, made: MadeStore, settings: Settings | None = None) -> Store:
    """A copy of a store after its night."""

    def sleep(store: Store) -> None:
        store = store._replace(settings=settings or store.settings)
        stores.run_consolidation(factory, store, made.now)

    name = f"consolidated-{digest(json.dumps(settings))}" if settings else "consolidated"
    return stores.cached_copy(made, name, sleep)


RECALL, NIGHT, INGEST = range(3)  # stages that have to be done again; each includes those after it
# The stage of each group of settings; all others decide what is taken in.
_STAGES = {"recall": RECALL, "graph": NIGHT, "consolidation": NIGHT}


def stage_of(changes: Iterable[str]) -> int:
    """What has to be done again when some settings change.

    >>> stage_of(["recall.k", "graph.min_npmi"]) == NIGHT, stage_of([]) == RECALL
    (True, True)
    """
    return max((_STAGES.get(key.partition(".")[0], INGEST) for key in changes), default=RECALL)


def with_settings(bench: Bench, changes: Mapping[str, Any]) -> Bench:
    """The bench with some settings changed, its stores made again as far as they decide them.

    Raises:
        RefusedError: They decide what the store holds, and this one cannot be made again.
    """
    settings = with_changes(bench.store.settings, dict(changes))
    stage, raw, store = stage_of(changes), bench.raw, bench.store
    if stage != RECALL and not bench.is_rebuildable:
        reason = f"decides what a store holds, and that of {bench.case.name} is asked as it is"
        advice = "leave it out, or evaluate a set that clsm ingests itself"
        raise RefusedError(", ".join(sorted(changes)), reason, advice)
    if stage == INGEST:
        raw = stores.make_store(bench.case, bench.factory, settings).store
    if stage != RECALL:
        store = consolidated(bench.factory, MadeStore(raw, bench.now), settings)
    raw, store = (each._replace(settings=settings) for each in (raw, store))
    return replace(bench, raw=raw, store=store)


def parse(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings given as ``KEY=VALUE`` by the rules of ``clsm.yaml``.

    Raises:
        BadInputError: No pair, an unknown setting, a value of the wrong type, or two for one.

    >>> parse(["recall.fold=1.1", "graph.top = 5"])
    {'recall.fold': 1.1, 'graph.top': 5}
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
            found[key] = yaml_text.load(text, 1 << 10)
            with_changes(Settings(), found)
        except ValueError as error:
            alike = "".join(get_close_matches(key, defaults(Settings()), 1))
            advice = f"did you mean {alike}?" if alike else "see the settings in docs/format.md"
            advice = "give one plain value of that kind" if key == alike else advice
            raise BadInputError(what, safe(str(error)), advice) from None
    return found


# Variations that no setting makes.
AS_INGESTED, NO_MODEL = "the store as it was ingested", "no embedding model"


class Mechanism(NamedTuple):
    """Something that clsm does and could leave."""

    name: str
    about: str
    off: Mapping[str, Any] | str

    def applies(self, bench: Bench) -> bool:
        """Whether it can be taken out of a bench: not everything can be done again on every store."""
        is_asked = self.off == NO_MODEL if isinstance(self.off, str) else not stage_of(self.off)
        return is_asked or bench.is_rebuildable

    def without(self, bench: Bench) -> Bench:
        """The bench without it."""
        if self.off == AS_INGESTED:
            return replace(bench, store=bench.raw)
        if self.off == NO_MODEL:
            return replace(bench, engine=_NoModel())
        assert not isinstance(self.off, str)
        return with_settings(bench, self.off)


class _NoModel:
    """An engine whose model is not installed, so that words alone are searched."""

    name = "none"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ModelMissingError(Path("none"))

    open = encode = products = _refuse


# By name, in the order of recall, then of the night, then of the ingest.
MECHANISMS = {n: Mechanism(n, **row) for n, row in packaged_yaml("mechanisms.yaml").items()}


def sizes(benches: Sequence[Bench]) -> dict[str, int]:
    """Cases, queries by kind, pieces of evidence, and passages, by name."""
    queries = [query for bench in benches for query in bench.case.queries]
    return {
        "cases": len(benches),
        "queries": sum(not query.negative for query in queries),
        "without an answer": sum(bool(query.negative) for query in queries),
        "evidence": sum(len(query.gold) for query in queries),
        "labelled concepts": sum(len(query.concepts) for query in queries),
        "passages": sum(each.kind == SAID for bench in benches for each in bench.passages),
        "tokens of the context": sum(bench.whole for bench in benches),
    }


def stored_share(benches: Sequence[Bench]) -> float | None:
    """CAIM's memory storage (§4): the share of the evidence that became a memory.

    A piece of evidence is stored when a statement has its words, or rests on a passage that holds
    it. What was said is kept in any case; this is about what consolidation made of it. None where
    no evidence is labelled, or whole days are.
    """
    pieces: list[bool] = []
    for bench in benches:
        unit = bench.dataset.unit
        resting = {key for each in bench.passages if each.kind != SAID for key in each.sources}
        kept = (each for each in bench.passages if each.kind != SAID or each.key in resting)
        items = [passage_item(each, 0) for each in kept]
        gold = [piece for query in bench.case.queries for piece in query.gold if unit != "day"]
        is_stored = {piece: any(item.holds(piece, unit) for item in items) for piece in {*gold}}
        pieces += map(is_stored.__getitem__, gold)
    return sum(pieces) / len(pieces) if pieces else None
