"""Ablations: every mechanism of clsm that can be taken out, and how.

Settings of recall change how a store is asked; those of the night need the store consolidated again;
those of the ingest need it taken in again. What is made again is kept in the work folder.

Most are a setting at the value that switches it off, as a user could write it into ``clsm.yaml``.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from clsm_cli.config import Settings, defaults, with_changes
from clsm_cli.errors import BadInputError, ModelMissingError, RefusedError
from clsm_cli.evaluation import benches
from clsm_cli.evaluation.dataset import Existing
from clsm_cli.evaluation.stores import MadeStore
from clsm_cli.evaluation.systems import recall_system
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import yaml_text
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.systems import System

RECALL, NIGHT, INGEST = range(3)
"""Stages that have to be done again; each includes those after it."""
_STAGES = {
    "recall": RECALL,
    "graph": NIGHT,
    "consolidation": NIGHT,
    "boundary": INGEST,
    "passage": INGEST,
    "store": INGEST,
}
"""Stage of each group of settings."""
_LONGEST = 1 << 10
"""Characters of a value."""


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
            value = yaml_text.load(text, _LONGEST)
            with_changes(Settings(), {key: value})
        except ValueError as error:
            known = list(defaults(Settings()))
            alike = "".join(get_close_matches(key, known, 1))
            advice = f"did you mean {alike}?" if alike else "see the settings in docs/format.md"
            if key in known:
                advice = "give one plain value of that kind"
            raise BadInputError(what, safe(str(error)), advice) from None
        found[key] = value
    return found


def stage_of(changes: Iterable[str]) -> int:
    """What has to be done again when some settings change.

    >>> stage_of(["recall.k", "graph.min_npmi"]) == NIGHT, stage_of([]) == RECALL
    (True, True)
    """
    return max((_STAGES[key.partition(".")[0]] for key in changes), default=RECALL)


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
    """
    settings = with_changes(bench.store.settings, dict(changes))
    stage = stage_of(changes)
    raw, store = bench.raw, bench.store
    if stage != RECALL:
        if not is_rebuildable(bench):
            raise RefusedError(
                ", ".join(sorted(changes)),
                f"decides what a store holds, and that of {bench.case.name} is asked as it is",
                "leave it out, or evaluate a set that clsm ingests itself",
            )
        made = MadeStore(raw, bench.now)
        if stage == INGEST:
            made = benches.make_store(bench.case, replace(bench.factory, now=bench.now), settings)
        raw, store = made.store, benches.consolidated(bench.factory, made, settings)
    return replace(
        bench,
        raw=raw._replace(settings=settings),
        store=store._replace(settings=settings),
    )


AS_INGESTED, NO_MODEL = "the store as it was ingested", "no embedding model"
"""Variations that no setting makes."""


class Mechanism(NamedTuple):
    """Something that clsm does and could leave."""

    name: str
    about: str
    off: Mapping[str, Any] | str

    def applies(self, bench: Bench) -> bool:
        """Whether it can be taken out of a bench: not everything can be done again on every store."""
        if isinstance(self.off, str):
            return self.off != AS_INGESTED or is_rebuildable(bench)
        return stage_of(self.off) == RECALL or is_rebuildable(bench)

    def without(self, bench: Bench) -> Bench:
        """The bench without it."""
        if self.off == AS_INGESTED:
            return replace(bench, store=bench.raw)
        if self.off == NO_MODEL:
            return replace(bench, engine=_NoModel())
        assert not isinstance(self.off, str)
        return with_settings(bench, self.off)

    def system(self) -> System:
        """Clsm without it."""
        return recall_system(f"clsm without {self.name}", self.without)


class _NoModel:
    """An engine whose model is not installed, so that words alone are searched."""

    name = "none"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ModelMissingError(Path("none"))

    open = encode = products = _refuse


def _load() -> dict[str, Mechanism]:
    text = files("clsm_cli.evaluation").joinpath("mechanisms.yaml").read_text(encoding="utf-8")
    rows: Any = yaml_text.load(text, 1 << 16)
    return {name: Mechanism(name, **row) for name, row in rows.items()}


MECHANISMS = _load()
"""By name, in the order of recall, then of the night, then of the ingest."""
