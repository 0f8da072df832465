"""``clsm eval run``: measure labelled sets, published systems, ablations and probes in one table."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from clsm_cli.commands import engine
from clsm_cli.commands.command_line import Common, UsageError, option
from clsm_cli.commands.engine import QueryEngine
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, Table, table_lines
from clsm_cli.evaluation import benches, grids
from clsm_cli.evaluation.dataset import Dataset
from clsm_cli.evaluation.grids import Grid
from clsm_cli.evaluation.presets.published import PRESETS
from clsm_cli.evaluation.result import Result
from clsm_cli.evaluation.stores import StoreFactory


@command(
    "clsm eval run fixtures/sample --preset all --ablate all --verbose",
    "clsm eval run ~/data/locomo10.json nodes=~/data/locomo10.json",
    "clsm eval run --probe all",
    "clsm eval run fixtures/sample --set recall.k=20 --json",
    no_effect=("store", "now"),
)
def run(
    datasets: list[str] | None = option(
        "[DATASET]...",
        "Labelled sets: PATH, or KIND=PATH where the kind is not what the files show; see"
        " docs/evaluation.md.",
    ),
    *,
    preset: list[str] | None = option(
        "--preset P", "Compare a published system too; all: each of them."
    ),
    ablate: list[str] | None = option(
        "--ablate M", "Measure without a mechanism too; all: each, one at a time."
    ),
    probe: list[str] | None = option("--probe P", "Run a probe too, or alone; all: each of them."),
    changed: list[str] | None = option("--set KEY=VALUE", "Measure with another setting."),
    limit: int | None = option("--limit N", "Take the first N cases of each set only.", least=1),
    work: Path | None = option(
        "--work DIR",
        "Folder for the stores it makes and finds again; default: clsm/eval in the user's cache.",
    ),
    seed: int = option("--seed N", "Of intervals and samples.", least=0, default=0),
    common: Common,
) -> None:
    """Measure what recall finds: against plain searches, published systems, and itself without a part.

    Every set is taken in by the real ingest and consolidate, in stores of its own; what is known is
    found again by the next run, so an interrupted one goes on. Your own store is not touched.
    """
    from clsm_cli.evaluation.probes.probe_registry import PROBES
    from clsm_cli.evaluation.run import Request
    from clsm_cli.evaluation.run import run as measure

    printer = common.printer()
    given = {"--preset": preset, "--ablate": ablate, "--probe": probe, "--set": changed}
    sets = _datasets(datasets or [], limit, has_probes=bool(probe))
    request = Request(
        datasets=tuple(sets),
        presets=_named("--preset", preset or [], tuple(PRESETS)),
        mechanisms=_named("--ablate", ablate or [], tuple(benches.MECHANISMS)),
        probes=_named("--probe", probe or [], tuple(PROBES)),
        settings=benches.parse(changed or []),
        seed=seed,
        command=_typed(datasets or [], given, limit, seed),
    )
    result = measure(request, make_factory(printer, work), open_engine())
    printer.show(dict(result), table_lines(run_tables(result, verbose=printer.verbose)))


def make_factory(printer: Printer, work: Path | None) -> StoreFactory:
    """Where stores of an evaluation are made; a missing model is offered at a terminal."""
    import platformdirs

    engine.offer_install(printer)
    folder = (work or platformdirs.user_cache_path("clsm") / "eval").expanduser().absolute()
    return StoreFactory(folder, engine.embedder(), printer.progress)


def open_engine() -> QueryEngine:
    """The engine of queries, opened; it remembers what it encoded, as all systems are asked the same."""
    opened = engine.QueryEngine()
    opened.open()
    opened.encode = cache(opened.encode)
    return opened


def _datasets(specs: Sequence[str], limit: int | None, *, has_probes: bool) -> list[Dataset]:
    """The sets that were named; only probes need none."""
    from clsm_cli.evaluation.loaders import dataset_registry

    if not specs and not has_probes:
        raise UsageError("DATASET", "name a labelled set, or a probe with --probe")
    found = map(dataset_registry.load_dataset, specs)
    return [each if limit is None else dataset_registry.limit_cases(each, limit) for each in found]


def _named(option: str, names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The names that were given, each once; all: every one that is known."""
    found: dict[str, None] = {}
    for name in names:
        if name not in (*known, "all"):
            raise UsageError(option, f"{name!r} is none of {', '.join(known)}, all")
        found |= dict.fromkeys(known if name == "all" else [name])
    return tuple(found)


def _typed(
    datasets: Sequence[str], given: Mapping[str, Sequence[str] | None], limit: int | None, seed: int
) -> str:
    """The command, without the folders of this machine: what makes the same figures elsewhere.

    >>> _typed(["/home/me/sample", "nodes=/data/locomo"], {"--preset": ["all"]}, 2, 0)
    'clsm eval run sample nodes=locomo --preset all --limit 2'
    """
    split = (spec.rpartition("=") for spec in datasets)
    words = ["clsm eval run", *(f"{kind}{mark}{Path(path).name}" for kind, mark, path in split)]
    words += [f"{option} {value}" for option, values in given.items() for value in values or ()]
    words += [f"--limit {limit}"] if limit is not None else []
    words += [f"--seed {seed}"] if seed else []
    return " ".join(words)


def run_tables(result: Result, *, verbose: bool) -> Iterator[Table]:
    """What a person reads; shares in per cent; with ``verbose`` also all measures and groups."""
    for found in result["sets"]:
        sizes = grids.sizes_grid(found)
        yield Table(f"{found['name']} ({found['kind']})", ("it holds", ""), sizes)
        for grid in grids.set_grids(found, is_full=verbose):
            yield from _tables(grid)
        if verbose:
            yield from _tables(grids.full_grid(found))
        yield from (Table(f"- {note}") for note in found["notes"])
    for each in result["probes"]:
        yield from _tables(grids.probe_grid(each), grids.weakness_note(each))
    digests = ", ".join(f"{each['name']} {each['digest'][:12]}" for each in result["sets"])
    yield Table(f"clsm {result['version']}, seed {result['seed']}; {digests}")


def _tables(grid: Grid, *remarks: str) -> Iterator[Table]:
    yield Table(grid.title, grid.headings, grid.rows)
    yield from (Table(remark) for remark in (grid.note, *remarks) if remark)
