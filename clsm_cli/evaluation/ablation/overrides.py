"""Benches with other settings: a changed setting redoes what it decides, and no more.

Settings of recall change how a store is asked; those of the night need the store consolidated again;
those of the ingest need it taken in again. What is made again is kept in the work folder.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from clsm_cli.config import MachineSettings, Settings, defaults, of_machine, with_changes
from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.evaluation import benches, stores
from clsm_cli.evaluation.dataset import Chat, Existing
from clsm_cli.evaluation.stores import Made
from clsm_cli.model.ids import digest
from clsm_cli.store import atomic, yaml_text
from clsm_cli.store.jsonlines import LineError
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from clsm_cli.evaluation.bench import Bench
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
    """Settings given as ``KEY=VALUE``, those of the machine too, by the rules of ``clsm.yaml``.

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
            if of_machine([key]):
                with_changes(MachineSettings(), {key: value})
            else:
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


def is_made(bench: Bench) -> bool:
    """Whether the store of a bench is made by ingest and consolidate, and so can be made again.

    A store that was there already is asked as it is, and concepts that a set brings itself are in
    the store without a night.
    """
    return not isinstance(bench.case.source, Existing) and bench.dataset.kind != benches.PLANTED


def applied(bench: Bench, changes: Mapping[str, Any]) -> Bench:
    """The bench with some settings changed, its stores made again as far as they decide them.

    Raises:
        RefusedError: They decide what the store holds, and this one cannot be made again.
        DiskError: The work folder cannot be written.
    """
    settings = with_changes(bench.store.settings, dict(changes))
    stage = stage_of(changes)
    raw, store = bench.raw, bench.store
    if stage != "recall":
        if not is_made(bench):
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


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that is most like one; None where none is like it."""
    from rapidfuzz import process, utils

    found = process.extractOne(
        name, list(known), processor=utils.default_process, score_cutoff=_ALIKE
    )
    return None if found is None else str(found[0])


def _advice(key: str) -> str:
    """What to do about a setting that is refused."""
    known = [*defaults(Settings()), *defaults(MachineSettings())]
    if key in known:
        return "give a value of that kind"
    alike = nearest(key, known)
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
        stores.take(bench.shop, store._replace(settings=settings), paths, bench.now)

    made = Made(bench.raw, bench.now)
    return stores.kept(bench.shop, made, _name("ingest", settings), again)


def _consolidated(bench: Bench, raw: Store, settings: Settings) -> Store:
    """A store consolidated with other settings."""

    def sleep(store: Store) -> None:
        stores.sleep(bench.shop, store._replace(settings=settings), bench.now)

    made = Made(raw, bench.now)
    return stores.kept(bench.shop, made, _name("consolidate", settings), sleep)
